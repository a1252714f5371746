// What a person must decide: the list of conflicts.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/sync_report.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;
using sync::Conflict;

Json side(const std::optional<sync::Entry>& entry) {
  if (!entry) return {};
  return {{"path", entry->path.text()},
          {"content_revision", entry->revision.number},
          {"content_sha256", entry->hash.hex()}};
}

Json text_or_null_of(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

Result<Json> conflict_to_json(const sync::SyncEngine& engine, const Conflict& conflict, bool with_content) {
  Json value = {{"id", conflict.id.empty() ? Json() : Json(conflict.id)},
                {"path", conflict.path.text()},
                {"kind", sync::name(conflict.kind())},
                {"reason", conflict.row().reason},
                {"own", true},
                {"here_only", conflict.is_here_only()},
                {"device", text_or_null(conflict.device)},
                {"document_id", conflict.document.empty() ? Json() : Json(conflict.document.text())},
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

/// One that another client's commit made, as the service shows it: only the service has its sides.
Json foreign_to_json(const Json& shown) {
  const auto kind = sync::find_conflict_kind(find_text(shown, "kind").value_or(""));
  const Json* id = find(shown, "id");
  const Json* path = find(shown, "path");
  return {{"id", id == nullptr ? Json() : *id},
          {"path", path == nullptr ? Json() : *path},
          {"kind", kind ? Json(sync::name(*kind)) : Json()},
          {"reason", "another machine made it: resolve it there"},
          {"own", false},
          {"here_only", false}};
}

/// Adds what is open on the service and not in the list yet.
Result<void> add_foreign(Session& session, const SyncTree& tree, Json& list) {
  WS_LET(Client * client, session.client());
  WS_LET(
      const Reply source,
      client->call({.operation = "sync.source_get", .parameters = {{"source_id", tree.engine->binding().source_id}}}));
  const Json* open = find(*source.json, "open_conflicts");
  if (open == nullptr || !open->is_array()) return {};  // a service that does not say
  for (const Json& shown : *open) {
    const Json* id = find(shown, "id");
    const bool known =
        std::any_of(list.begin(), list.end(), [&](const Json& one) { return id != nullptr && one.at("id") == *id; });
    if (!known) list.push_back(foreign_to_json(shown));
  }
  return {};
}

/// A command for each way in which one of these can be decided.
void note_ways_out(Session& session, const SyncTree& tree, const std::vector<Conflict>& open) {
  const auto resolve = [&tree] { return program_for(tree).add({"sync", "resolve"}); };
  session.note("to decide them one by one: " + resolve().in_backticks());
  const auto is_any_about = [&](sync::ConflictSubject subject) {
    return std::ranges::any_of(open, [&](const Conflict& one) { return one.is_about(subject); });
  };
  if (is_any_about(sync::ConflictSubject::text) || is_any_about(sync::ConflictSubject::attachment)) {
    session.note("or a text or a picture, without questions: " +
                 resolve().add({"PATH|ID", "--keep", "mine|theirs|both"}).in_backticks());
  }
  if (is_any_about(sync::ConflictSubject::place)) {
    session.note("or a name, without questions: " + resolve().add({"PATH|ID", "--path", "mine|theirs"}).in_backticks());
  }
  if (is_any_about(sync::ConflictSubject::revision)) {
    session.note("to decide which state to keep: " +
                 resolve().add({"rewound", "--keep", "mine|theirs"}).in_backticks());
  }
}

Result<ExitCode> conflicts(Session& session) {
  const bool all = session.has("all");
  WS_LET(SyncTree tree, open_tree(session, fs::current_path(), all ? Network::needed : Network::none));
  WS_LET(std::vector<Conflict> open, tree.engine->conflicts());
  std::ranges::stable_sort(open, {}, &Conflict::path);
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const Conflict& conflict : open) {
    WS_LET(Json value, conflict_to_json(*tree.engine, conflict, session.has("content")));
    if (session.format() == Format::table) value["reason"] = reason_of(conflict);
    list["data"].push_back(std::move(value));
  }
  if (all) WS_TRY(add_foreign(session, tree, list["data"]));
  print_own_list(session, "ws.conflicts", list);
  if (session.format() == Format::table && !open.empty()) {
    note_ways_out(session, tree, open);
  }
  return ExitCode::done;
}

}  // namespace

Command sync_conflicts_command() {
  return {.words = "sync conflicts",
          .summary = "List the open conflicts",
          .details =
              "Lists the conflicts of this folder, without the network; --all asks the service for those of other "
              "clients too.",
          .flags = {{.name = "content", .help = "with --json: the three texts too"},
                    {.name = "all", .help = "those of other clients too"}},
          .examples = {"ws sync conflicts", "ws sync conflicts --json --content"},
          .run = conflicts};
}

}  // namespace ws::cli
