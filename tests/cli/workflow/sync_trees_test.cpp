// The tree as a person may treat it: copied, moved, configured; and keys that come and go.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

std::string client_of(const std::filesystem::path& folder) {
  return text_at(parse(read_text(folder / ".ws" / "source.json")), "client_id");
}

/// Somebody whose key lets them look and not write.
struct Viewer : Person {
  explicit Viewer(const MockProcess& server) : Person(server) {
    environment["WS_TOKEN"] = text_at(parse(control(server, "POST", "/keys", R"({"role": "viewer"})")), "secret");
  }
};

}  // namespace

TEST_CASE("trees: a copied tree asks, fails in scripts naming the flag, and is its own with --yes", "[cli]") {
  const TwoFolders two;
  const std::filesystem::path copy = two.stage / "copy";
  std::filesystem::copy(two.here, copy, std::filesystem::copy_options::recursive);
  write_text(copy / "a.md", "edited in the copy\n");
  const Ended refused = two.ws(copy, {"sync"});
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("copy of the synced folder") && Contains("--yes"));
  CHECK(two.ws(two.there, {"sync"}).out.empty());
  // Looking at it asks nothing; the first tree is still what it was.
  CHECK(two.ws(copy, {"sync", "status", "--offline"}).exit == 0);
  CHECK(two.ws(copy, {"sync", "status"}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  const Ended taken = two.ws(copy, {"sync", "--yes"});
  CAPTURE(taken.out, taken.err);
  CHECK(taken.exit == 0);
  CHECK(client_of(copy) != client_of(two.here));
  // Once: from now on it is a tree like the others.
  CHECK(two.ws(copy, {"sync"}).exit == 0);
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(texts_of(copy) == texts_of(two.here));
}

TEST_CASE("trees: a moved tree goes on and is still the same client", "[cli]") {
  const TwoFolders two;
  const std::string client = client_of(two.here);
  std::filesystem::rename(two.here, two.stage / "moved");
  const Ended moved = two.ws(two.stage / "moved", {"sync"});
  CAPTURE(moved.out, moved.err);
  CHECK(moved.exit == 0);
  CHECK(moved.out.empty());
  CHECK(client_of(two.stage / "moved") == client);
}

TEST_CASE("trees: a folder of an older version is refused untouched, and tied anew with its documents", "[cli]") {
  TwoFolders two;
  write_text(two.here / "edited.md", "before\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const std::filesystem::path state = two.here / ".ws/state.db";
  REQUIRE(run_command({.arguments = {"python3",
                                     "-c",
                                     "import sqlite3,sys;c=sqlite3.connect(sys.argv[1]);"
                                     "c.execute('pragma user_version=12');c.commit();c.close()",
                                     state.string()}})
              .exit == 0);
  write_text(two.here / "edited.md", "after\n");
  const std::string before = read_text(state);
  const Ended refused = two.ws(two.here, {"sync"});
  CHECK(refused.exit == 14);
  CHECK_THAT(refused.err, Contains("before the first release") && Contains("ws sync init"));
  CHECK(read_text(state) == before);
  // Where the service does not answer the folder stays what it was, and knows its source.
  const auto url = std::exchange(two.person.environment["WS_BASE_URL"], "http://127.0.0.1:1");

  CHECK(two.ws(two.here, {"sync", "init", "--no-retry"}).exit != 0);
  two.person.environment["WS_BASE_URL"] = url;
  CHECK(std::filesystem::exists(two.here / ".ws/history.git"));
  CHECK(read_text(state) == before);
  const Ended tied = two.ws(two.here, {"sync", "init"});
  INFO(tied.err);
  REQUIRE(tied.exit == 0);
  CHECK_THAT(tied.err, Contains(".ws.old-") && Contains("history.git"));
  std::vector<std::filesystem::path> kept;
  for (const auto& entry : std::filesystem::directory_iterator(two.here)) {
    if (entry.path().filename().string().starts_with(".ws.old-")) kept.push_back(entry.path());
  }
  REQUIRE(kept.size() == 1);
  CHECK(std::filesystem::exists(kept.front() / "history.git/HEAD"));
  CHECK(read_text(kept.front() / "state.db") == before);
  // Both texts of the note that was edited stay: nobody knows any more which came first.
  const Ended first = two.ws(two.here, {"sync"});
  CHECK(first.exit == 7);
  CHECK(read_text(two.here / "edited.md") == "after\n");
  REQUIRE(two.ws(two.here, {"sync", "resolve", "edited.md", "--keep", "local"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "edited.md") == "after\n");
  CHECK(texts_of(two.there).size() == 3);
}

TEST_CASE("trees: a config that nobody understands stops with its place, exit 2", "[cli]") {
  const TwoFolders two;
  write_text(two.here / ".ws/config.yaml", "max_file_bytes: 100\nignore: [a]\n");
  const Ended refused = two.ws(two.here, {"sync", "--json"});
  CHECK(refused.exit == 2);
  CHECK(error_of(refused).at("code") == "bad_config");
  CHECK_THAT(text_at(error_of(refused), "message"), Contains(".ws/config.yaml:2:"));
}

TEST_CASE("trees: more kinds of files and odd names arrive, the names are said once", "[cli]") {
  const TwoFolders two;
  for (const auto& folder : {two.here, two.there}) {
    write_text(folder / ".ws/config.yaml", "include: ['*.txt', '.hidden/**']\n");
  }
  write_text(two.here / "c.txt", "text\n");
  write_text(two.here / ".hidden/d.md", "hidden\n");
  write_text(two.here / "What?.md", "odd\n");
  const Ended sent = two.ws(two.here, {"sync"});
  CAPTURE(sent.out, sent.err);
  CHECK(sent.exit == 0);
  CHECK_THAT(sent.err, Contains("other systems cannot hold What?.md"));
  CHECK_THAT(two.ws(two.here, {"sync", "status"}).err, !Contains("What?.md"));
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(read_text(two.there / ".hidden/d.md") == "hidden\n");
}

TEST_CASE("trees: a viewer's key goes on pulling, what it cannot push is told, exit 13", "[cli]") {
  const TwoFolders two;
  const Viewer viewer(two.server);
  write_text(two.here / "a.md", "from an editor\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.there / "deep/b.md", "cannot go\n");
  const Ended partly = viewer.ws({"sync", "--json"}, two.there);
  CAPTURE(partly.out, partly.err);
  CHECK(partly.exit == 13);
  CHECK(read_text(two.there / "a.md") == "from an editor\n");
  const Json rows = parse(partly.out)["actions"];
  REQUIRE(rows.size() == 2);
  CHECK(rows.at(1).at("path") == "deep/b.md");
  CHECK(text_at(rows.at(1), "error.code") == "cannot_push");
  const Ended told = viewer.ws({"sync", "--format", "table"}, two.there);
  CHECK(told.out.find("\n1 failed\nthis key may read but not write; the change stays here\n") != std::string::npos);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
}

TEST_CASE("trees: a key that ends in the middle stops it, and the same command goes on with a new one", "[cli]") {
  const std::string at = GENERATE("sync.push", "sync.commit");
  const TwoFolders two;
  write_text(two.here / "a.md", "edited\n");
  write_text(two.here / "new.md", "new\n");
  control(two.server,
          "POST",
          "/faults",
          R"({"operation": ")" + at + R"(", "times": 1, "effect": {"status": {"status": 401}}})");
  const Ended stopped = two.ws(two.here, {"sync"});
  CAPTURE(stopped.out, stopped.err);
  CHECK(stopped.exit == 4);
  CHECK(two.ws(two.there, {"sync"}).out.empty());
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(two.ws(two.here, {"sync"}).out.empty());
}

TEST_CASE("trees: 12,000 files go in parts, and renaming their folder uploads nothing", "[cli]") {
  const MockProcess server({"--journal", "0"});
  const Person person(server);
  const TemporaryFolder folder;
  constexpr int count = 12'000;
  std::filesystem::create_directory(folder / "many");
  for (int i = 0; i < count; ++i) write_text(folder / "many" / (std::to_string(i) + ".md"), std::to_string(i) + "\n");
  REQUIRE(person.ws({"sync", "init"}, folder.path()).exit == 0);
  const Json created = parse(person.ws({"sync", "--json"}, folder.path()).out);
  CHECK(created.at("clean") == true);
  CHECK(created.at("counts").at("push_create") == count);
  std::filesystem::rename(folder / "many", folder / "renamed");
  const Json moved = parse(person.ws({"sync", "--json"}, folder.path()).out);
  CHECK(moved.at("clean") == true);
  CHECK(moved.at("counts").at("push_move") == count);
  CHECK(moved.at("counts").size() == 2);  // and `failed`
  CHECK(person.ws({"sync"}, folder.path()).out.empty());
}
