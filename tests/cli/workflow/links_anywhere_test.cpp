// `ws links` in folders that are tied to nothing: checked, and renamed with their links, without a trace.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "api-client/base/json.hpp"
#include "tests/support/on_terminal.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder of notes and somebody who has never logged in.
struct Folder {
  TemporaryFolder stage;
  fs::path root = stage / "notes";
  Person person;

  Folder() { fs::create_directories(root); }

  Ended ws(std::vector<std::string> arguments, const fs::path& in = {}) const {
    return person.ws(std::move(arguments), in.empty() ? root : in);
  }
  void write(const std::string& path, const std::string& text) const { write_text(root / path, text); }
  std::string read(const std::string& path) const { return read_text(root / path); }

  /// Every name below the root, hidden ones too; of files with their bytes, of links with their targets.
  std::map<std::string, std::string> all() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().lexically_relative(root).string();
      if (entry.is_symlink()) {
        found[name] = "-> " + fs::read_symlink(entry.path()).string();
      } else {
        found[name] = entry.is_regular_file() ? read_text(entry.path()) : "/";
      }
    }
    return found;
  }
  void git(std::vector<std::string> arguments, const fs::path& in = {}) const {
    arguments.insert(arguments.begin(),
                     {"git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=m"});
    const Ended ended =
        run_command({.arguments = arguments, .environment = person.environment, .folder = in.empty() ? root : in});
    CAPTURE(arguments, ended.err);
    REQUIRE(ended.exit == 0);
  }
};

/// A note beside a folder that links to it, and back.
void write_small_tree(const Folder& folder) {
  folder.write("a.md", "# A\n\n[b](deep/b.md#part) ![p](img/p.png)\n");
  folder.write("deep/b.md", "# B\n\n## Part\n\n[a](../a.md) [[a]] [c](c.md)\n");
  folder.write("deep/c.md", "[b](b.md)\n");
  folder.write("img/p.png", "picture");
}

}  // namespace

TEST_CASE("links anywhere: check names what is broken for people, editors, machines and GitHub, and leaves nothing",
          "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  folder.write("bad, 100%.md", "text\n\n[x](deep/bb.md) [h](a.md#nowhere)\n");
  const auto before = folder.all();

  const Ended lines = folder.ws({"links", "check", "--format", "quickfix"});
  CHECK(lines.exit == 1);
  CHECK(lines.out ==
        "bad, 100%.md:3:5: `deep/bb.md` does not exist; the nearest name is `deep/b.md`\n"
        "bad, 100%.md:3:21: `a.md#nowhere` names a heading that does not exist\n");
  const Ended github = folder.ws({"links", "check", "--format", "github"});
  CHECK(github.exit == 1);
  CHECK_THAT(github.out,
             Contains("::error file=bad%2C 100%25.md,line=3,col=5,title=Broken link::`deep/bb.md` does not exist;"));
  const Ended listed = folder.ws({"links", "check", "--json"});
  CHECK(listed.exit == 1);
  const ws::Json list = *ws::parse_bounded(listed.out);
  REQUIRE(list["data"].size() == 2);
  CHECK(list["data"][0]["path"] == "bad, 100%.md");
  CHECK(list["data"][1]["problem"] == "no_heading");
  // From elsewhere, with names from there; and one folder alone.
  CHECK_THAT(folder.ws({"links", "check", "notes"}, folder.stage.path()).out, Contains("notes/bad, 100%.md:3:5: "));
  CHECK(folder.ws({"links", "check", "deep"}).exit == 0);
  CHECK(folder.all() == before);
}

TEST_CASE("links anywhere: check takes what lies on the disk for a target, and what git ignores for none",
          "[cli][links]") {
  const Folder folder;
  folder.git({"init", "-q"});
  folder.write(".gitignore", "build/\n*.log\n");
  folder.write(".github/how.md", "text\n");
  folder.write("build/out.md", "[gone](gone.md)\n");
  folder.write("run.log", "x");
  folder.write("other/.git", "gitdir: elsewhere\n");  // a submodule
  folder.write("other/theirs.md", "[gone](gone.md)\n");
  fs::create_symlink("a.md", folder.root / "named.md");
  fs::create_symlink("nowhere.md", folder.root / "dangling.md");
  folder.write("a.md",
               "[h](.github/how.md) [l](named.md) [o](other/theirs.md)\n"
               "[i](build/out.md) [r](run.log) [d](dangling.md) [up](../up.md)\n");
  const Ended checked = folder.ws({"links", "check"});
  CHECK(checked.exit == 1);
  CHECK(checked.out ==
        "a.md:2:5: `build/out.md` exists, but git ignores it\n"
        "a.md:2:23: `run.log` exists, but git ignores it\n"
        "a.md:2:36: `dangling.md` does not exist\n"
        "a.md:2:54: `../up.md` leads outside of the git repository\n");
  const Ended all = folder.ws({"links", "check", "--gitignore=no"});
  CHECK(all.exit == 1);
  CHECK_THAT(all.out, Contains("build/out.md:1:8: `gone.md` does not exist"));
  CHECK_THAT(all.out, !Contains("run.log"));
  CHECK_THAT(all.out, !Contains("theirs.md"));
  CHECK(folder.ws({"links", "check", "--gitignore=maybe"}).exit == 2);
}

TEST_CASE("links anywhere: an attribute of HTML keeps the style in which it is written", "[cli][links]") {
  const Folder folder;
  folder.write("my dir/p 2.png", "bytes");
  folder.write("n.md", "<img src='my dir/p 2.png'>\n\n<img src=\"my%20dir/p%202.png\">\n");
  REQUIRE(folder.ws({"links", "mv", "my dir", "new dir"}).exit == 0);
  CHECK(folder.read("n.md") == "<img src='new dir/p 2.png'>\n\n<img src=\"new%20dir/p%202.png\">\n");
}

TEST_CASE("links anywhere: mv edits the links into and out of what moves, and nothing else", "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  folder.write("crlf.md", "\xEF\xBB\xBFone\r\n[b](deep/b.md)\r\n`[b](deep/b.md)`\r\nno end [b](<deep/b.md> \"t\")");
  const auto before = folder.all();
  const Ended planned = folder.ws({"links", "mv", "deep/b.md", "x/y z.md", "-n"});
  CHECK(planned.exit == 0);
  CHECK_THAT(planned.out, Contains("rename deep/b.md -> x/y z.md"));
  CHECK(folder.all() == before);

  const Ended moved = folder.ws({"links", "mv", "deep/b.md", "x/y z.md"});
  CAPTURE(moved.err);
  REQUIRE(moved.exit == 0);
  CHECK(moved.out == "renamed 1 file, edited 5 links in 4 notes\n");
  auto expected = before;
  expected.erase("deep/b.md");
  expected["x"] = "/";
  expected["x/y z.md"] = "# B\n\n## Part\n\n[a](../a.md) [[a]] [c](../deep/c.md)\n";
  expected["a.md"] = "# A\n\n[b](x/y%20z.md#part) ![p](img/p.png)\n";
  expected["deep/c.md"] = "[b](../x/y%20z.md)\n";
  expected["crlf.md"] = "\xEF\xBB\xBFone\r\n[b](x/y%20z.md)\r\n`[b](deep/b.md)`\r\nno end [b](<x/y z.md> \"t\")";
  CHECK(folder.all() == expected);

  // A folder, into one that is there.
  REQUIRE(folder.ws({"links", "mv", "img/", "deep"}).exit == 0);
  CHECK(folder.read("deep/img/p.png") == "picture");
  CHECK_FALSE(fs::exists(folder.root / "img"));
  CHECK_THAT(folder.read("a.md"), Contains("![p](deep/img/p.png)"));
  CHECK(folder.ws({"links", "check"}).exit == 0);

  const auto now = folder.all();
  CHECK(folder.ws({"links", "mv", "a.md", "crlf.md"}).exit == 2);
  CHECK(folder.ws({"links", "mv", "none.md", "new.md"}).exit == 6);
  CHECK(folder.ws({"links", "mv", "a.md", "../out.md"}).exit == 2);
  CHECK(folder.ws({"links", "mv", "deep", "deep/in"}).exit == 2);
  CHECK(folder.all() == now);
}

TEST_CASE("links anywhere: the whole repository follows, also in a linked work tree, but for what git ignores",
          "[cli][links]") {
  const Folder folder;
  folder.git({"init", "-q"});
  write_small_tree(folder);
  folder.write(".gitignore", "out/\n");
  folder.git({"add", "-A"});
  folder.git({"commit", "-qm", "m"});
  folder.git({"worktree", "add", "-q", "../linked"});
  const fs::path linked = folder.stage / "linked";
  write_text(folder.root / ".git/info/exclude", "private/\n");
  for (const fs::path& root : {folder.root, linked}) {
    CAPTURE(root);
    write_text(root / "out/o.md", "[a](../a.md)\n");
    write_text(root / "private/p.md", "[a](../a.md)\n");
    REQUIRE(folder.ws({"links", "mv", "../a.md", "../first.md"}, root / "deep").exit == 0);
    CHECK(read_text(root / "deep/b.md") == "# B\n\n## Part\n\n[a](../first.md) [[first]] [c](c.md)\n");
    CHECK(read_text(root / "out/o.md") == "[a](../a.md)\n");
    CHECK(read_text(root / "private/p.md") == "[a](../a.md)\n");
    CHECK_FALSE(fs::exists(root / ".ws-links"));
    CHECK_FALSE(fs::exists(root / ".ws"));
    CHECK(folder.ws({"links", "check"}, root).exit == 0);
    const auto ignored = folder.ws({"links", "mv", "first.md", "out/first.md"}, root);
    CHECK(ignored.exit == 2);
    CHECK_THAT(ignored.err, Contains("git ignores out/first.md"));
  }
}

TEST_CASE("links anywhere: repositories and synced folders within are left alone, and links stay behind",
          "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  folder.write("sub/.git/HEAD", "ref: refs/heads/m\n");
  folder.write("sub/s.md", "[a](../a.md)\n");
  fs::create_symlink("../a.md", folder.root / "deep/link.md");
  const auto before = folder.all();
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"a.md", "sub/a.md"}, {"sub", "other"}, {"deep", "sub/deep"}}) {
    const Ended refused = folder.ws({"links", "mv", from, to});
    CAPTURE(from, to);
    CHECK(refused.exit == 2);
    CHECK_THAT(refused.err, Contains("sub is a git repository or a synced folder of its own"));
  }
  CHECK(folder.all() == before);
  const Ended moved = folder.ws({"links", "mv", "deep", "d"});
  CHECK(moved.exit == 0);
  CHECK_THAT(moved.err, Contains("not moved: deep/link.md"));
  CHECK(folder.read("sub/s.md") == "[a](../a.md)\n");
  CHECK(fs::is_symlink(folder.root / "deep/link.md"));
  CHECK(folder.read("a.md") == "# A\n\n[b](d/b.md#part) ![p](img/p.png)\n");
}

TEST_CASE("links anywhere: where one file or folder is read-only, nothing is changed", "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  const auto before = folder.all();
  const bool is_folder = GENERATE(false, true);
  const fs::path place = folder.root / (is_folder ? "deep" : "deep/c.md");
  fs::permissions(place, is_folder ? fs::perms(0555) : fs::perms(0444));
  const Ended refused = folder.ws({"links", "mv", "deep/b.md", "b.md"});
  fs::permissions(place, is_folder ? fs::perms(0755) : fs::perms(0644));
  CHECK(refused.exit == 14);
  CHECK_THAT(refused.err, Contains(is_folder ? "the folder deep is read-only" : "deep/c.md is read-only"));
  CHECK_THAT(refused.err, Contains("nothing was changed"));
  CHECK(folder.all() == before);
}

TEST_CASE("links anywhere: fix edits the links to what was renamed by other means", "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  fs::rename(folder.root / "deep", folder.root / "low");
  const Ended unknown = folder.ws({"links", "fix", "--yes"});
  CHECK(unknown.exit == 2);
  CHECK_THAT(unknown.err, Contains("--rename FROM=TO"));
  CHECK(folder.ws({"links", "fix", "--rename", "deep=low"}).exit == 2);  // nobody is there to ask
  REQUIRE(folder.ws({"links", "fix", "--rename", "deep=low", "--yes"}).exit == 0);
  CHECK(folder.read("a.md") == "# A\n\n[b](low/b.md#part) ![p](img/p.png)\n");
  CHECK(folder.ws({"links", "check"}).exit == 0);
  CHECK_FALSE(fs::exists(folder.root / ".ws-links"));
}

TEST_CASE("links anywhere: what fix would edit stands above its question", "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  fs::rename(folder.root / "deep", folder.root / "low");
  Command command = folder.person.command({"links", "fix", "--rename", "deep=low"}, folder.root);
  command.input = "y\n";
  const Screen screen = run_on_terminal(command, 80, 24);
  CAPTURE(screen.text);
  CHECK(screen.exit == 0);
  const std::size_t edit = screen.text.find("+[b](low/b.md#part)");
  REQUIRE(edit != std::string::npos);
  CHECK(edit < screen.text.find("Edit 1 link in 1 note?"));
  CHECK(folder.read("a.md") == "# A\n\n[b](low/b.md#part) ![p](img/p.png)\n");
}

TEST_CASE("links anywhere: killed at any change of the disk, the same command finishes a rename", "[cli][links]") {
  const auto is_understood = [](const Folder& folder) { return folder.ws({"links", "mv", "deep", "x/low"}); };
  const Folder whole;
  write_small_tree(whole);
  REQUIRE(is_understood(whole).exit == 0);
  const auto expected = whole.all();
  std::size_t halfway = 0;
  std::set<std::string> seen;
  for (int point = 1;; ++point) {
    const Folder folder;
    write_small_tree(folder);
    Command command = folder.person.command({"links", "mv", "deep", "x/low"}, folder.root);
    const std::string log = (folder.stage / "log").string();
    command.environment["LD_PRELOAD"] = WS_FAULT_SHIM;
    command.environment["WS_FAULT_ROOT"] = folder.root.string();
    command.environment["WS_FAULT_LOG"] = log;
    command.environment["WS_FAULT_POINT"] = std::to_string(point);
    command.environment["WS_FAULT_MODE"] = point % 2 == 0 ? "kill-before" : "kill-after";
    const Ended killed = run_command(command);
    CAPTURE(point, killed.err, read_text(log));
    REQUIRE(read_text(log).starts_with("ready\n"));
    if (killed.exit == 0) {
      CHECK(point > 20);
      break;
    }
    REQUIRE(killed.exit == 128 + 9);
    const bool is_cut = fs::exists(folder.root / ".ws-links/.steps.json");
    if (is_cut) {
      ++halfway;
      CHECK_THAT(folder.ws({"links", "check"}).err, Contains("a rename was interrupted here"));
      CHECK(folder.ws({"links", "mv", "deep", "x/low", "-n"}).exit == 2);
    }
    const Ended again = is_understood(folder);
    CAPTURE(again.exit, again.err);
    // Killed after its last step there is nothing left to rename.
    CHECK((again.exit == 0 || (folder.all() == expected && again.exit == 6)));
    if (is_cut) CHECK_THAT(again.err, Contains("finished what was interrupted: ws links mv deep x/low"));
    CHECK(folder.all() == expected);
  }
  CHECK(halfway > 10);
}

TEST_CASE("links anywhere: a text that somebody wrote after the kill is kept", "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  Command command = folder.person.command({"links", "mv", "deep", "low"}, folder.root);
  command.environment["LD_PRELOAD"] = WS_FAULT_SHIM;
  command.environment["WS_FAULT_ROOT"] = folder.root.string();
  command.environment["WS_FAULT_LOG"] = (folder.stage / "log").string();
  command.environment["WS_FAULT_MODE"] = "kill-before";
  for (int point = 1; !fs::exists(folder.root / ".ws-links/.steps.json"); ++point) {
    command.environment["WS_FAULT_POINT"] = std::to_string(point);
    REQUIRE(run_command(command).exit == 128 + 9);
  }
  folder.write("a.md", "mine\n");
  const Ended again = folder.ws({"links", "mv", "deep", "low"});
  CHECK(again.exit == 0);
  CHECK_THAT(again.err, Contains("a.md was left as it is: it changed during the rename"));
  CHECK(folder.read("a.md") == "mine\n");
  CHECK(fs::exists(folder.root / "low/b.md"));
  CHECK_FALSE(fs::exists(folder.root / ".ws-links"));
}

TEST_CASE("links anywhere: a `.ws-links` that somebody else made is not believed", "[cli][links]") {
  const Folder folder;
  write_small_tree(folder);
  folder.write(".ws-links/.steps.json", R"({"v": 1, "command": "x", "steps": []})");
  fs::permissions(folder.root / ".ws-links", fs::perms(0755));
  const auto before = folder.all();
  CHECK(folder.ws({"links", "mv", "a.md", "b.md"}).exit == 14);
  CHECK(folder.all() == before);
}

TEST_CASE("links anywhere: a big folder with odd names is renamed whole", "[cli][links]") {
  const Folder folder;
  constexpr int count = 3000;
  const std::vector<std::string> odd = {"ä ö.md", "100%.md", "a#b.md", "(x) [y].md", "it's \"so\".md", "日本.md"};
  std::string index;
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("old/n{}.md", i);
    folder.write(name, fmt::format("# {}\n\n[next](n{}.md) [up](../index.md)\n", i, (i + 1) % count));
    index += fmt::format("- [{}](old/n{}.md)\n", i, i);
  }
  for (const std::string& name : odd) {
    folder.write("old/" + name, "[up](../index.md)\n");
    std::string target = name;
    for (std::size_t at = 0; (at = target.find_first_of("%#", at)) != std::string::npos; ++at)
      target.replace(at, 1, target[at] == '%' ? "%25" : "%23");
    index += "- [odd](<old/" + target + ">)\n";
  }
  folder.write("index.md", index);
  REQUIRE(folder.ws({"links", "check"}).exit == 0);
  const Ended moved = folder.ws({"links", "mv", "old", "a/b/new"});
  CAPTURE(moved.err);
  REQUIRE(moved.exit == 0);
  CHECK(moved.out == fmt::format("renamed {} files, edited {} links in {} notes\n",
                                 count + odd.size(),
                                 2 * (count + odd.size()),
                                 count + odd.size() + 1));
  CHECK(folder.ws({"links", "check"}).exit == 0);
  CHECK_FALSE(fs::exists(folder.root / "old"));
}
