// Files that are there under another name, where nobody reads them: no run takes their documents for deleted.
#include <filesystem>

#include <catch2/catch.hpp>

#include "sync-engine/engine.hpp"
#include "tests/sync-engine/support/synced_folder.hpp"

namespace ws::sync {
namespace {

using test::FakeRemote;
using test::lines;
using test::Lines;
using test::SyncedFolder;
using test::Tree;

void put_away(const SyncedFolder& folder, const std::string& from, const std::string& to) {
  std::filesystem::rename(folder.path() / from, folder.path() / to);
}

Lines asides(const Report& report) {
  Lines out;
  for (const Detached& each : report.detached) out.push_back(each.path.string() + " " + each.reason);
  return out;
}

}  // namespace

TEST_CASE("out of sight: a file renamed to what is not read is kept aside, and a move once it is read",
          "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("x.md", "text\n");
  here.write("z.md", "z\n");
  here.run();
  std::string reason;
  put_away(here, "x.md", "w.md");
  const auto overwrite = [&](const std::string& text) { here.write("w.md", text); };
  SECTION("not UTF-8") {
    overwrite("text\n\xff\n");
    reason = "not_utf8";
  }
  SECTION("a NUL") {
    overwrite(std::string("text\n\0\n", 7));
    reason = "holds_nul";
  }
  SECTION("too large") {
    overwrite(std::string((1U << 20U) + 1, 'x'));
    reason = "too_large";
  }
  SECTION("ignored") {
    here.write(".wsignore", "w.md\n");
    reason = "ignored";
  }
  SECTION("behind a link") {
    put_away(here, "w.md", ".own");
    std::filesystem::create_symlink(".own", here.path() / "w.md");
    reason = "symlink";
  }
  const Lines expected{"x.md " + reason};
  CHECK(asides(here.status()) == expected);
  const Report report = here.run();
  CHECK(lines(report).empty());
  CHECK(asides(report) == expected);
  CHECK(remote.tree() == Tree{{"x.md", "text\n"}, {"z.md", "z\n"}});
  CHECK(asides(here.run()) == expected);

  // As it was, and in sight.
  if (reason == "symlink") {
    std::filesystem::remove(here.path() / "w.md");
    put_away(here, ".own", "w.md");
  }
  std::filesystem::remove(here.path() / ".wsignore");
  overwrite("text\n");
  CHECK(lines(here.run()) == Lines{"push_move w.md"});
  CHECK(remote.document_count() == 2);
}

TEST_CASE("out of sight: a name that is refused keeps the document as well", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("x.md", "text\n");
  here.write("z.md", "z\n");
  here.run();
  put_away(here, "x.md", "bad\\x.md");
  const Report report = here.run();
  CHECK(lines(report).empty());
  CHECK(asides(report) == Lines{"x.md dangerous_name"});
  // Nobody saw it go from a place where it was synced.
  std::filesystem::remove(here.path() / "bad\\x.md");
  CHECK(lines(here.run()) == Lines{"pull_create x.md"});
}

TEST_CASE("out of sight: a file that is being written under its new name is waited for", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("x.md", "1\n2\n3\n4\n5\n");
  here.write("y.md", "other\n");
  here.write("z.md", "z\n");
  here.run();
  const Tree before = remote.tree();
  const auto writes = [](const std::string& name) {
    return RunOptions{.only = [name](const RelativePath& path) { return path.text() != name; },
                      .busy = [name](const RelativePath& path) { return path.text() == name; }};
  };
  SECTION("renamed, and written on") {
    put_away(here, "x.md", "w.md");
    here.write("w.md", "half of somethi");
    CHECK(lines(here.run(writes("w.md"))).empty());
    CHECK(remote.tree() == before);
    here.write("w.md", "1\n2\n3\n4\n5\n6\n");
    CHECK(lines(here.run()) == Lines{"push_move w.md", "push_update w.md"});
  }
  SECTION("saved anew by an editor, so that its number is another") {
    here.remove("x.md");
    here.write("w.md", "half of somethi");
    CHECK(lines(here.run(writes("w.md"))).empty());
    here.write("w.md", "1\n2\n3\n4\n5\n6\n");
    CHECK(lines(here.run()) == Lines{"push_move w.md", "push_update w.md"});
  }
  SECTION("two change places, and one is written on") {
    put_away(here, "x.md", "tmp.txt");
    put_away(here, "y.md", "x.md");
    put_away(here, "tmp.txt", "y.md");
    here.write("y.md", "half of somethi");
    const Report report = here.run(writes("y.md"));
    CHECK(lines(report).empty());
    CHECK(report.conflicts.empty());
    here.write("y.md", "1\n2\n3\n4\n5\n6\n");
    CHECK(lines(here.run()) == Lines{"push_move x.md", "push_move y.md", "push_update y.md"});
  }
  SECTION("what is edited and new elsewhere goes on") {
    put_away(here, "x.md", "w.md");
    here.write("w.md", "half of somethi");
    here.write("y.md", "other, edited\n");
    here.write("n.md", "new\n");
    CHECK(lines(here.run(writes("w.md"))) == Lines{"push_create n.md", "push_update y.md"});
    here.write("w.md", "1\n2\n3\n4\n5\n");
    CHECK(lines(here.run()) == Lines{"push_move w.md"});
  }
  CHECK(here.run().rows.empty());
}

TEST_CASE("out of sight: a rename onto a twin is skipped until the other goes", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("x.md", "text\n");
  here.write("Z.md", "z\n");
  here.write("other.md", "other\n");
  here.run();
  put_away(here, "x.md", "z.md");
  const Report report = here.run();
  CHECK(lines(report).empty());
  CHECK(report.conflicts.empty());
  CHECK(asides(report) == Lines{"x.md twin"});
  CHECK(report.skipped == std::vector<Skipped>{{"z.md", SkipReason::twin}});
  CHECK(here.run().rows.empty());
  here.remove("Z.md");
  CHECK(lines(here.run()) == Lines{"push_delete Z.md", "push_move z.md"});
  CHECK(remote.tree() == here.tree());
  CHECK(here.run().rows.empty());
}

TEST_CASE("out of sight: what is not wanted holds back what depends on it", "[sync-engine]") {
  FakeRemote remote;
  SyncedFolder here(remote);
  here.write("a.md", "aaa\n");
  here.write("d/c.md", "ccc\n");
  here.write("d/e.md", "eee\n");
  here.run();
  const RunOptions beneath{.only = [](const RelativePath& path) { return path.text().starts_with("d/"); }};
  Lines whole;
  SECTION("here") {
    put_away(here, "a.md", "tmp.txt");
    put_away(here, "d/c.md", "a.md");
    put_away(here, "tmp.txt", "d/c.md");
    whole = {"push_move a.md", "push_move d/c.md"};
  }
  SECTION("there") {
    remote.move("a.md", "tmp.md");
    remote.move("d/c.md", "a.md");
    remote.move("tmp.md", "d/c.md");
    whole = {"pull_move a.md", "pull_move d/c.md"};
  }
  here.write("d/e.md", "edited\n");
  CHECK(lines(here.status(beneath)) == Lines{"push_update d/e.md"});
  const Report report = here.run(beneath);
  CHECK(lines(report) == Lines{"push_update d/e.md"});
  CHECK(report.conflicts.empty());
  CHECK(lines(here.run()) == whole);
  CHECK(remote.tree() == here.tree());
}

}  // namespace ws::sync
