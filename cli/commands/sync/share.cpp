// `ws sync share`: a source, or its documents, for other people.
#include "cli/commands/sync/share.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"

namespace ws::cli {
namespace {

Failure cannot_place(std::string what) {
  return {.kind = Failure::Kind::internal,
          .what = std::move(what),
          .hint = "move the source's page into a Project on the service",
          .code = "unusable_answer"};
}

/// Each document by itself: who has it reads or edits it on the service, and cannot sync it.
Result<ExitCode> share_documents(Session& session, SyncTree& tree) {
  const auto email = session.arguments().value("with");
  if (!email) return fail(Failure::Kind::usage, "--documents shares with somebody", "give --with EMAIL");
  const std::string permission = session.arguments().value("permission").value_or("read");
  WS_LET(const std::vector<sync::KnownDocument> documents, tree.engine->documents());
  Batch batch;
  for (const sync::KnownDocument& known : documents) {
    const std::string& id = known.document.text();
    batch.ids.push_back(id);
    batch.calls.emplace_back(Call{.operation = "docs.share",
                                  .parameters = {{"document_id", id}},
                                  .body = Json{{"email", *email}, {"permission", permission}}});
  }
  if (batch.ids.empty())
    return fail(Failure::Kind::not_found, "no file of this folder is on the service yet", "run `ws sync`");
  if (session.has("dry-run")) return print_requests(session, batch);
  WS_LET(
      const bool agreed,
      session.confirm(fmt::format("{} of this folder will be shared with {} ({}); notes that come later will not be. "
                                  "Share them?",
                                  counted(documents.size(), "document"),
                                  *email,
                                  permission),
                      {"docs.share"}));
  if (!agreed) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  WS_LET(Client * client, session.client());
  return run_batch(session, *client, operation_of("docs.share"), std::move(batch));
}

Result<ExitCode> share_source(Session& session, const SyncTree& tree) {
  const sync::TreeBinding& binding = tree.engine->binding();
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply,
         client->call({.operation = "sync.source_get", .parameters = {{"source_id", binding.source_id}}}));
  const Json& source = *reply.json;
  const std::string line = join_command(binding.source_id).text();
  const bool was_shared = binding.is_shared || !find_text(source, "project_id").value_or("").empty();
  const std::string project = session.arguments().value("project").value_or(binding.name);
  if (!was_shared) {
    const std::string root = find_text(source, "root_node_id").value_or("");
    if (root.empty()) return fail(cannot_place("the service does not say which page the source is"));
    if (session.has("dry-run")) {
      session.printer().sentence(
          fmt::format("Would make the Project \"{}\" and move this folder's page into it", project));
      return ExitCode::done;
    }
    const auto count = find_integer(source, "document_count");
    WS_LET(
        const bool agreed,
        session.confirm(fmt::format("everybody in the Workspace will see this folder on the service{}, and editors can "
                                    "change it. Share it?",
                                    count ? " (" + counted(static_cast<std::size_t>(*count), "document") + ")" : ""),
                        {"projects.create", "nodes.move"}));
    if (!agreed) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
    WS_LET(const NewProject made, make_project(*client, project));
    WS_TRY(client->call({.operation = "nodes.move",
                         .parameters = {{"node_id", root}},
                         .body = Json{{"parent_node_id", made.node_id}}}));
    WS_TRY(sync::mark_shared(tree.root, session.settings().trusted));
  }
  if (session.format() != Format::table) {
    session.printer().resource({{"v", 1},
                                {"source_id", binding.source_id},
                                {"name", binding.name},
                                {"shared", true},
                                {"already", was_shared},
                                {"join", line}});
    return ExitCode::done;
  }
  session.printer().sentence(
      was_shared ? "This folder is in a Project already: everybody in the Workspace sees it."
                 : fmt::format("Everybody in the Workspace sees this folder now, in the Project {}.", project));
  session.printer().sentence("A colleague syncs it with:");
  session.printer().line("  " + line);
  return ExitCode::done;
}

Result<ExitCode> share(Session& session) {
  WS_LET(
      SyncTree tree,
      open_tree(session, std::filesystem::current_path(), session.has("dry-run") ? Network::to_look : Network::needed));
  return session.has("documents") ? share_documents(session, tree) : share_source(session, tree);
}

}  // namespace

Result<NewProject> make_project(Client& client, const std::string& title) {
  WS_LET(const Reply reply, client.call({.operation = "projects.create", .body = Json{{"title", title}}}));
  NewProject project{.id = find_text(*reply.json, "id").value_or(""),
                     .node_id = find_text(*reply.json, "node_id").value_or("")};
  if (project.id.empty()) return fail(cannot_place("the service does not say which Project it made"));
  if (project.node_id.empty()) project.node_id = project.id;
  return project;
}

ShellCommand join_command(const std::string& source_id) { return {"ws", "sync", "init", "--source=", source_id}; }

Command sync_share_command() {
  return {
      .words = "sync share",
      .summary = "Share a synced folder with the Workspace, or its documents with a person",
      .details =
          "Makes a Project of the folder's name and moves the folder's page into it, which everybody in the Workspace "
          "sees; ids, paths and revisions stay. Prints the command by which a colleague syncs it. With --documents "
          "each document is shared by itself with one person, who reads or edits it on the service but cannot sync "
          "it, and notes that come later are not shared.",
      .flags = {{.name = "project", .placeholder = "TITLE", .help = "of the new Project; else the folder's name"},
                {.name = "documents", .help = "share each document by itself with one person"},
                {.name = "with", .placeholder = "EMAIL", .help = "the person, with --documents"},
                {.name = "permission",
                 .placeholder = "P",
                 .help = "what that person may do",
                 .limits = "read, comment or edit",
                 .fallback = "read"}},
      .examples = {"ws sync share --project Harbour --yes",
                   "ws sync share --documents --with tomas@example.com --permission comment"},
      .run = share};
}

}  // namespace ws::cli
