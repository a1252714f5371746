#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Result<Json> open_conflicts(World& world, const Caller& caller, const VisibleSource& seen) {
  const auto read = [](const sqlite::Statement& row) {
    return std::pair(row.string(0), Json{{"id", row.text(1)}, {"path", row.text(2)}, {"kind", row.text(3)}});
  };
  WS_LET(auto all,
         read_rows(world,
                   read,
                   "select document_id, id, path, kind from sync_conflicts where source_id = ? and status = 'open' "
                   "order by id",
                   seen.source.id));
  Json conflicts = Json::array();
  for (auto& [document_id, conflict] : all) {
    WS_LET(const bool shown, shows(world, caller, seen, document_id));
    if (shown) conflicts.push_back(std::move(conflict));
  }
  return conflicts;
}

Result<std::int64_t> document_count(World& world, const Caller& caller, const VisibleSource& seen) {
  if (seen.opens_all) {
    return read_number(world, "select count(*) from sync_entries where source_id = ? and present = 1", seen.source.id);
  }
  WS_LET(const std::vector<std::string> all,
         read_rows(world,
                   read_text,
                   "select document_id from sync_entries where source_id = ? and present = 1",
                   seen.source.id));
  std::int64_t count = 0;
  for (const std::string& id : all) {
    WS_LET(const bool shown, shows(world, caller, seen, id));
    count += shown ? 1 : 0;
  }
  return count;
}

Result<Json> to_json(World& world, const Caller& caller, const VisibleSource& seen) {
  const Source& source = seen.source;
  WS_LET(Json conflicts, open_conflicts(world, caller, seen));
  WS_LET(const std::int64_t documents, document_count(world, caller, seen));
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
    WS_API_LET(const std::string workspace_id, own_workspace(call));
    Node page = {.id = world.ids.uuid("node"),
                 .workspace_id = workspace_id,
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
  WS_API_TRY(put_row(
      world, "insert into sync_sources (" WS_SOURCE_COLUMNS ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", source));
  WS_API_LET(const std::vector<std::string> adopted, documents_below(world, root.id));
  for (const std::string& id : adopted) {
    WS_API_LET(const std::optional<Document> document, find_document(world, id, WithContent::no));
    WS_API_TRY(enter_source(world, source.id, *document, std::nullopt));
  }
  WS_API_LET(const VisibleSource made, find_visible_source(world, call, source.id));
  WS_API_LET(Json body, to_json(world, call.caller, made));
  WS_API_TRY(work.commit());
  return Answer{.status = 201, .body = std::move(body)};
}

ServiceResult get_source(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleSource seen, find_visible_source(world, call, id_of(call.parameters, "source_id")));
  WS_API_LET(Json body, to_json(world, call.caller, seen));
  return Answer{.body = std::move(body)};
}

constexpr std::int64_t max_page_bytes = std::int64_t{8} << 20U;

// Ordered by the revision of the last change: a document that changes while the client pages appears again at the end,
// and none is skipped.
#define WS_PULL_FROM                                                                                                  \
  " from sync_entries e join documents d on d.id = e.document_id join nodes n on n.id = d.node_id where e.source_id " \
  "= ? and e.revision > ? order by e.revision"
constexpr const char* with_content =
    "select " WS_DOCUMENT_COLUMNS ", d.content, e.path, e.present, e.revision, e.as_left" WS_PULL_FROM;
constexpr const char* without_content =
    "select " WS_DOCUMENT_COLUMNS ", null, e.path, e.present, e.revision, e.as_left" WS_PULL_FROM;
constexpr int content_column = document_column_count;
constexpr int path_column = content_column + 1;
constexpr int present_column = content_column + 2;
constexpr int revision_column = content_column + 3;
constexpr int as_left_column = content_column + 4;

struct Request {
  std::int64_t since = 0;
  std::int64_t behind = 0;  ///< the page starts after this revision
  std::int64_t limit = 0;
  bool content = true;
  std::string list = {};  ///< list name for cursors
};

ApiResult<Request> read_request(const World& world, const ServiceCall& call, const Source& source) {
  Request request = {.content = find_bool(call.parameters, "include_content").value_or(true)};
  if (world.assumptions.is("pull_filter", "ignored")) {
    request.limit = std::numeric_limits<std::int64_t>::max();
    return request;
  }
  request.since = integer_of(call.parameters, "since_revision", 0);
  request.limit = integer_of(call.parameters, "limit", 500);
  request.list = fmt::format("sync.pull {} {}", source.id, request.since);
  WS_API_LET(request.behind, cursor_position(call, request.list, request.since));
  return request;
}

/// Appends without the linear search for an equal key that `operator[]` makes.
void add(Json& object, const char* key, Json&& value) {
  static_cast<std::vector<Json::object_t::value_type>&>(object.get_ref<Json::object_t&>())
      .emplace_back(key, std::move(value));
}

Json pull_item(const sqlite::Statement& row, const Document& document, bool content) {
  const bool present = row.integer(present_column) != 0;
  Json item = Json::object();
  add(item, "path", row.text(path_column));
  add(item, "document_id", document.id);
  add(item, "node_id", document.node_id);
  add(item, "content_revision", document.content_revision);
  add(item, "content_sha256", document.content_sha256);
  add(item, "size_bytes", document.size_bytes);
  add(item, "title", document.title);
  add(item, "content", content && present ? Json(row.text(content_column)) : Json(nullptr));
  add(item, "deleted", !present);
  add(item, "updated_by", to_json(document.updated_by));
  add(item, "updated_at", rfc3339(document.updated_at));
  return item;
}

struct Page {
  JsonBox data = Json(Json::array());
  JsonBox next_cursor = {};
};

ApiResult<Page> read_pull_page(World& world,
                               const ServiceCall& call,
                               const VisibleSource& seen,
                               const Request& request) {
  WS_API_LET(const sqlite::CachedStatement rows,
             world.database.cached(request.content ? with_content : without_content));
  rows->bind_all(seen.source.id, request.behind);
  Page page;
  std::int64_t bytes = 0;
  std::int64_t last = request.behind;
  const bool unbounded = request.list.empty();
  while (true) {
    WS_API_LET(const bool found, rows->step());
    if (!found) return page;
    Document document = read_document(*rows, WithContent::no);
    WS_API_LET(const AccessLevel access, access_in(world, call.caller, seen, document));
    WS_API_TRY(show_as_left(document, rows->text(as_left_column)));
    const std::int64_t revision = rows->integer(revision_column);
    if (access == AccessLevel::none) continue;
    const std::int64_t size = request.content && rows->integer(present_column) != 0 ? document.size_bytes : 0;
    const auto count = static_cast<std::int64_t>(page.data->size());
    if (!unbounded && count > 0 && (count == request.limit || bytes + size > max_page_bytes)) {
      *page.next_cursor = make_cursor(request.list, last);
      return page;
    }
    page.data->push_back(pull_item(*rows, document, request.content));
    bytes += size;
    last = revision;
  }
}

ServiceResult pull_source(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleSource seen, find_visible_source(world, call, id_of(call.parameters, "source_id")));
  WS_API_LET(const Request request, read_request(world, call, seen.source));
  WS_API_LET(Page page, read_pull_page(world, call, seen, request));
  Json body = Json::object();
  add(body, "source_id", seen.source.id);
  add(body, "revision", seen.source.revision);
  add(body, "since_revision", request.since);
  add(body, "data", std::move(*page.data));
  add(body, "next_cursor", std::move(*page.next_cursor));
  return Answer{.body = std::move(body), .headers = {{assumed_header, world.assumptions.assignment("pull_filter")}}};
}

}  // namespace

ServiceTable sync_source_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.source_create", create_source},
      {"sync.source_get", get_source},
      {"sync.pull", pull_source},
  };
  return entries;
}

}  // namespace ws::mock
