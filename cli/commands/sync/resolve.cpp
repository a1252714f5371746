// The decision of a conflict.
#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::Conflict;

/// Their merged texts are in memory together.
constexpr std::size_t conflicts_at_a_time = 200;

struct Decision {
  enum class About { text, name, markers } about = About::text;
  sync::Keep keep = sync::Keep::local;
  std::string word = {};  ///< as it was said: "local"
  std::optional<std::string> merged = {};
};

/// A word has two spellings; scripts read one.
std::string machine_word(const std::string& word) {
  return word == "mine" ? "local" : word == "theirs" ? "remote" : word;
}

Result<Decision> read_name_decision(const std::string& word) {
  const auto keep = sync::find_keep(word);
  if (keep != sync::Keep::local && keep != sync::Keep::remote) {
    return fail(Failure::Kind::usage, "--path takes mine or theirs, not `" + word + "`");
  }
  return Decision{.about = Decision::About::name, .keep = *keep, .word = machine_word(word)};
}

Result<Decision> read_decision(Session& session) {
  auto keep = session.arguments().value("keep");
  const auto path = session.arguments().value("path");
  const auto file = session.arguments().value("file");
  if (file && !keep && !path && !session.has("markers")) keep = "merged";
  const int said = static_cast<int>(keep.has_value()) + static_cast<int>(path.has_value()) +
                   static_cast<int>(session.has("markers"));
  if (said != 1) {
    return fail(Failure::Kind::usage,
                said == 0 ? "--keep, --path or --markers is required" : "give only one of --keep, --path and --markers",
                "add --keep mine, theirs or both; --path mine or theirs for a name; or --markers. On a terminal you "
                "are asked");
  }
  if (file && !keep) {
    return fail(Failure::Kind::usage, "--file is the text for --keep merged", "leave out --path and --markers");
  }
  if (session.has("markers")) return Decision{.about = Decision::About::markers, .word = "markers"};
  if (path) return read_name_decision(*path);
  const auto known = sync::find_keep(*keep);
  if (!known) return fail(Failure::Kind::usage, "--keep takes mine, theirs, both or merged, not `" + *keep + "`");
  Decision decision{.keep = *known, .word = machine_word(*keep)};
  if (file && *known != sync::Keep::merged) {
    return fail(Failure::Kind::usage, "--file is the text for --keep merged", "add --keep merged");
  }
  if (!file) return decision;
  WS_LET(decision.merged, read_markdown(*file));
  return decision;
}

/// Whether a person is asked what to keep: nothing was said about it.
bool is_asked(Session& session) {
  const bool said = session.has("keep") || session.has("path") || session.has("markers") || session.has("file");
  return !said && !session.has("dry-run") && may_walk(session);
}

/// `path` is in the form that the conflict has, or in another that looks alike.
bool is_named(const Conflict& conflict, const std::string& word, const std::string& path) {
  return utf8::nfc(conflict.path.text()) == utf8::nfc(path) || (!conflict.id.empty() && conflict.id == word) ||
         (word == "rewound" && conflict.is_about(sync::ConflictSubject::revision));
}

/// The conflict whose id ends so, as the list shows ids; null where none has that ending, or several have.
const Conflict* find_by_ending(const std::vector<Conflict>& open, const std::string& word) {
  constexpr std::size_t fewest = 6;
  const Conflict* found = nullptr;
  for (const Conflict& conflict : open) {
    if (word.size() < fewest || !conflict.id.ends_with(word)) continue;
    if (found != nullptr) return nullptr;
    found = &conflict;
  }
  return found;
}

Result<std::vector<Conflict>> select(Session& session, const fs::path& root, const std::vector<Conflict>& open) {
  const std::vector<std::string>& words = session.arguments().words;
  const auto glob = session.arguments().value("only");
  if (words.empty() && !session.has("all") && !glob && !is_asked(session)) {
    return fail(Failure::Kind::usage, "no conflict is given", "give a PATH or an id, or --all");
  }
  std::vector<Conflict> selected;
  std::set<std::string> ids;
  for (const Conflict& conflict : open) {
    if (words.empty() &&
        (!glob || ::fnmatch(utf8::nfc(*glob).c_str(), utf8::nfc(conflict.path.text()).c_str(), 0) == 0)) {
      selected.push_back(conflict);
    }
  }
  for (const std::string& word : words) {
    const std::string path = path_in_tree(root, word);
    bool any = false;
    // From within the tree, and as the list of conflicts has it.
    for (const std::string& named : {path, word}) {
      for (const Conflict& conflict : open) {
        if (!is_named(conflict, word, named)) continue;
        any = true;
        if (ids.insert(conflict.id).second) selected.push_back(conflict);
      }
      if (any) break;
    }
    const Conflict* const by_ending = any ? nullptr : find_by_ending(open, word);
    if (by_ending != nullptr) {
      if (ids.insert(by_ending->id).second) selected.push_back(*by_ending);
    } else if (!any) {
      std::vector<std::string> paths;
      paths.reserve(open.size());
      for (const Conflict& conflict : open) paths.emplace_back(conflict.path.text());
      const std::string near = suggestion(path, paths);
      return fail(Failure::Kind::not_found,
                  "there is no open conflict at " + word,
                  near.empty() ? "`ws sync conflicts` lists them" : near + " `ws sync conflicts` lists them");
    }
  }
  return selected;
}

/// A note about git may hold markers of its own: then one of the texts of the conflict has them too.
Result<void> has_no_open_markers(sync::SyncEngine& engine, const Conflict& conflict, const std::string& merged) {
  if (!sync::merge::has_markers(merged)) return {};
  WS_LET(const sync::ConflictTexts texts, engine.texts(conflict));
  for (const auto* text : {&texts.local, &texts.remote}) {
    if (*text && sync::merge::has_markers(**text)) return {};
  }
  return fail(Failure::Kind::usage, "the text of --file still has conflict markers", "remove them first");
}

/// What to tell the engine. Fails with `conflict` or `usage` where this one stays open.
Result<sync::Choice> choice_of(sync::SyncEngine& engine, const Conflict& conflict, const Decision& decision) {
  const bool is_a_name = conflict.is_about(sync::ConflictSubject::place) || conflict.kind() == sync::ConflictKind::path;
  if (decision.about == Decision::About::name && !is_a_name) {
    return fail(Failure::Kind::usage,
                "the conflict at " + conflict.path.string() + " is about a text, not about a name",
                "use --keep mine, theirs, both or merged");
  }
  sync::Choice choice{.conflict = conflict, .keep = decision.keep, .merged = decision.merged};
  if (decision.merged) WS_TRY(has_no_open_markers(engine, conflict, *decision.merged));
  if (decision.keep == sync::Keep::merged && !decision.merged && !conflict.is_about(sync::ConflictSubject::place)) {
    WS_LET(choice.merged, engine.merged_text(conflict));
  }
  return choice;
}

/// One result for each: they wait for the disk together.
Result<std::vector<Result<void>>> decide_together(sync::SyncEngine& engine,
                                                  std::span<const Conflict> conflicts,
                                                  const Decision& decision) {
  std::vector<Result<void>> results(conflicts.size());
  std::vector<sync::Choice> choices;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    if (decision.about == Decision::About::markers) {
      results[i] = engine.write_markers(conflicts[i]);
      continue;
    }
    auto choice = choice_of(engine, conflicts[i], decision);
    if (!choice) {
      results[i] = fail(std::move(choice).error());
      continue;
    }
    choices.push_back(std::move(*choice));
    places.push_back(i);
  }
  if (choices.empty()) return results;
  WS_LET(std::vector<Result<void>> decided, engine.resolve(choices));
  for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(decided[i]);
  return results;
}

/// The line for people, of one that went as it was said.
std::string told(const Conflict& conflict, const Decision& decision) {
  const std::string path = clean(conflict.path.text(), Breaks::space);
  if (decision.about == Decision::About::markers) {
    return fmt::format("put both texts into {}: edit it, then {}",
                       path,
                       ShellCommand{"ws", "sync", "resolve"}.path(path).add({"--keep", "merged"}).in_backticks());
  }
  return fmt::format("resolved {}: {}; {}", path, kept_text(decision.keep), what_follows(conflict, decision.keep));
}

Result<ExitCode> walk_selected(Session& session) {
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::needed));
  WS_LET(const std::vector<Conflict> open, tree.engine->conflicts());
  WS_LET(std::vector<Conflict> selected, select(session, tree.root, open));
  std::ranges::stable_sort(selected, {}, &Conflict::path);
  if (selected.empty()) {
    session.note("there is no open conflict");
    return ExitCode::done;
  }
  WS_LET(const WalkReport report, walk_conflicts(session, tree, selected));
  ShellCommand again = program_for(tree).add({"sync"});
  if (report.left_open != 0) {
    session.note(counted(report.left_open, "conflict") + " left open: " + again.add({"resolve"}).in_backticks() +
                 " continues");
    // A signal's exit code is all that is said of it.
    if (report.stopped && session.world().cancelled.load()) return fail(Failure::Kind::cancelled, "stopped");
    return ExitCode::conflict;
  }
  session.note("no conflict is left to decide: " + again.in_backticks() + " syncs the rest");
  return ExitCode::done;
}

/// Among several, what cannot be decided so is said and left; the others go on.
bool stays_open(const Failure& failure, std::size_t selected) {
  return failure.kind == Failure::Kind::conflict || (failure.kind == Failure::Kind::usage && selected > 1);
}

Result<ExitCode> decide(Session& session) {
  if (is_asked(session)) return walk_selected(session);
  WS_LET(const Decision decision, read_decision(session));
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::needed));
  WS_LET(const std::vector<Conflict> open, tree.engine->conflicts());
  WS_LET(const std::vector<Conflict> selected, select(session, tree.root, open));
  if (session.has("dry-run")) {
    for (const Conflict& one : selected) {
      const std::string path = clean(one.path.text(), Breaks::space);
      session.printer().line(decision.about == Decision::About::markers
                                 ? fmt::format("would put both texts into {}", path)
                                 : fmt::format("would keep {}: {}", keep_word(decision.keep), path));
    }
    return ExitCode::done;
  }
  Json list = {{"v", 1}, {"data", Json::array()}};
  bool left_open = false;
  for (std::span<const Conflict> rest = selected; !rest.empty();) {
    const std::span<const Conflict> some = rest.first(std::min(rest.size(), conflicts_at_a_time));
    rest = rest.subspan(some.size());
    WS_LET(const std::vector<Result<void>> results, decide_together(*tree.engine, some, decision));
    std::optional<Failure> ended_by;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const bool resolved = results[i] && decision.about != Decision::About::markers;
      left_open = left_open || !resolved;
      list["data"].push_back({{"path", some[i].path.text()},
                              {"id", some[i].id},
                              {"kind", sync::name(some[i].kind())},
                              {"keep", decision.word},
                              {"resolved", resolved}});
      if (results[i]) {
        if (session.format() == Format::table) session.printer().line(told(some[i], decision));
      } else if (stays_open(results[i].error(), selected.size())) {
        session.print_failure(results[i].error(), ExitCode::conflict);
      } else if (!ended_by) {
        ended_by = results[i].error();
      }
    }
    if (ended_by) return fail(std::move(*ended_by));
  }
  if (session.format() != Format::table) session.printer().list("ws.resolved", list, {});
  return left_open ? ExitCode::conflict : ExitCode::done;
}

std::vector<Flag> resolve_flags() {
  return {{.name = "keep",
           .placeholder = "WHAT",
           .help = "which version to keep",
           .limits = "mine or local, theirs or remote, both or merged"},
          {.name = "path",
           .placeholder = "WHOSE",
           .help = "which name to keep, for a conflict about a name",
           .limits = "mine or local, theirs or remote"},
          {.name = "file", .placeholder = "FILE|-", .help = "the merged text; implies --keep merged"},
          {.name = "markers", .help = "put both texts into the working file, to edit"},
          {.name = "all", .help = "every open conflict of this folder"},
          {.name = "only", .placeholder = "GLOB", .help = "those whose path matches"},
          flag_named("device-name"),
          flag_named("wait-lock")};
}

}  // namespace

Command sync_resolve_command() {
  return {
      .words = "sync resolve",
      .summary = "Decide a conflict",
      .details =
          "On a terminal, without --keep, --path and --markers, it leads you through the conflicts one by one: what "
          "happened, both texts, a key for each choice (`m` takes mine where it collides and merges the rest, `M` my "
          "whole text; `t` and `T` theirs); nothing is written before you confirm it. --plain asks in "
          "lines of text. For an edit against a delete, mine and theirs say which of the two wins; both keeps "
          "your text as a copy beside theirs. Where two documents want one name, or one document has two, "
          "--path says which name wins; the other file stays beside it under another name. --keep merged takes the "
          "text of --file, the working file that you edited after --markers, or a clean merge. A service that went "
          "back to an older state is the conflict `rewound`. The text that loses is kept in the history.",
      .arguments = {{.placeholder = "PATH|ID", .help = "a file, or the id of a conflict", .count = Count::any}},
      .flags = resolve_flags(),
      .examples = {"ws sync resolve recipes/soup.md --keep mine",
                   "ws sync resolve --all --keep theirs",
                   "ws sync resolve wall.md --path mine",
                   "ws sync resolve rewound --keep theirs"},
      .run = decide};
}

}  // namespace ws::cli
