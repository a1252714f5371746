// Files up and down between the real `ws` and the real mock, with cuts in between.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/relay.hpp"

using namespace ws;
using namespace ws::test;

namespace {

std::string text_of_size(std::size_t size) {
  std::string text(size, 'x');
  for (std::size_t i = 0; i < size; i += 61) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

struct FileStage {
  MockProcess server;
  Person person{server};
  TemporaryFolder folder;

  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  Json json(std::vector<std::string> arguments, int exit = 0) const {
    arguments.push_back("--json");
    const Ended ended = ws(arguments);
    CAPTURE(arguments, ended.err);
    REQUIRE(ended.exit == exit);
    return parse(exit == 0 || exit == 13 ? ended.out : ended.err);
  }
  std::string uploaded(const std::string& name, const std::string& text) const {
    write_text(folder / name, text);
    return json({"files", "upload", name})["id"];
  }
  std::size_t assets() const {
    const Json list = parse(body_of(server, "/v1/files?limit=100"));
    return list["data"].size();
  }
};

/// The same, with a hand on the wire. Bytes of uploads go to the mock itself: it names their address.
struct Meddled : FileStage {
  explicit Meddled(Meddler meddler) : relay(server, std::move(meddler)) {
    person.environment["WS_BASE_URL"] = relay.origin();
  }
  Relay relay;
};

}  // namespace

TEST_CASE("files: what goes up comes down byte for byte, with its type", "[cli]") {
  const FileStage stage;
  const std::string text = text_of_size(200'000);
  write_text(stage.folder / "note.md", text);
  write_text(stage.folder / "picture.txt", "\x89PNG\r\n\x1a\n and so on");
  const Json both = stage.json({"files", "upload", "note.md", "picture.txt", "--jobs", "2"});
  REQUIRE(both["data"].size() == 2);
  CHECK(both["data"][0]["id"] == "note.md");
  CHECK(both["data"][0]["result"]["mime_type"] == "text/markdown");
  CHECK(both["data"][1]["result"]["mime_type"] == "image/png");
  const std::string id = both["data"][0]["result"]["id"];
  CHECK(stage.ws({"files", "upload", "note.md", "picture.txt"}).out.substr(0, 13) == "note.md\ttrue\t");
  const Json down = stage.json({"files", "download", id, "-o", "down/"});
  CHECK(down["path"] == "down/note.md");
  CHECK(down["checked"] == true);
  CHECK(read_text(stage.folder / "down" / "note.md") == text);
  CHECK(stage.ws({"files", "download", id, "-o", "-"}).out == text);
  write_text(stage.folder / "down" / "note.md", "other");
  CHECK(stage.ws({"files", "download", id, "-o", "down/note.md"}).exit == 14);
  CHECK(stage.ws({"files", "download", id, "-o", "down/note.md", "--force"}).out == "down/note.md\n");
  CHECK(stage.ws({"files", "download", id, id, "-o", "one.md"}).exit == 2);
}

TEST_CASE("files: what breaks a published limit is refused before anything is sent", "[cli]") {
  const FileStage stage;
  write_text(stage.folder / "empty", "");
  write_text(stage.folder / "good", "x");
  std::filesystem::resize_file(stage.folder / "good", 1);
  write_text(stage.folder / "huge", "x");
  std::filesystem::resize_file(stage.folder / "huge", 104'857'601);
  CHECK(stage.json({"files", "upload", "empty"}, 2)["error"]["message"].get<std::string>().find("empty") !=
        std::string::npos);
  CHECK(stage.json({"files", "upload", "huge"}, 2)["error"]["message"].get<std::string>().find("104857600") !=
        std::string::npos);
  CHECK(stage.ws({"files", "upload", "missing"}).exit == 14);
  CHECK(stage.ws({"files", "upload", "."}).exit == 14);
  CHECK(stage.ws({"files", "organize", "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b", "-m", ""}).exit == 2);
  CHECK(control(stage.server, "GET", "/requests", "").find("files.") == std::string::npos);
}

TEST_CASE("files: a finalize whose answer is lost is exit 12, run again, there is one Asset", "[cli]") {
  std::atomic<bool> swallows{true};
  const Meddled stage([&](const Seen& seen, const Forward& forward) {
    Script passed = forward();
    if (swallows && seen.target == "/v1/files/uploads:finalize") return Script{CloseConnection{}};
    return passed;
  });
  write_text(stage.folder / "a.md", "# A\n");
  const Json lost = stage.json({"files", "upload", "a.md"}, 12)["error"];
  CHECK(lost["applied"] == "unknown");
  CHECK(lost["hint"].get<std::string>().find("`ws ") != std::string::npos);
  CHECK(stage.assets() == 1);
  swallows = false;
  const Json again = stage.json({"files", "upload", "a.md"});
  CHECK(again["original_file_name"] == "a.md");
  CHECK(stage.assets() == 1);
  stage.json({"files", "upload", "a.md"});
  CHECK(stage.assets() == 1);
  stage.json({"files", "upload", "a.md", "--again"});  // a new wish is a new file
  CHECK(stage.assets() == 2);
}

TEST_CASE("files: an upload in doubt is known by its bytes and its uploader, not by where they lie", "[cli]") {
  const FileStage stage;
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "files.upload_finish", "nth": 1, "phase": "after",
              "effect": {"close_without_answer": true}})");
  const auto path = stage.folder / "a.txt";
  const auto written = std::filesystem::file_time_type::clock::now() - std::chrono::hours{1};
  const auto write = [&](const std::string& text) {
    write_text(path, text);
    std::filesystem::last_write_time(path, written);
  };
  write("one\n");
  stage.json({"files", "upload", "a.txt"}, 12);
  const std::string first = parse(body_of(stage.server, "/v1/files?limit=1"))["data"][0]["id"];
  const auto id_with_key = [&](const std::string& key) {
    Person other(stage.server);
    other.environment["XDG_STATE_HOME"] = (stage.person.home() / "STATE").string();
    other.environment["WS_TOKEN"] = text_at(parse(control(stage.server, "POST", "/keys", key)), "secret");
    return text_at(parse(other.ws({"files", "upload", "a.txt", "--json"}, stage.folder.path()).out), "id");
  };
  std::string id;
  bool is_first = true;
  SECTION("written anew") {
    write_text(path, "one\n");
    id = stage.json({"files", "upload", "a.txt"})["id"];
  }
  SECTION("spelled otherwise") { id = stage.json({"files", "upload", "./a.txt"})["id"]; }
  SECTION("moved") {
    std::filesystem::create_directory(stage.folder / "x");
    std::filesystem::rename(path, stage.folder / "x/a.txt");
    id = stage.json({"files", "upload", "x/a.txt"})["id"];
  }
  SECTION("another key of the same person") { id = id_with_key("{}"); }
  SECTION("a key of somebody else") {
    is_first = false;
    id = id_with_key(R"({"person": "tomas@example.com"})");
  }
  SECTION("other bytes of the same size and time") {
    is_first = false;
    write("two\n");
    const Json asset = stage.json({"files", "upload", "a.txt"});
    CHECK(asset["content_sha256"] == Sha256::of("two\n").hex());
    id = asset["id"];
  }
  SECTION("--again") {
    is_first = false;
    id = stage.json({"files", "upload", "a.txt", "--again"})["id"];
  }
  CHECK_FALSE(id.empty());
  CHECK((id == first) == is_first);
  CHECK(stage.assets() == (is_first ? 1 : 2));
}

TEST_CASE("files: a file that is named twice, or lies in two folders, is one Asset, and --again makes one each",
          "[cli]") {
  const FileStage stage;
  for (const char* folder : {"x", "y", "z"}) std::filesystem::create_directory(stage.folder / folder);
  for (const char* name : {"x/a.txt", "y/a.txt", "x/b.txt"}) write_text(stage.folder / name, "hello\n");
  write_text(stage.folder / "z/a.txt", "jello\n");
  const std::string jobs = GENERATE("1", "8");
  std::vector<std::string> words = {
      "files", "upload", "x/a.txt", "x/a.txt", "y/a.txt", "x/b.txt", "z/a.txt", "missing", "--jobs", jobs};
  const Json rows = stage.json(words, 13)["data"];
  REQUIRE(rows.size() == 6);
  const auto id = [&](std::size_t row) { return text_at(rows[row], "result.id"); };
  CHECK(id(0) == id(1));
  CHECK(id(0) == id(2));
  CHECK(std::set{id(0), id(3), id(4)}.size() == 3);
  CHECK(rows[5]["ok"] == false);
  CHECK(stage.json({"files", "list"})["data"].size() == 3);
  CHECK(stage.json(words, 13)["data"][2]["result"]["id"] == id(0));
  CHECK(stage.json({"files", "list"})["data"].size() == 3);
  stage.json({"files", "upload", "x/a.txt", "x/a.txt", "--again"});
  CHECK(stage.json({"files", "list"})["data"].size() == 5);
}

TEST_CASE("files: killed between the steps, then run again: one Asset", "[cli]") {
  const std::string step = GENERATE("/v1/files/uploads", "/v1/files/uploads:finalize");
  std::atomic<bool> holds{true};
  std::atomic<bool> reached{false};
  const Meddled stage([&](const Seen& seen, const Forward& forward) {
    Script passed = forward();
    if (!holds || seen.target != step) return passed;
    reached = true;
    return Script{Hold{}};
  });
  write_text(stage.folder / "a.md", "# A\n");
  Running running(stage.person.command({"files", "upload", "a.md"}, stage.folder.path()));
  while (!reached) {
  }
  running.signal(SIGKILL);
  running.wait();
  holds = false;
  CHECK(stage.json({"files", "upload", "a.md"})["size_bytes"] == 4);
  CHECK(stage.assets() == 1);
}

TEST_CASE("files: stopped twice, the second time before it could ask, then run again: one Asset", "[cli]") {
  std::atomic<int> run{1};
  std::atomic<bool> reached{false};
  const Meddled stage([&](const Seen& seen, const Forward& forward) {
    if (run == 3 || seen.target != "/v1/files/uploads:finalize") return forward();
    const Script passed = run == 1 ? forward() : Script();
    reached = true;
    return run == 1 ? Script{Hold{}} : answer(503, R"({"detail":"later","code":"service_unavailable"})");
  });
  write_text(stage.folder / "a.md", "# A\n");
  for (const int number : {SIGKILL, SIGTERM}) {
    reached = false;
    Running running(stage.person.command({"files", "upload", "a.md", "--json"}, stage.folder.path()));
    while (!reached) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    running.signal(number);
    const Ended ended = running.wait();
    if (number == SIGTERM) CHECK(parse(ended.err)["error"]["applied"] == "unknown");
    ++run;
  }
  stage.json({"files", "upload", "a.md"});
  CHECK(stage.assets() == 1);
}

TEST_CASE("files: the same file sent by many at once is one Asset, and all tell its id", "[cli]") {
  const FileStage stage;
  write_text(stage.folder / "a.md", "# A\n");
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(
        std::make_unique<Running>(stage.person.command({"files", "upload", "a.md", "--json"}, stage.folder.path())));
  }
  std::set<std::string> ids;
  for (const auto& one : all) {
    const Ended ended = one->wait();
    REQUIRE(ended.exit == 0);
    ids.insert(parse(ended.out)["id"].get<std::string>());
  }
  CHECK(ids.size() == 1);
  CHECK(stage.assets() == 1);
}

TEST_CASE("files: a state folder that cannot be written is a note, and stops no upload", "[cli]") {
  const FileStage stage;
  write_text(stage.person.home() / "STATE" / "ws", "a file where the folder should be");
  write_text(stage.folder / "a.md", "# A\n");
  const Ended ended = stage.ws({"files", "upload", "a.md"});
  CHECK(ended.exit == 0);
  CHECK(ended.err.find("an interrupted upload of this file cannot be resumed") != std::string::npos);
  CHECK(stage.assets() == 1);
}

TEST_CASE("files: uploads that are under way can be listed", "[cli]") {
  const FileStage stage;
  write_text(stage.folder / "a.md", "# A\n");
  const std::string id = stage.json({"files", "upload", "a.md", "--start-only"})["upload_id"];
  const Json listed = stage.json({"files", "uploads"});
  REQUIRE(listed["data"].size() == 1);
  CHECK(listed["data"][0]["upload_id"] == id);
  CHECK(listed["data"][0]["state"] == "started");
  CHECK_FALSE(listed["data"][0].contains("upload_url"));
  CHECK(stage.ws({"files", "uploads", "--format", "ids"}).out == id + "\n");
}

TEST_CASE("files: an upload that was only started is finished by its id", "[cli]") {
  const FileStage stage;
  write_text(stage.folder / "a.md", "# A\n");
  const std::string id = stage.json({"files", "upload", "a.md", "--start-only"})["upload_id"];
  CHECK(stage.assets() == 0);
  CHECK(stage.json({"files", "finalize", id})["original_file_name"] == "a.md");
  CHECK(stage.assets() == 1);
}

TEST_CASE("files: an upload that was only started takes what the file holds later, if it has the same size", "[cli]") {
  const FileStage stage;
  write_text(stage.folder / "a.md", "# A\n");
  const std::string id = stage.json({"files", "upload", "a.md", "--start-only"})["upload_id"];
  write_text(stage.folder / "a.md", "# Longer\n");
  const std::string hint = stage.json({"files", "finalize", id}, 14)["error"]["hint"];
  CHECK(hint.find("`ws files upload " + (stage.folder / "a.md").string() + "`") != std::string::npos);
  write_text(stage.folder / "a.md", "# B\n");
  CHECK(stage.json({"files", "finalize", id})["content_sha256"] == Sha256::of("# B\n").hex());
}

TEST_CASE("files: a download that is cut is gone on with, another hash is exit 15 and leaves no file", "[cli]") {
  const std::string text = text_of_size(300'000);
  std::atomic<int> cuts{2};
  std::atomic<bool> lies{false};
  const Meddled stage([&](const Seen& seen, const Forward& forward) {
    Script passed = forward();
    if (seen.target.find("/content") == std::string::npos) return passed;
    std::string& bytes = std::get<SendBytes>(passed.front()).bytes;
    if (lies) {
      bytes[bytes.find("\r\n\r\n") + 10] ^= 1;
    } else if (cuts-- > 0) {
      bytes.resize(bytes.find("\r\n\r\n") + 100'000);
      passed.push_back(CloseConnection{});
    }
    return passed;
  });
  const std::string id = stage.uploaded("big.txt", text);
  const Json done = stage.json({"files", "download", id, "-o", "copy.txt"});
  CHECK(read_text(stage.folder / "copy.txt") == text);
  const auto requests = stage.relay.server().requests();
  CHECK(std::ranges::count_if(requests, [](const Seen& seen) { return seen.header("Range").has_value(); }) == 2);
  lies = true;
  CHECK(stage.json({"files", "download", id, "-o", "lie.txt"}, 15)["error"]["code"] == "hash_mismatch");
  CHECK(stage.ws({"files", "download", id, "-o", "-"}).exit == 15);
  CHECK_FALSE(std::filesystem::exists(stage.folder / "lie.txt"));
}

TEST_CASE("files: what is there already with the very bytes is downloaded", "[cli]") {
  const FileStage stage;
  const std::string id = stage.uploaded("a.txt", "first\n");
  const Json done = stage.json({"files", "download", id, "-o", "copy.txt"});
  Json again = stage.json({"files", "download", id, "-o", "copy.txt"});
  CHECK(again["resumed_at_bytes"] == 6);
  again["resumed_at_bytes"] = 0;
  CHECK(again == done);
  write_text(stage.folder / "copy.txt", "other\n");
  CHECK(stage.ws({"files", "download", id, "-o", "copy.txt"}).exit == 14);
  CHECK(read_text(stage.folder / "copy.txt") == "other\n");
}

TEST_CASE("files: many are downloaded at once, each to its own name, told in the order of the ids", "[cli]") {
  const FileStage stage;
  std::vector<std::string> words = {"files", "download"};
  for (int i = 0; i < 20; ++i) {
    const std::string name = "file-" + std::to_string(i) + ".bin";
    words.push_back(stage.uploaded(name, text_of_size(1000 + static_cast<std::size_t>(i))));
  }
  words.insert(words.end(), {"-o", "copies/"});
  const Json done = stage.json(words);
  REQUIRE(done["data"].size() == 20);
  for (int i = 0; i < 20; ++i) {
    const Json& row = done["data"][static_cast<std::size_t>(i)];
    const std::string path = "copies/file-" + std::to_string(i) + ".bin";
    CHECK(row["id"] == words[static_cast<std::size_t>(i) + 2]);
    CHECK(row["result"]["path"] == path);
    CHECK(read_text(stage.folder / path) == text_of_size(1000 + static_cast<std::size_t>(i)));
  }
  const std::filesystem::directory_iterator copies(stage.folder / "copies");
  CHECK(std::distance(begin(copies), end(copies)) == 20);
}

TEST_CASE("files: of two downloads with one name the first is kept, with --force the second", "[cli]") {
  const FileStage stage;
  const std::string first = stage.uploaded("a.txt", "first\n");
  const std::string second = stage.uploaded("a.txt", "second\n");
  const Json done = stage.json({"files", "download", first, second, "-o", "copies/"}, 13);
  CHECK(done["data"][0]["ok"] == true);
  CHECK(done["data"][1]["error"]["message"].get<std::string>().find("exists already") != std::string::npos);
  CHECK(read_text(stage.folder / "copies/a.txt") == "first\n");
  CHECK(stage.json({"files", "download", first, second, "-o", "copies/", "--force"})["data"].size() == 2);
  CHECK(read_text(stage.folder / "copies/a.txt") == "second\n");
}

TEST_CASE("files: an upload that may have become an Asset is on record, and asked for before it is sent again",
          "[cli]") {
  std::atomic<bool> reached{false};
  const Meddled stage([&](const Seen& seen, const Forward& forward) {
    Script passed = forward();
    if (seen.target != "/v1/files/uploads:finalize" || reached.exchange(true)) return passed;
    return Script{Hold{}};
  });
  write_text(stage.folder / "a.md", "# A\n");
  Running running(stage.person.command({"files", "upload", "a.md"}, stage.folder.path()));
  while (!reached) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  running.signal(SIGKILL);
  running.wait();
  const Json listed = stage.json({"files", "uploads"});
  REQUIRE(listed["data"].size() == 1);
  CHECK(listed["data"][0]["state"] == "finishing");
  stage.json({"files", "upload", "a.md"});
  CHECK(stage.assets() == 1);
  CHECK(stage.json({"files", "uploads"})["data"].empty());
}

TEST_CASE("files: an upload in doubt that the service has forgotten stays unknown, and --again sends it anew",
          "[cli]") {
  std::atomic<int> finalized{0};
  const Meddled stage([&](const Seen& seen, const Forward& forward) {
    if (seen.target.starts_with("/v1/files?")) return answer(200, R"({"data": []})");
    if (seen.target != "/v1/files/uploads:finalize") return forward();
    switch (++finalized) {
      case 1: forward(); return Script{CloseConnection{}};
      case 3: return forward();
      default: return answer(404, R"({"detail": "There is no such upload"})");
    }
  });
  write_text(stage.folder / "a.md", "# A\n");
  stage.json({"files", "upload", "a.md"}, 12);
  stage.json({"files", "upload", "a.md"}, 12);
  CHECK(stage.assets() == 1);
  CHECK(stage.json({"files", "uploads"})["data"][0]["state"] == "finishing");
  stage.json({"files", "upload", "a.md", "--again"});
  CHECK(stage.assets() == 2);
}

TEST_CASE("files: a name from the service never leads out of the folder, nor begins with a dot", "[cli]") {
  const std::string name =
      GENERATE("../../evil", ".bashrc", "/etc/cron.d/x", "a\\..\\b", "", "..", ".git", "x\x1b[2Jy");
  const std::string id = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";
  const HostileServer server([&](const Seen& seen) {
    if (seen.target.find("/content") != std::string::npos) return answer(200, "hello");
    return answer(200, dump(Json{{"id", id}, {"original_file_name", name}, {"size_bytes", 5}}));
  });
  Person person;
  person.environment["WS_BASE_URL"] = server.origin();
  person.environment["WS_TOKEN"] = "wsk_test";
  const TemporaryFolder outer;
  const std::filesystem::path inner = outer / "in" / "here";
  std::filesystem::create_directories(inner);
  const Ended ended = person.ws({"files", "download", id}, inner);
  INFO(ended.err);
  REQUIRE(ended.exit == 0);
  CHECK(ended.err.find("not checked") != std::string::npos);
  const auto texts = texts_of(outer.path());
  REQUIRE(texts.size() == 1);
  const std::string path = texts.begin()->first;
  CHECK(path.substr(0, 8) == "in/here/");
  CHECK(path[8] != '.');
}

TEST_CASE("files: a run that cannot be waited for is exit 12", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(202, R"({"status": "accepted"})"); });
  const At person(server.origin());
  const Ended lost = person.ws({"files", "organize", nobody, "-m", "Pages", "--wait", "--json"});
  CHECK(lost.exit == 12);
  CHECK(error_of(lost)["hint"] == std::string("check with `ws files get ") + nobody + "` before you send it again");
  CHECK(server.requests().size() == 1);
  CHECK(person.ws({"files", "organize", nobody, "-m", "Pages"}).exit == 12);
  CHECK(server.requests().size() == 1);
  CHECK(person.ws({"files", "organize", nobody, "-m", "Pages", "--again"}).exit == 0);
}

TEST_CASE("files: an upload whose headers are none is an unusable answer, and no bytes go there", "[cli]") {
  std::atomic<int> puts{0};
  std::string origin;
  const HostileServer server([&](const Seen& seen) {
    if (seen.method == "PUT") ++puts;
    return answer(201,
                  dump(Json{{"upload_id", nobody},
                            {"upload_url", origin + "/put"},
                            {"upload_method", "PUT"},
                            {"upload_headers", {{"Host ", "evil.example"}}}}));
  });
  origin = server.origin();
  const TemporaryFolder folder;
  write_text(folder / "a.md", "# A\n");
  const Ended refused = At(origin).ws({"files", "upload", "a.md", "--json"}, folder.path());
  CHECK(refused.exit == 1);
  CHECK(error_of(refused)["code"] == "unusable_answer");
  CHECK(puts.load() == 0);
}

TEST_CASE("files: the ids of several uploads are those of the files, and of what went alone", "[cli]") {
  const MockProcess server;
  const Person person(server);
  write_text(person.home() / "a.txt", "a");
  write_text(person.home() / "b.txt", "b");
  const auto upload = [&person](std::vector<std::string> paths) {
    paths.insert(paths.begin(), {"files", "upload"});
    paths.insert(paths.end(), {"--format", "ids"});
    return person.ws(paths, person.home());
  };
  const Ended both = upload({"a.txt", "b.txt"});
  CHECK(both.exit == 0);
  REQUIRE(both.out.size() == 2 * 37);
  for (const std::size_t at : {0, 37}) {
    CHECK(text_at(parse(person.ws({"files", "get", both.out.substr(at, 36), "--json"}).out), "id") ==
          both.out.substr(at, 36));
  }
  control(server, "POST", "/faults", R"({"operation": "files.upload_finish", "nth": 2, "effect": {"status": 422}})");
  const Ended one = upload({"a.txt", "b.txt", "--again"});
  CHECK(one.exit == 13);
  CHECK(one.out.size() == 37);
}

TEST_CASE("files: -o to a pipe or a device writes into it, with and without --force", "[cli]") {
  const FileStage stage;
  const std::string text = text_of_size(3000);
  const std::string id = stage.uploaded("up.bin", text);
  const std::string line =
      GENERATE("mkfifo p; timeout 10 cat p >got & \"$0\" \"$@\" -o p; e=$?; wait; test -p p && exit $e",
               "\"$0\" \"$@\" -o /dev/stdout | cat >got; exit ${PIPESTATUS[0]}",
               "echo first >got; \"$0\" \"$@\" -o /dev/stdout >>got");
  const bool is_forced = GENERATE(false, true);
  CAPTURE(line, is_forced);
  std::vector<std::string> words = {"files", "download", id};
  if (is_forced) words.emplace_back("--force");
  Command command = stage.person.command(words, stage.folder.path());
  command.arguments = {"bash", "-c", line, program("ws")};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.program.clear();
  const Ended ended = run_command(command);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  CHECK(read_text(stage.folder / "got") == (line.starts_with("echo") ? "first\n" : "") + text);
}
