// What a person must decide: the list of conflicts, and the decision.
#include <filesystem>

#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/commands/sync_tree.hpp"
#include "cli/commands/values.hpp"
#include "cli/terminal/clean.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::Conflict;

Json side(const std::optional<sync::Entry>& entry) {
  if (!entry) return {};
  return {{"path", entry->path.text()}, {"content_revision", entry->revision}, {"content_sha256", entry->hash.hex()}};
}

Json text_or_null_of(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

Result<Json> conflict_to_json(const sync::SyncEngine& engine, const Conflict& conflict, bool with_content) {
  Json value = {{"id", conflict.id.empty() ? Json() : Json(conflict.id)},
                {"path", conflict.path.text()},
                {"kind", sync::name(conflict.kind)},
                {"reason", words_for(conflict.kind)},
                {"document_id", conflict.document.empty() ? Json() : Json(conflict.document.text)},
                {"base", side(conflict.base)},
                {"local", side(conflict.local)},
                {"remote", side(conflict.remote)}};
  if (!with_content) return value;
  WS_LET(const sync::ConflictTexts texts, engine.texts(conflict));
  value["content"] = {{"base", text_or_null_of(texts.base)},
                      {"local", text_or_null_of(texts.local)},
                      {"remote", text_or_null_of(texts.remote)}};
  return value;
}

Result<ExitCode> conflicts(Session& session) {
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::none));
  WS_LET(const std::vector<Conflict> open, tree.engine->conflicts());
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const Conflict& conflict : open) {
    WS_LET(Json value, conflict_to_json(*tree.engine, conflict, session.has("content")));
    list["data"].push_back(std::move(value));
  }
  if (session.format() == Format::table && open.empty()) {
    session.note("no conflict is open");
    return ExitCode::done;
  }
  session.printer().list("ws.conflicts", list, {});
  if (session.format() == Format::table) {
    session.note("`ws sync resolve PATH --keep local|remote|both` decides");
  }
  return ExitCode::done;
}

struct Decision {
  sync::Keep keep = sync::Keep::local;
  std::string word = {};
  std::optional<std::string> merged = {};
};

/// A line that a merge tool left behind.
bool has_markers(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::string_view line = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
    for (const std::string_view marker : {"<<<<<<< ", ">>>>>>> ", "||||||| "}) {
      if (line.substr(0, marker.size()) == marker) return true;
    }
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) return false;
    begin = end + 1;
  }
  return false;
}

Result<Decision> read_decision(Session& session) {
  const auto word = session.arguments().value("keep");
  if (!word) return fail(Failure::Kind::usage, "say what to keep", "add --keep local, remote or both");
  Decision decision{.word = *word};
  if (*word == "local") {
    decision.keep = sync::Keep::local;
  } else if (*word == "remote") {
    decision.keep = sync::Keep::remote;
  } else if (*word == "both") {
    decision.keep = sync::Keep::both;
  } else if (*word == "merged") {
    decision.keep = sync::Keep::merged;
    const auto file = session.arguments().value("file");
    if (!file) return fail(Failure::Kind::usage, "--keep merged needs the merged text", "give it with --file FILE|-");
    WS_LET(decision.merged, read_markdown(*file));
    if (has_markers(*decision.merged)) {
      return fail(Failure::Kind::usage, *file + " still holds conflict markers", "take them out first");
    }
  } else {
    return fail(Failure::Kind::usage, "--keep takes local, remote, both or merged, not `" + *word + "`");
  }
  return decision;
}

Result<std::vector<Conflict>> select(Session& session, const fs::path& root, const std::vector<Conflict>& open) {
  const std::vector<std::string>& words = session.arguments().words;
  const auto glob = session.arguments().value("only");
  if (words.empty() && !session.has("all") && !glob) {
    return fail(Failure::Kind::usage, "say which conflict", "name a PATH or an id, or give --all");
  }
  std::vector<Conflict> selected;
  for (const Conflict& conflict : open) {
    if (words.empty() && (!glob || ::fnmatch(glob->c_str(), conflict.path.string().c_str(), 0) == 0)) {
      selected.push_back(conflict);
    }
  }
  for (const std::string& word : words) {
    const std::string path = path_in_tree(root, word);
    const std::size_t before = selected.size();
    for (const Conflict& conflict : open) {
      if (conflict.path.text() == path || (!conflict.id.empty() && conflict.id == word) ||
          (word == "rewound" && conflict.kind == sync::ConflictKind::rewound)) {
        selected.push_back(conflict);
      }
    }
    if (selected.size() == before) {
      return fail(Failure::Kind::not_found, "no open conflict is about " + word, "`ws sync conflicts` lists them");
    }
  }
  return selected;
}

Result<ExitCode> decide(Session& session) {
  WS_LET(const Decision decision, read_decision(session));
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), Network::needed));
  WS_LET(const std::vector<Conflict> open, tree.engine->conflicts());
  WS_LET(const std::vector<Conflict> selected, select(session, tree.root, open));
  Json list = {{"v", 1}, {"data", Json::array()}};
  bool left_open = false;
  for (const Conflict& conflict : selected) {
    const std::string path(conflict.path.text());
    if (session.has("dry-run")) {
      session.printer().line("would keep " + decision.word + ": " + clean(path, Breaks::space));
      continue;
    }
    const Result<void> resolved = tree.engine->resolve(conflict, decision.keep, decision.merged);
    list["data"].push_back(
        {{"path", path}, {"id", conflict.id}, {"keep", decision.word}, {"resolved", resolved.has_value()}});
    if (!resolved && resolved.error().kind != Failure::Kind::conflict) return fail(resolved.error());
    left_open = left_open || !resolved;
    if (!resolved) session.complain(resolved.error(), ExitCode::conflict);
  }
  tree.progress->clear();
  if (session.has("dry-run")) return ExitCode::done;
  if (session.format() == Format::table) {
    for (const Json& one : list["data"]) {
      const std::string path = clean(one["path"].get<std::string>(), Breaks::space);
      if (one["resolved"].get<bool>()) session.printer().line("resolved " + path + ": kept " + decision.word);
    }
  } else {
    session.printer().list("ws.resolved", list, {});
  }
  return left_open ? ExitCode::conflict : ExitCode::done;
}

}  // namespace

Command sync_conflicts_command() {
  return {.words = "sync conflicts",
          .summary = "List what a person must decide; no network",
          .flags = {{.name = "content", .help = "with --json: the three texts too"}},
          .examples = {"ws sync conflicts", "ws sync conflicts --json --content"},
          .run = conflicts};
}

Command sync_resolve_command() {
  return {
      .words = "sync resolve",
      .summary = "Decide a conflict",
      .details =
          "For an edit against a delete, local and remote say which of the two wins; both keeps the local "
          "text as a copy beside the remote one.",
      .arguments = {{.placeholder = "PATH|ID", .help = "a file, or the id of a conflict", .count = Count::any}},
      .flags = {{.name = "keep",
                 .takes = Takes::one,
                 .placeholder = "WHAT",
                 .help = "what becomes of it",
                 .limits = "local, remote, both or merged"},
                {.name = "file", .takes = Takes::one, .placeholder = "FILE|-", .help = "the text for --keep merged"},
                {.name = "all", .help = "every open conflict of this tree"},
                {.name = "only", .takes = Takes::one, .placeholder = "GLOB", .help = "those whose path matches"},
                {.name = "wait-lock",
                 .takes = Takes::one,
                 .placeholder = "S",
                 .help = "wait so long for another ws that works in this tree",
                 .fallback = "0"}},
      .examples = {"ws sync resolve recipes/soup.md --keep local", "ws sync resolve --all --keep remote"},
      .run = decide};
}

}  // namespace ws::cli
