// Source: API document v1, "Administrator test control", "Limits"; shapes from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {

namespace {

constexpr std::string_view area = "Administrator test control";

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
constexpr Response catalog_responses[] = {{.schema = &catalog}};

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
constexpr Type case_item = object(test_case);
constexpr auto case_list_fields = all_assumed({required("data", array_of(case_item)), next_cursor});
constexpr Schema case_list = {.name = "TestCaseList", .fields = case_list_fields, .source = Source::assumed};
constexpr Response case_list_responses[] = {{.schema = &case_list}};
constexpr Response case_responses[] = {{.schema = &test_case}};

constexpr auto suite_fields = all_assumed({
    required("suite_id", string()),
    required("title", string()),
    required("runnable", boolean()),
    required("case_ids", array_of(text_item)),
});
constexpr Schema suite = {.name = "TestSuite", .fields = suite_fields, .source = Source::assumed};
constexpr Type suite_item = object(suite);
constexpr auto suite_list_fields = all_assumed({required("data", array_of(suite_item)), next_cursor});
constexpr Schema suite_list = {.name = "TestSuiteList", .fields = suite_list_fields, .source = Source::assumed};
constexpr Response suite_list_responses[] = {{.schema = &suite_list}};
constexpr Response suite_responses[] = {{.schema = &suite}};

constexpr auto result_fields = all_assumed({
    required("case_id", string()),
    required("status", string()),
    nullable(required("message", string())),
    nullable(required("duration_ms", integer())),
});
constexpr Schema result = {.name = "TestResult", .fields = result_fields, .source = Source::assumed};
constexpr Type result_item = object(result);
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
    required("results", array_of(result_item)),
    required("created_at", date_time()),
    nullable(required("started_at", date_time())),
    nullable(required("finished_at", date_time())),
    links,
});
constexpr Schema run = {.name = "TestRun", .fields = run_fields, .source = Source::assumed};
constexpr Type run_item = object(run);
constexpr auto run_list_fields = all_assumed({required("data", array_of(run_item)), next_cursor});
constexpr Schema run_list = {.name = "TestRunList", .fields = run_list_fields, .source = Source::assumed};
constexpr Response run_list_responses[] = {{.schema = &run_list}};
constexpr Response launch_responses[] = {{.status = 202, .schema = &run}};
constexpr Response run_responses[] = {{.schema = &run}};

constexpr auto launch_fields = all_assumed({
    required("selection_kind", choice(selection_values)),
    optional("case_ids", array_of(text_item), "with selection_kind cases"),
    optional("suite_id", string(), "with selection_kind suite"),
    optional("workspace_id", uuid(), "where it runs"),
});
constexpr Schema launch_request = {.name = "TestRunLaunch", .fields = launch_fields, .source = Source::assumed};

constexpr Argument case_argument[] = {{"ID", "case_id"}};
constexpr Argument suite_argument[] = {{"ID", "suite_id"}};
constexpr Argument run_argument[] = {{"ID", "run_id"}};

}  // namespace

constexpr Operation test_table[] = {
    {.id = "tests.catalog",
     .method = Method::get,
     .path = "/v1/admin/tests/catalog",
     .summary = "Show what tests there are",
     .area = area,
     .responses = catalog_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests catalog"},
    {.id = "tests.cases_list",
     .method = Method::get,
     .path = "/v1/admin/tests/cases",
     .summary = "List test cases",
     .area = area,
     .parameters = case_list_parameters,
     .responses = case_list_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .paging = Paging::cursor,
     .command = "tests cases list"},
    {.id = "tests.case_get",
     .method = Method::get,
     .path = "/v1/admin/tests/cases/{case_id}",
     .summary = "Show a test case",
     .area = area,
     .parameters = case_parameters,
     .responses = case_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests cases get",
     .arguments = case_argument},
    {.id = "tests.suites_list",
     .method = Method::get,
     .path = "/v1/admin/tests/suites",
     .summary = "List test suites",
     .area = area,
     .parameters = suite_list_parameters,
     .responses = suite_list_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .paging = Paging::cursor,
     .command = "tests suites list"},
    {.id = "tests.suite_get",
     .method = Method::get,
     .path = "/v1/admin/tests/suites/{suite_id}",
     .summary = "Show a test suite",
     .area = area,
     .parameters = suite_parameters,
     .responses = suite_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests suites get",
     .arguments = suite_argument},
    {.id = "tests.runs_list",
     .method = Method::get,
     .path = "/v1/admin/tests/runs",
     .summary = "List test runs",
     .area = area,
     .parameters = run_list_parameters,
     .responses = run_list_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .paging = Paging::cursor,
     .command = "tests runs list"},
    {.id = "tests.run_launch",
     .method = Method::post,
     .path = "/v1/admin/tests/runs",
     .summary = "Launch a test run",
     .area = area,
     .parameters = launch_parameters,
     .request = &launch_request,
     .responses = launch_responses,
     .scope = "tests:run",
     .role = Role::admin,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "tests runs launch"},
    {.id = "tests.run_get",
     .method = Method::get,
     .path = "/v1/admin/tests/runs/{run_id}",
     .summary = "Show a test run",
     .area = area,
     .parameters = run_parameters,
     .responses = run_responses,
     .scope = "tests:read",
     .role = Role::admin,
     .command = "tests runs get",
     .arguments = run_argument},
};
static_assert(well_formed(test_table));
constinit const std::span<const Operation> test_operations = test_table;

}  // namespace ws::contract
