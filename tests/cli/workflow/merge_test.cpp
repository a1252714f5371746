// `ws merge` by itself and as git's merge driver, with the real git.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/random_cases.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"

using namespace ws::test;

namespace {

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

/// A user of git with an own home and a `ws` in PATH that may be another program.
class GitUser {
 public:
  explicit GitUser(const fs::path& programs = fs::path(program("ws")).parent_path()) {
    const char* const path = std::getenv("PATH");
    environment = {{"HOME", home_.path().string()},
                   {"PATH", programs.string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path)},
                   {"GIT_CONFIG_NOSYSTEM", "1"},
                   {"GIT_AUTHOR_NAME", "Mira"},
                   {"GIT_AUTHOR_EMAIL", "mira@example.org"},
                   {"GIT_COMMITTER_NAME", "Mira"},
                   {"GIT_COMMITTER_EMAIL", "mira@example.org"},
                   {"GIT_EDITOR", "true"},
                   {"LC_ALL", "C"},
                   {"NO_COLOR", "1"}};
  }

  const fs::path& home() const { return home_.path(); }
  Ended run(std::vector<std::string> arguments, const fs::path& folder) const {
    return run_command({.arguments = std::move(arguments), .environment = environment, .folder = folder});
  }
  Ended ws(std::vector<std::string> arguments, const fs::path& folder) const {
    arguments.insert(arguments.begin(), program("ws"));
    return run(std::move(arguments), folder);
  }

  Environment environment = {};

 private:
  TemporaryFolder home_;
};

class GitRepository {
 public:
  explicit GitRepository(const GitUser& user) : user_(user) { git({"init", "-q", "-b", "main"}); }

  const fs::path& path() const { return folder_.path(); }
  fs::path operator/(const std::string& name) const { return folder_ / name; }
  Ended try_git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    return user_.run(std::move(arguments), path());
  }
  std::string git(std::vector<std::string> arguments) const {
    const Ended ended = try_git(std::move(arguments));
    INFO(ended.out << ended.err);
    REQUIRE(ended.exit == 0);
    return ended.out;
  }
  Ended ws(std::vector<std::string> arguments) const { return user_.ws(std::move(arguments), path()); }
  void install() const { REQUIRE(ws({"merge", "--install"}).exit == 0); }
  void commit(const std::map<std::string, std::string>& files) const {
    for (const auto& [name, text] : files) write_text(*this / name, text);
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "edit"});
  }
  std::string read(const std::string& name) const { return read_text(*this / name); }
  std::string show(const std::string& what) const { return try_git({"show", what}).out; }
  bool is_clean() const { return git({"status", "--porcelain"}).empty(); }
  /// Two branches that begin with `base`: `main`, checked out, has ours, `side` has theirs.
  void diverge(const std::string& name, const std::string& base, const std::string& ours, const std::string& theirs) {
    commit({{name, base}});
    git({"checkout", "-q", "-b", "side"});
    commit({{name, theirs}});
    git({"checkout", "-q", "main"});
    commit({{name, ours}});
  }

 private:
  const GitUser& user_;
  TemporaryFolder folder_;
};

/// Three files to merge.
class Sides {
 public:
  Sides(const std::string& base, const std::string& ours, const std::string& theirs, const std::string& ending = ".md")
      : ending_(ending) {
    write_text(folder_ / ("base" + ending), base);
    write_text(folder_ / ("ours" + ending), ours);
    write_text(folder_ / ("theirs" + ending), theirs);
  }

  const fs::path& folder() const { return folder_.path(); }
  std::string ours() const { return read_text(folder_ / ("ours" + ending_)); }
  Ended merge(std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"merge", "base" + ending_, "ours" + ending_, "theirs" + ending_};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return user_.ws(std::move(arguments), folder());
  }
  Ended drive(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"merge", "--driver"});
    for (const char* const side : {"base", "ours", "theirs"}) flags.push_back(side + ending_);
    return user_.ws(std::move(flags), folder());
  }
  /// What git makes of them by itself.
  Ended merge_by_git(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"git", "merge-file", "-p"});
    for (const char* const side : {"ours", "base", "theirs"}) flags.push_back(side + ending_);
    return user_.run(std::move(flags), folder());
  }

  GitUser& user() { return user_; }

 private:
  GitUser user_;
  TemporaryFolder folder_;
  std::string ending_;
};

constexpr const char* all_attributes = "*.md merge=ws\n*.markdown merge=ws\n*.MD merge=ws\n*.MARKDOWN merge=ws\n";
constexpr const char* list_base = "# Shops\n\n- Baker\n- Butcher\n\nOpen on Monday.\n";
constexpr const char* list_ours = "# Shops\n\n- Baker\n- Butcher\n- Cobbler\n\nOpen on Monday.\n";
constexpr const char* list_theirs = "# Shops\n\n- Baker\n- Butcher\n- Tailor\n\nOpen on Monday.\n";
constexpr const char* list_merged = "# Shops\n\n- Baker\n- Butcher\n- Cobbler\n- Tailor\n\nOpen on Monday.\n";

constexpr const char* clash_base = "# T\n\nfirst\n\nsecond\n\nthird\n\nfourth\n\nfifth\n";
constexpr const char* clash_ours = "# T\n\nfirst\n\nzwei\n\nthird\n\nfourth\n\nfifth, ours\n";
constexpr const char* clash_theirs = "# T, theirs\n\nfirst\n\ndeux\n\nthird\n\nfourth\n\nfifth\n";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Markers without what git may name the sides.
std::string without_labels(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t size = line.empty() ? 0 : std::min(line.find_first_not_of(line.front()), line.size());
    const bool is_marker = size >= 7 && std::string("<|>").find(line.front()) != std::string::npos;
    plain += (is_marker ? line.substr(0, size) : line) + "\n";
    at = end + 1;
  }
  return plain;
}

}  // namespace

TEST_CASE("merge: what git conflicts on comes out merged, on stdout or in a file, with exit 0", "[cli]") {
  const Sides sides(list_base, list_ours, list_theirs);
  REQUIRE(sides.merge_by_git({}).exit == 1);
  const Ended merged = sides.merge();
  CHECK(merged.exit == 0);
  CHECK(merged.out == list_merged);
  CHECK(merged.err.empty());
  CHECK(sides.ours() == list_ours);

  CHECK(sides.merge({"-o", "out.md"}).exit == 0);
  CHECK(read_text(sides.folder() / "out.md") == list_merged);
  CHECK(sides.merge({"-o", "-"}).out == list_merged);
  const Ended refused = sides.merge({"-o", "ours.md"});
  CHECK(refused.exit == 14);
  CHECK(sides.ours() == list_ours);
  CHECK(sides.merge({"-o", "ours.md", "--force"}).exit == 0);
  CHECK(sides.ours() == list_merged);
}

TEST_CASE("merge --explain: each place and its rule go to stderr, the result to stdout", "[cli]") {
  const Sides sides(
      "- rope\n\none fine line\n", "- rope\n- tar\n\none good line\n", "- rope\n- salt\n\none odd line\n");
  const Ended merged = sides.merge({"--explain"});
  CHECK(merged.exit == 1);
  CHECK(merged.out.starts_with("- rope\n- tar\n- salt\n\n<<<<<<< "));
  CHECK(merged.err.find("line 2: ours adds 1 line, theirs adds 1 line: merged entry by entry\n") != std::string::npos);
  CHECK(merged.err.find("line 5: ours changes 1 line, theirs changes 1 line: conflict, both sides changed it\n") !=
        std::string::npos);
}

TEST_CASE("merge: conflicts are marked as git marks them, in every style, size and with every label", "[cli]") {
  const Sides sides(clash_base, clash_ours, clash_theirs);
  for (const std::string style : {"merge", "diff3", "zdiff3"}) {
    for (const std::string size : {"7", "1", "23"}) {
      CAPTURE(style, size);
      const Ended ours = sides.merge({"--style",
                                      style,
                                      "--marker-size",
                                      size,
                                      "--label-ours=mine",
                                      "--label-base=old",
                                      "--label-theirs=branch with words"});
      std::vector<std::string> flags = {"--marker-size=" + size, "-L", "mine", "-L", "old", "-L", "branch with words"};
      if (style != "merge") flags.push_back("--" + style);
      const Ended gits = sides.merge_by_git(flags);
      CHECK(ours.exit == 1);
      CHECK(gits.exit == 1);
      CHECK(ours.out == gits.out);
      CHECK(has(ours.err, "ours.md has conflicts"));
    }
  }
  // Files are their own labels, as in git.
  CHECK(sides.merge().out == sides.merge_by_git({}).out);
}

TEST_CASE("merge: lines that both sides have stand outside the markers once", "[cli]") {
  const std::string base = "# T\n\nold\n";
  const std::string ours = "# T\n\nsame start\n\nmine\n\na\n\nb\n\nc\n\nmine too\n\nsame end\n";
  const std::string theirs = "# T\n\nsame start\n\nyours\n\na\n\nb\n\nc\n\nyours too\n\nsame end\n";
  const Sides sides(base, ours, theirs);
  for (const std::string style : {"merge", "diff3", "zdiff3"}) {
    CAPTURE(style);
    std::vector<std::string> flags;
    if (style != "merge") flags.push_back("--" + style);
    CHECK(sides.merge({"--style", style}).out == sides.merge_by_git(flags).out);
  }
}

TEST_CASE("merge: line ends, a byte order mark and a missing last newline are kept", "[cli]") {
  const auto crlf = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
    return text;
  };
  CHECK(Sides(crlf(list_base), crlf(list_ours), crlf(list_theirs)).merge().out == crlf(list_merged));
  CHECK(Sides("\xEF\xBB\xBF" + std::string(list_base),
              "\xEF\xBB\xBF" + std::string(list_ours),
              "\xEF\xBB\xBF" + std::string(list_theirs))
            .merge()
            .out == "\xEF\xBB\xBF" + std::string(list_merged));
  const Ended open = Sides("a\n\nb", "A\n\nb", "a\n\nB").merge();
  CHECK(open.out == "A\n\nB");
  const Sides clash("a", "b", "c");
  CHECK(clash.merge().exit == 1);
  CHECK(clash.merge().out == clash.merge_by_git({}).out);
  // Line ends of both kinds in one file: by lines, and the rest of the file stays unmarked.
  const Sides mixed("a\r\nb\nc\nd\ne\nf\n", "a\r\nB\nc\nd\ne\nf\n", "a\r\nbb\nc\nd\ne\nF\n");
  CHECK(mixed.merge().exit == 1);
  CHECK(mixed.merge().out == mixed.merge_by_git({}).out);
}

TEST_CASE("merge: what is not Markdown by its name, or not text that we read, is merged by lines as git does",
          "[cli]") {
  const Sides code(list_base, list_ours, list_theirs, ".txt");
  CHECK(code.merge().exit == 1);
  CHECK(code.merge().out == code.merge_by_git({}).out);
  CHECK(code.merge({"--path", "docs/Notes.MARKDOWN"}).out == list_merged);
  CHECK(Sides(list_base, list_ours, list_theirs).merge({"--path", "x.c"}).exit == 1);

  const Sides latin(std::string(list_base) + "caf\xE9\n",
                    std::string(list_ours) + "caf\xE9\n",
                    std::string(list_theirs) + "caf\xE9\n");
  CHECK(latin.merge().exit == 1);
  CHECK(latin.merge().out == latin.merge_by_git({}).out);
  CHECK(has(latin.merge().err, "ours.md is not UTF-8, so it is merged by lines"));

  const std::string nul(1, '\0');
  const Sides binary("a" + nul, "b" + nul, "c" + nul);
  CHECK(binary.merge().exit == 2);
  CHECK(binary.merge().out.empty());
  CHECK(has(binary.merge().err, "binary"));
  CHECK(binary.drive({"--path=x.md"}).exit == 1);
  CHECK(binary.ours() == "b" + nul);
  // Only one side changed it: nothing has to be merged.
  CHECK(Sides("a" + nul, "a" + nul, "c" + nul).merge().out == "c" + nul);
}

TEST_CASE("merge: wrong arguments and files that cannot be read end with 2", "[cli]") {
  const Sides sides(list_base, list_ours, list_theirs);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"merge"},
                                             {"merge", "base.md", "ours.md"},
                                             {"merge", "base.md", "ours.md", "missing.md"},
                                             {"merge", "base.md", "ours.md", "."},
                                             {"merge", "base.md", "ours.md", "theirs.md", "--style", "diff4"},
                                             {"merge", "base.md", "ours.md", "theirs.md", "--marker-size", "0"},
                                             {"merge", "base.md", "ours.md", "theirs.md", "--marker-size", "many"},
                                             {"merge", "base.md", "ours.md", "theirs.md", "--global"},
                                             {"merge", "--install", "--uninstall"},
                                             {"merge", "--install", "--local", "--global"},
                                             {"merge", "--install", "base.md"}}) {
    CAPTURE(wrong);
    const Ended ended = GitUser().ws(wrong, sides.folder());
    CHECK(ended.exit == 2);
    CHECK(ended.out.empty());
    CHECK(has(ended.err, "error: "));
  }
  CHECK(sides.merge({"-o", "no/such/folder/out.md"}).exit == 14);
}

TEST_CASE("merge: needs no home, no settings and no folder that can be written to", "[cli]") {
  Sides sides(list_base, list_ours, list_theirs);
  write_text(sides.user().home() / ".config/ws/config.yaml", "defaults: [broken\n");
  write_text(sides.folder() / ".ws.yaml", "workspace: [broken\n");
  CHECK(sides.merge().out == list_merged);
  sides.user().environment["HOME"] = "";
  CHECK(sides.merge().out == list_merged);
  CHECK(sides.drive({"--path=a.md"}).exit == 0);
  CHECK(sides.ours() == list_merged);
  CHECK_FALSE(fs::exists(sides.folder() / ".ws"));
  if (::geteuid() == 0) return;
  fs::permissions(sides.folder(), fs::perms::owner_read | fs::perms::owner_exec);
  const Ended refused = sides.merge({"-o", "out.md"});
  CHECK(sides.merge().out == list_merged);
  fs::permissions(sides.folder(), fs::perms::owner_all);
  CHECK(refused.exit == 14);
  CHECK(has(refused.err, "cannot write out.md"));
}

TEST_CASE("merge --driver: the result replaces OURS and keeps its mode, nothing is left beside it", "[cli]") {
  const Sides sides(list_base, list_ours, list_theirs);
  fs::permissions(sides.folder() / "ours.md", fs::perms(0751));
  const Ended merged = sides.drive({"--path=docs/shops.md", "--marker-size=7"});
  CHECK(merged.exit == 0);
  CHECK(merged.out.empty());
  CHECK(merged.err.empty());
  CHECK(sides.ours() == list_merged);
  CHECK((fs::status(sides.folder() / "ours.md").permissions() & fs::perms::mask) == fs::perms(0751));
  CHECK(texts_of(sides.folder()).size() == 3);

  const Sides clash(clash_base, clash_ours, clash_theirs);
  const std::string expected = clash.merge({"--label-ours=ours", "--label-base=base", "--label-theirs=theirs"}).out;
  // A git before 2.44 leaves the placeholders as they are.
  const Ended marked = clash.drive({"--path=a.md", "--label-ours=%X", "--label-base=%S", "--label-theirs=%Y"});
  CHECK(marked.exit == 1);
  CHECK(marked.err.empty());
  CHECK(clash.ours() == expected);
  const Sides named(clash_base, clash_ours, clash_theirs);
  CHECK(
      named.drive({"--path=a.md", "--label-ours", "HEAD", "--label-base", "", "--label-theirs", "1a2b3 (it's)"}).exit ==
      1);
  CHECK(has(named.ours(), "\n<<<<<<< HEAD\n"));
  CHECK(has(named.ours(), "\n>>>>>>> 1a2b3 (it's)\n"));
}

TEST_CASE("merge --driver: whatever fails inside leaves git's own merge, markers and all", "[cli]") {
  const std::string marked = Sides(clash_base, clash_ours, clash_theirs)
                                 .merge_by_git({"--marker-size=9", "-L", "ours", "-L", "base", "-L", "theirs"})
                                 .out;
  for (const std::string wrong : {"--nonsense", "--style=diff4", "--marker-size=", "--marker-size=many"}) {
    CAPTURE(wrong);
    const Sides sides(clash_base, clash_ours, clash_theirs);
    const Ended ended = sides.drive({"--path=a.md", "--marker-size=9", wrong});
    CHECK(ended.exit == 1);
    CHECK(sides.ours() == marked);
    CHECK(has(ended.err, "git merges this file by lines"));
  }
  // What git merges is merged.
  const Sides apart("a\n\nb\n\nc\n\nd\n\ne\n", "A\n\nb\n\nc\n\nd\n\ne\n", "a\n\nb\n\nc\n\nd\n\nE\n");
  CHECK(apart.drive({"--nonsense"}).exit == 0);
  CHECK(apart.ours() == "A\n\nb\n\nc\n\nd\n\nE\n");
}

TEST_CASE("git merge: a driver that fails, is killed, is missing or lacks memory loses neither side", "[cli]") {
  const TemporaryFolder programs;
  const std::string real = program("ws");
  const std::map<std::string, std::string> ways = {
      {"ends with 2", "exit 2"},
      {"an older ws", "echo 'error: `ws merge` is not a command' >&2; exit 2"},
      {"is killed", "kill -9 $$"},
      {"is killed as memory runs out", "ulimit -v 40000; exec '" + real + "' \"$@\""},
      {"gets a wrong flag", "shift; exec '" + real + "' merge --nonsense \"$@\""},
      {"missing", ""}};
  for (const auto& [way, script] : ways) {
    CAPTURE(way);
    fs::remove(programs / "ws");
    GitUser user(programs.path());
    // No other ws, but all that git needs.
    user.environment["PATH"] = programs.path().string() + ":/usr/bin:/bin";
    if (!script.empty()) {
      write_text(programs / "ws", "#!/bin/sh\n" + script + "\n");
      fs::permissions(programs / "ws", fs::perms::owner_all);
    }
    GitRepository repository(user);
    repository.install();
    std::string long_text;
    for (int i = 0; i < 200'000; ++i) long_text += "Line " + std::to_string(i) + " of many.\n";
    const std::string lead = way == "is killed as memory runs out" ? long_text : "";
    repository.diverge("a.md", lead + clash_base, lead + clash_ours, lead + clash_theirs);
    const Ended merged = repository.try_git({"merge", "side"});
    INFO(merged.err.substr(0, 2000));
    CHECK(merged.exit == 1);
    const std::string text = repository.read("a.md").substr(lead.size());
    CHECK(has(text, "\n<<<<<<< ours\nzwei\n=======\ndeux\n>>>>>>> theirs\n"));
    CHECK(has(text, "# T, theirs\n"));
    CHECK(has(text, "fifth, ours\n"));
    CHECK(repository.git({"status", "--porcelain"}) == "UU a.md\n");
  }
}

TEST_CASE("merge --install: git merges Markdown with ws from then on, --uninstall leaves every other byte", "[cli]") {
  const GitUser user;
  GitRepository repository(user);
  const fs::path attributes = repository / ".git/info/attributes";
  const fs::path config = repository / ".git/config";
  repository.git({"config", "user.nickname", "m"});
  const std::string config_before = read_text(config);
  const std::string before = GENERATE("", "*.txt text", "*.txt text\n# mine\n", "*.txt text\r\n*.c diff\r\n", "\n");
  CAPTURE(before);
  if (!before.empty()) write_text(attributes, before);

  const Ended tried = repository.ws({"merge", "--install", "-n"});
  CHECK(tried.exit == 0);
  CHECK(has(tried.out, "Would write to " + attributes.string()));
  CHECK(read_text(attributes) == before);
  CHECK(read_text(config) == config_before);

  const Ended installed = repository.ws({"merge", "--install"});
  CHECK(installed.exit == 0);
  for (const std::string& shown : {attributes.string(),
                                   config.string(),
                                   std::string("  *.md merge=ws\n"),
                                   std::string("  *.markdown merge=ws\n"),
                                   std::string("merge.ws.driver = if command")}) {
    CHECK(has(installed.out, shown));
  }
  CHECK(read_text(attributes).substr(0, before.size()) == before);
  CHECK(has(repository.git({"check-attr", "merge", "a.md", "b.markdown"}), "a.md: merge: ws\nb.markdown: merge: ws\n"));
  const std::string once = read_text(attributes);
  const std::string config_once = read_text(config);
  CHECK(has(repository.ws({"merge", "--install"}).out, "already"));
  CHECK(read_text(attributes) == once);
  CHECK(read_text(config) == config_once);

  repository.diverge("a.md", list_base, list_ours, list_theirs);
  CHECK(repository.try_git({"merge", "-q", "--no-edit", "side"}).exit == 0);
  CHECK(repository.read("a.md") == list_merged);
  CHECK(repository.is_clean());

  CHECK(repository.ws({"merge", "--uninstall"}).exit == 0);
  CHECK(read_text(config) == config_before);
  CHECK((before.empty() ? !fs::exists(attributes) : read_text(attributes) == before));
  CHECK(has(repository.ws({"merge", "--uninstall"}).out, "git does not merge with ws in"));
}

TEST_CASE("merge --install: what somebody wrote around our lines stays, and another's driver too", "[cli]") {
  const GitUser user;
  GitRepository repository(user);
  repository.install();
  const fs::path attributes = repository / ".git/info/attributes";
  write_text(attributes, "*.a x\n" + read_text(attributes) + "*.b y\n*.md merge=ws -text\n");
  repository.git({"config", "merge.ws.recursive", "binary"});
  CHECK(repository.ws({"merge", "--uninstall"}).exit == 0);
  CHECK(read_text(attributes) == "*.a x\n*.b y\n*.md merge=ws -text\n");
  CHECK(repository.git({"config", "--get-regexp", "^merge"}) == "merge.ws.recursive binary\n");

  repository.git({"config", "merge.ws.driver", "other %O %A %B"});
  const std::string config = read_text(repository / ".git/config");
  for (const char* const flag : {"--install", "--uninstall"}) {
    const Ended refused = repository.ws({"merge", flag});
    CHECK(refused.exit == 7);
    CHECK(has(refused.err, "other %O %A %B"));
  }
  CHECK(read_text(repository / ".git/config") == config);
}

TEST_CASE("merge --install: knows worktrees, folders below, bare repositories and none", "[cli]") {
  const GitUser user;
  GitRepository repository(user);
  repository.commit({{"docs/a.md", list_base}});
  const TemporaryFolder elsewhere;
  repository.git({"worktree", "add", "-q", (elsewhere / "tree").string(), "-b", "tree"});
  CHECK(user.ws({"merge", "--install"}, elsewhere / "tree").exit == 0);
  CHECK(has(read_text(repository / ".git/info/attributes"), "*.md merge=ws\n"));
  CHECK(has(user.ws({"merge", "--install"}, repository / "docs").out, "already"));
  CHECK(has(user.ws({"-C", (repository / "docs").string(), "merge", "--install"}, "/").out, "already"));

  repository.git({"init", "-q", "--bare", (elsewhere / "bare.git").string()});
  CHECK(user.ws({"merge", "--install"}, elsewhere / "bare.git").exit == 0);
  CHECK(has(read_text(elsewhere / "bare.git/info/attributes"), "*.md merge=ws\n"));

  const Ended none = user.ws({"merge", "--install"}, elsewhere.path());
  CHECK(none.exit == 2);
  CHECK(has(none.err, "no repository here"));
  CHECK(has(none.err, "--global"));
}

TEST_CASE("merge --install --global: where git looks for all repositories", "[cli]") {
  GitUser user;
  const fs::path attributes = user.home() / ".config/git/attributes";
  CHECK(user.ws({"merge", "--install", "--global"}, "/").exit == 0);
  CHECK(read_text(attributes) == std::string(all_attributes));
  GitRepository repository(user);
  repository.diverge("a.md", list_base, list_ours, list_theirs);
  CHECK(repository.try_git({"merge", "-q", "--no-edit", "side"}).exit == 0);
  CHECK(repository.read("a.md") == list_merged);
  CHECK(user.ws({"merge", "--uninstall", "--global"}, "/").exit == 0);
  CHECK_FALSE(fs::exists(attributes));
  CHECK(read_text(user.home() / ".gitconfig").empty());

  // A file of the user's own choice, which is a link.
  write_text(user.home() / "dotfiles/attributes", "*.c diff\n");
  fs::create_symlink(user.home() / "dotfiles/attributes", user.home() / "attributes");
  repository.git({"config", "--global", "core.attributesFile", "~/attributes"});
  CHECK(user.ws({"merge", "--install", "--global"}, "/").exit == 0);
  CHECK(read_text(user.home() / "dotfiles/attributes") == "*.c diff\n" + std::string(all_attributes));
  CHECK(fs::is_symlink(user.home() / "attributes"));
  CHECK(user.ws({"merge", "--uninstall", "--global"}, "/").exit == 0);
  CHECK(read_text(user.home() / "dotfiles/attributes") == "*.c diff\n");
}

TEST_CASE("git merge: conflicts are marked in the user's style", "[cli]") {
  const GitUser user;
  GitRepository repository(user);
  repository.install();
  repository.git({"config", "merge.conflictStyle", "zdiff3"});
  repository.diverge("a.md", clash_base, clash_ours, clash_theirs);
  CHECK(repository.try_git({"merge", "side"}).exit == 1);
  CHECK(has(without_labels(repository.read("a.md")), "\n<<<<<<<\nzwei\n|||||||\nsecond\n=======\ndeux\n>>>>>>>\n"));
}

TEST_CASE("git merge: a note that one side renamed is merged under its new name", "[cli]") {
  const GitUser user;
  GitRepository repository(user);
  repository.install();
  repository.commit({{"a.md", list_base}});
  repository.git({"checkout", "-q", "-b", "side"});
  fs::create_directories(repository / "docs");
  repository.git({"mv", "a.md", "docs/b c.md"});
  repository.commit({{"docs/b c.md", list_theirs}});
  repository.git({"checkout", "-q", "main"});
  repository.commit({{"a.md", list_ours}});
  CHECK(repository.try_git({"merge", "-q", "--no-edit", "side"}).exit == 0);
  CHECK(repository.read("docs/b c.md") == list_merged);
  CHECK(repository.is_clean());
}

TEST_CASE("git merge: criss-cross histories, whose base is itself a merge with conflicts", "[cli]") {
  const GitUser user;
  GitRepository repository(user);
  repository.install();
  // Both sides of the first merge conflict, and each branch settles it in its own way.
  repository.diverge("a.md", "# T\n\nold\n\nend\n", "# T\n\none\n\nend\n", "# T\n\ntwo\n\nend\n");
  repository.git({"branch", "one"});
  repository.git({"branch", "two", "side"});
  CHECK(repository.try_git({"merge", "two"}).exit == 1);
  repository.commit({{"a.md", "# T\n\none and two\n\nend\n\nmain\n"}});
  repository.git({"checkout", "-q", "side"});
  CHECK(repository.try_git({"merge", "one"}).exit == 1);
  repository.commit({{"a.md", "# T\n\none and two\n\nend, side\n"}});
  repository.git({"checkout", "-q", "main"});
  const std::string ours = repository.show("main:a.md");
  const std::string theirs = repository.show("side:a.md");
  const Ended merged = repository.try_git({"merge", "--no-edit", "side"});
  // The base that git makes: the two bases merged, with markers that are longer by two.
  std::vector<std::string> possible;
  for (const bool swapped : {false, true}) {
    const std::string one = swapped ? "# T\n\ntwo\n\nend\n" : "# T\n\none\n\nend\n";
    const std::string two = swapped ? "# T\n\none\n\nend\n" : "# T\n\ntwo\n\nend\n";
    const std::string base = Sides("# T\n\nold\n\nend\n", one, two)
                                 .merge({"--marker-size=9", "--label-ours=ours", "--label-theirs=theirs"})
                                 .out;
    CHECK(has(base, "<<<<<<<<< ours"));
    possible.push_back(without_labels(Sides(base, ours, theirs).merge().out));
  }
  INFO(merged.out << merged.err);
  CAPTURE(repository.read("a.md"), possible);
  CHECK(std::ranges::find(possible, without_labels(repository.read("a.md"))) != possible.end());
  CHECK(has(repository.read("a.md"), "one and two"));
  CHECK(has(repository.read("a.md"), "end, side"));
  CHECK(has(repository.read("a.md"), "main"));
}

namespace {

/// A note that is edited at random: prose, a list, a table, front matter.
class RandomNote {
 public:
  explicit RandomNote(std::mt19937_64& random) : random_(random) {}

  std::string make() {
    std::string text = "---\ntitle: Note\nstatus: open\n---\n# Note\n\n";
    for (int i = 0; i < 6; ++i) text += sentence() + "\n\n";
    text += "## List\n\n";
    for (int i = 0; i < 8; ++i) text += "- " + word() + " " + word() + "\n";
    text += "\n## Table\n\n| a | b |\n|---|---|\n";
    for (int i = 0; i < 5; ++i) text += "| " + word() + " | " + word() + " |\n";
    return text;
  }

  std::string edit(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    for (int edits = 1 + below(3); edits > 0; --edits) edit_line(lines);
    std::string edited;
    for (const std::string& line : lines) edited += line;
    return edited;
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string word() {
    static const std::vector<std::string> words = {
        "stone", "wall", "river", "lamp", "bread", "north", "paper", "glass"};
    return words[static_cast<std::size_t>(below(static_cast<int>(words.size())))] + std::to_string(below(90));
  }
  std::string sentence() {
    std::string text = word();
    for (int i = 0; i < 6; ++i) text += " " + word();
    return text + ".";
  }

  void edit_line(std::vector<std::string>& lines) {
    const auto at = lines.begin() + 4 + below(static_cast<int>(lines.size()) - 4);
    if (at->starts_with("- ") || at->starts_with("| ")) {
      const std::string fresh =
          at->starts_with("- ") ? "- " + word() + " " + word() + "\n" : "| " + word() + " | " + word() + " |\n";
      switch (below(3)) {
        case 0: lines.insert(at + 1, fresh); return;
        case 1: *at = fresh; return;
        default:
          if (lines.size() > 12) lines.erase(at);
          return;
      }
    }
    if (at->size() < 12 || at->starts_with("#") || at->starts_with("|")) return;
    const std::size_t blank = at->find(' ', static_cast<std::size_t>(below(static_cast<int>(at->size()) - 8)));
    if (blank != std::string::npos) at->insert(blank, " " + word());
  }

  std::mt19937_64& random_;
};

}  // namespace

TEST_CASE("git merge and git rebase over many commits give what ws merge gives alone", "[cli]") {
  const std::uint64_t seed = number_from_environment("WS_SEED", 20260711);
  const std::uint64_t commits = number_from_environment("WS_CASES", 40);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  RandomNote note(random);
  const GitUser user;
  GitRepository repository(user);
  repository.install();
  const auto alone = [](const std::string& base, const std::string& ours, const std::string& theirs) {
    Ended ended = Sides(base, ours, theirs).merge();
    ended.out = without_labels(ended.out);
    return ended;
  };
  std::size_t clean = 0;
  std::size_t conflicts = 0;
  std::string text = note.make();
  repository.commit({{"note.md", text}});
  for (std::uint64_t made = 0; made < commits; made += 3) {
    const std::string ours = note.edit(text);
    const std::string theirs = note.edit(text);
    repository.git({"checkout", "-q", "-B", "side"});
    repository.commit({{"note.md", theirs}});
    repository.git({"checkout", "-q", "main"});
    repository.commit({{"note.md", ours}});
    const Ended expected = alone(text, ours, theirs);
    const Ended merged = repository.try_git({"merge", "-q", "--no-edit", "side"});
    CAPTURE(text, ours, theirs, merged.out, merged.err);
    REQUIRE(merged.exit == expected.exit);
    REQUIRE(without_labels(repository.read("note.md")) == expected.out);
    (merged.exit == 0 ? clean : conflicts) += 1;
    text = merged.exit == 0 ? repository.read("note.md") : ours;
    if (merged.exit != 0) repository.commit({{"note.md", text}});
    REQUIRE(repository.is_clean());
  }

  // A branch of so many commits is rebased onto another: each commit is a merge with its parent as base.
  std::vector<std::string> topic = {text};
  repository.git({"checkout", "-q", "-B", "side"});
  for (std::uint64_t made = 0; made < commits; ++made) {
    std::string next = note.edit(topic.back());
    if (next == topic.back()) continue;
    topic.push_back(std::move(next));
    repository.commit({{"note.md", topic.back()}});
  }
  repository.git({"checkout", "-q", "main"});
  std::string state = text;
  for (int i = 0; i < 4; ++i) state = note.edit(state);
  repository.commit({{"note.md", state}});
  repository.git({"checkout", "-q", "side"});
  Ended rebased = repository.try_git({"rebase", "-q", "main"});
  for (std::size_t i = 1; i < topic.size(); ++i) {
    const Ended expected = alone(topic[i - 1], state, topic[i]);
    if (expected.exit == 0) {
      state = expected.out;
      ++clean;
      continue;
    }
    ++conflicts;
    CAPTURE(i, rebased.out, rebased.err, topic[i - 1], state, topic[i]);
    REQUIRE(rebased.exit != 0);
    REQUIRE(without_labels(repository.read("note.md")) == expected.out);
    write_text(repository / "note.md", state);
    repository.git({"add", "note.md"});
    rebased = repository.try_git({"rebase", "--skip"});
  }
  INFO(rebased.out << rebased.err);
  CHECK(rebased.exit == 0);
  CHECK(repository.read("note.md") == state);
  CHECK(repository.is_clean());
  CHECK(clean > 0);
  CHECK(conflicts > 0);
}
