#include "api-client/transfer/download.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/http/curl.hpp"
#include "api-client/transfer/partial_file.hpp"
#include "tests/support/client_world.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/no_jitter.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"

using namespace ws;
using namespace ws::test;
using Kind = Failure::Kind;

namespace {

namespace fs = std::filesystem;

std::string some_bytes(std::size_t count) {
  SeededRandom random(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.next());
  return bytes;
}
const std::string whole = some_bytes(300'000);

/// A file service with ranges that cuts each answer after so many bytes.
struct Downloading {
  std::size_t cut_after = whole.size();
  bool does_ranges = true;
  bool honours_if_range = true;
  std::size_t shift = 0;  ///< a part begins so much later than was asked for
  std::string etag = "\"v1\"";
  std::string content = whole;
  HostileServer server{[this](const Seen& seen) { return serve(seen); }};
  TemporaryFolder folder;
  SystemClock clock;
  NoJitter random;
  std::unique_ptr<http::Transport> transport = *http::make_curl_transport();
  Client client{
      *transport, clock, random, {.base_url = server.origin(), .credential = Credential{secret_key, server.origin()}}};

  Script serve(const Seen& seen) const {
    std::size_t begin = 0;
    const auto range = seen.header("Range");
    const auto if_range = seen.header("If-Range");
    if (range && does_ranges && (!if_range || !honours_if_range || *if_range == etag))
      begin = std::stoul(range->substr(6));
    if (begin > 0) begin += shift;
    if (begin >= content.size() && begin > 0) return answer(416, "{}");
    std::string head = begin > 0 ? "HTTP/1.1 206 Partial\r\n" : "HTTP/1.1 200 OK\r\n";
    head += "Content-Type: application/octet-stream\r\n";
    if (!etag.empty()) head += "ETag: " + etag + "\r\n";
    head += "Content-Length: " + std::to_string(content.size() - begin) + "\r\n";
    if (begin > 0) {
      head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(content.size() - 1) + "/" +
              std::to_string(content.size()) + "\r\n";
    }
    return {SendBytes{head + "\r\n" + content.substr(begin, cut_after)}, CloseConnection{}};
  }

  DownloadRequest request() const {
    return {.asset_id = some_id, .size_bytes = whole.size(), .sha256 = Sha256::of(whole)};
  }
  fs::path target() const { return folder / "file.bin"; }
  Result<Downloaded> run(const DownloadRequest& wanted) {
    WS_LET(const auto part, PartialFile::open(target(), some_id));
    WS_LET(const Downloaded done, download(client, wanted, *part));
    WS_TRY(part->finish(Replace::no));
    return done;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  }
};

}  // namespace

TEST_CASE("download: a file arrives whole, checked, and leaves nothing beside it", "[transfer]") {
  Downloading stage;
  const auto done = stage.run(stage.request());
  REQUIRE(done);
  CHECK(done->is_checked);
  CHECK(done->size_bytes == whole.size());
  CHECK(read_text(stage.target()) == whole);
  CHECK(stage.files() == 1);
  CHECK(stage.server.requests().front().header("Accept-Encoding") == "identity");
}

TEST_CASE("download: cut answers are gone on with where they stopped", "[transfer]") {
  Downloading stage;
  stage.cut_after = 100'000;
  const auto done = stage.run(stage.request());
  REQUIRE(done);
  CHECK(read_text(stage.target()) == whole);
  const auto requests = stage.server.requests();
  REQUIRE(requests.size() == 3);
  CHECK_FALSE(requests[0].header("Range"));
  CHECK(requests[1].header("Range") == "bytes=100000-");
  CHECK(requests[1].header("If-Range") == "\"v1\"");
  CHECK(requests[2].header("Range") == "bytes=200000-");
}

TEST_CASE("download: a run that died is gone on with by the next one", "[transfer]") {
  Downloading stage;
  stage.cut_after = 10'000;  // three sends do not reach the end
  const auto cut = stage.run(stage.request());
  REQUIRE_FALSE(cut);
  CHECK(cut.error().kind == Kind::unreachable);
  CHECK(cut.error().hint == "run the same command again");
  CHECK(stage.server.requests().size() == 3);
  CHECK_FALSE(fs::exists(stage.target()));
  CHECK(stage.files() == 2);
  stage.client.start_afresh();
  stage.cut_after = whole.size();
  const auto done = stage.run(stage.request());
  REQUIRE(done);
  CHECK(done->resumed_at_bytes == 30'000);
  CHECK(read_text(stage.target()) == whole);
  CHECK(stage.files() == 1);
}

TEST_CASE("download: what was kept of another file is not mixed in", "[transfer]") {
  Downloading stage;
  stage.cut_after = 10'000;
  CHECK_FALSE(stage.run(stage.request()));
  stage.client.start_afresh();
  stage.cut_after = whole.size();
  SECTION("the service says that it is another one") { stage.etag = "\"v2\""; }
  SECTION("the service says nothing") { stage.etag = ""; }
  SECTION("the service does no ranges") { stage.does_ranges = false; }
  SECTION("the service sends a part of another one all the same") {
    stage.etag = "\"v2\"";
    stage.honours_if_range = false;
  }
  SECTION("the service sends another part") { stage.shift = 1; }
  stage.content.replace(0, 3, "new");
  DownloadRequest wanted = stage.request();
  wanted.sha256 = Sha256::of(stage.content);
  const auto done = stage.run(wanted);
  REQUIRE(done);
  CHECK(read_text(stage.target()) == stage.content);
}

TEST_CASE("download: a part that never goes with what is there ends as an integrity failure", "[transfer]") {
  Downloading stage;
  stage.cut_after = 100'000;
  stage.shift = 1;
  const auto done = stage.run(stage.request());
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == Kind::integrity);
  CHECK(stage.server.requests().size() == 4);  // twice from the first byte
}

TEST_CASE("download: another hash or size is an integrity failure, and there is no file", "[transfer]") {
  Downloading stage;
  DownloadRequest wanted = stage.request();
  SECTION("hash") { stage.content.replace(5, 1, stage.content[5] == 'x' ? "y" : "x"); }
  SECTION("too short") { stage.content.resize(whole.size() - 1); }
  SECTION("too long") {
    stage.content += "more";
    stage.cut_after = stage.content.size();
  }
  const auto done = stage.run(wanted);
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == Kind::integrity);
  CHECK_FALSE(fs::exists(stage.target()));
}

TEST_CASE("download: without a hash or a size it says that nothing was checked", "[transfer]") {
  Downloading stage;
  const auto done = stage.run({.asset_id = some_id});
  REQUIRE(done);
  CHECK_FALSE(done->is_checked);
  CHECK(read_text(stage.target()) == whole);
}

TEST_CASE("download: an empty file is a file", "[transfer]") {
  Downloading stage;
  stage.content.clear();
  const auto done = stage.run({.asset_id = some_id, .size_bytes = 0, .sha256 = Sha256::of("")});
  REQUIRE(done);
  CHECK(read_text(stage.target()).empty());
  CHECK(fs::exists(stage.target()));
}

TEST_CASE("partial file: two runs on one target do not mix, and a target that came into being stays", "[transfer]") {
  const TemporaryFolder folder;
  const auto first = PartialFile::open(folder / "a", "id");
  REQUIRE(first);
  const auto second = PartialFile::open(folder / "a", "id");
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == Kind::disk);
  // The engine opens below a descriptor: a person is shown the name.
  const Descriptor below(::open(folder.path().c_str(), O_PATH | O_CLOEXEC));
  const auto third = PartialFile::open(fmt::format("/proc/self/fd/{}/a", below.get()), "id");
  REQUIRE_FALSE(third);
  CHECK(third.error().what == "another ws is downloading " + (folder / "a").string());
  REQUIRE((*first)->append("new"));
  write_text(folder / "a", "theirs");
  CHECK_FALSE((*first)->finish(Replace::no));
  CHECK(read_text(folder / "a") == "theirs");
  REQUIRE((*first)->finish(Replace::yes));
  CHECK(read_text(folder / "a") == "new");
}

TEST_CASE("partial file: one that is not ours is refused, and nothing of it changes", "[transfer]") {
  Downloading stage;
  const fs::path part = stage.folder / ".file.bin.ws-part";
  const fs::path other = stage.folder / "other";
  write_text(other, "somebody's");
  SECTION("a second name") { fs::create_hard_link(other, part); }
  SECTION("a link") { fs::create_symlink(other, part); }
  SECTION("a pipe") { REQUIRE(::mkfifo(part.c_str(), 0666) == 0); }
  SECTION("another user's") {
    write_text(part, "somebody's");
    if (::chown(part.c_str(), 12345, 12345) != 0) {
      WARN("skipped: only root can make another user's file");
      return;
    }
    fs::permissions(part, fs::perms::all);
  }
  const auto refused = stage.run(stage.request());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Kind::disk);
  CHECK(refused.error().code == "not_ours");
  CHECK_FALSE(fs::exists(stage.target()));
  CHECK(read_text(other) == "somebody's");
  if (fs::is_regular_file(part)) CHECK(read_text(part) == "somebody's");
}

TEST_CASE("partial file: notes that are not ours say nothing of our bytes", "[transfer]") {
  Downloading stage;
  write_text(stage.folder / ".file.bin.ws-part", "of another file");
  write_text(stage.folder / "notes", R"({"v": 1, "identity": ")" + std::string(some_id) + R"(", "etag": ""})");
  fs::create_symlink(stage.folder / "notes", stage.folder / ".file.bin.ws-part.json");
  DownloadRequest unchecked = stage.request();
  unchecked.sha256.reset();
  unchecked.size_bytes.reset();
  const auto done = stage.run(unchecked);
  REQUIRE(done);
  CHECK(done->resumed_at_bytes == 0);
  CHECK(read_text(stage.target()) == whole);
}

TEST_CASE("partial file: a note is written where a large part, or one that is left behind, needs it", "[transfer]") {
  const TemporaryFolder folder;
  const std::string half(600'000, 'x');
  const fs::path target = folder / "a";
  {
    const auto part = PartialFile::open(target, "id");
    REQUIRE(part);
    REQUIRE((*part)->set_etag("\"v1\""));
    REQUIRE((*part)->append(half));
    CHECK_FALSE(fs::exists((*part)->notes()));
    SECTION("left behind") {}
    SECTION("large") {
      REQUIRE((*part)->append(half));
      CHECK(fs::exists((*part)->notes()));
    }
  }
  const auto again = PartialFile::open(target, "id");
  REQUIRE(again);
  CHECK((*again)->size_bytes() >= half.size());
  CHECK((*again)->etag() == "\"v1\"");
  REQUIRE((*again)->finish(Replace::no));
  CHECK_FALSE(fs::exists((*again)->notes()));
}

TEST_CASE("partial file: of several that are finished together each has its own end", "[transfer]") {
  const TemporaryFolder folder;
  const std::size_t count = GENERATE(3, 20);
  std::vector<std::unique_ptr<PartialFile>> parts;
  std::vector<PartialFile*> files;
  for (std::size_t i = 0; i < count; ++i) {
    auto part = PartialFile::open(folder / std::to_string(i), "id");
    REQUIRE(part);
    REQUIRE((*part)->append(std::to_string(i)));
    files.push_back(parts.emplace_back(std::move(*part)).get());
  }
  write_text(folder / "1", "theirs");
  const std::vector<Result<void>> ends = PartialFile::finish_all(files, Replace::no);
  REQUIRE(ends.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(ends[i].has_value() == (i != 1));
    CHECK(read_text(folder / std::to_string(i)) == (i == 1 ? "theirs" : std::to_string(i)));
  }
}
