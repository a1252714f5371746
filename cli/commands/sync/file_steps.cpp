#include "cli/commands/sync/file_steps.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "cli/output/human.hpp"
#include "sync-engine/tree/wildmatch.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t listed_files = 10;

/// What becomes of a file: for scripts, and for people before and after.
struct StepWord {
  std::string_view word;
  std::string_view planned;
  std::string_view done;
};

constexpr StepWord step_words[] = {
    {"brought back", "bring back", "brought back"},
    {"replaced", "replace", "replaced"},
    {"renamed", "rename", "renamed"},
    {"removed", "remove here", "removed here"},
};

const StepWord& word_of(const sync::FileStep& step) {
  if (!step.to) return step_words[3];
  if (!step.from) return step_words[0];
  return step.from == step.to ? step_words[1] : step_words[2];
}

/// "12 files brought back, 3 replaced"; of a plan "bring back 12 files, replace 3".
std::string counts_of(const std::vector<sync::FileStep>& steps, bool is_planned) {
  std::map<std::string_view, std::size_t> counts;
  for (const sync::FileStep& step : steps) ++counts[word_of(step).word];
  std::string text;
  for (const StepWord& each : step_words) {
    const auto found = counts.find(each.word);
    if (found == counts.end()) continue;
    const std::string many = text.empty() ? counted(found->second, "file") : std::to_string(found->second);
    text += text.empty() ? "" : ", ";
    text += is_planned ? fmt::format("{} {}", each.planned, many) : fmt::format("{} {}", many, each.done);
  }
  return text;
}

Json step_to_json(const sync::FileStep& step) {
  return {{"path", sync::place_of(step).text()},
          {"previous_path", step.is_rename() ? Json(step.from->text()) : Json()},
          {"what", word_of(step).word},
          {"changed", true}};
}

}  // namespace

bool Wanted::takes(std::string_view file) const {
  if (is_pattern) return sync::wildmatch(path, file);
  return path == "." || sync::is_at_or_below(file, path);
}

Result<std::vector<Wanted>> wanted_files(Session& session, const SyncTree& tree) {
  std::vector<Wanted> all;
  for (const std::string& word : session.arguments().words) {
    Wanted one{.word = word, .path = path_in_tree(tree.root, word)};
    if (one.path == ".." || one.path.starts_with("../")) {
      return fail(Failure::Kind::usage, fmt::format("{} is not in the synced folder {}", word, tree.root.string()));
    }
    std::error_code ignored;
    one.is_pattern = word.find_first_of("*?[") != std::string::npos && !fs::exists(tree.root / one.path, ignored);
    all.push_back(std::move(one));
  }
  return all;
}

sync::WantedPath as_filter(const std::vector<Wanted>& wanted) {
  if (wanted.empty()) return {};
  return [wanted](const sync::RelativePath& path) {
    return std::ranges::any_of(wanted, [&](const Wanted& one) { return one.takes(path.text()); });
  };
}

std::string shown_counts(const std::vector<sync::FileStep>& steps) { return counts_of(steps, false); }

void list_steps(Session& session, const std::vector<sync::FileStep>& steps, bool all, bool is_planned) {
  const std::size_t shown = all ? steps.size() : std::min(steps.size(), listed_files);
  for (std::size_t i = 0; i < shown; ++i) {
    const sync::FileStep& step = steps[i];
    std::string line = fmt::format("{:<14}{}",
                                   is_planned ? word_of(step).planned : word_of(step).done,
                                   clean(sync::place_of(step).text(), Breaks::space));
    if (step.is_rename()) line += fmt::format("  (was {})", clean(step.from->text(), Breaks::space));
    session.printer().line(line);
  }
  if (shown < steps.size()) session.note(fmt::format("{} more; -v lists all", steps.size() - shown));
}

LeftLines lines_of_left(const std::vector<sync::LeftAlone>& left) {
  constexpr std::size_t most = 20;
  constexpr std::size_t most_alike = 3;
  std::map<std::string_view, std::size_t> alike;
  for (const sync::LeftAlone& each : left) ++alike[each.why];
  std::set<std::string_view> told;
  LeftLines told_left;
  for (const sync::LeftAlone& each : left) {
    const std::size_t count = alike[each.why];
    const bool is_one = count <= most_alike;
    if (!is_one && !told.insert(each.why).second) continue;
    if (told_left.lines.size() == most) {
      ++told_left.unshown;
      continue;
    }
    std::string files = clean(each.path.text(), Breaks::space);
    if (!is_one) files += fmt::format(" and {} more", count - 1);
    told_left.lines.push_back({.files = std::move(files), .why = is_one ? each.why : "each: " + each.why});
  }
  return told_left;
}

ExitCode tell_steps(Session& session, const sync::BroughtBack& found, bool is_planned, const StepWords& words) {
  const bool is_done = std::ranges::all_of(found.left, &sync::LeftAlone::is_final);
  const ExitCode exit = is_done ? ExitCode::done : ExitCode::partial;
  if (session.format() != Format::table) {
    Json data = Json::array();
    for (const sync::FileStep& step : found.steps) data.push_back(step_to_json(step));
    Json left = Json::array();
    for (const sync::LeftAlone& each : found.left) left.push_back({{"path", each.path.text()}, {"why", each.why}});
    session.printer().resource({{"v", 1},
                                {"files", std::move(data)},
                                {"left", std::move(left)},
                                {"run", found.operation ? Json(*found.operation) : Json()},
                                {"dry_run", is_planned}});
    return exit;
  }
  list_steps(session, found.steps, session.has("verbose"), is_planned);
  if (found.steps.empty()) {
    session.printer().sentence(words.nothing);
  } else if (is_planned) {
    session.printer().sentence(fmt::format("would {}; nothing was changed", counts_of(found.steps, true)));
  } else {
    session.printer().sentence(shown_counts(found.steps));
    session.note(words.next);
  }
  const LeftLines left = lines_of_left(found.left);
  for (const LeftLines::Line& each : left.lines) session.note(fmt::format("left {}: {}", each.files, each.why));
  if (left.unshown > 0) session.note(fmt::format("and {} more were left", left.unshown));
  return exit;
}

}  // namespace ws::cli
