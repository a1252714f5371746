// The real `ws-mock sweep` with small clients. `WS_FAULTS=all` (`./dev faults`) sweeps them whole.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

const std::string clients = source_path("/tests/sweep/clients/");
const std::string others = source_path("/tests/sweep/");

std::string runner_of(const std::string& client) {
  if (client.ends_with(".py")) return "python3";
  if (client.ends_with("search.sh")) return "sh";  // the one that is not for bash
  return client.ends_with(".mjs") ? "node" : client.find('/') == std::string::npos ? "sh" : "bash";
}

bool is_whole() {
  const char* const faults = std::getenv("WS_FAULTS");
  return faults != nullptr && std::string(faults) == "all";
}

Ended sweep(const std::string& client, std::vector<std::string> flags) {
  std::vector<std::string> arguments = {
      program("ws-mock"), "sweep", "--patience", "1s", "--limit", "3s", "--jobs", "2"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.push_back("--");
  if (const bool writes_files = client.find('/') != std::string::npos; writes_files) {
    const std::string in_folder = "mkdir -p \"$WS_SWEEP_DIR/out\" && cd \"$WS_SWEEP_DIR/out\" && exec \"$@\"";
    arguments.insert(arguments.end(), {"sh", "-c", in_folder, "-", runner_of(client), others + client});
  } else {
    arguments.insert(arguments.end(), {runner_of(client), clients + client});
  }
  const std::string path = std::filesystem::path(program("ws")).parent_path().string() + ":" + std::getenv("PATH");
  const auto timeout = std::chrono::minutes(is_whole() ? 60 : 5);
  return run_command({.arguments = arguments, .environment = {{"PATH", path}}, .timeout = timeout});
}

std::set<std::string> words_of(const Json& report) {
  std::set<std::string> words;
  for (const Json& row : report.at("rows")) {
    for (const Json& finding : row.at("findings")) words.insert(finding.at("word"));
  }
  return words;
}

}  // namespace

TEST_CASE("sweep: each planted bug is found under its right word, with what to change", "[sweep]") {
  const auto [client, row, word, advice] = GENERATE(table<std::string, std::string, std::string, std::string>({
      {"create_without_key.sh", "docs.create#1:reset-after", "doubled", "send an Idempotency-Key with docs.create"},
      {"create_without_key.sh", "docs.create#2:outage", "stuck", "the same when the command is run again"},
      {"refusal_repeated.py", "me.get#1:key-expired", "careless", "repeat a call only after 408"},
      {"impatient.mjs", "me.get#1:429-before", "impatient", "wait as long as Retry-After says"},
      {"believes_200.sh", "me.get#1:bad-json-after", "wrong", "look at the answer of me.get"},
      {"storm.sh", "me.get#1:outage", "storm", "stop after a few tries"},
      {"endless_poll.sh", "switch:test_runs=failing", "hung", "an end to each polling loop"},
      {"silent_failure.py", "docs.create#1:key-revoked", "lost", "look at the answer of docs.create"},
      {"key_over_redirect.py", "me.get#1:redirect-before", "leaked", "follow no redirect to another origin"},
      {"half_a_list.mjs", "docs.list#1:empty-page", "wrong", "call docs.list with next_cursor until that is null"},
      {"lease_ignored.py", "events.complete#1:lease-lost", "lost", "an event whose lease was lost"},
      {"upload_unread.sh", "upload.put#1:put-damaged", "wrong", "compare the sha256"},
      {"key_for_two_bodies.sh", "docs.create#1:500-before", "careless", "a key for each object"},
      {"prints_key.sh", "me.get#1:reset-before", "leaked", "leave the Authorization field out of what is printed"},
      {"unhandled.py", "me.get#1:reset-before", "crashed", "catch the failure where the call is made"},
  }));
  CAPTURE(client, row);
  std::vector<std::string> flags = {"--json", "--fixtures", clients + "event.yaml"};
  if (client != "lease_ignored.py") flags = {"--json"};
  if (!is_whole()) flags.insert(flags.end(), {"--only", row});
  const Ended ended = sweep(client, flags);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 1);
  const auto report = parse_bounded(ended.out);
  REQUIRE(report);
  CHECK(words_of(*report).contains(word));
  for (const Json& result : report->at("rows")) {
    if (result.at("id") != row) continue;
    for (const Json& finding : result.at("findings")) {
      CHECK_FALSE(finding.at("sentence").get<std::string>().empty());
      if (finding.at("word") == word) CHECK_THAT(finding.at("advice").get<std::string>(), Contains(advice));
    }
  }
}

// Clients of other hands: tests/sweep/README.md. The second word is as right as the first.
TEST_CASE("sweep: each of 24 bugs that others planted is found under its right word", "[sweep]") {
  const auto [client, row, word, other, advice] =
      GENERATE(table<std::string, std::string, std::string, std::string, std::string>({
          {"01_publish_notes.sh", "docs.create#1:reset-after", "doubled", "", "send an Idempotency-Key"},
          {"02_bump_changelog.sh", "comments.list#1:bump-revision", "overwritten", "", "read the document again"},
          {"03_export_titles.sh", "docs.list#1:empty-page", "output", "", "until that is null"},
          {"04_upload_file.sh", "files.upload_start#1:upload-elsewhere", "leaked", "", "send upload_headers"},
          {"05_archive_drafts.sh", "docs.archive#1:404-though-there", "hidden", "lost", "before a 404"},
          {"06_checkin_comment.sh", "comments.add#1:silence", "hung", "", "a timeout for each request"},
          {"07_report_search.sh", "search.run#1:403-before", "output", "hidden", "end with an exit code other than 0"},
          {"08_share_document.sh", "docs.share#1:403-before", "leaked", "", "leave the Authorization field out"},
          {"09_append_log.py", "docs.update#1:bump-revision", "overwritten", "", "make the change in its new text"},
          {"10_organize_file.py", "files.organize#1:operation-fails", "hidden", "lost", "202 is no end"},
          {"11_download_asset.py", "files.content#1:truncated-after", "output", "", "look at the answer"},
          {"12_answer_mentions.py", "comments.reply#1:403-before", "lost", "stuck", "send events.complete last"},
          {"13_changed_since.py", "docs.list#1:other-offset", "output", "", "compare moments"},
          {"14_export_jsonl.py", "docs.get#2:403-before", "output", "", "rename that to its name when it is whole"},
          {"15_upload_report.py", "files.upload_finish#1:503-after", "doubled", "", "read whether it took effect"},
          {"16_signup_agents.py", "agents.create#1:reset-after", "output", "hidden", "look at the answer"},
          {"17_archive_finished.mjs", "docs.archive#1:see-other-before", "hidden", "lost", "follow no redirect"},
          {"18_drain_queue.mjs", "events.claim#1:queue-empty", "storm", "", "wait retry_after_seconds"},
          {"19_refresh_handbook.mjs", "docs.get#2:403-before", "output", "hidden", "say what was refused"},
          {"20_publish_batch.mjs", "docs.create#3:403-before", "hidden", "lost", "end with an exit code"},
          {"21_close_ticket.mjs", "docs.update#1:403-before", "hidden", "lost", "end with an exit code"},
          {"22_mirror_documents.mjs", "docs.list#2:403-before", "output", "hidden", "end with an exit code"},
          {"23_post_metrics.mjs", "docs.create#1:outage", "storm", "hung", "stop after a few tries"},
          {"24_reply_worker.mjs", "comments.reply#1:403-before", "stuck", "", "give the event back"},
      }));
  CAPTURE(client, row);
  std::vector<std::string> flags = {"--json", "--output", "./out/"};
  if (!is_whole()) flags.insert(flags.end(), {"--only", row});
  const Ended ended = sweep("planted/" + client, flags);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 1);
  const auto report = parse_bounded(ended.out);
  REQUIRE(report);
  bool is_found = false;
  for (const Json& result : report->at("rows")) {
    if (result.at("id") != row) continue;
    for (const Json& finding : result.at("findings")) {
      if (finding.at("word") != word && finding.at("word") != other) continue;
      const auto fix = finding.at("advice").get<std::string>();
      is_found = is_found || fix.find(advice) != std::string::npos;
    }
  }
  CHECK(is_found);
}

TEST_CASE("sweep: eight right clients of others are without a finding", "[sweep]") {
  const std::string client = GENERATE(
      "publisher.py", "mirror.py", "worker.mjs", "uploader.sh", "updater.py", "asker.mjs", "poller.sh", "exporter.mjs");
  CAPTURE(client);
  std::vector<std::string> flags = {"--limit", "2m"};
  // What the others write is no output but what they go on from.
  if (client == "mirror.py" || client == "exporter.mjs") flags.insert(flags.end(), {"--output", "out"});
  if (!is_whole()) flags.insert(flags.end(), {"--sample", "4", "--skip", "timeout-before,silence,*429*,*503*"});
  const Ended ended = sweep("right/" + client, flags);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("sweep: right clients and `ws` itself are without a finding", "[sweep]") {
  const std::string client = GENERATE("right_create.py",
                                      "right_create.sh",
                                      "right_list.mjs",
                                      "right_read.sh",
                                      "ws_create.sh",
                                      "ws_create_again.sh",
                                      "ws_create_batch.sh",
                                      "ws_upload.sh",
                                      "ws_upload_batch.sh",
                                      "ws_sync.sh",
                                      "ws_events.sh");
  CAPTURE(client);
  std::vector<std::string> flags;
  if (client == "ws_events.sh") flags = {"--fixtures", clients + "event.yaml"};
  // An init that was cut off asks the person whether the source was made (`ws sync init`, exit 12).
  if (client == "ws_sync.sh") flags = {"--skip", "sync.source_create*"};
  if (!is_whole()) flags.insert(flags.end(), {"--sample", "2", "--skip", "timeout-before,silence,*429*,*503*"});
  // An upload may stand still for a minute, and `ws` waits 120 s for an answer.
  flags.insert(flags.end(), {"--limit", is_whole() ? "150s" : "10s"});
  const Ended ended = sweep(client, flags);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
}

TEST_CASE("sweep: a machine that becomes busy after the clean runs makes nothing hung", "[sweep]") {
  const TemporaryFolder folder;
  const std::string busy = folder / "busy";
  const std::string rest = folder / "rest";
  const std::string loops = "until [ -e '" + busy + "' ]; do sleep 0.02; [ ! -e '" + rest +
                            "' ] || exit 0; done\n"
                            "cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')\n"
                            "for i in $(seq 16); do taskset -c $cpu sh -c 'until [ -e " +
                            rest + " ]; do :; done' & done; wait";
  Running load({.arguments = {"bash", "-c", loops}});
  const Ended ended = run_command({.arguments = {program("ws-mock"),
                                                 "sweep",
                                                 "--json",
                                                 "--only",
                                                 "me.get#1:500-before",
                                                 "--limit",
                                                 "1s",
                                                 "--",
                                                 "python3",
                                                 clients + "computes.py"},
                                   .environment = {{"BUSY_FROM_NOW", busy}},
                                   .timeout = std::chrono::minutes(4)});
  std::ofstream(rest).flush();
  load.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK_THAT(ended.out, !Contains("hung"));
}

TEST_CASE("sweep: exit codes, reports and known findings", "[sweep]") {
  const TemporaryFolder folder;
  const std::string junit = folder / "sweep.xml";
  const std::string html = folder / "sweep.html";
  const std::string accept = folder / "known";
  const std::string row = "me.get#1:reset-before";
  const std::vector<std::string> one = {"--only", row};
  const Ended found = sweep("unhandled.py", {"--only", row, "--junit", junit, "--html", html});
  CHECK(found.exit == 1);
  CHECK_THAT(found.out,
             Contains("crashed") && Contains("fix: ") &&
                 Contains("ws-mock sweep --replay 'me.get#1:reset-before' --patience 1s --limit 3s -- python3"));
  std::ifstream xml(junit);
  const std::string cases(std::istreambuf_iterator<char>(xml), {});
  CHECK_THAT(cases, Contains("tests=\"1\" failures=\"1\"") && Contains("<failure type=\"crashed\""));
  std::ifstream page(html);
  const std::string text(std::istreambuf_iterator<char>(page), {});
  CHECK_THAT(text, Contains("me.get#1:reset-before") && !Contains("src=") && !Contains("<!--DATA-->"));
  std::ofstream(accept) << "# seen in spring\ncrashed:me.get#1:reset-before 2026-03-01 nobody calls it by hand\n"
                           "lost:me.get#9:outage 2026-03-01 it has one call now\n";
  const Ended known = sweep("unhandled.py", {"--only", row, "--accept", accept, "--junit", junit});
  CHECK(known.exit == 0);
  CHECK_THAT(known.out, Contains("outdated: lost:me.get#9:outage"));
  std::ifstream accepted_xml(junit);
  const std::string skipped(std::istreambuf_iterator<char>(accepted_xml), {});
  CHECK_THAT(skipped, Contains("skipped=\"1\"") && Contains("crashed is accepted: 2026-03-01 nobody calls"));
  const Ended again = sweep("unhandled.py", {"--replay", row});
  CHECK(again.exit == 1);
  CHECK_THAT(again.out, Contains("Traceback") && Contains("crashed"));
  CHECK(sweep("unhandled.py", {"--replay", "nothing#1:reset-before"}).exit == 2);
  const Ended plan = sweep("unhandled.py", {"--plan"});
  CHECK(plan.exit == 0);
  CHECK_THAT(plan.out, Contains("me.get#1:reset-before") && Contains("GET /v1/me"));
}

TEST_CASE("sweep: a command that fails without faults, or sends nothing, is told", "[sweep]") {
  const auto run = [](std::vector<std::string> command) {
    command.insert(command.begin(), {program("ws-mock"), "sweep", "--"});
    return run_command({.arguments = command});
  };
  const Ended failed = run({"sh", "-c", "echo oh; exit 3"});
  CHECK(failed.exit == 2);
  CHECK_THAT(failed.err, Contains("ended with 3") && Contains("oh"));
  const Ended nothing = run({"true"});
  CHECK(nothing.exit == 2);
  CHECK_THAT(nothing.err, Contains("no request"));
  CHECK(run({"no-such-program-anywhere"}).exit == 2);
  Running endless({.arguments = {program("ws-mock"), "sweep", "--", "sh", "-c", "echo up >&2; sleep 60"}});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  endless.signal(SIGTERM);
  CHECK(endless.wait().exit == 3);
}

TEST_CASE("sweep: --since runs what an earlier report does not have", "[sweep]") {
  const TemporaryFolder folder;
  const std::string earlier = (folder / "earlier.json").string();
  std::ofstream(earlier) << sweep("unhandled.py", {"--json", "--only", "me.get#1:500-before"}).out;
  const Ended same = sweep("unhandled.py", {"--since", earlier});
  CHECK(same.exit == 0);
  CHECK_THAT(same.out, Contains("nothing changed since 20"));
  const Ended other = sweep("prints_key.sh", {"--since", earlier, "--plan"});
  CHECK(other.exit == 0);
  std::ofstream(earlier) << "{}";
  CHECK(sweep("unhandled.py", {"--since", earlier}).exit == 2);
}

TEST_CASE("sweep: a selection of nothing is an error that names what there is", "[sweep]") {
  const auto refused = [](std::vector<std::string> flags, const std::string& near) {
    const Ended ended = sweep("unhandled.py", std::move(flags));
    CAPTURE(ended.out, ended.err);
    CHECK(ended.exit == 2);
    CHECK_THAT(ended.err, Contains(near));
  };
  refused({"--operations", "docs.delete"}, "docs.delete");
  refused({"--only", "reset-befor"}, "reset-before");
  refused({"--skip", "reset-befor", "--plan"}, "reset-before");
  refused({"--only", "reset-before", "--skip", "reset-*"}, "no row");
  refused({"--replay", "me.get#1:reset-befor"}, "there is no row");
  refused({"--assume", "error_stile=html"}, "error_style");
  refused({"--output", "./ouy", "--plan"}, "--output ouy names no folder");
  refused({"--output", ".", "--plan"}, "--output");
  const TemporaryFolder folder;
  const std::string accept = (folder / "known").string();
  const auto refused_line = [&](const std::string& line, const std::string& near) {
    std::ofstream(accept) << line << "\n";
    refused({"--accept", accept, "--plan"}, near);
  };
  refused_line("crashed:me.get#1:reset-before", "a date and a reason");
  refused_line("crashd:me.get#1:reset-before 2026-03-01 old", "crashed");
  refused_line("crashed:me.get#1:reset-befor 2026-03-01 old", "reset-before");
}

TEST_CASE("sweep: the command gets no setting of the user's", "[sweep]") {
  const TemporaryFolder folder;
  const std::string script = (folder / "say.sh").string();
  std::ofstream(script) << "env | grep '^WS_' | sort >" << (folder / "got").string() << "; exit 3\n";
  const std::map<std::string, std::string> user = {{"WS_CONFIG_DIR", "/u"},
                                                   {"WS_PROFILE", "p"},
                                                   {"WS_TOKEN_FILE", "/u/key"},
                                                   {"WS_ALLOW_HTTP", "evil.test"},
                                                   {"WS_WORKSPACE", "w"},
                                                   {"WS_TOKEN", "wsk_mine"},
                                                   {"WS_BASE_URL", "https://mine.test"}};
  const auto names = [&](const std::string& command) {
    run_command({.arguments = {program("ws-mock"), command, "--", "sh", script}, .environment = user});
    std::ifstream got(folder / "got");
    std::set<std::string> found;
    for (std::string line; std::getline(got, line);) {
      found.insert(line.substr(0, line.find('=')));
      CHECK(line.find("mine") == std::string::npos);
    }
    return found;
  };
  CHECK(names("exec") == std::set<std::string>{"WS_BASE_URL", "WS_TOKEN"});
  CHECK(names("sweep") == std::set<std::string>{"WS_BASE_URL", "WS_SWEEP_DIR", "WS_SWEEP_ROW", "WS_TOKEN"});
}
