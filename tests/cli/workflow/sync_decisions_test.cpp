// Conflicts as a person meets them: listed, decided in every way, with the real service in between.
#include <filesystem>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

Json listed_conflicts(const TwoFolders& two, const std::filesystem::path& folder) {
  return parse(two.ws(folder, {"sync", "conflicts", "--json", "--content"}).out)["data"];
}

/// A run, then one that does nothing, on both sides.
void check_settled(const TwoFolders& two) {
  const Ended first = two.ws(two.there, {"sync"});
  CAPTURE(first.out, first.err);
  CHECK(first.exit == 0);
  const Ended other = two.ws(two.here, {"sync"});
  CAPTURE(other.out, other.err);
  CHECK(other.exit == 0);
  CHECK(two.same());
  CHECK(two.ws(two.there, {"sync"}).out.empty());
  CHECK(parse(two.ws(two.there, {"sync", "conflicts", "--json"}).out)["data"].empty());
}

void rename_on_both(const TwoFolders& two) {
  std::filesystem::rename(two.here / "a.md", two.here / "r.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  std::filesystem::rename(two.there / "a.md", two.there / "q.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
}

/// A picture is in step; the service went back to before the last edit of a.md, which the first folder knows of.
struct RestoredFromBackup : TwoFolders {
  RestoredFromBackup() {
    write_text(here / "shows.md", "![p](p.png)\n");
    write_text(here / "p.png", "picture");
    REQUIRE(ws(here, {"sync"}).exit == 0);
    REQUIRE(ws(there, {"sync"}).exit == 0);
    control(server, "POST", "/snapshots", R"({"name": "backup"})");
    write_text(here / "a.md", "newer\n");
    REQUIRE(ws(here, {"sync"}).exit == 0);
    control(server, "POST", "/snapshots/backup:restore", "");
  }
};

}  // namespace

TEST_CASE("decisions: one document renamed on both sides is listed, and --path says which name holds", "[cli]") {
  const auto [whose, name] = GENERATE(table<std::string, std::string>({{"local", "q.md"}, {"remote", "r.md"}}));
  const TwoFolders two;
  rename_on_both(two);
  const Json conflict = listed_conflicts(two, two.there).at(0);
  CHECK(conflict.at("kind") == "path");
  CHECK(conflict.at("reason") == "renamed on both sides");
  CHECK(conflict.at("here_only") == true);
  CHECK(text_at(conflict, "base.path") == "a.md");
  CHECK(text_at(conflict, "local.path") == "q.md");
  CHECK(text_at(conflict, "remote.path") == "r.md");
  CHECK(text_at(conflict, "content.local") == "one\ntwo\nthree\n");
  CHECK(two.ws(two.there, {"sync", "resolve", "q.md", "--keep", "both"}).exit == 2);
  CHECK(two.ws(two.there, {"sync", "resolve", "q.md", "--path", "both"}).exit == 2);
  CHECK(two.ws(two.there, {"sync", "resolve", "q.md", "--path", "local", "--keep", "local"}).exit == 2);
  const std::string id = text_at(conflict, "id");
  CHECK(two.ws(two.there, {"sync", "resolve", id, "--path", whose}).out.find(id) != std::string::npos);
  check_settled(two);
  CHECK(std::filesystem::exists(two.here / name));
  CHECK(texts_of(two.here).size() == 2);
}

TEST_CASE("decisions: a name or a text that collides is decided for the file as it is called by now", "[cli]") {
  const TwoFolders two;
  const std::string whose = GENERATE("local", "remote");
  const bool is_of_names = GENERATE(true, false);
  CAPTURE(whose, is_of_names);
  if (is_of_names) {
    rename_on_both(two);
  } else {
    write_text(two.here / "a.md", "one, here\n");
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    write_text(two.there / "a.md", "one, there\n");
    REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  }
  const std::string recorded = is_of_names ? "q.md" : "a.md";
  REQUIRE(two.ws(two.there, {"sync", "mv", recorded, "now.md"}).exit == 0);
  CHECK(text_at(listed_conflicts(two, two.there).at(0), "path") == "now.md");
  const std::string flag = is_of_names ? "--path" : "--keep";
  CHECK(two.ws(two.there, {"sync", "resolve", recorded, flag, whose}).exit != 0);
  const Ended decided = two.ws(two.there, {"sync", "resolve", "now.md", flag, whose});
  INFO(decided.out << decided.err);
  CHECK(decided.exit == 0);
  check_settled(two);
  CHECK(std::filesystem::exists(two.here / (is_of_names && whose == "remote" ? "r.md" : "now.md")));
  CHECK(texts_of(two.here).size() == 2);
}

TEST_CASE("decisions: the service's name is free to choose where another file was saved under it here", "[cli]") {
  const TwoFolders two;
  std::filesystem::rename(two.here / "a.md", two.here / "r.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  std::filesystem::rename(two.there / "a.md", two.there / "q.md");
  // As an editor saves: another file of the same text, so that its number tells nothing.
  write_text(two.there / "r.md", read_text(two.there / "deep/b.md"));
  std::filesystem::remove(two.there / "deep/b.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  for (int rounds = 0; rounds < 3; ++rounds) {
    for (const Json& conflict : listed_conflicts(two, two.there)) {
      const Ended decided = two.ws(two.there, {"sync", "resolve", text_at(conflict, "id"), "--path", "remote"});
      INFO(decided.out << decided.err);
      CHECK(decided.exit == 0);
    }
    two.ws(two.there, {"sync"});
  }
  check_settled(two);
  CHECK(read_text(two.there / "r.md") == "one\ntwo\nthree\n");
  CHECK(texts_of(two.there).size() == 2);
}

TEST_CASE("decisions: a name is taken as it is typed, in whichever Unicode form", "[cli]") {
  const std::string composed = "\u00fc.md";
  const std::string decomposed = "u\u0308.md";
  const std::string made = GENERATE_COPY(composed, decomposed);
  const TwoFolders two;
  write_text(two.here / made, "one\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  const bool is_composed = std::filesystem::exists(two.there / composed);
  const std::string& lies = is_composed ? composed : decomposed;
  const std::string& typed = is_composed ? decomposed : composed;
  write_text(two.here / made, "here\n");
  write_text(two.there / lies, "there\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const Ended decided = two.ws(two.there, {"sync", "resolve", typed, "--keep", "remote"});
  INFO(decided.out << decided.err);
  CHECK(decided.exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync", "log", typed}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync", "mv", typed, "named.md"}).exit == 0);
  CHECK(read_text(two.there / "named.md") == "here\n");
}

TEST_CASE("decisions: a file in two conflicts at one name is recorded at once, and decided at once", "[cli]") {
  const auto [whose, name] = GENERATE(table<std::string, std::string>({{"local", "q.md"}, {"remote", "r.md"}}));
  const bool edited = GENERATE(false, true);
  const TwoFolders two;
  std::filesystem::rename(two.here / "a.md", two.here / "r.md");
  if (edited) write_text(two.here / "r.md", "one\ntwo\nhere\n");
  write_text(two.here / "q.md", "another document\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  std::filesystem::rename(two.there / "a.md", two.there / "q.md");
  if (edited) write_text(two.there / "q.md", "one\ntwo\nthere\n");
  const Ended met = two.ws(two.there, {"sync"});
  CAPTURE(met.out, met.err);
  CHECK(met.exit == 7);
  const Json conflicts = listed_conflicts(two, two.there);
  REQUIRE(conflicts.size() == 2);
  for (const Json& conflict : conflicts) CHECK(text_at(conflict, "path") == "q.md");
  if (edited) return;  // its texts are one more question
  CHECK(two.ws(two.there, {"sync", "resolve", "q.md", "--path", whose}).exit == 0);
  check_settled(two);
  CHECK(read_text(two.here / name) == "one\ntwo\nthree\n");
  CHECK(texts_of(two.here).size() == 3);
}

TEST_CASE("decisions: links to the name before a rename that --path decided are offered for mending", "[cli]") {
  const auto [whose, name] = GENERATE(table<std::string, std::string>({{"local", "q.md"}, {"remote", "r.md"}}));
  const TwoFolders two;
  write_text(two.here / "index.md", "[a](a.md)\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  rename_on_both(two);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "q.md", "--path", whose}).exit == 0);
  check_settled(two);
  for (const auto& folder : {two.there, two.here}) {
    CHECK_THAT(two.ws(folder, {"links", "fix", "-n"}).out, Contains("+[a](" + name + ")"));
  }
}

TEST_CASE("decisions: --file alone is the merged text, and an id may be named by its end", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  write_text(two.stage / "merged.md", "one\nboth\nthree\n");
  const std::string file = (two.stage / "merged.md").string();
  const std::string id = text_at(listed_conflicts(two, two.there).at(0), "id");
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--file", file, "--markers"}).exit == 2);
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--file", file, "--keep", "local"}).exit == 2);
  CHECK(two.ws(two.there, {"sync", "resolve", id.substr(id.size() - 5), "--file", file}).exit == 6);
  CHECK(two.ws(two.there, {"sync", "resolve", id.substr(id.size() - 8), "--file", file}).exit == 0);
  check_settled(two);
  CHECK(read_text(two.here / "a.md") == "one\nboth\nthree\n");
}

TEST_CASE("decisions: the list is in order, and says which flag decides what", "[cli]") {
  const TwoFolders two;
  two.collide();
  write_text(two.here / "Z.md", "here\n");
  write_text(two.there / "Z.md", "there\n");
  std::filesystem::rename(two.here / "deep/b.md", two.here / "deep/r.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  std::filesystem::rename(two.there / "deep/b.md", two.there / "deep/q.md");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  std::vector<std::string> paths;
  const Json listed = listed_conflicts(two, two.there);
  for (const Json& conflict : listed) paths.push_back(text_at(conflict, "path"));
  CHECK(paths == std::vector<std::string>{"Z.md", "a.md", "deep/q.md"});
  // A pipe gets whole ids; a table their ends, which `resolve` takes.
  const std::string id = text_at(listed.at(0), "id");
  CHECK_THAT(two.ws(two.there, {"sync", "conflicts"}).out, Contains(id));
  const Screen screen = run_on_terminal(two.person.command({"sync", "conflicts"}, two.there), 80);
  CHECK(screen.text.find(id) == std::string::npos);
  CHECK_THAT(screen.text, Contains(id.substr(id.size() - 8)));
  CHECK_THAT(screen.text, Contains("--keep mine|theirs|both"));
  CHECK_THAT(screen.text, Contains("--path mine|theirs"));
}

TEST_CASE("decisions: a file that became a folder here and was edited there", "[cli]") {
  const std::string keep = GENERATE("local", "remote");
  const TwoFolders two;
  write_text(two.here / "a.md", "edited there\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  std::filesystem::remove(two.there / "a.md");
  write_text(two.there / "a.md/child.md", "child\n");
  const Ended met = two.ws(two.there, {"sync"});
  CAPTURE(met.out, met.err);
  CHECK(met.exit == 7);
  CHECK(read_text(two.there / "a (remote).md") == "edited there\n");
  const Ended all = two.ws(two.there, {"sync", "resolve", "--all", "--keep", keep});
  CAPTURE(all.out, all.err);
  CHECK(all.exit == 0);
  check_settled(two);
  CHECK(read_text(two.here / "a.md/child.md") == "child\n");
  CHECK(std::filesystem::exists(two.here / "a (remote).md") == (keep == "remote"));
}

TEST_CASE("decisions: two documents at one place, whichever keeps the name", "[cli]") {
  const std::string whose = GENERATE("local", "remote");
  const std::string made = GENERATE("create", "rename", "replace");
  CAPTURE(whose, made);
  const TwoFolders two;
  if (made == "replace") {
    // The old document is archived and a new one stands at its path, while it was edited here.
    std::filesystem::remove(two.here / "a.md");
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    write_text(two.here / "a.md", "new\n");
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    write_text(two.there / "a.md", "edited\n");
  } else {
    std::filesystem::rename(two.here / "a.md", two.here / "p.md");
    REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
    if (made == "create") write_text(two.there / "p.md", "mine\n");
    if (made == "rename") std::filesystem::rename(two.there / "deep/b.md", two.there / "p.md");
  }
  const Ended met = two.ws(two.there, {"sync"});
  CAPTURE(met.out, met.err);
  CHECK(met.exit == 7);
  const std::string place = made == "replace" ? "a.md" : "p.md";
  const std::string mine = read_text(two.there / place);
  const Ended decided = two.ws(two.there, {"sync", "resolve", place, "--path", whose});
  CAPTURE(decided.out, decided.err);
  CHECK(decided.exit == 0);
  check_settled(two);
  CHECK((read_text(two.here / place) == mine) == (whose == "local"));
  CHECK(std::filesystem::exists(two.here /
                                (place.substr(0, 1) + " (" + (whose == "local" ? "remote" : "local") + ").md")));
}

TEST_CASE("decisions: a file that nobody merged is not taken for the merged one", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const std::string edited = read_text(two.there / "a.md") + "and a word more\n";
  write_text(two.there / "a.md", edited);
  const Ended refused = two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"});
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("the texts at a.md collide"));
  CHECK(read_text(two.there / "a.md") == edited);
  CHECK(two.ws(two.there, {"sync", "--on-conflict", "remote"}).exit == 0);
  check_settled(two);
}

TEST_CASE("decisions: a file that became a symbolic link since is not read, and the conflict stays", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  std::filesystem::remove(two.there / "a.md");
  write_text(two.stage / "elsewhere.md", "not of this tree\n");
  std::filesystem::create_symlink(two.stage / "elsewhere.md", two.there / "a.md");
  const Ended refused = two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "local"});
  CHECK(refused.exit == 14);
  CHECK_THAT(refused.err, Contains("a.md: it is a symbolic link"));
  CHECK(listed_conflicts(two, two.there).size() == 1);
  CHECK(read_text(two.stage / "elsewhere.md") == "not of this tree\n");
}

TEST_CASE("decisions: --markers puts both texts into the file, and --keep merged takes it once they are out", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"}).exit == 2);
  const Ended marked = two.ws(two.there, {"sync", "resolve", "a.md", "--markers"});
  CHECK(marked.exit == 7);
  CHECK_THAT(read_text(two.there / "a.md"), Contains("<<<<<<< local\none\nthere") || Contains("<<<<<<< local\nthere"));
  CHECK_THAT(read_text(two.there / "a.md"),
             Contains("||||||| ") && Contains("=======\n") && Contains(">>>>>>> remote"));
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--markers"}).exit == 2);
  const Ended left = two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"});
  CHECK(left.exit == 2);
  CHECK_THAT(left.err, Contains("still has conflict markers"));
  // A run meanwhile sends no marker anywhere.
  CHECK(two.ws(two.there, {"sync"}).exit == 7);
  CHECK(two.ws(two.here, {"sync"}).out.empty());
  write_text(two.there / "a.md", "one\nhere and there\nthree\n");
  const Ended merged = two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"});
  CAPTURE(merged.out, merged.err);
  CHECK(merged.exit == 0);
  check_settled(two);
  CHECK(read_text(two.here / "a.md") == "one\nhere and there\nthree\n");
}

TEST_CASE("decisions: among several, those that cannot be decided so stay open, exit 7", "[cli]") {
  const TwoFolders two;
  rename_on_both(two);
  write_text(two.here / "deep/b.md", "here\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  write_text(two.there / "deep/b.md", "there\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  CHECK(listed_conflicts(two, two.there).size() == 2);
  CHECK(two.ws(two.there, {"sync", "resolve", "--all", "--path", "local"}).exit == 7);
  CHECK(listed_conflicts(two, two.there).size() == 1);
  CHECK(two.ws(two.there, {"sync", "resolve", "--only", "deep/*", "--keep", "remote"}).exit == 0);
  check_settled(two);
  CHECK(read_text(two.there / "deep/b.md") == "here\n");
}

TEST_CASE("decisions: resolved elsewhere, the unchanged text is replaced and can be restored", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const std::string id = text_at(listed_conflicts(two, two.there).at(0), "id");
  // Another client sees it among all that are open, and somebody decides it through the API.
  const Json all = parse(two.ws(two.here, {"sync", "conflicts", "--all", "--json"}).out)["data"];
  REQUIRE(all.size() == 1);
  CHECK(all.at(0).at("id") == id);
  CHECK(all.at(0).at("own") == false);
  const Ended decided = two.ws(two.here,
                               {"call",
                                "sync.conflict_resolve",
                                "--conflict-id",
                                id,
                                "--body",
                                R"({"resolution": "merged", "content": "both\n", "expected_content_revision": 2})"});
  CAPTURE(decided.out, decided.err);
  REQUIRE(decided.exit == 0);
  check_settled(two);
  CHECK(read_text(two.there / "a.md") == "both\n");
  CHECK(two.ws(two.there, {"sync", "restore", "a.md"}).exit == 0);
  CHECK(read_text(two.there / "a.md") == "one\nthere\nthree\n");
}

TEST_CASE("decisions: a service restored from a backup that passed the known revision loses nobody's text", "[cli]") {
  const TwoFolders two;
  control(two.server, "POST", "/snapshots", R"({"name": "backup"})");
  write_text(two.here / "a.md", "lost with the service\n");
  write_text(two.here / "deep/b.md", "lost with the service too\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  control(two.server, "POST", "/snapshots/backup:restore", "");
  // The same revisions again, with other texts; only the last of them is newer than what the first folder knows.
  write_text(two.there / "deep/b.md", "a colleague's\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.there / "c.md", "new\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  write_text(two.there / "a.md", "a colleague's\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);

  write_text(two.here / "deep/b.md", "mine\n");
  const Ended met = two.ws(two.here, {"sync"});
  CAPTURE(met.out, met.err);
  CHECK(met.exit == 7);
  CHECK(read_text(two.here / "deep/b.md") == "mine\n");
  CHECK(read_text(two.here / "a.md") == "a colleague's\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "deep/b.md") == "a colleague's\n");
}

TEST_CASE("decisions: while a service restored from a backup waits for a word, no picture is sent either", "[cli]") {
  const RestoredFromBackup two;
  write_text(two.here / "p.png", "picture, edited since");
  CHECK(two.ws(two.here, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "p.png") == "picture");
  const std::string keep = GENERATE("mine", "theirs");
  CAPTURE(keep);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "rewound", "--keep", keep}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(read_text(two.there / "p.png") == "picture, edited since");
}

TEST_CASE("decisions: what was taken while a restored service waits for a word is not deleted for everybody", "[cli]") {
  const RestoredFromBackup two;
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  if (GENERATE(false, true)) {
    REQUIRE(two.ws(two.here, {"sync", "leave", "deep/b.md", "p.png"}).exit == 0);
    CHECK(two.ws(two.here, {"sync", "take", "--all"}).exit == 7);
  } else {
    write_text(two.here / ".wsignore", "deep\np.png\n");
    CHECK(two.ws(two.here, {"sync"}).exit == 7);
    std::filesystem::remove_all(two.here / "deep");
    std::filesystem::remove(two.here / "p.png");
    CHECK(two.ws(two.here, {"sync"}).exit == 7);
    std::filesystem::remove(two.here / ".wsignore");
  }
  const std::string keep = GENERATE("mine", "theirs");
  CAPTURE(keep);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "rewound", "--keep", keep}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "deep/b.md") == "# B\n");
  CHECK(read_text(two.there / "deep/b.md") == "# B\n");
  CHECK(read_text(two.here / "p.png") == "picture");
  CHECK(read_text(two.there / "p.png") == "picture");
}

TEST_CASE("decisions: what was made of the markers is the merged text, also after a run", "[cli]") {
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.there, {"sync", "resolve", "a.md", "--markers"}).exit == 7);
  write_text(two.there / "a.md", "one\nboth\nthree\n");
  const std::string between = GENERATE("status", "pull", "run");
  CAPTURE(between);
  two.ws(two.there, {"sync", between});
  CHECK(two.ws(two.there, {"sync", "resolve", "a.md", "--keep", "merged"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\nboth\nthree\n");
}

TEST_CASE("decisions: a service restored from a backup waits for a word, and either side can hold", "[cli]") {
  const auto [keep, text] =
      GENERATE(table<std::string, std::string>({{"local", "newer\n"}, {"remote", "one\ntwo\nthree\n"}}));
  CAPTURE(keep);
  const TwoFolders two;
  control(two.server, "POST", "/snapshots", R"({"name": "backup"})");
  write_text(two.here / "a.md", "newer\n");
  write_text(two.here / "later.md", "later\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  control(two.server, "POST", "/snapshots/backup:restore", "");
  const Ended stopped = two.ws(two.here, {"sync"});
  CAPTURE(stopped.out, stopped.err);
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.err, Contains("resolve rewound --keep mine|theirs"));
  for (const char* looks : {"status", "plan"}) {
    CHECK_THAT(
        two.ws(two.here, {"sync", looks}).err,
        Contains("`ws sync` changes nothing until that is decided: `ws sync resolve rewound --keep mine|theirs`") &&
            !Contains("syncs the rest"));
  }
  CHECK(read_text(two.here / "a.md") == "newer\n");
  CHECK(two.ws(two.there, {"sync"}).out.empty());
  CHECK(two.ws(two.here, {"sync", "resolve", "rewound", "--keep", keep}).exit == 0);
  const Ended after = two.ws(two.here, {"sync"});
  CAPTURE(after.out, after.err);
  CHECK(after.exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
  CHECK(read_text(two.here / "a.md") == text);
  CHECK(two.ws(two.here, {"sync"}).out.empty());
  CHECK(two.ws(two.here, {"sync", "restore", keep == "remote" ? "later.md" : "a.md"}).exit == 0);
}

namespace {

/// "push_move b.md from a.md"
std::multiset<std::string> rows_told(const Ended& ended) {
  std::multiset<std::string> rows;
  const Json report = parse(ended.out);
  for (const Json& row : report.at("actions")) {
    const std::string from = text_at(row, "previous_path");
    rows.insert(text_at(row, "action") + " " + text_at(row, "path") + (from.empty() ? "" : " from " + from));
  }
  return rows;
}

struct TwoWishes {
  const char* what;
  void (*make)(const TwoFolders& two);
};

}  // namespace

TEST_CASE("decisions: a preview tells of every name that the run decides or frees", "[cli]") {
  namespace fs = std::filesystem;
  const TwoWishes wishes = GENERATE(values<TwoWishes>({
      {"one note with two new names",
       [](const TwoFolders& two) {
         fs::rename(two.here / "a.md", two.here / "h.md");
         fs::rename(two.there / "a.md", two.there / "t.md");
       }},
      {"one note with two new names and two texts",
       [](const TwoFolders& two) {
         fs::rename(two.here / "a.md", two.here / "h.md");
         fs::rename(two.there / "a.md", two.there / "t.md");
         write_text(two.here / "h.md", "one\nhere\nthree\n");
         write_text(two.there / "t.md", "one\nthere\nthree\n");
       }},
      {"one note with two texts",
       [](const TwoFolders& two) {
         write_text(two.here / "a.md", "one\nhere\nthree\n");
         write_text(two.there / "a.md", "one\nthere\nthree\n");
       }},
      {"one note with two texts, renamed here",
       [](const TwoFolders& two) {
         fs::rename(two.here / "a.md", two.here / "h.md");
         write_text(two.here / "h.md", "one\nhere\nthree\n");
         write_text(two.there / "a.md", "one\nthere\nthree\n");
       }},
      {"a renamed note and a new one",
       [](const TwoFolders& two) {
         fs::rename(two.here / "a.md", two.here / "x.md");
         write_text(two.there / "x.md", "another\n");
       }},
      {"two renamed notes",
       [](const TwoFolders& two) {
         fs::rename(two.here / "a.md", two.here / "x.md");
         fs::rename(two.there / "deep/b.md", two.there / "x.md");
       }},
      {"a note here, a folder there",
       [](const TwoFolders& two) {
         write_text(two.here / "p.md", "a note\n");
         write_text(two.there / "p.md/q.md", "in a folder\n");
       }},
      {"a folder here, a note there",
       [](const TwoFolders& two) {
         write_text(two.here / "p.md/q.md", "in a folder\n");
         write_text(two.there / "p.md", "a note\n");
       }},
      {"a renamed note and the twin of its name",
       [](const TwoFolders& two) {
         fs::rename(two.here / "a.md", two.here / "X.md");
         write_text(two.there / "x.md", "another\n");
       }},
      {"a note that became a folder, edited there",
       [](const TwoFolders& two) {
         fs::remove(two.here / "a.md");
         write_text(two.here / "a.md/n.md", "in a folder\n");
         write_text(two.there / "a.md", "edited\n");
       }},
      {"two pictures",
       [](const TwoFolders& two) {
         for (const fs::path& folder : {two.here, two.there}) {
           write_text(folder / "p.png", "picture of " + folder.filename().string());
           write_text(folder / "deep/b.md", "# B\n\n![p](../p.png)\n");
         }
       }},
      {"a name that is freed for its twin",
       [](const TwoFolders& two) {
         fs::rename(two.there / "a.md", two.there / "moved.md");
         write_text(two.here / "A.md", "a twin\n");
       }},
      {"a name that is freed for its twin by an archived note",
       [](const TwoFolders& two) {
         fs::remove(two.there / "a.md");
         write_text(two.here / "A.md", "a twin\n");
       }},
  }));
  const std::string keep = GENERATE("mine", "theirs", "both");
  CAPTURE(wishes.what, keep);
  const TwoFolders two;
  wishes.make(two);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  const std::vector<std::string> run = {"sync", "--on-conflict", keep, "--allow-deletes", "--json"};
  std::vector<std::string> look = run;
  look.push_back("-n");
  const auto planned = rows_told(two.ws(two.here, look));
  CHECK(planned == rows_told(two.ws(two.here, run)));
}

TEST_CASE("decisions: a name that is sent again to a service that went back is undone with its run", "[cli]") {
  const TwoFolders two;
  control(two.server, "POST", "/snapshots", R"({"name": "backup"})");
  std::filesystem::rename(two.here / "a.md", two.here / "named.md");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  control(two.server, "POST", "/snapshots/backup:restore", "");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 7);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "rewound", "--keep", "mine"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "log", "--runs", "-n", "1"}).out, Contains("1 moved on the service"));
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(std::filesystem::exists(two.here / "a.md"));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(two.same());
}
