// `ws sync watch`, the real program on a real disk: every wait is for a line that it prints.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <catch2/catch.hpp>

#include "sync-engine/binding/status_socket.hpp"
#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

/// The last whole line of what a watch printed on stdout, as JSON.
Json last_report(const Running& watch) {
  std::string out = watch.so_far().out;
  out.resize(out.rfind('\n'));
  return parse(out.substr(out.rfind('\n') + 1));
}

bool eventually(const std::function<bool()>& holds) {
  for (int attempt = 0; attempt < 1'500; ++attempt) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

/// Writes the last line of a file over and over, as long as it lives.
class BusyWriter {
 public:
  BusyWriter(std::filesystem::path file, std::string text)
      : file_(std::move(file)), text_(std::move(text)), writer_([this] { write(); }) {}
  ~BusyWriter() {
    stopped_ = true;
    writer_.join();
  }

 private:
  void write() {
    for (int round = 0; !stopped_; ++round) {
      write_text(file_, text_ + "round " + std::to_string(round) + "\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  std::filesystem::path file_;
  std::string text_;
  std::atomic<bool> stopped_ = false;
  std::thread writer_;
};

}  // namespace

TEST_CASE("sync watch: a second one in the same folder says who watches since when, and ends", "[cli]") {
  const TwoFolders two;
  const std::vector<std::string> words = {"sync", "watch", "--interval", "1s", "--json"};
  Running watch(two.person.command(words, two.here));
  REQUIRE(watch.wait_for("watching "));
  const Ended second = two.ws(two.here / "deep", words);
  CHECK(second.exit == 14);
  CHECK_THAT(second.err,
             Contains(two.here.string() + " is watched already: by process ") && Contains(" on ") &&
                 Contains(", since 20") && Contains("\"tree_locked\""));
  // Everything else goes on beside it, and so does a watch elsewhere.
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  Running elsewhere(two.person.command(words, two.there));
  CHECK(elsewhere.wait_for("watching "));
  elsewhere.signal(SIGTERM);
  elsewhere.wait();
  watch.signal(SIGKILL);
  watch.wait();
  Running next(two.person.command(words, two.here));
  CHECK(next.wait_for("watching "));
  next.signal(SIGTERM);
  next.wait();
}

TEST_CASE("sync watch: a file that is deleted and written anew keeps its document", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "shows.md", "![](p.png)\n");
  write_text(two.here / "p.png", "a picture");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  std::filesystem::remove(two.here / "a.md");
  std::filesystem::remove(two.here / "p.png");
  write_text(two.here / "n.md", "new\n");
  REQUIRE(watch.wait_for("push_create"));  // a run while the files are away
  write_text(two.here / "p.png", "another picture");
  write_text(two.here / "a.md", "one\ntwo\nanew\n");
  REQUIRE(watch.wait_for("\"path\":\"a.md\""));
  REQUIRE(watch.wait_for("\"path\":\"p.png\""));
  watch.signal(SIGTERM);
  CHECK_THAT(watch.wait().out, !Contains("push_delete"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync watch: a file that its writer has open waits until it is closed", "[cli]") {
  const TwoFolders two;
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  std::ofstream writer(two.here / "a.md");
  writer << "half of it" << std::flush;
  write_text(two.here / "n.md", "new\n");
  REQUIRE(watch.wait_for("push_create"));
  CHECK_THAT(watch.so_far().out, !Contains("push_update"));
  writer << " and the rest\n";
  writer.close();
  REQUIRE(watch.wait_for("push_update"));
  watch.signal(SIGTERM);
  watch.wait();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync watch: deletes that the guard stops are held back, and the rest goes on", "[cli]") {
  const TwoFolders two;
  for (const char* name : {"c.md", "d.md", "e.md"}) write_text(two.here / name, name);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  for (const char* name : {"a.md", "c.md", "d.md", "e.md"}) std::filesystem::remove(two.here / name);
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("\"held_back\""));
  write_text(two.here / "n.md", "new\n");
  REQUIRE(watch.wait_for("push_create"));
  write_text(two.here / "deep/b.md", "# edited\n");
  REQUIRE(watch.wait_for("push_update"));
  watch.signal(SIGTERM);
  CHECK_THAT(watch.wait().out, !Contains("push_delete"));
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there).size() == 6);
  CHECK(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync watch: a file that is renamed and written on is the same document once it is at rest", "[cli]") {
  const TwoFolders two;
  const std::string text = "1\n2\n3\n4\n5\n6\n";
  write_text(two.here / "x.md", text);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  std::string at_work;
  {
    const std::filesystem::path renamed = two.here / "w.md";
    SECTION("to a new name") { std::filesystem::rename(two.here / "x.md", renamed); }
    SECTION("in a circle with another") {
      std::filesystem::rename(two.here / "x.md", two.here / "tmp.txt");
      std::filesystem::rename(two.here / "a.md", two.here / "x.md");
      std::filesystem::rename(two.here / "tmp.txt", two.here / "a.md");
    }
    const BusyWriter writer(std::filesystem::exists(renamed) ? renamed : two.here / "a.md", text);
    // A run in between, which leaves alone what is written on.
    write_text(two.here / "n.md", "new\n");
    REQUIRE(watch.wait_for("push_create"));
    at_work = watch.so_far().out;
  }
  CHECK_THAT(at_work, !Contains("push_delete") && !Contains("push_move") && !Contains("conflict\""));
  REQUIRE(watch.wait_for("push_move"));
  watch.signal(SIGTERM);
  const Ended ended = watch.wait();
  CHECK_THAT(ended.out, Contains("push_update") && !Contains("push_delete") && !Contains("\"path\",\"state"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("sync watch: an edit here goes there, one there comes here, and SIGTERM ends it", "[cli]") {
  const TwoFolders two;
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  CHECK(watch.so_far().out.empty());

  write_text(two.here / "new/folder/c.md", "made here\n");
  REQUIRE(watch.wait_for("push_create"));
  CHECK(last_report(watch)["actions"][0]["path"] == "new/folder/c.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());

  // As editors save: beside it, then renamed over it.
  write_text(two.here / "new/folder/.c.md.tmp", "saved here\n");
  std::filesystem::rename(two.here / "new/folder/.c.md.tmp", two.here / "new/folder/c.md");
  REQUIRE(watch.wait_for("push_update"));

  write_text(two.there / "a.md", "edited there\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  REQUIRE(watch.wait_for("pull_update\",\"reason\":\"edited on the service"));
  CHECK(read_text(two.here / "a.md") == "edited there\n");

  watch.signal(SIGTERM);
  const Ended ended = watch.wait();
  CHECK(ended.exit == 143);
  CHECK(two.same());
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);
}

TEST_CASE("sync watch: a server that is killed is waited for, said once, and what changed meanwhile goes out",
          "[cli]") {
  TemporaryFolder stage;
  const std::string data = (stage / "mock.db").string();
  auto server = std::make_unique<MockProcess>(std::vector<std::string>{"--data", data});
  const Person person(*server);
  const std::string address = "127.0.0.1:" + std::to_string(server->port());
  write_text(stage / "notes/a.md", "one\n");
  REQUIRE(person.ws({"sync", "init", "--json"}, stage / "notes").exit == 0);
  Running watch(person.command({"sync", "watch", "--interval", "1s"}, stage / "notes"));
  REQUIRE(watch.wait_for("watching "));

  server->end(SIGKILL);
  REQUIRE(watch.wait_for("trying again"));
  write_text(stage / "notes/b.md", "written in the dark\n");
  server.reset();
  Running again({.arguments = {program("ws-mock"), "--listen", address, "--log", "off", "--data", data}});
  REQUIRE(watch.wait_for("push_create\tb.md"));
  REQUIRE(watch.wait_for("in sync again"));
  watch.signal(SIGINT);
  const Ended ended = watch.wait();
  CHECK(ended.exit == 130);
  CHECK(ended.err.find("trying again") == ended.err.rfind("trying again"));
  CHECK(person.ws({"sync", "status", "--exit-code"}, stage / "notes").exit == 0);
}

TEST_CASE("sync watch: a key that ends, a tree that goes and a bad interval end it with their codes", "[cli]") {
  const TwoFolders two;
  const Ended bad = two.ws(two.here, {"sync", "watch", "--interval", "0"});
  CHECK(bad.exit == 2);
  CHECK_THAT(bad.err, Contains("1s to 24h"));

  Running watch(two.person.command({"sync", "watch", "--interval", "1s"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  std::filesystem::remove_all(two.here / ".ws");
  CHECK(watch.wait().exit == 14);

  Person stranger(two.server);
  stranger.environment["WS_TOKEN"] = "no-such-key";
  CHECK(stranger.ws({"sync", "watch"}, two.there).exit == 4);
}

TEST_CASE("sync watch: ends where its folder is set up anew for another server", "[cli]") {
  const TwoFolders two;
  // The same seed: the other server has a source with the same id.
  const MockProcess other;
  Running watch(two.person.command({"sync", "watch", "--interval", "1s"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  std::filesystem::rename(two.here / ".ws", two.stage / "old");
  Person elsewhere(other);
  REQUIRE(elsewhere.ws({"sync", "init", "--name", "notes"}, two.here).exit == 0);
  const Ended ended = watch.wait();
  // 14 where it looked while there was no `.ws`.
  CHECK((ended.exit == 2 || ended.exit == 14));
  CHECK(elsewhere.ws({"sync"}, two.here).exit == 0);
  CHECK(elsewhere.ws({"sync", "log", "--runs", "--format", "json", "--jq", ".data | length"}, two.here).out == "1\n");
}

TEST_CASE("sync status: a running watch that saw no change tells it", "[cli]") {
  const TwoFolders two;
  const Ended alone = two.ws(two.here, {"sync", "status", "--json"});
  const auto ws = sync::WsFolder::open(two.here);
  REQUIRE(ws);
  Running watch(two.person.command({"sync", "watch", "--interval", "1s", "--json"}, two.here));
  REQUIRE(watch.wait_for("watching "));
  const auto is_told = [&] { return sync::ask_watch(*ws).has_value(); };
  REQUIRE(eventually(is_told));
  CHECK(parse(two.ws(two.here, {"sync", "status", "--json"}).out) == parse(alone.out));
  write_text(two.here / "a.txt", "not synced\n");
  CHECK_FALSE(is_told());
  CHECK_THAT(two.ws(two.here, {"sync", "status", "--format", "table"}).out, Contains("a.txt"));
  REQUIRE(eventually(is_told));
  CHECK_THAT(two.ws(two.here, {"sync", "status", "--format", "table"}).out, Contains("a.txt"));
  write_text(two.here / "a.md", "edited\n");
  CHECK_FALSE(is_told());
  REQUIRE(watch.wait_for("push_update"));
  REQUIRE(eventually(is_told));
  watch.signal(SIGTERM);
  watch.wait();
  CHECK_FALSE(ws->has("watch.sock"));
  CHECK_FALSE(is_told());
}
