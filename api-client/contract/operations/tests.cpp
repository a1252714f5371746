// Source: API document v1, "Administrator test control", "Limits"; shapes from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter admin_cursor = in_query(optional("cursor", string_at_most(500), "next_cursor of the page before"));
constexpr std::string_view selection_values[] = {"cases", "suite"};

constexpr Parameter case_list_parameters[] = {
    in_query(optional("query", string_at_most(200), "words to look for")),
    in_query(optional("capability", string_at_most(160))),
    in_query(optional("owner", string_at_most(160))),
    in_query(optional("role", string_at_most(80))),
    in_query(optional("cost_class", string_at_most(40))),
    in_query(optional("suite_id", string_at_most(120), "only the cases of this suite")),
    page_limit("50"),
    admin_cursor,
};
constexpr Parameter suite_list_parameters[] = {
    in_query(optional("query", string_at_most(200), "words to look for")),
    in_query(optional("runnable", boolean(), "only those that can, or cannot, be run")),
    page_limit("50"),
    admin_cursor,
};
constexpr Parameter run_list_parameters[] = {
    in_query(optional("status", string_at_most(32))),
    in_query(optional("selection_kind", choice(selection_values))),
    in_query(optional("case_id", string_at_most(160))),
    in_query(optional("suite_id", string_at_most(160))),
    page_limit("50"),
    admin_cursor,
};
constexpr Parameter case_parameters[] = {in_path("case_id", string())};
constexpr Parameter suite_parameters[] = {in_path("suite_id", string())};
constexpr Parameter run_parameters[] = {in_path("run_id", uuid())};
constexpr Parameter launch_parameters[] = {idempotency_key};

constexpr auto catalog_fields = all_assumed({
    required("capabilities", array_of(text_item)),
    required("owners", array_of(text_item)),
    required("roles", array_of(text_item)),
    required("cost_classes", array_of(text_item)),
    required("case_count", integer()),
    required("suite_count", integer()),
});
constexpr Schema catalog = {.name = "TestCatalog", .fields = catalog_fields, .source = Source::assumed};

constexpr auto case_fields = all_assumed({
    required("case_id", string()),
    required("title", string()),
    required("description", string()),
    required("capability", string()),
    required("owner", string()),
    required("role", string()),
    required("cost_class", string()),
    required("suite_ids", array_of(text_item)),
});
constexpr Schema test_case = {.name = "TestCase", .fields = case_fields, .source = Source::assumed};
constexpr auto case_list_fields = all_assumed({required("data", array_of(item_of<test_case>)), next_cursor});
constexpr Schema case_list = {.name = "TestCaseList", .fields = case_list_fields, .source = Source::assumed};

constexpr auto suite_fields = all_assumed({
    required("suite_id", string()),
    required("title", string()),
    required("runnable", boolean()),
    required("case_ids", array_of(text_item)),
});
constexpr Schema suite = {.name = "TestSuite", .fields = suite_fields, .source = Source::assumed};
constexpr auto suite_list_fields = all_assumed({required("data", array_of(item_of<suite>)), next_cursor});
constexpr Schema suite_list = {.name = "TestSuiteList", .fields = suite_list_fields, .source = Source::assumed};

constexpr auto result_fields = all_assumed({
    required("case_id", string()),
    required("status", string()),
    nullable(required("message", string())),
    nullable(required("duration_ms", integer())),
});
constexpr Schema result = {.name = "TestResult", .fields = result_fields, .source = Source::assumed};
constexpr std::string_view run_object[] = {"test_run"};
constexpr auto run_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(run_object)), "\"test_run\""),
    required("status", string(), "queued, running, passed, failed or cancelled"),
    required("selection_kind", string(), "cases or suite"),
    required("case_ids", array_of(text_item)),
    nullable(required("suite_id", string())),
    nullable(required("workspace_id", uuid())),
    required("counts", free_object()),
    required("results", array_of(item_of<result>)),
    required("created_at", date_time()),
    nullable(required("started_at", date_time())),
    nullable(required("finished_at", date_time())),
    links,
});
constexpr Schema run = {.name = "TestRun", .fields = run_fields, .source = Source::assumed};
constexpr auto run_list_fields = all_assumed({required("data", array_of(item_of<run>)), next_cursor});
constexpr Schema run_list = {.name = "TestRunList", .fields = run_list_fields, .source = Source::assumed};

constexpr auto launch_fields = all_assumed({
    required("selection_kind", choice(selection_values)),
    optional("case_ids", array_of(text_item), "with selection_kind cases"),
    optional("suite_id", string(), "with selection_kind suite"),
    optional("workspace_id", uuid(), "where it runs"),
});
constexpr Schema launch_request = {.name = "TestRunLaunch", .fields = launch_fields, .source = Source::assumed};

}  // namespace

constexpr Operation test_table[] = {
    {.id = "tests.catalog",
     .path = "/v1/admin/tests/catalog",
     .summary = "Show what tests there are",
     .responses = {{.schema = &catalog}},
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests catalog"},
    {.id = "tests.cases_list",
     .path = "/v1/admin/tests/cases",
     .summary = "List test cases",
     .parameters = case_list_parameters,
     .responses = {{.schema = &case_list}},
     .scope = "tests:read",
     .role = Role::admin,
     .paging = Paging::cursor,
     .command = "tests cases list"},
    {.id = "tests.case_get",
     .path = "/v1/admin/tests/cases/{case_id}",
     .summary = "Show a test case",
     .parameters = case_parameters,
     .responses = {{.schema = &test_case}},
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests cases get",
     .arguments = {{"ID", "case_id"}}},
    {.id = "tests.suites_list",
     .path = "/v1/admin/tests/suites",
     .summary = "List test suites",
     .parameters = suite_list_parameters,
     .responses = {{.schema = &suite_list}},
     .scope = "tests:read",
     .role = Role::admin,
     .paging = Paging::cursor,
     .command = "tests suites list"},
    {.id = "tests.suite_get",
     .path = "/v1/admin/tests/suites/{suite_id}",
     .summary = "Show a test suite",
     .parameters = suite_parameters,
     .responses = {{.schema = &suite}},
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests suites get",
     .arguments = {{"ID", "suite_id"}}},
    {.id = "tests.runs_list",
     .path = "/v1/admin/tests/runs",
     .summary = "List test runs",
     .parameters = run_list_parameters,
     .responses = {{.schema = &run_list}},
     .scope = "tests:read",
     .role = Role::admin,
     .paging = Paging::cursor,
     .command = "tests runs list"},
    {.id = "tests.run_launch",
     .method = Method::post,
     .path = "/v1/admin/tests/runs",
     .summary = "Launch a test run",
     .parameters = launch_parameters,
     .request = &launch_request,
     .responses = {{.status = 202, .schema = &run}},
     .scope = "tests:run",
     .role = Role::admin,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "tests runs launch"},
    {.id = "tests.run_get",
     .path = "/v1/admin/tests/runs/{run_id}",
     .summary = "Show a test run",
     .parameters = run_parameters,
     .responses = {{.schema = &run}},
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests runs get",
     .arguments = {{"ID", "run_id"}}},
};
static_assert(well_formed(test_table));
constinit const Area test_operations = {"Administrator test control", test_table};

}  // namespace ws::contract
