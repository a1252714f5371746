#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"

namespace ws::mock {
namespace {

constexpr std::int64_t max_page_bytes = std::int64_t{8} << 20U;

// Ordered by the revision of the last change: a document that changes while the client pages appears again at the end,
// and none is skipped.
#define WS_PULL_FROM                                                                                                  \
  " from sync_entries e join documents d on d.id = e.document_id join nodes n on n.id = d.node_id where e.source_id " \
  "= ? and e.revision > ? order by e.revision"
constexpr const char* with_content =
    "select " WS_DOCUMENT_COLUMNS ", d.content, e.path, e.present, e.revision" WS_PULL_FROM;
constexpr const char* without_content =
    "select " WS_DOCUMENT_COLUMNS ", null, e.path, e.present, e.revision" WS_PULL_FROM;
constexpr int content_column = document_column_count;
constexpr int path_column = content_column + 1;
constexpr int present_column = content_column + 2;
constexpr int revision_column = content_column + 3;

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
    const Document document = read_document(*rows, WithContent::no);
    WS_API_LET(const AccessLevel access, access_in(world, call.caller, seen, document));
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

ServiceTable sync_pull_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.pull", pull_source},
  };
  return entries;
}

}  // namespace ws::mock
