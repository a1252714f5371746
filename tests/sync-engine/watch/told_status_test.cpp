// A status that a running watch tells, and when it is believed.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "sync-engine/binding/status_socket.hpp"
#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::SyncedFolder;
using namespace std::chrono_literals;

/// Answers each who asks, as a watch does, until the end of the scope.
class AnsweringWatch {
 public:
  AnsweringWatch(const WsFolder& ws, std::string text) : socket_(std::move(*StatusSocket::listen(ws))) {
    thread_ = std::thread([this, text = std::move(text)] {
      while (!stopped_) {
        if (socket_.is_asked()) socket_.answer(text);
        std::this_thread::sleep_for(100us);
      }
    });
  }
  ~AnsweringWatch() {
    stopped_ = true;
    thread_.join();
  }

 private:
  StatusSocket socket_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

/// The status to hand out, once the last write to the state is old enough.
std::string settled_status(SyncedFolder& folder) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto status = folder.engine().clean_status();
    REQUIRE(status);
    if (*status) return (*status)->text;
    std::this_thread::sleep_for(20ms);
  }
  FAIL("there is no status to hand out");
  return {};
}

/// A status that finds nothing to do: asked for again where the watch's thread got no turn in the time that it has.
Report told_status(SyncedFolder& folder, const RunOptions& options) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto status = folder.engine().status(options);
    REQUIRE(status);
    if (lines(*status).empty()) return std::move(*status);
  }
  FAIL("the watch's answer is not taken");
  return {};
}

WsFolder own_folder(const SyncedFolder& folder) {
  auto ws = WsFolder::open(folder.path());
  REQUIRE(ws);
  return std::move(*ws);
}

struct SyncedNotes {
  FakeRemote remote;
  SyncedFolder here{remote};
  SyncedNotes() {
    here.write("a.md", "a\n");
    here.write("b.md", "b\n");
    here.write("left.txt", "no note\n");
    here.run();
  }
};

}  // namespace

TEST_CASE("told status: it is what a survey finds, without one", "[sync-engine]") {
  SyncedNotes notes;
  const WsFolder ws = own_folder(notes.here);
  const RunOptions named{.name_others = true};
  const Report found = *notes.here.engine().status(named);
  const std::string text = settled_status(notes.here);
  // What the watch did not see: with its answer nobody looks.
  notes.here.write("a.md", "edited\n");
  REQUIRE(lines(notes.here.status()).size() == 1);
  const AnsweringWatch watch(ws, text);
  const Report told = told_status(notes.here, named);
  CHECK(to_json(told) == to_json(found));
  CHECK(told.others == found.others);
  CHECK(told.others == std::vector<std::string>{"left.txt"});
  told_status(notes.here, {.offline = true});
  CHECK(lines(notes.here.status({.whole = true})).size() == 1);
}

TEST_CASE("told status: what came to the service since is seen", "[sync-engine]") {
  SyncedNotes notes;
  SyncedFolder there(notes.remote);
  there.run();
  const WsFolder ws = own_folder(notes.here);
  const AnsweringWatch watch(ws, settled_status(notes.here));
  there.write("b.md", "edited there\n");
  there.run();
  CHECK(lines(notes.here.status({.offline = true})).empty());
  CHECK(lines(notes.here.status()).size() == 1);
}

TEST_CASE("told status: a state that changed since is not described by it", "[sync-engine]") {
  SyncedNotes notes;
  const WsFolder ws = own_folder(notes.here);
  const AnsweringWatch watch(ws, settled_status(notes.here));
  notes.here.write("c.md", "c\n");
  notes.here.run();
  notes.here.write("a.md", "edited\n");
  CHECK(lines(notes.here.status()).size() == 1);
}

TEST_CASE("told status: settings that changed since are not described by it", "[sync-engine]") {
  SyncedNotes notes;
  const WsFolder ws = own_folder(notes.here);
  const AnsweringWatch watch(ws, settled_status(notes.here));
  notes.here.write(".ws/config.yaml", "include: ['*.txt']\n");
  CHECK(lines(notes.here.status()).size() == 1);
}

TEST_CASE("told status: without a service only an offline status can be told", "[sync-engine]") {
  SyncedNotes notes;
  const WsFolder ws = own_folder(notes.here);
  const AnsweringWatch watch(ws, settled_status(notes.here));
  const test::FixedClock clock;
  auto alone = SyncEngine::open(notes.here.path(), nullptr, clock);
  REQUIRE(alone);
  CHECK(alone->status({.offline = true}));
  const auto status = alone->status();
  REQUIRE_FALSE(status);
  CHECK(status.error().kind == Failure::Kind::usage);
}

TEST_CASE("told status: where there is something to do, none is made", "[sync-engine]") {
  SyncedNotes notes;
  settled_status(notes.here);
  notes.here.write("a.md", "edited\n");
  CHECK_FALSE(*notes.here.engine().clean_status());
}

TEST_CASE("told status: an answer that makes no sense is no answer", "[sync-engine]") {
  SyncedNotes notes;
  const WsFolder ws = own_folder(notes.here);
  const std::string text = settled_status(notes.here);
  notes.here.write("a.md", "edited\n");
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string other = text;
    other.replace(other.find(what), what.size(), by);
    return other;
  };
  const std::string answer = GENERATE_COPY(std::string(),
                                           std::string("{"),
                                           text.substr(0, text.size() / 2),
                                           replaced("\"v\":1", "\"v\":2"),
                                           replaced("\"skipped\":[]", "\"skipped\":[[\"a\",\"no such reason\"]]"),
                                           replaced("\"skipped\":[]", "\"skipped\":[1]"),
                                           replaced("\"revision\":", "\"revision\":\"x\",\"r\":"),
                                           std::string(max_status_bytes + 1, 'x'));
  const AnsweringWatch watch(ws, answer);
  CHECK(lines(notes.here.status()).size() == 1);
}

TEST_CASE("told status: nobody waits for a watch that is busy or gone", "[sync-engine]") {
  SyncedNotes notes;
  const WsFolder ws = own_folder(notes.here);
  CHECK_FALSE(ask_watch(ws));
  {
    auto socket = StatusSocket::listen(ws);
    REQUIRE(socket);
    CHECK_FALSE(ask_watch(ws));  // it listens, and does not answer
    auto later = StatusSocket::listen(ws);
    REQUIRE(later);
    { const StatusSocket ended = std::move(*socket); }
    CHECK(ws.has("watch.sock"));  // the later one's
  }
  CHECK_FALSE(ws.has("watch.sock"));
  notes.here.write(".ws/watch.sock", "no socket");
  CHECK_FALSE(ask_watch(ws));
  CHECK(lines(notes.here.status()).empty());
  CHECK(StatusSocket::listen(ws));
}

}  // namespace ws::sync
