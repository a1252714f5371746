#include <nlohmann/json.hpp>

#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Result<std::vector<Json>> open_conflicts(World& world, std::string_view source_id) {
  const auto read = [](const sqlite::Statement& row) {
    return Json{{"id", row.text(0)}, {"path", row.text(1)}, {"kind", row.text(2)}};
  };
  return read_rows(world,
                   read,
                   "select id, path, kind from sync_conflicts where source_id = ? and status = 'open' order by id",
                   source_id);
}

Result<std::int64_t> document_count(World& world, std::string_view source_id) {
  return read_number(world, "select count(*) from sync_entries where source_id = ? and present = 1", source_id);
}

Result<Json> to_json(World& world, const Source& source) {
  WS_LET(Json conflicts, open_conflicts(world, source.id));
  WS_LET(const std::int64_t documents, document_count(world, source.id));
  const std::string self = "/v1/sync/sources/" + source.id;
  return Json{
      {"id", source.id},
      {"object", "sync_source"},
      {"name", source.name},
      {"workspace_id", source.workspace_id},
      {"project_id", text_or_null(source.project_id)},
      {"root_node_id", source.root_node_id},
      {"revision", source.revision},
      {"document_count", documents},
      {"open_conflicts", std::move(conflicts)},
      {"last_committed_at", source.last_committed_at ? Json(rfc3339(*source.last_committed_at)) : Json(nullptr)},
      {"created_at", rfc3339(source.created_at)},
      {"updated_at", rfc3339(source.updated_at)},
      {"links", {{"self", self}, {"pull", self + "/pull"}}}};
}

/// The node that the request names, or a new empty Page of the source's name at the Workspace root.
ApiResult<Node> find_root(World& world, const ServiceCall& call) {
  const std::string root_id = id_of(call.body, "root_node_id");
  const std::string project_id = id_of(call.body, "project_id");
  if (!root_id.empty() && !project_id.empty()) {
    return invalid("body", "root_node_id", "value_error", "Give root_node_id or project_id, not both", root_id);
  }
  if (root_id.empty() && project_id.empty()) {
    Node page = {.id = world.ids.uuid("node"),
                 .workspace_id = call.caller.workspace_id,
                 .kind = "page",
                 .title = std::string(text_of(call.body, "name")),
                 .created_by_user_id = call.caller.owner_user_id,
                 .created_by_agent_id = call.caller.agent_id};
    WS_API_TRY(insert_node(world, page));
    return page;
  }
  WS_API_LET(VisibleNode seen,
             root_id.empty() ? find_visible_project(world, call, project_id) : find_visible_node(world, call, root_id));
  if (seen.node.kind != "page" && seen.node.kind != "project") {
    return invalid("body", "root_node_id", "value_error", "Only a Project or a Page can be a root", root_id);
  }
  WS_API_TRY(require_role(call, seen.role));
  return std::move(seen.node);
}

Result<void> insert_source(World& world, const Source& source) {
  return put(world,
             "insert into sync_sources (id, workspace_id, name, root_node_id, project_id, "
             "created_by_user_id, created_by_agent_id, created_at, updated_at) "
             "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
             source.id,
             source.workspace_id,
             source.name,
             source.root_node_id,
             source.project_id,
             source.created_by_user_id,
             source.created_by_agent_id,
             source.created_at,
             source.updated_at);
}

ServiceResult create_source(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Node root, find_root(world, call));
  const Source source = {.id = world.ids.uuid("sync_source"),
                         .workspace_id = root.workspace_id,
                         .name = std::string(text_of(call.body, "name")),
                         .root_node_id = root.id,
                         .project_id = root.kind == "project" ? root.project_id : "",
                         .created_by_user_id = call.caller.owner_user_id,
                         .created_by_agent_id = call.caller.agent_id,
                         .created_at = world.now(),
                         .updated_at = world.now()};
  WS_API_TRY(insert_source(world, source));
  WS_API_LET(const std::vector<std::string> adopted, documents_below(world, root.id));
  for (const std::string& id : adopted) {
    WS_API_LET(const std::optional<Document> document, find_document(world, id, WithContent::no));
    WS_API_TRY(enter_source(world, source.id, *document, std::nullopt));
  }
  WS_API_LET(const std::optional<Source> made, find_source(world, source.id));
  WS_API_LET(Json body, to_json(world, *made));
  WS_API_TRY(work.commit());
  return Answer{.status = 201, .body = std::move(body)};
}

ServiceResult get_source(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleSource seen, find_visible_source(world, call, id_of(call.parameters, "source_id")));
  WS_API_LET(Json body, to_json(world, seen.source));
  return Answer{.body = std::move(body)};
}

}  // namespace

ServiceTable sync_source_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.source_create", create_source},
      {"sync.source_get", get_source},
  };
  return entries;
}

}  // namespace ws::mock
