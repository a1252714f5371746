#include "sync-engine/tree/scan.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;

class ScannedTree {
 public:
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << text;
  }
  /// As if written an hour ago; ctime cannot be set, so the walk is told by a cache that trusts the stamp.
  fs::path operator/(const fs::path& path) const { return folder_ / path; }
  fs::path cache_file() const { return cache_folder_ / "stat.cache"; }

  Scan scan(bool with_cache = true, ScanOptions options = {}) const {
    const auto root = RootFolder::open(folder_.path());
    REQUIRE(root);
    auto done = ws::sync::scan(*root, with_cache ? StatCache::load(cache_file()) : StatCache(), options);
    if (!done) FAIL(done.error().what);
    return std::move(*done);
  }
  /// Walks until every stamp is older than the tick and the cache vouches for all of it.
  Scan settled() const {
    while (true) {
      Scan done = scan();
      if (done.same_as_cache()) return done;
      REQUIRE(done.save(cache_file(), {}));
    }
  }

 private:
  ws::test::TemporaryFolder folder_;
  ws::test::TemporaryFolder cache_folder_;
};

std::vector<std::string> names_in(const Scan& scan) {
  std::vector<std::string> out;
  for (const FoundFile& file : scan.found().files) out.push_back(file.path.string());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<FoundFile> files(const Scan& scan) {
  auto found = scan.found().files;
  std::sort(found.begin(), found.end());
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("scan: Markdown is found, the rest is passed over, what cannot be synced is named", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "a");
  tree.write("B.MARKDOWN", "b");
  tree.write("c.txt", "c");
  tree.write(".hidden.md", "h");
  tree.write(".git/x.md", "g");
  tree.write(".ws/x.md", "w");
  tree.write("d/e/f.md", "f");
  tree.write("nul.md", std::string("a\0b", 3));
  tree.write("latin.md", "\xe9t\xe9");
  tree.write("large.md", std::string(100, 'x'));
  fs::create_symlink("a.md", tree / "link.md");
  fs::create_directory_symlink("d", tree / "linked");
  REQUIRE(::mkfifo((tree / "fifo.md").c_str(), 0600) == 0);
  tree.write("git~1/x.md", "x");
  const Scan scan = tree.scan(false, {.max_file_bytes = 50});
  CHECK(names_in(scan) == Names{"B.MARKDOWN", "a.md", "d/e/f.md"});
  const std::vector<Skipped> expected = {{"fifo.md", SkipReason::special},
                                         {"git~1", SkipReason::dangerous_name},
                                         {"large.md", SkipReason::too_large},
                                         {"latin.md", SkipReason::not_utf8},
                                         {"link.md", SkipReason::symlink},
                                         {"linked", SkipReason::symlink},
                                         {"nul.md", SkipReason::holds_nul}};
  CHECK(scan.skipped() == expected);
}

TEST_CASE("scan: with a cache nothing is read again, and the answer is the same", "[sync-engine]") {
  const ScannedTree tree;
  for (int i = 0; i < 40; ++i) tree.write("d" + std::to_string(i % 5) + "/n" + std::to_string(i) + ".md", "text");
  tree.write("bad.md", "\xff");
  const Scan cached = tree.settled();
  CHECK(cached.files_hashed() == 0);
  const Scan fresh = tree.scan(false);
  CHECK(fresh.files_hashed() == 41);
  CHECK(files(cached) == files(fresh));
  CHECK(cached.skipped() == fresh.skipped());
}

TEST_CASE("scan: a text with a stamp that is younger than the walk is read again by the next", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "a");
  tree.settled();
  while (true) {
    const auto soon = std::chrono::system_clock::now().time_since_epoch() + std::chrono::milliseconds(1900);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(soon);
    const timespec stamp{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(soon - seconds).count()};
    const timespec both[] = {stamp, stamp};
    REQUIRE(::utimensat(AT_FDCWD, (tree / "a.md").c_str(), both, 0) == 0);
    REQUIRE(tree.scan().save(tree.cache_file(), {}));
    const Scan next = tree.scan();
    // Where that took so long that the stamp is of the past by now it says nothing.
    if (std::chrono::system_clock::now().time_since_epoch() > soon) continue;
    CHECK(next.files_hashed() == 1);
    break;
  }
}

TEST_CASE("scan: an edit is seen though size and time of modification are as before", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "before");
  tree.write("b.md", "b");
  tree.settled();
  struct stat status {};
  REQUIRE(::stat((tree / "a.md").c_str(), &status) == 0);
  tree.write("a.md", "after!");
  const timespec times[2] = {status.st_atim, status.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, (tree / "a.md").c_str(), times, 0) == 0);
  const Scan scan = tree.scan();
  CHECK_FALSE(scan.same_as_cache());
  CHECK(files(scan) == files(tree.scan(false)));
}

TEST_CASE("scan: edits within the clock tick of a walk are never missed", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "0");
  for (int i = 0; i < 300; ++i) {
    // Same size, written as fast as can be, between walks that save their cache each time.
    tree.write("a.md", std::string(1, static_cast<char>('a' + i % 26)));
    const Scan scan = tree.scan();
    REQUIRE(files(scan) == files(tree.scan(false)));
    REQUIRE(scan.save(tree.cache_file(), {}));
  }
}

TEST_CASE("scan: a file that is not older than the walk is read again each time", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "a");
  timespec later{};
  ::clock_gettime(CLOCK_REALTIME, &later);
  later.tv_sec += 3600;
  const timespec times[2] = {later, later};
  REQUIRE(::utimensat(AT_FDCWD, (tree / "a.md").c_str(), times, 0) == 0);
  for (int round = 0; round < 3; ++round) {
    const Scan scan = tree.scan();
    CHECK(scan.files_hashed() == 1);
    REQUIRE(scan.save(tree.cache_file(), {}));
  }
}

TEST_CASE("scan: new, removed and renamed files and folders are seen through a cache", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a/1.md", "1");
  tree.write("a/2.md", "2");
  tree.write("b/3.md", "3");
  tree.settled();
  SECTION("new file") { tree.write("a/new.md", "n"); }
  SECTION("removed file") { fs::remove(tree / "a/1.md"); }
  SECTION("renamed file") { fs::rename(tree / "a/1.md", tree / "a/9.md"); }
  SECTION("new folder") { tree.write("c/d/new.md", "n"); }
  SECTION("removed folder") { fs::remove_all(tree / "b"); }
  SECTION("renamed folder") { fs::rename(tree / "b", tree / "z"); }
  SECTION("a file became a folder") {
    fs::remove(tree / "a/1.md");
    tree.write("a/1.md/x.md", "x");
  }
  const Scan scan = tree.scan();
  CHECK_FALSE(scan.same_as_cache());
  CHECK(files(scan) == files(tree.scan(false)));
}

TEST_CASE("scan: an edit in place is told from names that come, go or change their kind", "[sync-engine]") {
  const ScannedTree tree;
  for (const char* name : {"a/1.md", "a/2.md", "a/3.md", "b/4.md"}) tree.write(name, name);
  REQUIRE(tree.settled().save(tree.cache_file(), {.base_match = CacheMatch::all}));
  bool same_places = false;
  std::vector<std::string> edited;
  SECTION("nothing") { same_places = true; }
  SECTION("an edit") {
    tree.write("a/2.md", "edited");
    same_places = true;
    edited = {"a/2.md"};
  }
  SECTION("a touch") {
    tree.write("a/2.md", "a/2.md");
    same_places = true;
  }
  SECTION("an edit that an earlier walk noted") {
    tree.write("a/2.md", "edited");
    REQUIRE(tree.scan().save(tree.cache_file(), {.base_match = CacheMatch::places}, {*RelativePath::parse("a/2.md")}));
    tree.write("b/4.md", "edited");
    same_places = true;
    edited = {"a/2.md", "b/4.md"};
  }
  SECTION("a new file") { tree.write("a/0.md", "0"); }
  SECTION("a file that went, and an edit") {
    tree.write("a/3.md", "edited");
    fs::remove(tree / "a/1.md");
  }
  SECTION("a folder that went") { fs::remove_all(tree / "b"); }
  SECTION("no text any more") { tree.write("a/2.md", "\xff"); }
  SECTION("a link in its place") {
    fs::remove(tree / "a/2.md");
    fs::create_symlink("1.md", tree / "a/2.md");
  }
  SECTION("rules") { tree.write("a/.wsignore", "2.md\n"); }
  const Scan scan = tree.scan();
  CHECK(scan.same_places() == same_places);
  CHECK(files(scan) == files(tree.scan(false)));
  if (!same_places) return;
  std::vector<std::string> told;
  for (const FoundFile& file : scan.not_agreed()) told.push_back(file.path.string());
  std::sort(told.begin(), told.end());
  CHECK(told == edited);
}

TEST_CASE("scan: a long walk tells how far it is", "[sync-engine]") {
  const ScannedTree tree;
  for (int i = 0; i < 600; ++i) tree.write("d" + std::to_string(i % 3) + "/" + std::to_string(i) + ".md", "x");
  std::vector<std::uint64_t> told;
  tree.scan(false, {.seen = [&](std::uint64_t names) { told.push_back(names); }, .seen_from = {}});
  REQUIRE_FALSE(told.empty());
  CHECK(told.front() > 0);
  CHECK(told.back() <= 600);
  CHECK(std::is_sorted(told.begin(), told.end()));
}

TEST_CASE("scan: a broken cache is no cache", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "a");
  tree.write("b/c.md", "c");
  tree.settled();
  std::ifstream stream(tree.cache_file(), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(stream)), {});
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    std::ofstream(tree.cache_file(), std::ios::binary) << bad;
    REQUIRE(StatCache::load(tree.cache_file()).folder_count() == 0);
  }
  std::ofstream(tree.cache_file(), std::ios::binary) << good.substr(0, good.size() / 2);
  CHECK(StatCache::load(tree.cache_file()).folder_count() == 0);
  CHECK(names_in(tree.scan()) == Names{"a.md", "b/c.md"});
}

TEST_CASE("scan: .wsignore hides files and folders, nested ones too, with or without a cache", "[sync-engine]") {
  const ScannedTree tree;
  tree.write("a.md", "a");
  tree.write("drafts/b.md", "b");
  tree.write("keep/draft-c.md", "c");
  tree.write("keep/important-draft.md", "i");
  tree.write("sub/x.md", "x");
  tree.write("sub/deep/y.md", "y");
  tree.write("~$a.md", "an editor's");
  tree.write(".wsignore", "drafts/\ndraft-*.md\n");
  tree.write("sub/.wsignore", "/x.md\n");
  const Names expected = {"a.md", "keep/important-draft.md", "sub/deep/y.md"};
  CHECK(names_in(tree.scan(false)) == expected);
  // Until the rules' own files are older than the tick they are read again, whatever the cache says.
  Scan cached = tree.settled();
  for (int round = 0; round < 1000 && cached.rules_loaded(); ++round) cached = tree.settled();
  CHECK(names_in(cached) == expected);
  CHECK_FALSE(cached.rules_loaded());
  CHECK(cached.found().closed.size() == 4);

  tree.write("keep/draft-new.md", "a new name in a tree with rules");
  CHECK(names_in(tree.scan()) == expected);
  tree.write(".wsignore", "drafts/\n");
  CHECK(names_in(tree.scan()) ==
        Names{"a.md", "keep/draft-c.md", "keep/draft-new.md", "keep/important-draft.md", "sub/deep/y.md"});
  fs::remove(tree / ".wsignore");
  CHECK(names_in(tree.scan()).size() == 6);
  const Scan loaded = tree.scan(true, {.load_rules = true});
  CHECK(loaded.is_ignored(*RelativePath::parse("sub/x.md")));
  CHECK_FALSE(loaded.is_ignored(*RelativePath::parse("other/x.md")));
}

}  // namespace ws::sync
