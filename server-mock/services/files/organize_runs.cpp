#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "api-client/base/markdown.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::array<std::string_view, 5> phases = {"received", "reading", "planning", "writing", "done"};
constexpr std::size_t max_documents = 500;
constexpr std::size_t max_bytes = std::size_t{8} << 20U;       // of the whole text
constexpr std::size_t document_bytes = std::size_t{1} << 20U;  // `decisions.md`, "document"
constexpr std::size_t title_code_points = 300;

struct OrganizeRun {
  std::string id = {};
  std::string asset_id = {};
  std::string workspace_id = {};
  std::string target_node_id = {};  ///< empty: beside the asset
  std::string status = "queued";
  std::string phase = "received";
  std::string message = {};  ///< the reason of a failure
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
  std::string ceiling = {};  ///< of the key that asked for it: a role
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;  ///< start of the phase

  bool is_over() const { return status == "succeeded" || status == "failed"; }
};
constexpr std::int64_t organize_phase_ms = 5000;

#define WS_RUN_COLUMNS                                                                                            \
  "id, asset_id, workspace_id, target_node_id, status, phase, message, created_by_user_id, created_by_agent_id, " \
  "ceiling, created_at, updated_at"

Result<void> save_run(World& world, const OrganizeRun& run) {
  return put(world,
             "update organize_runs set status = ?, phase = ?, message = ?, updated_at = ? where id = ?",
             run.status,
             run.phase,
             run.message,
             run.updated_at,
             run.id);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\f") == std::string_view::npos; }

std::string as_title(std::string_view text) {
  std::string title(utf8::prefix(text, title_code_points));
  std::ranges::replace_if(
      title, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return title;
}

/// Why the asset cannot be organized; empty: it can.
std::string rejection(const std::optional<Asset>& asset) {
  if (!asset) return "The file is gone";
  if (!asset->is_text) return "The file is not a text, so it has no headings";
  if (asset->size_bytes > static_cast<std::int64_t>(max_bytes)) return "The text is larger than 8 MiB";
  return {};
}

/// The node that gets the documents: the target, or (empty id) the one that holds the asset; the Workspace root has no
/// id. Empty if the caller may not change it.
Result<std::optional<Node>> find_place(World& world,
                                       const Caller& caller,
                                       const Asset& asset,
                                       const std::string& target_id) {
  const std::string& id = target_id.empty() ? asset.parent_node_id : target_id;
  WS_LET(const contract::Role role, role_in(world, caller, asset.workspace_id));
  if (id.empty()) return role >= contract::Role::editor ? std::optional(Node{}) : std::nullopt;
  WS_LET(std::optional<Node> node, find_node(world, id));
  if (!node || access_to(caller, role, *node) < AccessLevel::edit) return std::nullopt;
  return node;
}

/// Creates the documents; returns the reason if it cannot.
Result<std::string> write_documents(World& world, const OrganizeRun& run, const Asset& asset) {
  WS_LET(const Caller caller,
         caller_in(world,
                   run.workspace_id,
                   run.created_by_user_id,
                   run.created_by_agent_id,
                   contract::find_role(run.ceiling).value_or(contract::Role::none)));
  WS_LET(const std::optional<Node> place, find_place(world, caller, asset, run.target_node_id));
  if (!place) return std::string("The target is gone, or whoever started this may no longer change it");
  Draft draft = {.workspace_id = asset.workspace_id, .parent_node_id = place->id, .project_id = place->project_id};
  WS_LET(const std::string text, text_of_asset(world, asset.blob, max_bytes));
  const std::vector<DocumentSection> extracts = split_documents(text, asset.title);
  if (std::ranges::any_of(extracts, [](const DocumentSection& one) { return one.content.size() > document_bytes; })) {
    return std::string("A section is larger than 1 MiB, which no document may be");
  }
  WS_LET(DocumentChanges changes, DocumentChanges::by(world, caller));
  for (const DocumentSection& extract : extracts) {
    draft.title = extract.title;
    draft.content = extract.content;
    WS_TRY(changes.create(draft));
  }
  return std::string();
}

Result<void> end_run(World& world, OrganizeRun& run) {
  WS_LET(const std::optional<Asset> asset, find_asset(world, run.asset_id));
  run.message = rejection(asset);
  if (run.message.empty()) {
    WS_LET(run.message, write_documents(world, run, *asset));
  }
  run.status = run.message.empty() ? "succeeded" : "failed";
  run.phase = "done";
  return {};
}

/// Moves the run to its next phase at that time.
Result<void> step(World& world, OrganizeRun& run, std::int64_t at) {
  const auto* phase = std::ranges::find(phases, run.phase);
  run.updated_at = at;
  run.status = "running";
  run.phase = *std::next(phase);
  if (run.phase == "reading") {
    WS_LET(const std::optional<Asset> asset, find_asset(world, run.asset_id));
    run.message = rejection(asset);
    if (!run.message.empty()) run.status = "failed";
  } else if (run.phase == "done") {
    WS_TRY(end_run(world, run));
  }
  return save_run(world, run);
}

Result<std::optional<OrganizeRun>> find_run(World& world, std::string_view id) {
  return read_row(world, read_as<OrganizeRun>, "select " WS_RUN_COLUMNS " from organize_runs where id = ?", id);
}

Json to_json(const OrganizeRun& run) {
  return {{"operation_id", run.id},
          {"asset_id", run.asset_id},
          {"status", run.status},
          {"phase", run.phase},
          {"created_at", rfc3339(run.created_at)},
          {"updated_at", rfc3339(run.updated_at)},
          {"links", {{"self", "/v1/file-operations/" + run.id}, {"asset", "/v1/files/" + run.asset_id}}}};
}

/// Call it when the run is read, within a UnitOfWork: moves it to the next phase. Does nothing if it is over.
Result<void> advance_run(World& world, OrganizeRun& run) {
  // A fault rule holds it where it is by a start in the future.
  return run.is_over() || run.updated_at > world.now() ? Result<void>() : step(world, run, world.now());
}

/// The Project or Page to create the documents in; the caller may change it. Without one: beside the asset.
ApiResult<std::string> find_target(World& world, const ServiceCall& call, const Asset& asset) {
  const std::string id = id_of(call.body, "target_root_node_id");
  if (id.empty()) {
    WS_API_LET(const std::optional<Node> beside, find_place(world, call.caller, asset, id));
    if (!beside) return forbidden("You may not put documents beside the file; name a target_root_node_id");
    return id;
  }
  WS_API_LET(const VisibleNode target, find_visible_node(world, call, id));
  if (target.node.workspace_id != asset.workspace_id) return not_found("node");
  if (target.node.kind != "page" && target.node.kind != "project") {
    return invalid("body", "target_root_node_id", "value_error", "Only a Project or a Page can hold documents", id);
  }
  if (target.access < AccessLevel::edit) return forbidden("You may not change the target");
  return target.node.id;
}

ServiceResult organize_file(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleAsset seen, find_visible_asset(world, call, id_of(call.parameters, "asset_id")));
  WS_API_TRY(require_role(call, seen.role));
  WS_API_LET(const std::string target, find_target(world, call, seen.asset));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  const OrganizeRun run = {.id = world.ids.uuid("operation"),
                           .asset_id = seen.asset.id,
                           .workspace_id = seen.asset.workspace_id,
                           .target_node_id = target,
                           .created_by_user_id = call.caller.owner_user_id,
                           .created_by_agent_id = call.caller.agent_id,
                           .ceiling = std::string(contract::name(call.caller.ceiling)),
                           .created_at = world.now(),
                           .updated_at = world.now()};
  WS_API_TRY(put_row(world,
                     "insert into organize_runs (" WS_RUN_COLUMNS
                     ", instruction) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                     run,
                     text_of(call.body, "instruction")));
  WS_API_TRY(work.commit());
  return Answer{.status = 202, .body = to_json(run)};
}

ServiceResult get_file_operation(World& world, const ServiceCall& call) {
  WS_API_TRY(advance_due_runs(world));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(std::optional<OrganizeRun> run, find_run(world, id_of(call.parameters, "operation_id")));
  if (!run) return not_found("file operation");
  WS_API_LET(const contract::Role role, role_in(world, call.caller, run->workspace_id));
  if (role == contract::Role::none) return not_found("file operation");
  WS_API_TRY(advance_run(world, *run));
  WS_API_TRY(work.commit());
  Answer answer = {.body = to_json(*run)};
  // Not a member of the published resource.
  if (!run->message.empty()) answer.headers.emplace_back("X-Mock-Message", run->message);
  return answer;
}

}  // namespace

Result<void> advance_due_runs(World& world) {
  while (true) {
    WS_LET(std::optional<OrganizeRun> run,
           read_row(world,
                    read_as<OrganizeRun>,
                    "select " WS_RUN_COLUMNS
                    " from organize_runs where status in ('queued', 'running') and updated_at <= ? "
                    "order by updated_at, sequence limit 1",
                    world.now() - organize_phase_ms));
    if (!run) return {};
    WS_LET(UnitOfWork work, UnitOfWork::begin(world));
    WS_TRY(step(world, *run, run->updated_at + organize_phase_ms));
    WS_TRY(work.commit());
  }
}

std::vector<DocumentSection> split_documents(std::string_view text, std::string_view fallback) {
  std::vector<DocumentSection> extracts;
  for (const markdown::Section& section : markdown::sections(text, max_documents)) {
    if (section.heading_path.empty() && is_blank(section.text)) continue;
    const std::string_view heading = section.heading_path.empty() ? fallback : section.heading_path.back();
    extracts.push_back({.title = as_title(is_blank(heading) ? fallback : heading), .content = section.text});
  }
  return extracts;
}

ServiceTable organize_services() {
  static constexpr ServiceEntry entries[] = {
      {"files.organize", organize_file},
      {"files.operation", get_file_operation},
  };
  return entries;
}

}  // namespace ws::mock
