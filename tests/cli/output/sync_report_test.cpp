#include "cli/output/sync_report.hpp"

#include <csignal>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;
using namespace ws::cli;
using sync::ActionKind;

namespace {

sync::RelativePath path(std::string_view text) { return *sync::RelativePath::parse(text); }

sync::Row row(ActionKind kind, std::string_view file, std::string_view reason, sync::Row::State state) {
  return {.action = {.kind = kind, .path = path(file), .reason = reason}, .state = state};
}

sync::Row failed(ActionKind kind, std::string_view file, Failure::Kind why) {
  sync::Row one = row(kind, file, "", sync::Row::State::failed);
  one.fail({.kind = why, .what = "it did not work"});
  return one;
}

constexpr auto done = sync::Row::State::done;
constexpr auto planned = sync::Row::State::planned;

std::string rendered(const sync::Report& report, ReportStage stage, std::size_t max_rows = 0) {
  return render_report(report, stage, Terminal({.columns = 80}, Environment()), max_rows);
}

}  // namespace

TEST_CASE("sync report: each file has a line that says what became of it", "[cli]") {
  sync::Report report{.rows = {row(ActionKind::push_create, "new.md", "created here", done),
                               row(ActionKind::pull_update, "recipes/soup.md", "edited on the service", done),
                               row(ActionKind::merge, "wall.md", "edited on both sides", done)}};
  report.rows.push_back(row(ActionKind::push_move, "b.md", "renamed here", done));
  report.rows.back().action.previous_path = path("a.md");
  CHECK(rendered(report, ReportStage::done) ==
        "  sent new          new.md           created here\n"
        "  received          recipes/soup.md  edited on the service\n"
        "  merged            wall.md          edited on both sides\n"
        "  moved on service  a.md -> b.md     renamed here\n"
        "1 sent, 1 received, 1 merged, 1 moved on the service\n");
}

TEST_CASE("sync report: a terminal breaks long reasons and remarks at its width, and no command", "[cli]") {
  sync::Report report{.rows = {failed(ActionKind::push_update, "a.md", Failure::Kind::service)}};
  report.rows.front().fail(
      {.kind = Failure::Kind::service, .what = "the service refused a.md: the text names a customer by name"});
  report.remarks = {{.word = sync::Remark::Word::state_remade}};
  report.broken_links = 2;
  const auto at = [&](int columns) {
    return render_report(report,
                         ReportStage::done,
                         Terminal({.out_is_terminal = true, .columns = columns}, Environment::of({{"NO_COLOR", "1"}})),
                         0);
  };
  CHECK(at(50) ==
        "  failed  a.md  the service refused a.md: the text\n"
        "                names a customer by name\n"
        "1 failed\n"
        "2 links are broken: `ws links check` lists them\n"
        "the sync state of this folder was lost and is\n"
        "rebuilt: what was deleted since the last sync\n"
        "comes back\n");
  CHECK(at(36).find("  failed  a.md\n    the service refused a.md: the") != std::string::npos);
  CHECK(at(36).find("`ws links check`") != std::string::npos);
}

TEST_CASE("sync report: a plan speaks of what is to come", "[cli]") {
  const sync::Report report{.rows = {row(ActionKind::push_update, "a.md", "edited here", planned),
                                     row(ActionKind::pull_delete, "b.md", "archived on the service", planned)}};
  CHECK(rendered(report, ReportStage::planned) ==
        "  send         a.md  edited here\n"
        "  remove here  b.md  archived on the service\n"
        "1 to send, 1 to remove here\n");
}

TEST_CASE("sync report: who archived what goes here is named where the service says it", "[cli]") {
  const sync::Report report{.rows = {row(ActionKind::pull_delete, "a.md", "archived on the service", done),
                                     row(ActionKind::pull_delete, "b.md", "archived on the service", done),
                                     row(ActionKind::push_delete, "c.md", "deleted here", done)},
                            .archived_by = {{path("a.md"), "Mara\033[2J Lindqvist"}}};
  CHECK(rendered(report, ReportStage::done) ==
        "  removed here         a.md  archived on the service by Mara Lindqvist\n"
        "  removed here         b.md  archived on the service\n"
        "  archived on service  c.md  deleted here\n"
        "2 removed here, 1 archived on the service\n");
}

TEST_CASE("sync report: nothing to do is one line", "[cli]") {
  CHECK(rendered({}, ReportStage::done) == "nothing to do: both sides are the same\n");
  CHECK(rendered({}, ReportStage::planned) == "both sides are the same\n");
  CHECK(rendered({}, ReportStage::staged) == "nothing to stage\n");
  CHECK(rendered({}, ReportStage::published) == "nothing is staged\n");
  CHECK(rendered({.partial = true}, ReportStage::done) == "nothing to do for the selected files; other files differ\n");
}

TEST_CASE("sync report: the commands that it names can be pasted", "[cli]") {
  const Invocation called{.program = ShellCommand{"ws", "-C"}.path("/my tree"), .only = "*.md"};
  const sync::Report stopped{.guard = sync::Guard{.deletes_here = 12, .tracked = 30}};
  CHECK(render_outcome(stopped, ReportStage::done, called).back() ==
        "to confirm: `ws -C '/my tree' sync --only '*.md' --allow-deletes`");
  const sync::Report open{.conflicts = {{.which = sync::ConflictCase::not_synced, .path = path("-$(id).md")}}};
  CHECK(render_outcome(open, ReportStage::done, called).back() ==
        "to decide it: `ws -C '/my tree' sync resolve './-$(id).md' --path mine`");
}

TEST_CASE("sync report: an open conflict names the next command", "[cli]") {
  const sync::Report report{.rows = {row(ActionKind::conflict, "my wall.md", "edited on both sides", done)},
                            .conflicts = {{.which = sync::ConflictCase::edited_on_both, .path = path("my wall.md")}}};
  CHECK(rendered(report, ReportStage::done) ==
        "  conflict  my wall.md  edited on both sides\n"
        "1 in conflict\n"
        "1 conflict is open, and your file is as it was: `ws sync conflicts` lists it\n"
        "to decide it: `ws sync resolve 'my wall.md' --keep mine|theirs|both`\n");
}

TEST_CASE("sync report: the guard says what it held back", "[cli]") {
  const sync::Report report{.guard = sync::Guard{.deletes_here = 12, .tracked = 30}};
  CHECK(rendered(report, ReportStage::done) ==
        "stopped: this would remove 12 of 30 notes here; nothing was changed\n"
        "to keep here what was archived on the service: `ws sync --keep-archived`\n"
        "to confirm: `ws sync --allow-deletes`\n");
  // An attachment is no document: it cannot be archived.
  const sync::Report files{.guard = sync::Guard{.files_deleted_here = 3, .files_tracked = 4}};
  CHECK_THAT(rendered(files, ReportStage::done),
             Catch::Matchers::Contains("to keep here what was deleted on the service: `ws sync --keep-archived`\n"));
}

TEST_CASE("sync report: what is held back is no question of selected files, and one file is waiting", "[cli]") {
  const sync::Report held{.held_back = sync::Guard{.deletes_here = 12, .tracked = 30}, .partial = true};
  CHECK_THAT(rendered(held, ReportStage::done), Catch::Matchers::StartsWith("nothing else to do\nheld back, "));
  const sync::Report growing{.growth = sync::Growth{.files = 1, .bytes = 500'000}};
  CHECK_THAT(rendered(growing, ReportStage::done), Catch::Matchers::Contains("1 file of 500 kB is waiting"));
}

TEST_CASE("sync report: what is skipped is named, hostile names are cleaned", "[cli]") {
  const sync::Report report{.skipped = {{.path = "a\033[2Jb.md", .reason = sync::SkipReason::not_utf8}}};
  CHECK(rendered(report, ReportStage::done) ==
        "  skipped  ab.md  not UTF-8 text: save it as UTF-8 to sync it\n"
        "nothing to do; 1 skipped\n");
  const sync::Report busy{.rows = {row(ActionKind::push_create, "a.md", "", done)},
                          .skipped = report.skipped,
                          .detached = {{.path = path("b.md"), .reason = "ignored"}}};
  CHECK(render_outcome(busy, ReportStage::done) == std::vector<std::string>{"1 sent, 1 skipped, 1 kept as it is"});
}

TEST_CASE("sync report: many files end in a count, all of them with --verbose", "[cli]") {
  sync::Report report;
  for (int i = 0; i < 50; ++i) report.rows.push_back(row(ActionKind::push_create, std::to_string(i) + ".md", "", done));
  CHECK(rendered(report, ReportStage::done, 40).find("  and 10 more (--verbose shows all)\n50 sent\n") !=
        std::string::npos);
  CHECK(rendered(report, ReportStage::done, 0).find("49.md") != std::string::npos);
}

TEST_CASE("sync report: as a list each row is an item", "[cli]") {
  const sync::Report report{.rows = {row(ActionKind::pull_create, "a.md", "created there", planned),
                                     failed(ActionKind::push_update, "b.md", Failure::Kind::forbidden)}};
  const Json items = report_items(report);
  REQUIRE(items.size() == 2);
  CHECK(items[0] == Json{{"state", "planned"},
                         {"action", "pull_create"},
                         {"path", "a.md"},
                         {"previous_path", nullptr},
                         {"reason", "created there"},
                         {"document_id", nullptr}});
  CHECK(items[1]["state"] == "failed");
  const sync::Report left{.skipped = {{.path = "link.md", .reason = sync::SkipReason::symlink}},
                          .detached = {{.path = path("b.md"), .reason = "ignored"}}};
  CHECK(report_to_tsv(left, ReportStage::done).empty());
  CHECK(report_to_tsv(left, ReportStage::planned) ==
        "skipped\t\tlink.md\t\tsymlink\n"
        "detached\t\tb.md\t\tignored\n");
  CHECK(report_to_tsv(report, ReportStage::done) ==
        "planned\tpull_create\ta.md\t\tcreated there\n"
        "failed\tpush_update\tb.md\t\tit did not work\n");
  CHECK(items[1]["reason"] == "it did not work");
}

TEST_CASE("sync run: it ends with the first code that applies", "[cli]") {
  const auto exit_of = [](const sync::Report& report, int signal = 0) { return exit_code_of_run(report, signal); };
  const sync::Conflict conflict{.path = path("c.md")};
  CHECK(exit_of({}) == ExitCode::done);
  CHECK(exit_of({.conflicts = {conflict}}) == ExitCode::conflict);
  CHECK(exit_of({.guard = sync::Guard{}}) == ExitCode::conflict);
  sync::Report report{.rows = {failed(ActionKind::push_update, "a.md", Failure::Kind::forbidden)},
                      .conflicts = {conflict}};
  CHECK(exit_of(report) == ExitCode::partial);
  report.ended_by = Failure{.kind = Failure::Kind::service};
  CHECK(exit_of(report) == ExitCode::server);
  // One file without room or permission is one item that failed; the run is not.
  report.rows.push_back(failed(ActionKind::pull_update, "d.md", Failure::Kind::disk));
  CHECK(exit_of(report) == ExitCode::server);
  report.ended_by = Failure{.kind = Failure::Kind::disk};
  CHECK(exit_of(report) == ExitCode::local);
  report.ended_by = Failure{.kind = Failure::Kind::auth};
  CHECK(exit_of(report) == ExitCode::auth);
  report.ended_by = Failure{.kind = Failure::Kind::cancelled};
  CHECK(exit_of(report, SIGTERM) == ExitCode::terminated);
  // "Nothing was applied" is said only where it is so.
  report.ended_by = Failure{.kind = Failure::Kind::unreachable};
  CHECK(exit_of(report) == ExitCode::network);
  report.rows.push_back(row(ActionKind::pull_update, "e.md", "", done));
  CHECK(exit_of(report) == ExitCode::partial);
}

TEST_CASE("sync status: --exit-code tells conflict from pending from clean", "[cli]") {
  CHECK(exit_code_of_status({}) == ExitCode::done);
  CHECK(exit_code_of_status({.rows = {row(ActionKind::push_update, "a.md", "", planned)}}) == ExitCode::partial);
  CHECK(exit_code_of_status({.rows = {row(ActionKind::conflict, "a.md", "", planned)}}) == ExitCode::conflict);
  CHECK(exit_code_of_status({.skipped = {{.path = "x"}}}) == ExitCode::done);
}
