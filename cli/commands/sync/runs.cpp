// The runs of a tree: what each changed.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/table.hpp"
#include "sync-engine/git/changed_lines.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::ChangeOrigin;
using sync::OperationDetails;
using sync::OperationRow;

constexpr std::size_t shown_runs = 20;

std::string_view action_of(const OperationRow& row) {
  if (!row.before) return "created";
  if (!row.after) return "deleted";
  if (row.before->path == row.after->path) return row.before->hash == row.after->hash ? "agreed" : "changed";
  return row.before->hash == row.after->hash ? "moved" : "moved and changed";
}

std::string_view origin_of(const OperationRow& row) {
  if (row.origins.has(ChangeOrigin::merged)) return "merged";
  if (row.origins.has(ChangeOrigin::decided)) return "decided";
  if (row.origins.has(ChangeOrigin::sent)) return "sent";
  return row.origins.has(ChangeOrigin::restored) ? "restored" : "received";
}

/// {"sent": 3, "received": 2}
std::map<std::string_view, std::size_t> counts_of(const OperationDetails& details) {
  std::map<std::string_view, std::size_t> counts;
  for (const OperationRow& row : details.rows) ++counts[origin_of(row)];
  return counts;
}

/// What a change was called: by the side that it went to, in the words of the reports.
struct ChangeWords {
  std::string_view created, updated, deleted, moved, moved_and_updated;
};
constexpr ChangeWords words_of_sent = {
    "sent new", "sent", "archived on the service", "moved on the service", "moved and sent"};
constexpr ChangeWords words_of_received = {
    "received new", "received", "removed here", "moved here", "moved here and received"};
constexpr ChangeWords words_of_local = {
    "created here", "changed here", "removed here", "renamed here", "renamed and changed here"};

/// What became of the document.
std::string_view word_for_people(const OperationRow& row) {
  if (row.origins.has(ChangeOrigin::merged)) return "merged";
  if (row.origins.has(ChangeOrigin::decided)) return "resolved";
  const bool is_sent = row.origins.has(ChangeOrigin::sent);
  const bool is_received = row.origins.has(ChangeOrigin::received);
  const ChangeWords& words = is_sent ? words_of_sent : is_received ? words_of_received : words_of_local;
  if (!row.before) return words.created;
  if (!row.after) return is_sent && row.document.empty() ? "removed on the service" : words.deleted;
  const bool is_same_text = row.before->hash == row.after->hash;
  const bool is_same_path = row.before->path == row.after->path;
  // The file has had that name already: the service got it.
  if (is_same_path && is_same_text) return is_sent ? words.moved : "matched";
  if (is_same_path) return words.updated;
  return is_same_text ? words.moved : words.moved_and_updated;
}

/// "3 sent, 1 moved on the service": in the order of the rows.
std::string shown_counts(const OperationDetails& details) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  for (const OperationRow& row : details.rows) {
    const std::string_view word = word_for_people(row);
    const auto known = std::ranges::find(counts, word, &std::pair<std::string_view, std::size_t>::first);
    if (known == counts.end()) {
      counts.emplace_back(word, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [word, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  return text.empty() ? "nothing" : text;
}

std::string note_of(const OperationDetails& details) {
  if (details.operation.stage != sync::Operation::Stage::closed) return "interrupted; the next run finishes it";
  if (details.is_undone) return "undone";
  if (details.operation.is_lasting) return "cannot be taken back";
  if (details.operation.undoes == 0) return "";
  return fmt::format("undoes run {}{}", details.operation.undoes, details.operation.is_partial ? ", in part" : "");
}

Json operation_to_json(const OperationDetails& details) {
  const sync::Operation& one = details.operation;
  Json counts = Json::object();
  for (const auto& [way, count] : counts_of(details)) counts[std::string(way)] = count;
  return {{"run", one.id},
          {"time", to_rfc3339(one.time)},
          {"kind", one.kind},
          {"command", one.command},
          {"device", text_or_null(one.device)},
          {"revision_before", one.revision_before.number},
          {"revision_after", one.revision_after.number},
          {"counts", std::move(counts)},
          {"undoes", one.undoes == 0 ? Json() : Json(one.undoes)},
          {"partial", one.is_partial},
          {"taken_back", details.is_undone},
          {"finished", one.stage == sync::Operation::Stage::closed}};
}

Json version_to_json(const std::optional<sync::Version>& version) {
  if (!version) return {};
  return {{"path", version->path.text()},
          {"content_sha256", version->hash.hex()},
          {"content_revision", version->revision.number},
          {"text", version->blob.hex()}};
}

Json row_to_json(const OperationRow& row) {
  const bool is_moved = row.before && row.after && row.before->path != row.after->path;
  return {{"action", action_of(row)},
          {"path", row.path().text()},
          {"previous_path", is_moved ? Json(row.before->path.text()) : Json()},
          {"way", origin_of(row)},
          {"document_id", row.document.empty() ? Json() : Json(row.document.text())},
          {"before", version_to_json(row.before)},
          {"after", version_to_json(row.after)}};
}

Result<std::string> text_of(sync::SyncEngine& engine, const std::optional<sync::Version>& version) {
  return version ? engine.text(version->blob) : Result<std::string>(std::string());
}

/// A file that a note shows: its bytes are no text, and not in the history.
bool is_binary(const OperationRow& row) {
  return row.document.empty() && !(row.before && !row.before->blob.empty()) && !(row.after && !row.after->blob.empty());
}

Result<std::string> hunks_of(sync::SyncEngine& engine, const OperationRow& row) {
  if (is_binary(row)) return "Binary files differ\n";
  WS_LET(const std::string before, text_of(engine, row.before));
  WS_LET(const std::string after, text_of(engine, row.after));
  return sync::git::diff_text(before, after);
}

Result<void> print_diff(Session& session, SyncTree& tree, const OperationDetails& details) {
  std::string page;
  for (const OperationRow& row : details.rows) {
    if (!row.changes()) continue;
    const auto name = [](std::string_view side, const std::optional<sync::Version>& version) {
      return version ? fmt::format("{}/{}", side, clean(version->path.text(), Breaks::space)) : "/dev/null";
    };
    WS_LET(const std::string hunks, hunks_of(*tree.engine, row));
    page += fmt::format("--- {}\n+++ {}\n", name("before", row.before), name("after", row.after));
    page += coloured_diff(session, hunks);
  }
  session.printer().page(page);
  return {};
}

/// `ws sync show STATE PATH`: the text alone, byte for byte where no person reads it.
Result<ExitCode> show_text(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const sync::RelativePath path, path_argument(tree.root, words[1]));
  WS_LET(const std::string text, tree.engine->text_in(words[0], path));
  if (is_json(session.format())) {
    session.printer().json({{"v", 1}, {"state", words[0]}, {"path", path.text()}, {"content", text}});
    return ExitCode::done;
  }
  session.printer().raw(session.format() == Format::table ? clean(text, Breaks::keep) : text);
  return ExitCode::done;
}

Result<ExitCode> show(Session& session) {
  if (session.arguments().words.size() == 2) return show_text(session);
  WS_LET(const std::uint64_t id, positive_number("RUN", session.arguments().words.front()));
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const OperationDetails details, tree.engine->operation(id));
  const bool with_texts = session.has("diff");
  if (session.format() == Format::table || session.format() == Format::tsv) {
    if (with_texts) {
      WS_TRY(print_diff(session, tree, details));
      return ExitCode::done;
    }
    if (session.format() == Format::table) {
      const std::string note = note_of(details);
      const std::string& device = details.operation.device;
      session.printer().line(described(session, details.operation) +
                             (device.empty() ? "" : ", on " + clean(device, Breaks::space)));
      session.printer().line(shown_counts(details) + (note.empty() ? "" : "; " + note));
    }
  }
  Json rows = Json::array();
  for (const OperationRow& row : details.rows) {
    Json value = row_to_json(row);
    if (session.format() == Format::table) value["action"] = word_for_people(row);
    if (with_texts) {
      WS_LET(value["hunks"], hunks_of(*tree.engine, row));
    }
    rows.push_back(std::move(value));
  }
  if (session.format() == Format::json || session.format() == Format::yaml) {
    Json whole = operation_to_json(details);
    whole["v"] = 1;
    whole["rows"] = std::move(rows);
    session.printer().json(whole);
    return ExitCode::done;
  }
  return print_own_list(session, "ws.run_rows", {{"v", 1}, {"data", std::move(rows)}, {"next_cursor", nullptr}});
}

}  // namespace

Result<std::uint64_t> positive_number(std::string_view what, const std::string& text) {
  const auto number = parse_whole<std::uint64_t>(text).value_or(0);
  if (number > 0) return number;
  return fail(Failure::Kind::usage, fmt::format("{} is a number of at least 1, not `{}`", what, text));
}

std::string described(Session& session, const sync::Operation& run) {
  const std::string time = to_rfc3339(run.time);
  const bool is_on_screen = session.terminal().is_terminal(Stream::out);
  return fmt::format("run {} ({}, {})",
                     run.id,
                     clean(run.command, Breaks::space),
                     is_on_screen ? relative_time(time, session.world().clock.now()) : time);
}

Result<ExitCode> list_runs(Session& session) {
  std::size_t limit = shown_runs;
  if (const auto wanted = session.arguments().value("max-items")) {
    WS_LET(limit, positive_number("--max-items", *wanted));
  }
  if (session.has("all")) limit = 0;
  if (!session.arguments().words.empty()) {
    return fail(Failure::Kind::usage, "--runs takes no PATH", "`ws sync show RUN` lists the files of one");
  }
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const std::vector<OperationDetails> runs, tree.engine->operations(limit));
  const bool for_people = session.format() == Format::table || session.format() == Format::tsv;
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const OperationDetails& each : runs) {
    Json value = operation_to_json(each);
    if (for_people) {
      value["counts"] = shown_counts(each);
      const std::string note = note_of(each);
      value["changes"] = note.empty() ? shown_counts(each) : fmt::format("{}; {}", shown_counts(each), note);
      value["note"] = note;
    }
    list["data"].push_back(std::move(value));
  }
  const ExitCode exit = print_own_list(session, "ws.runs", list);
  if (session.format() == Format::table && !runs.empty()) {
    session.note(fmt::format("{} lists what a run changed; {} undoes it",
                             program_for(tree).add({"sync", "show", "RUN"}).in_backticks(),
                             program_for(tree).add({"sync", "undo", "RUN"}).in_backticks()));
  }
  return exit;
}

Command sync_show_command() {
  return {.words = "sync show",
          .summary = "Show what a run changed, or a file in a state of the history",
          .details =
              "With RUN: each document with its path and its text before and after; --diff shows the texts line by "
              "line. With STATE and PATH: the text of that file in that state.",
          .arguments = {{.placeholder = "RUN|STATE",
                         .help = "a run that `ws sync log --runs` lists, or a state that `ws sync log` lists"},
                        {.placeholder = "PATH", .help = "a file in the folder, with STATE", .count = Count::optional}},
          .flags = {{.name = "diff", .help = "what changed in each text"}},
          .examples = {"ws sync show 12", "ws sync show 12 --diff", "ws sync show 1f2e3d4c5b notes/a.md"},
          .run = show};
}

}  // namespace ws::cli
