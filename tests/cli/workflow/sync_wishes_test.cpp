// Whose wish it is that a file is sent, and what may arrive unasked: between two trees and through the real service.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/pictures.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

constexpr const char* secret = "the password";

/// `here`: somebody with a file that no note of theirs shows. `there`: somebody who edits the notes.
struct Wishes : Pictures {
  Wishes() {
    write_text(here / "own.md", "own\n");
    both_in_step();
    write_text(here / "secrets.json", secret);
  }

  /// Somebody else writes this, and it arrives.
  Ended shown_by_them(const std::string& text, const std::string& note = "note.md") const {
    write_text(there / note, text);
    REQUIRE(sync(there).exit == 0);
    return sync(here);
  }

  std::map<std::string, std::string> skipped(const fs::path& folder, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"sync", "status", "--json"});
    const Json report = parse(ws(folder, flags).out);
    std::map<std::string, std::string> why;
    for (const Json& each : report["skipped"]) why[text_at(each, "path")] = text_at(each, "reason");
    return why;
  }

  /// The files that the service has, as somebody else sees them.
  std::set<std::string> sent() const {
    REQUIRE(sync(there).exit == 0);
    std::set<std::string> paths;
    const Json listed = parse(ws(there, {"sync", "attachments", "--json"}).out)["data"];
    for (const Json& one : listed) {
      if (!text_at(one, "asset_id").empty()) paths.insert(text_at(one, "path"));
    }
    return paths;
  }
  bool is_sent(const std::string& path) const { return sent().contains(path); }
};

using Skips = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("wishes: a link that arrives sends no file of this folder, in whatever form it is written", "[cli]") {
  // What stands at the head of a note, and what at its end; a note for each, and a file, whose number takes the `#`.
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"", "[a](secrets#.json)"},
      {"", "![a](secrets#.json)"},
      {"", "[a][s]\n\n[s]: secrets#.json"},
      {"", "[a](<secrets#.json> 'title')"},
      {"", "[a](./secrets#%2Ejson#part)"},
      {"", "<a href=\"secrets#.json\">a</a>"},
      {"", "<img src='/secrets#.json'>"},
      {"", "[[secrets#.json]]"},
      {"", "![[secrets#.json|300]]"},
      {"", "<secrets#.json>"},
      {"---\ncover: secrets#.json\n---\n\n", ""},
  };
  const auto numbered = [](std::string text, std::size_t number) {
    const std::size_t at = text.find("secrets#");
    return at == std::string::npos ? text : text.replace(at, 8, fmt::format("secrets{}", number));
  };
  const auto note_of = [](std::size_t number) { return fmt::format("note{}.md", number); };
  const Wishes two;
  for (std::size_t i = 0; i < forms.size(); ++i) write_text(two.here / note_of(i), "# Note\n");
  two.both_in_step();
  Skips foreign;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const std::string file = fmt::format("secrets{}.json", i);
    write_text(two.here / file, secret);
    foreign[file] = "foreign";
    write_text(
        two.there / note_of(i),
        numbered(forms[i].first, i) + "# Note\n\n![a](img/a.png) [[b.pdf]]\n\n" + numbered(forms[i].second, i) + "\n");
  }
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended arrived = two.sync(two.here);
  INFO(arrived.out << arrived.err);
  CHECK(arrived.exit == 0);
  CHECK(attachment_rows(arrived).empty());
  CHECK(two.assets() == 2);
  CHECK(two.sent() == std::set<std::string>{"img/a.png", "img/b.pdf"});
  CHECK(two.skipped(two.here) == foreign);
  // Not after any number of runs, nor with an edit of the note that leaves the link.
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const fs::path note = two.here / note_of(i);
    write_text(note, read_text(note) + "\nmore\n");
  }
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.sent() == std::set<std::string>{"img/a.png", "img/b.pdf"});
}

TEST_CASE("wishes: a run names a file that somebody else's text shows once, then counts it, a status names it always",
          "[cli]") {
  const Wishes two;
  write_text(two.there / "note.md", "[a](secrets.json)\n");
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended first = two.ws(two.here, {"sync"});
  CHECK_THAT(
      first.err,
      Contains("`note.md`, edited by ") &&
          Contains(", shows `secrets.json`, which is not synced: `ws sync attachments add secrets.json` sends it"));
  const Ended second = two.ws(two.here, {"sync"});
  CHECK(second.exit == 0);
  CHECK(second.err.find("in sync; 1 shown file is not synced\n") == 0);
  CHECK(second.err.find("`secrets.json`") == std::string::npos);
  CHECK(second.err.find("the same") == std::string::npos);
  const Ended status = two.ws(two.here, {"sync", "status", "--exit-code"});
  CHECK(status.exit == 0);
  CHECK_THAT(status.err, Contains("in sync; 1 shown file is not synced"));
  CHECK_THAT(status.out + status.err, Contains("secrets.json"));

  const Ended refused = two.ws(two.here, {"sync", "attachments", "refuse", "secrets.json"});
  INFO(refused.err);
  CHECK(refused.exit == 0);
  CHECK(two.skipped(two.here) == Skips{{"secrets.json", "declined"}});
  write_text(two.here / "secrets.json", "other bytes");
  CHECK(two.skipped(two.here) == Skips{{"secrets.json", "foreign"}});
}

TEST_CASE("wishes: a file is sent once it is added, by its name, by a glob, or with all that are shown", "[cli]") {
  const Wishes two;
  two.shown_by_them("[a](secrets.json)\n");
  SECTION("by name") { CHECK(two.ws(two.here, {"sync", "attachments", "add", "secrets.json"}).exit == 0); }
  SECTION("by a glob") { CHECK(two.ws(two.here, {"sync", "attachments", "add", "*.json"}).exit == 0); }
  SECTION("all that are shown") {
    const Ended asked = two.ws(two.here, {"sync", "attachments", "add", "--shown"});
    CHECK(asked.exit == 2);
    CHECK_THAT(asked.err, Contains("secrets.json  shown by note.md, edited by "));
    CHECK(two.ws(two.here, {"sync", "attachments", "add", "--shown", "--yes"}).exit == 0);
  }
  const Ended sent = two.sync(two.here);
  CHECK(attachment_rows(sent) == std::vector<std::string>{"push_create secrets.json"});
  CHECK(two.skipped(two.here).empty());
  CHECK(two.ws(two.here, {"sync", "attachments", "add", "nowhere.png"}).exit == 6);
  CHECK(two.ws(two.here, {"sync", "attachments", "add"}).exit == 2);
}

TEST_CASE("wishes: one that was added because a note names it ends with the last link", "[cli]") {
  const Wishes two;
  two.shown_by_them("[a](secrets.json)\n");
  REQUIRE(two.ws(two.here, {"sync", "attachments", "add", "secrets.json"}).exit == 0);
  write_text(two.here / "note.md", "none\n");
  CHECK(attachment_rows(two.sync(two.here)).empty());
  CHECK_FALSE(two.is_sent("secrets.json"));
}

TEST_CASE("wishes: a file that a rule leaves out cannot be added", "[cli]") {
  const Wishes two;
  write_text(two.here / ".wsignore", "secrets.json\n");
  write_text(two.here / "own.md", "[a](secrets.json)\n");
  const Ended added = two.ws(two.here, {"sync", "attachments", "add", "secrets.json"});
  CHECK(added.exit == 6);
  CHECK_THAT(added.err, Contains("ignored"));
}

TEST_CASE("wishes: a file that was renamed and renamed back by an undo is still this folder's own", "[cli]") {
  const Wishes two;
  write_text(two.here / "mine.md", "[s](secrets.json)\n");
  REQUIRE(two.ws(two.here, {"sync", "mv", "own.md", "other.md"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "secrets.json", "img/s.json"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  REQUIRE(read_text(two.here / "mine.md") == "[s](secrets.json)\n");
  CHECK(two.skipped(two.here).empty());
  CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"push_create secrets.json"});
}

TEST_CASE("wishes: a file that a wiki link names is still this folder's own where it is renamed by hand", "[cli]") {
  const Wishes two;
  write_text(two.here / "mine.md", "![[shot.png]]\n");
  write_text(two.here / "shot.png", png + "shot");
  control(
      two.server, "POST", "/faults", R"({"operation": "files.upload_start", "effect": {"status": 422}, "times": 1})");
  REQUIRE(two.ws(two.here, {"sync", "--no-retry"}).exit == 13);
  fs::rename(two.here / "shot.png", two.here / "img/shot.png");
  write_text(two.here / "img/other.png", secret);
  const Ended sent = two.sync(two.here);
  INFO(sent.out << sent.err);
  CHECK(attachment_rows(sent) == std::vector<std::string>{"push_create img/shot.png"});
  CHECK(two.skipped(two.here).empty());
  // Another file of that name is nobody's wish.
  fs::remove(two.here / "img/shot.png");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  write_text(two.here / "secrets/shot.png", secret);
  CHECK(attachment_rows(two.sync(two.here)).empty());
}

TEST_CASE("wishes: what somebody here wrote is sent, also where the file comes after the note", "[cli]") {
  const Wishes two;
  SECTION("a new note") { write_text(two.here / "mine.md", "[s](secrets.json)\n"); }
  SECTION("an edited note") {
    write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) [[secrets.json]] [[b.pdf]]\n");
  }
  SECTION("the note is sent first, the file is put there later") {
    fs::remove(two.here / "secrets.json");
    write_text(two.here / "mine.md", "![s](secrets.json) ![[later.png]]\n");
    REQUIRE(two.sync(two.here).exit == 0);
    write_text(two.here / "secrets.json", secret);
    write_text(two.here / "deep/later.png", png + "later");
  }
  SECTION("staged and published in two steps") {
    write_text(two.here / "mine.md", "[s](secrets.json)\n");
    REQUIRE(two.ws(two.here, {"sync", "push"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "commit"}).exit == 0);
  }
  SECTION("a run that lost its answers in between") {
    write_text(two.here / "mine.md", "[s](secrets.json)\n");
    control(two.server,
            "POST",
            "/faults",
            R"({"operation": "files.upload_start", "effect": {"status": 503}, "times": 100})");
    CHECK(two.ws(two.here, {"sync", "--no-retry"}).exit != 0);
    control(two.server, "DELETE", "/faults", "");
  }
  SECTION("somebody else names it afterwards") {
    write_text(two.here / "mine.md", "[s](secrets.json)\n");
    REQUIRE(two.ws(two.here, {"sync", "push"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "commit"}).exit == 0);
    write_text(two.there / "theirs.md", "[s](secrets.json)\n");
    REQUIRE(two.sync(two.there).exit == 0);
  }
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.is_sent("secrets.json"));
  if (fs::exists(two.here / "deep/later.png")) CHECK(two.is_sent("deep/later.png"));
}

TEST_CASE("wishes: a file that a text from the service named first is foreign in every note until it is added",
          "[cli]") {
  const Wishes two;
  SECTION("a second note that is written here") {
    two.shown_by_them("[a](secrets.json)\n");
    write_text(two.here / "mine.md", "[mine](secrets.json)\n");
  }
  SECTION("the link is written in another way") {
    two.shown_by_them("[a](secrets.json)\n");
    write_text(two.here / "note.md", "![[secrets.json]] and [b](./secrets.json)\n");
  }
  SECTION("a copy of the note") {
    two.shown_by_them("[a](secrets.json)\n");
    write_text(two.here / "deep/copy.md", "[a](../secrets.json)\n");
  }
  SECTION("the note is moved here by hand") {
    two.shown_by_them("[a](secrets.json)\n", "deep/note.md");
    fs::rename(two.here / "deep/note.md", two.here / "moved.md");
  }
  SECTION("the file is renamed with its links") {
    two.shown_by_them("[a](secrets.json)\n");
    REQUIRE(two.ws(two.here, {"sync", "mv", "secrets.json", "renamed.json"}).exit == 0);
    CHECK(read_text(two.here / "note.md") == "[a](renamed.json)\n");
  }
  SECTION("the file is renamed by hand, and so is the link") {
    two.shown_by_them("[a](secrets.json)\n");
    fs::rename(two.here / "secrets.json", two.here / "renamed.json");
    write_text(two.here / "note.md", "[a](renamed.json)\n");
  }
  SECTION("it was named before there was such a file") {
    fs::remove(two.here / "secrets.json");
    two.shown_by_them("[a](secrets.json) [[wiki.json]]\n");
    write_text(two.here / "secrets.json", secret);
    write_text(two.here / "deep/wiki.json", secret);
    write_text(two.here / "mine.md", "[mine](secrets.json) ![[wiki.json]]\n");
  }
  SECTION("the link goes again") {
    two.shown_by_them("[a](secrets.json)\n");
    two.shown_by_them("no link\n");
    write_text(two.here / "mine.md", "[mine](secrets.json)\n");
  }
  SECTION("both edit the note, and the texts are merged") {
    write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]]\n\nours\n");
    two.shown_by_them("[a](secrets.json)\n\n# Note\n\n![a](img/a.png) and [[b.pdf]]\n");
    CHECK_THAT(read_text(two.here / "note.md"), Contains("ours") && Contains("secrets.json"));
  }
  SECTION("merged by a pull alone, then pushed") {
    write_text(two.here / "note.md", "# Note\n\n![a](img/a.png) and [[b.pdf]]\n\nours\n");
    write_text(two.there / "note.md", "[a](secrets.json)\n\n# Note\n\n![a](img/a.png) and [[b.pdf]]\n");
    REQUIRE(two.sync(two.there).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "pull"}).exit == 0);
    CHECK_THAT(read_text(two.here / "note.md"), Contains("ours") && Contains("secrets.json"));
  }
  SECTION("a conflict, and both texts are kept") {
    write_text(two.here / "note.md", "# Ours\n");
    write_text(two.there / "note.md", "[a](secrets.json)\n");
    REQUIRE(two.sync(two.there).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "--on-conflict", "both"}).exit == 0);
  }
  SECTION("a run that ends before it sends what it wrote") {
    const std::string operation = GENERATE("sync.push", "sync.commit");
    const bool collides = GENERATE(true, false);
    CAPTURE(operation, collides);
    write_text(two.here / "note.md", collides ? "# Ours\n" : "# Note\n\n![a](img/a.png) and [[b.pdf]]\n\nours\n");
    write_text(two.here / "other.md", "new\n");
    write_text(two.there / "note.md",
               collides ? "[a](secrets.json)\n" : "[a](secrets.json)\n\n# Note\n\n![a](img/a.png) and [[b.pdf]]\n");
    REQUIRE(two.sync(two.there).exit == 0);
    control(two.server,
            "POST",
            "/faults",
            fmt::format(R"({{"operation": "{}", "effect": {{"status": 503}}, "times": 100}})", operation));
    CHECK(two.ws(two.here, {"sync", "--no-retry", "--on-conflict", "both"}).exit != 0);
    control(two.server, "DELETE", "/faults", "");
    // Its own wishes are made all the same.
    write_text(two.here / "mine.md", "![m](mine.png)\n");
    write_text(two.here / "mine.png", png);
    CHECK(two.ws(two.here, {"sync", "--on-conflict", "both"}).exit == 0);
    CHECK(two.is_sent("mine.png"));
  }
  SECTION("a conflict that is decided afterwards") {
    write_text(two.here / "note.md", "# Ours\n");
    write_text(two.there / "note.md", "[a](secrets.json)\n");
    REQUIRE(two.sync(two.there).exit == 0);
    CHECK(two.sync(two.here).exit == 7);
    const std::string keep = GENERATE("remote", "both");
    REQUIRE(two.ws(two.here, {"sync", "resolve", "note.md", "--keep", keep}).exit == 0);
  }
  SECTION("a text of the history is restored") {
    two.shown_by_them("[a](secrets.json)\n");
    two.shown_by_them("no link\n");
    REQUIRE(two.ws(two.here, {"sync", "restore", "note.md"}).exit == 0);
    CHECK(read_text(two.here / "note.md") == "[a](secrets.json)\n");
  }
  SECTION("an undo brings the text back") {
    two.shown_by_them("[a](secrets.json)\n");
    two.shown_by_them("no link\n");
    REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
    CHECK(read_text(two.here / "note.md") == "[a](secrets.json)\n");
  }
  SECTION("the text comes with a pull alone") {
    write_text(two.there / "note.md", "[a](secrets.json)\n");
    REQUIRE(two.sync(two.there).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "pull"}).exit == 0);
    write_text(two.here / "mine.md", "[mine](secrets.json)\n");
  }
  SECTION("the state is lost") {
    two.shown_by_them("[a](secrets.json)\n");
    for (const char* name : {"state.db", "state.db-wal", "state.db-shm"}) fs::remove(two.here / ".ws" / name);
  }
  for (int i = 0; i < 2; ++i) {
    const Ended ended = two.sync(two.here);
    INFO(ended.out << ended.err);
    CHECK(ended.exit == 0);
    CHECK(ended.out.find("push_create secrets") == std::string::npos);
  }
  REQUIRE(two.sync(two.there).exit == 0);
  const std::set<std::string> sent = two.sent();
  for (const char* name : {"secrets.json", "renamed.json", "deep/wiki.json"}) {
    CAPTURE(name);
    CHECK_FALSE(sent.contains(name));
  }
  CHECK(two.assets() == 2);
}

TEST_CASE("wishes: what lies here when a folder is tied is sent, whatever run comes first", "[cli]") {
  Wishes two;
  const fs::path third = two.stage / "third";
  write_text(third / "plan.md", "![p](plan.png) ![q](q.png)\n");
  write_text(third / "plan.png", png + "plan");
  write_text(third / "q.png", png + "q");
  REQUIRE(two.ws(third, {"sync", "init", "--source", two.source}).exit == 0);
  SECTION("a pull alone") { REQUIRE(two.ws(third, {"sync", "pull"}).exit == 0); }
  SECTION("one file alone") { REQUIRE(two.ws(third, {"sync", "--only", "plan.md"}).exit == 0); }
  SECTION("the whole") {}
  REQUIRE(two.sync(third).exit == 0);
  CHECK(two.is_sent("plan.png"));
  CHECK(two.is_sent("q.png"));
}

TEST_CASE("wishes: `attachments: all` is a wish for all that lies here", "[cli]") {
  const Wishes two;
  two.shown_by_them("[a](secrets.json)\n");
  write_text(two.here / ".ws/config.yaml", "attachments: all\n");
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.assets() == 4);
}

// What may arrive.

TEST_CASE("wishes: a file that could do harm is held until it is accepted, and other bytes are held again", "[cli]") {
  const Wishes two;
  const std::string name =
      GENERATE("deploy.sh", "data.json", "vendor/a.png", "Makefile", "requirements-dev.txt", "picture.png.exe");
  CAPTURE(name);
  write_text(two.there / name, "first");
  write_text(two.there / "note.md", "[x](" + name + ")\n");
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended arrived = two.sync(two.here);
  INFO(arrived.out << arrived.err);
  CHECK(arrived.exit == 0);
  CHECK(attachment_rows(arrived).empty());
  CHECK_FALSE(fs::exists(two.here / name));
  CHECK(two.skipped(two.here) == Skips{{name, "held"}});
  CHECK(two.ws(two.here, {"sync", "status", "--exit-code"}).exit == 0);

  REQUIRE(two.ws(two.here, {"sync", "attachments", "accept", name}).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"pull_create " + name});
  CHECK(read_text(two.here / name) == "first");
  CHECK((fs::status(two.here / name).permissions() & fs::perms::owner_exec) == fs::perms::none);

  write_text(two.there / name, "second");
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)).empty());
  CHECK(read_text(two.here / name) == "first");
  CHECK(two.skipped(two.here) == Skips{{name, "held"}});
  REQUIRE(two.ws(two.here, {"sync", "attachments", "refuse", name}).exit == 0);
  CHECK(two.skipped(two.here) == Skips{{name, "declined"}});
  CHECK(two.ws(two.here, {"sync"}).err.find("in sync; 1 shown file is not synced\n") == 0);
  CHECK(read_text(two.there / name) == "second");
}

TEST_CASE("wishes: `attachments_kinds` says what may arrive", "[cli]") {
  const Wishes two;
  for (const char* name : {"a.json", "b.sh", "c.png"}) write_text(two.there / name, png + name);
  write_text(two.there / "note.md", "[x](a.json) [x](b.sh) [x](c.png)\n");
  REQUIRE(two.sync(two.there).exit == 0);
  const auto [kinds, came] =
      GENERATE(std::pair<std::string, std::set<std::string>>{"any", {"a.json", "b.sh", "c.png"}},
               std::pair<std::string, std::set<std::string>>{"plain", {"c.png"}},
               std::pair<std::string, std::set<std::string>>{"[json]", {"a.json"}},
               std::pair<std::string, std::set<std::string>>{"[.JSON, plain]", {"a.json", "c.png"}});
  CAPTURE(kinds);
  write_text(two.here / ".ws/config.yaml", "attachments: linked\nattachments_kinds: " + kinds + "\n");
  CHECK(two.sync(two.here).exit == 0);
  std::set<std::string> here;
  for (const char* name : {"a.json", "b.sh", "c.png"}) {
    if (fs::exists(two.here / name)) here.insert(name);
  }
  CHECK(here == came);
  write_text(two.here / ".ws/config.yaml", "attachments_kinds: 3\n");
  CHECK(two.ws(two.here, {"sync"}).exit == 2);
}

TEST_CASE("wishes: nothing replaces or adopts a file that this folder never sent nor received", "[cli]") {
  const Wishes two;
  const std::string theirs = GENERATE(std::string("theirs"), std::string("ours"));
  const std::string name = GENERATE("plan.png", "scripts/deploy.sh");
  CAPTURE(theirs, name);
  write_text(two.here / name, "ours");
  fs::permissions(two.here / name, fs::perms::owner_all);
  write_text(two.there / name, theirs);
  write_text(two.there / "note.md", "[x](" + name + ")\n");
  REQUIRE(two.sync(two.there).exit == 0);
  const Ended arrived = two.sync(two.here);
  CHECK(arrived.exit == 0);
  CHECK(attachment_rows(arrived).empty());
  CHECK(read_text(two.here / name) == "ours");
  CHECK(two.skipped(two.here) == Skips{{name, "held"}});

  SECTION("the row goes: the file stays") {
    fs::remove(two.there / name);
    write_text(two.there / "note.md", "none\n");
    REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
    CHECK(two.sync(two.here).exit == 0);
    CHECK(read_text(two.here / name) == "ours");
  }
  SECTION("accepted: what was here can be had again") {
    REQUIRE(two.ws(two.here, {"sync", "attachments", "accept", name}).exit == 0);
    CHECK(two.sync(two.here).exit == 0);
    CHECK(read_text(two.here / name) == theirs);
    CHECK(two.skipped(two.here).empty());
    if (theirs != "ours") {
      // It lies here as before, and is sent to nobody.
      const bool restores = GENERATE(false, true);
      CAPTURE(restores);
      const Ended back = two.ws(two.here, restores ? Words{"sync", "restore", name} : Words{"sync", "undo"});
      INFO(back.out << back.err);
      REQUIRE(back.exit == 0);
      CHECK(read_text(two.here / name) == "ours");
      CHECK(two.skipped(two.here) == Skips{{name, "held"}});
      CHECK(attachment_rows(two.sync(two.here)).empty());
      CHECK(two.sync(two.there).exit == 0);
      CHECK(read_text(two.there / name) == theirs);
      const Ended again = two.ws(two.here, restores ? Words{"sync", "undo"} : Words{"sync", "redo"});
      INFO(again.out << again.err);
      CHECK(again.exit == 0);
      CHECK(two.sync(two.here).exit == 0);
      CHECK(read_text(two.here / name) == theirs);
      CHECK(two.skipped(two.here).empty());
    }
  }
}

TEST_CASE("wishes: a file that can be run is not replaced, a picture is", "[cli]") {
  const Wishes two;
  for (const char* name : {"tool.csv", "shot.png"}) {
    write_text(two.here / name, std::string("ours ") + name);
    fs::permissions(two.here / name, fs::perms::owner_all);
  }
  write_text(two.here / "mine.md", "[t](tool.csv) ![s](shot.png)\n");
  two.both_in_step();
  for (const char* name : {"tool.csv", "shot.png"}) write_text(two.there / name, std::string("theirs ") + name);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"pull_update shot.png"});
  CHECK(read_text(two.here / "tool.csv") == "ours tool.csv");
  CHECK(two.skipped(two.here) == Skips{{"tool.csv", "held"}});
}

TEST_CASE("wishes: a file that is renamed to another kind is held where it was", "[cli]") {
  const Wishes two;
  fs::rename(two.there / "img/a.png", two.there / "img/a.sh");
  write_text(two.there / "note.md", "[a](img/a.sh) [[b.pdf]]\n");
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)).empty());
  CHECK(read_text(two.here / "img/a.png") == png);
  CHECK_FALSE(fs::exists(two.here / "img/a.sh"));
  CHECK(two.skipped(two.here) == Skips{{"img/a.sh", "held"}});
  REQUIRE(two.ws(two.here, {"sync", "attachments", "accept", "img/a.sh"}).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"pull_move img/a.sh"});
}

TEST_CASE("wishes: an edit of a file whose new name is held is told, and goes with the name once that is accepted",
          "[cli]") {
  const Wishes two;
  fs::rename(two.there / "img/a.png", two.there / "img/a.sh");
  write_text(two.there / "note.md", "[a](img/a.sh) [[b.pdf]]\n");
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  write_text(two.here / "img/a.png", png + "edited");
  CHECK(attachment_rows(two.sync(two.here)).empty());
  CHECK(two.skipped(two.here) == Skips{{"img/a.png", "held"}, {"img/a.sh", "held"}});
  const Ended old_name = two.ws(two.here, {"sync", "attachments", "accept", "img/a.png"});
  CHECK(old_name.exit != 0);
  CHECK_THAT(old_name.err, Contains("img/a.png was renamed on the service, and its new name is held"));
  REQUIRE(two.ws(two.here, {"sync", "attachments", "accept", "img/a.sh"}).exit == 0);
  CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"pull_move img/a.sh", "push_update img/a.sh"});
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(two.skipped(two.there) == Skips{{"img/a.sh", "held"}});
  REQUIRE(two.ws(two.there, {"sync", "attachments", "accept", "img/a.sh"}).exit == 0);
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(read_text(two.there / "img/a.sh") == png + "edited");
}

TEST_CASE("wishes: a file that is renamed there to the name of an own file stays where it was", "[cli]") {
  const Wishes two;
  write_text(two.here / "img/own.png", "mine alone");
  fs::rename(two.there / "img/a.png", two.there / "img/own.png");
  write_text(two.there / "note.md", "[a](img/own.png) [[b.pdf]]\n");
  REQUIRE(two.sync(two.there).exit == 0);
  for (int run = 0; run < 2; ++run) {
    CHECK(attachment_rows(two.sync(two.here)).empty());
    CHECK(read_text(two.here / "img/a.png") == png);
    CHECK(read_text(two.here / "img/own.png") == "mine alone");
    CHECK(two.skipped(two.here) == Skips{{"img/own.png", "held"}});
  }
  fs::remove(two.here / "img/own.png");
  CHECK(attachment_rows(two.sync(two.here)) == std::vector<std::string>{"pull_move img/own.png"});
  CHECK(read_text(two.here / "img/own.png") == png);
}

TEST_CASE("wishes: a file does not arrive beside one of the same name in another case or Unicode form", "[cli]") {
  const Wishes two;
  const auto [ours, theirs] = GENERATE(std::pair<std::string, std::string>{"Plan.png", "plan.png"},
                                       std::pair<std::string, std::string>{"IMG2/x.png", "img2/x.png"},
                                       std::pair<std::string, std::string>{"STRASSE.png",
                                                                           "stra\xC3\x9F"
                                                                           "e.png"});
  CAPTURE(ours, theirs);
  write_text(two.here / ours, "ours");
  write_text(two.there / theirs, png + "theirs");
  write_text(two.there / "note.md", "![x](" + theirs + ")\n");
  REQUIRE(two.sync(two.there).exit == 0);
  CHECK(two.sync(two.here).exit == 0);
  CHECK(read_text(two.here / ours) == "ours");
  CHECK_FALSE(fs::exists(two.here / theirs));
  CHECK(two.skipped(two.here) == Skips{{theirs, "held"}});
}

// Bytes are proved.

TEST_CASE("wishes: an Asset of which the service says no hash proves nothing", "[cli]") {
  const Wishes two;
  const std::string bytes = png + "both have it";
  const auto no_proof = [&] {
    control(
        two.server,
        "POST",
        "/faults",
        R"({"operation": "files.get", "effect": {"status": 200, "body": {"id": "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b",
                "size_bytes": null, "content_sha256": null}}, "times": 1000})");
    control(
        two.server, "POST", "/faults", R"({"operation": "files.content", "effect": {"status": 404}, "times": 1000})");
  };
  SECTION("equal bytes are not adopted, and a list without them removes nothing") {
    write_text(two.there / "x.png", bytes);
    write_text(two.there / "theirs.md", "![x](x.png)\n");
    REQUIRE(two.sync(two.there).exit == 0);
    write_text(two.here / "x.png", bytes);
    write_text(two.here / "mine.md", "![x](x.png)\n");
    no_proof();
    const Ended met = two.sync(two.here);
    INFO(met.out << met.err);
    CHECK(met.exit == 0);
    CHECK(attachment_rows(met).empty());
    CHECK_THAT(parse(met.out)["skipped"].dump(), Contains("x.png") && Contains("held"));
    fs::remove(two.there / "x.png");
    REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
    two.sync(two.here);
    CHECK(read_text(two.here / "x.png") == bytes);
  }
  SECTION("what is removed or replaced here has a copy first") {
    no_proof();
    const bool is_removed = GENERATE(true, false);
    if (is_removed) {
      fs::remove(two.there / "img/a.png");
    } else {
      control(two.server, "DELETE", "/faults", "");
      write_text(two.there / "img/a.png", bytes);
    }
    REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
    if (!is_removed) {
      control(
          two.server,
          "POST",
          "/faults",
          R"({"operation": "files.get", "effect": {"status": 200, "body": {"content_sha256": null}}, "times": 1000})");
    }
    REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
    CHECK(fs::exists(two.here / "img/a.png") == !is_removed);
    no_proof();
    const bool by_undo = GENERATE(true, false);
    const Ended back = by_undo ? two.ws(two.here, {"sync", "undo", "--allow-deletes"})
                               : two.ws(two.here, {"sync", "restore", "img/a.png"});
    INFO(back.out << back.err);
    CHECK(read_text(two.here / "img/a.png") == png);
  }
}

TEST_CASE("wishes: a text whose links cannot all be read is named, and nothing is called the same", "[cli]") {
  const Wishes two;
  std::string dense = "# Dense\n\n";
  for (int i = 0; i < 3000; ++i) dense += fmt::format("![p{0}](img/p{0}.png) ", i);
  write_text(two.here / "dense.md", dense + "\n");
  const Ended ran = two.ws(two.here, {"sync"});
  CHECK(ran.exit == 0);
  CHECK_THAT(ran.err, Contains("dense.md has too many links in one paragraph"));
  const Ended again = two.ws(two.here, {"sync"});
  CHECK(again.err.find("in sync; 1 note has too many links in one paragraph\n") == 0);
  CHECK_THAT(two.ws(two.here, {"sync", "status"}).err, Contains("dense.md has too many links in one paragraph"));
  const Ended checked = two.ws(two.here, {"links", "check"});
  CHECK(checked.exit == 1);
  CHECK_THAT(checked.err, Contains("dense.md has too many links in one paragraph"));
  CHECK_THAT(two.ws(two.here, {"sync", "mv", "own.md", "owner.md"}).err,
             Contains("dense.md has too many links in one paragraph"));
}
