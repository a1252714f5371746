#include "sync-engine/disk/safe_write.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;
using test::path;

class Place {
 public:
  explicit Place(Resolution resolution = Resolution::kernel)
      : root_(*RootFolder::open(folder_.path(), resolution)), writer_(*SafeWriter::open(root_)) {}
  SafeWriter& writer() { return writer_; }
  fs::path operator/(const fs::path& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(folder_ / name, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  Result<void> put(const std::string& name, std::optional<std::string> seen, const std::string& text) {
    WS_LET(const Staged staged, writer_.stage(text));
    WS_TRY(writer_.flush_texts());
    std::optional<Sha256> hash;
    if (seen) hash = Sha256::of(*seen);
    WS_TRY(writer_.place(staged, path(name), hash));
    return writer_.flush_folders();
  }
  std::size_t leftovers() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_ / ".ws/tmp"), fs::directory_iterator()));
  }

 private:
  ws::test::TemporaryFolder folder_;
  RootFolder root_;
  SafeWriter writer_;
};

}  // namespace

TEST_CASE("safe_write: creates, replaces with the mode kept, moves and removes", "[sync-engine]") {
  Place place(GENERATE(Resolution::kernel, Resolution::walk));
  CHECK(place.put("a/b/c.md", std::nullopt, "one"));
  CHECK(place.read("a/b/c.md") == "one");
  REQUIRE(::chmod((place / "a/b/c.md").c_str(), 0640) == 0);
  CHECK(place.put("a/b/c.md", "one", "two"));
  CHECK(place.read("a/b/c.md") == "two");
  struct stat status {};
  REQUIRE(::stat((place / "a/b/c.md").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0640);
  CHECK(place.writer().move(path("a/b/c.md"), path("x/d.md"), Sha256::of("two")));
  CHECK_FALSE(fs::exists(place / "a"));  // folders that hold nothing any more go with the last file
  CHECK(place.read("x/d.md") == "two");
  CHECK(place.writer().remove(path("x/d.md"), Sha256::of("two")));
  CHECK_FALSE(fs::exists(place / "x"));
  CHECK(place.leftovers() == 0);
}

TEST_CASE("safe_write: what a cut call has removed already is no failure, nor that its folder went with it",
          "[sync-engine]") {
  Place place;
  for (const char* gone : {"gone.md", "gone/a.md", "gone/deep/b.md"}) {
    CHECK(place.writer().remove(path(gone), Sha256::of("a")));
  }
  CHECK(place.writer().flush_folders());
}

TEST_CASE("safe_write: what is not as the plan saw it is left as it is", "[sync-engine]") {
  Place place;
  place.write("a.md", "late edit");
  place.write("b.md", "b");
  const auto refused = [](const Result<void>& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == Failure::Kind::conflict);
  };
  refused(place.put("a.md", "old", "new"));
  refused(place.put("a.md", std::nullopt, "new"));
  refused(place.put("missing.md", "old", "new"));
  refused(place.writer().remove(path("a.md"), Sha256::of("old")));
  refused(place.writer().move(path("a.md"), path("c.md"), Sha256::of("old")));
  refused(place.writer().move(path("a.md"), path("b.md"), Sha256::of("late edit")));
  CHECK(place.read("a.md") == "late edit");
  CHECK(place.read("b.md") == "b");
  CHECK(place.leftovers() == 0);
}

TEST_CASE("safe_write: no link leads out of the tree, whoever resolves the name", "[sync-engine]") {
  const Resolution resolution = GENERATE(Resolution::kernel, Resolution::walk);
  ws::test::TemporaryFolder outside;
  std::ofstream(outside / "victim.md") << "outside";
  Place place(resolution);
  fs::create_directory_symlink(outside.path(), place / "folder");
  fs::create_symlink(outside / "victim.md", place / "link.md");
  CHECK_FALSE(place.put("folder/new.md", std::nullopt, "x"));
  CHECK_FALSE(place.put("folder/victim.md", "outside", "x"));
  CHECK_FALSE(place.put("link.md", "outside", "x"));
  CHECK_FALSE(place.put("link.md", std::nullopt, "x"));
  CHECK_FALSE(place.writer().remove(path("folder/victim.md"), Sha256::of("outside")));
  CHECK_FALSE(place.writer().remove(path("link.md"), Sha256::of("outside")));
  CHECK_FALSE(place.writer().move(path("folder/victim.md"), path("in.md"), Sha256::of("outside")));
  std::ifstream stream(outside / "victim.md");
  std::string text;
  stream >> text;
  CHECK(text == "outside");
  CHECK(std::distance(fs::directory_iterator(outside.path()), fs::directory_iterator()) == 1);
  CHECK(fs::is_symlink(place / "link.md"));
}

TEST_CASE("safe_write: a folder swapped for a link while files are written never lets one out", "[sync-engine]") {
  ws::test::TemporaryFolder outside;
  Place place(GENERATE(Resolution::kernel, Resolution::walk));
  fs::create_directory(place / "d");
  fs::create_directory_symlink(outside.path(), place / "l");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      std::error_code ignored;
      fs::rename(place / "d", place / "t", ignored);
      fs::rename(place / "l", place / "d", ignored);
      fs::rename(place / "d", place / "l", ignored);
      fs::rename(place / "t", place / "d", ignored);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto staged = place.writer().stage("x");
    REQUIRE(staged);
    static_cast<void>(place.writer().place(*staged, path("d/n" + std::to_string(i) + ".md"), std::nullopt));
  }
  stop = true;
  swapper.join();
  CHECK(fs::is_empty(outside.path()));
}

TEST_CASE("safe_write: an editor that saves at the very moment of a write keeps its text", "[sync-engine]") {
  Place place;
  std::atomic<int> round = -1;
  std::atomic<int> saved = -1;
  constexpr int rounds = 4000;
  // One save a round, by rename as editors do, a little later each time: before, within and after the write.
  std::thread editor([&] {
    for (int i = 0; i < rounds; ++i) {
      std::ofstream(place / "save.tmp", std::ios::binary) << "editor " << i;
      while (round < i) std::this_thread::yield();
      for (int spin = 0; spin < (i % 200) * 50; ++spin) static_cast<void>(round.load());
      fs::rename(place / "save.tmp", place / "a.md");
      saved = i;
    }
  });
  bool kept = true;
  for (int i = 0; i < rounds; ++i) {
    place.write("a.md", "seen");
    const auto staged = place.writer().stage("writer");
    round = i;
    static_cast<void>(place.writer().place(*staged, path("a.md"), Sha256::of("seen")));
    while (saved < i) std::this_thread::yield();
    kept = kept && place.read("a.md") == "editor " + std::to_string(i);
  }
  editor.join();
  CHECK(kept);
}

TEST_CASE("safe_write: what a run left in .ws/tmp can be read and removed, what is no file is let be",
          "[sync-engine]") {
  Place place;
  REQUIRE(place.writer().stage("left behind"));
  std::filesystem::create_directory(place / ".ws/tmp/folder");
  std::filesystem::create_symlink("nowhere", place / ".ws/tmp/link");
  const auto left = place.writer().leftovers();
  REQUIRE(left);
  REQUIRE(left->size() == 1);
  CHECK(place.writer().read_leftover(left->front()) == "left behind");
  REQUIRE(place.writer().remove_leftover(left->front()));
  CHECK(place.writer().leftovers()->empty());
  CHECK(place.leftovers() == 2);
}

TEST_CASE("safe_write: a new file without a name gets its place where nothing stands", "[sync-engine]") {
  Place place;
  place.write("taken.md", "late\n");
  fs::create_directories(place / "empty.md");
  REQUIRE(place.writer().stage_new("never placed", Sha256::of("never placed")));
  const auto put = [&](const char* name, std::optional<Sha256> seen = {}) -> Result<void> {
    WS_LET(const Staged staged, place.writer().stage_new("new\n", Sha256::of("new\n")));
    WS_TRY(place.writer().flush_texts());
    WS_TRY(place.writer().place(staged, path(name), seen));
    return place.writer().flush_folders();
  };
  CHECK(put("a/b.md"));
  CHECK(place.read("a/b.md") == "new\n");
  CHECK(put("empty.md"));
  CHECK(place.read("empty.md") == "new\n");
  const auto refused = put("taken.md");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Failure::Kind::conflict);
  CHECK(place.read("taken.md") == "late\n");
  CHECK_FALSE(put("taken.md", Sha256::of("late\n")));
  CHECK(place.read("taken.md") == "late\n");
  CHECK(place.leftovers() == 0);
}

}  // namespace ws::sync
