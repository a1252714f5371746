// Every open conflict can be listed and decided, and one document holds up no other: real programs, real disk.
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

const std::string about_git = "To merge:\n\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> branch\n";

std::size_t times(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

void write_config(const std::filesystem::path& folder, const std::string& text) {
  write_text(folder / ".ws/config.yaml", text);
}

}  // namespace

TEST_CASE("dead ends: a note about git that holds markers of its own conflicts like any other", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "one\nhere\nthree\n" + about_git);
  write_text(two.there / "a.md", "one\nthere\nthree\n" + about_git);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 7);
  CHECK_THAT(two.ws(two.there, {"sync", "conflicts"}).out, Contains("a.md"));
  SECTION("kept") { REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "local"}).exit == 0); }
  SECTION("merged by hand") {
    REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--markers"}).exit == 7);
    CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"}).exit == 2);
    write_text(two.there / "a.md", "one\nboth\nthree\n" + about_git);
    REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"}).exit == 0);
  }
  SECTION("merged in another file") {
    write_text(two.stage / "merged.md", "one\nboth\nthree\n" + about_git);
    const std::string file = (two.stage / "merged.md").string();
    REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged", "--file", file}).exit == 0);
  }
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("dead ends: a new example of markers is merged with an edit elsewhere", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "a.md", "zero\none\ntwo\nthree\n");
  write_text(two.there / "a.md", "one\ntwo\nthree\n\n\n" + about_git);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("dead ends: a text that the service finds too large is sent once, and holds up no other", "[cli]") {
  const TwoFolders two;
  write_config(two.here, "max_file_bytes: 20000000\n");
  const std::size_t bytes = GENERATE(std::size_t{2} << 20U, std::size_t{9} << 20U);
  const bool is_new = GENERATE(true, false);
  const char* const name = is_new ? "large.md" : "a.md";
  write_text(two.here / name, std::string(bytes, 'x'));
  write_text(two.here / "small.md", "small\n");
  const Ended first = two.ws(two.here, {"sync"});
  CHECK(first.exit == 13);
  CHECK_THAT(first.out, Contains(name));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there).contains("small.md"));
  for (int run = 0; run < 2; ++run) {
    const Ended again = two.ws(two.here, {"sync", "--json"});
    CHECK(again.exit == 0);
    CHECK(times(again.out, "push_") == 0);
    CHECK_THAT(again.out, Contains(name) && Contains("\"refused\""));
  }
  write_text(two.here / name, "fits\n");
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("dead ends: a conflict whose text is too large can be listed and decided", "[cli]") {
  const TwoFolders two;
  write_config(two.there, "max_file_bytes: 20000000\n");
  write_text(two.there / "new.md", std::string(std::size_t{2} << 20U, 'x'));
  write_text(two.here / "new.md", "here\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit != 0);
  CHECK_THAT(two.ws(two.there, {"sync", "conflicts"}).out, Contains("new.md"));
  CHECK(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "new.md", "--keep", "remote"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("dead ends: both texts are kept though the service's changed, or has a file of the copy's name", "[cli]") {
  const TwoFolders two;
  two.collide();
  CHECK(two.ws(two.there, {"sync"}).exit == 7);
  SECTION("changed") { write_text(two.here / "a.md", "one\nhere again\nthree\n"); }
  SECTION("its name is taken") { write_text(two.here / "a (local).md", "another\n"); }
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "both"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.same());
}

TEST_CASE("dead ends: what is not named by include is counted, not passed over", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "deep/photo.png", "x");
  write_text(two.here / "list.txt", "x");
  const Ended told = two.ws(two.here, {"sync"});
  CHECK(told.exit == 0);
  CHECK_THAT(told.err, Contains("2 files are not synced"));
  CHECK(parse(two.ws(two.here, {"sync", "--json"}).out).at("not_included") == 2);
  write_config(two.here, "include: ['*.txt']\n");
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("1 file is not synced"));
}

TEST_CASE("dead ends: a source whose answer names no id was made all the same, and is not made twice", "[cli]") {
  int made = 0;
  const HostileServer server([&](const Seen& seen) {
    if (seen.method == "POST") ++made;
    return answer(201, R"({"object":"sync_source"})");
  });
  Person person;
  person.environment["WS_BASE_URL"] = server.origin();
  person.environment["WS_TOKEN"] = "wsk_test";
  const TemporaryFolder folder;
  const Ended first = person.ws({"sync", "init", "--name", "mine", "--json"}, folder.path());
  CHECK(first.exit == 12);
  CHECK(error_of(first)["applied"] == "unknown");
  CHECK(error_of(first)["retryable"] == false);
  for (const std::string name : {"mine", "other"}) {
    // Whatever is asked for by now, the source in doubt is the one that was asked for then.
    const Ended again = person.ws({"sync", "init", "--name", name, "--json"}, folder.path());
    CHECK(again.exit == 12);
    CHECK(error_of(again)["code"] == "source_in_doubt");
    CHECK_THAT(text_at(error_of(again), "message"), Contains("the source `mine`"));
  }
  CHECK(made == 1);
}

TEST_CASE("dead ends: a document wants the name of a file that was renamed in case alone and cannot be synced",
          "[cli]") {
  const TwoFolders two;
  std::filesystem::remove(two.there / "a.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.there / "a.md", "a new document\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  std::filesystem::rename(two.here / "a.md", two.here / "A.MD");
  write_text(two.here / "A.MD", "\xff");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  const std::string id = two.ws(two.here, {"sync", "conflicts", "--format", "ids"}).out.substr(0, 36);
  SECTION("the file stays") {
    REQUIRE(two.ws(two.here, {"sync", "resolve", id, "--path", "local"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    CHECK(two.ws(two.here, {"sync", "conflicts", "--format", "ids"}).out.empty());
    CHECK(texts_of(two.here).at("A.MD") == "\xff");
    CHECK(texts_of(two.here).at("a (remote).md") == "a new document\n");
  }
  SECTION("the document gets its name: only a person can move the file, and hears that") {
    const Ended refused = two.ws(two.here, {"sync", "resolve", id, "--path", "remote"});
    CHECK(refused.exit == 7);
    CHECK_THAT(refused.err, Contains("A.MD has the name of a document on the service, and is not synced"));
    std::filesystem::rename(two.here / "A.MD", two.here / "elsewhere.bin");
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    CHECK(texts_of(two.here).at("a.md") == "a new document\n");
  }
}

TEST_CASE("dead ends: a document wants the name of a file that was renamed to the twin of another", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "Twin.md", "another\n");
  for (const auto& folder : {two.here, two.there}) REQUIRE(two.ws(folder, {"sync"}).exit == 0);
  std::filesystem::rename(two.there / "a.md", two.there / "twin.md");
  std::filesystem::remove(two.here / "a.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.here / "a.md", "new\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const Ended refused = two.ws(two.there, {"sync", "resolve", "a.md", "--path", "remote"});
  CHECK(refused.exit == 7);
  CHECK_THAT(refused.err, Contains("the file that was a.md now has a name that is not synced"));
  SECTION("the document gets another name") {
    CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--path", "local"}).exit == 0);
    CHECK(two.ws(two.there, {"sync"}).exit == 0);
    CHECK(two.ws(two.here, {"sync"}).exit == 0);
    CHECK(read_text(two.here / "a (remote).md") == "new\n");
  }
  SECTION("the file gets another name") {
    std::filesystem::rename(two.there / "twin.md", two.there / "mine.md");
    CHECK(two.ws(two.there, {"sync"}).exit == 0);
    CHECK(read_text(two.there / "a.md") == "new\n");
  }
  CHECK(two.ws(two.there, {"sync"}).out.empty());
  CHECK(parse(two.ws(two.there, {"sync", "conflicts", "--json"}).out)["data"].empty());
}
