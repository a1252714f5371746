// How test cases, suites and runs look on a terminal.
#include "cli/commands/tests/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view catalog_by[] = {"tests.catalog"};
constexpr std::string_view catalog_lines[] = {"{case_count} test cases in {suite_count} suites"};
constexpr Fact catalog_facts[] = {
    {"Capabilities", "{capabilities}"}, {"Owners", "{owners}"}, {"Roles", "{roles}"}, {"Costs", "{cost_classes}"}};

constexpr std::string_view case_by[] = {"tests.case_get"};
constexpr std::string_view case_lines[] = {"{description}"};
constexpr Fact case_facts[] = {
    {"Capability", "{capability}"},
    {"Owner", "{owner}"},
    {"Role", "{role}"},
    {"Cost", "{cost_class}"},
    {"Suites", "{suite_ids}"},
    {"ID", "{case_id}"},
};
constexpr std::string_view cases_by[] = {"tests.cases_list"};
constexpr ViewColumn case_columns[] = {
    {"TITLE", "{title}"},
    {"COST", "{cost_class}"},
    {"CASE", "{case_id}"},
};

constexpr std::string_view suite_by[] = {"tests.suite_get"};
constexpr Fact suite_facts[] = {{"Cases", "{case_ids}"}, {"Runnable", "{runnable:yes}"}, {"ID", "{suite_id}"}};
constexpr std::string_view suites_by[] = {"tests.suites_list"};
constexpr ViewColumn suite_columns[] = {
    {"TITLE", "{title}"},
    {"CASES", "{case_ids:count}"},
    {"RUNNABLE", "{runnable:yes}"},
    {"SUITE", "{suite_id}"},
};

constexpr std::string_view run_by[] = {"tests.run_get"};
constexpr std::string_view run_lines[] = {
    "Test run {id}: {status:words}",
};
constexpr Fact run_facts[] = {
    {"Suite", "{suite_id}"},
    {"Cases", "{case_ids:count}"},
    {"Passed", "{counts.passed}"},
    {"Failed", "{counts.failed}"},
    {"Launched", "{created_at:time}"},
    {"Finished", "{finished_at:time}"},
};
constexpr ViewColumn result_columns[] = {
    {"CASE", "{case_id}"},
    {"STATUS", "{status:words}"},
    {"TOOK", "{duration_ms:ms}"},
    {"MESSAGE", "{message}"},
};
constexpr ViewPart run_parts[] = {{"results", result_columns}};
constexpr std::string_view runs_by[] = {"tests.runs_list"};
constexpr ViewColumn run_columns[] = {
    {"SUITE", "{suite_id}"},
    {"STATUS", "{status:words}"},
    {"CASES", "{case_ids:count}"},
    {"LAUNCHED", "{created_at:time}"},
    {"ID", "{id:short}"},
};
constexpr std::string_view launched_by[] = {"tests.run_launch"};
constexpr std::string_view launched[] = {"Launched the test run {id}, {status:words}"};

constexpr View views[] = {
    {.of = catalog_by, .lines = catalog_lines, .facts = catalog_facts},
    {.of = case_by, .title = "{title}", .lines = case_lines, .facts = case_facts},
    {.of = cases_by, .columns = case_columns, .none = "No test cases."},
    {.of = suite_by, .title = "{title}", .facts = suite_facts},
    {.of = suites_by, .columns = suite_columns, .none = "No test suites."},
    {.of = run_by, .lines = run_lines, .facts = run_facts, .parts = run_parts},
    {.of = runs_by, .columns = run_columns, .none = "No test runs."},
    {.of = launched_by, .lines = launched},
};

}  // namespace

std::span<const View> tests_views() { return views; }

}  // namespace ws::cli
