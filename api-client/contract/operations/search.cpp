// Source: API document v1, "Search"; body and shape from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr std::string_view kind_values[] = {"page", "document", "asset"};
constexpr Type kind_item = assumed(choice(kind_values));
constexpr auto request_fields = all_assumed({
    required("query", string(1, 1000), "the words to look for"),
    with_default(optional("limit", integer(1, 100), "at most this many"), "20"),
    optional("cursor", string(), "next_cursor of the page before"),
    optional("project_id", uuid(), "only under this Project"),
    optional("kinds", array_of(kind_item), "only these kinds"),
});
constexpr Schema request = {.name = "SearchRequest", .fields = request_fields, .source = Source::assumed};

constexpr std::string_view result_object[] = {"search_result"};
constexpr auto result_fields = all_assumed({
    with_default(optional("object", choice(result_object)), "\"search_result\""),
    required("kind", string(), "page, document or asset"),
    required("title", string()),
    required("snippet", string()),
    required("score", number()),
    nullable(required("page_id", uuid())),
    required("node_id", uuid()),
    nullable(required("document_id", uuid())),
    nullable(required("chunk_id", string())),
    nullable(required("source_id", string())),
    required("heading_path", array_of(text_item)),
    nullable(required("content_revision", integer())),
    links,
});
constexpr Schema result = {.name = "SearchResult", .fields = result_fields, .source = Source::assumed};
constexpr std::string_view results_object[] = {"search_results"};
constexpr auto results_fields = all_assumed({
    with_default(optional("object", choice(results_object)), "\"search_results\""),
    required("data", array_of(item_of<result>)),
    next_cursor,
});
constexpr Schema results = {.name = "SearchResults", .fields = results_fields, .source = Source::assumed};

}  // namespace

constexpr Operation search_table[] = {
    {.id = "search.run",
     .method = Method::post,
     .path = "/v1/search",
     .summary = "Search the workspace",
     .request = &request,
     .responses = {{.schema = &results}},
     .scope = "search:read",
     .role = Role::viewer,
     .paging = Paging::cursor,
     .command = "search",
     .arguments = {{"QUERY", "query"}}},
};
static_assert(well_formed(search_table));
constinit const Area search_operations = {"Search", search_table};

}  // namespace ws::contract
