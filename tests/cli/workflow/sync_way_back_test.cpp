// `ws sync restore` of many files, and `ws sync reset`.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;
using Texts = std::map<std::string, std::string>;

/// Notes in two folders and two pictures, in step in both trees.
struct Notes : TwoFolders {
  Texts before = {};

  Notes() {
    for (const char* name : {"n/1.md", "n/2.md", "n/3.md", "n/deep/4.md"})
      write_text(here / name, std::string("# ") + name + "\none\ntwo\nthree\nfour\n");
    write_text(here / "n/shows.md", "![p](../img/p.png) ![q](../img/q.png)\n");
    write_text(here / "img/p.png", "picture p");
    write_text(here / "img/q.png", "picture q");
    REQUIRE(ws(here, {"sync"}).exit == 0);
    REQUIRE(ws(there, {"sync"}).exit == 0);
    before = texts_of(here);
  }

  Json restore(std::vector<std::string> words, int exit = 0) { return report("restore", std::move(words), exit); }
  Json reset(std::vector<std::string> words, int exit = 0) {
    words.emplace_back("--yes");
    return report("reset", std::move(words), exit);
  }

  /// "brought back n/1.md, ..."
  static std::string told(const Json& report) {
    std::string text;
    for (const Json& file : report.at("files"))
      text += (text.empty() ? "" : ", ") + text_at(file, "what") + " " + text_at(file, "path");
    return text;
  }

  /// `undo` gives both sides what they had.
  void undo_gives(const Texts& wanted) {
    const Ended undone = ws(here, {"sync", "undo"});
    INFO(undone.out << undone.err);
    CHECK(undone.exit == 0);
    CHECK(texts_of(here) == wanted);
  }

 private:
  Json report(const char* verb, std::vector<std::string> words, int exit) {
    words.insert(words.begin(), {"sync", verb});
    words.emplace_back("--json");
    const Ended ended = ws(here, words);
    INFO(ended.out << ended.err);
    CHECK(ended.exit == exit);
    return ended.out.empty() ? Json() : parse(ended.out);
  }
};

}  // namespace

TEST_CASE("way back: restore --deleted brings back what is gone here, and nothing else", "[cli]") {
  Notes two;
  fs::remove(two.here / "n/1.md");
  fs::remove_all(two.here / "n/deep");
  fs::remove(two.here / "img/p.png");
  fs::rename(two.here / "n/2.md", two.here / "n/moved.md");
  fs::rename(two.here / "img/q.png", two.here / "img/other.png");
  write_text(two.here / "n/3.md", "edited\n");
  const Texts gone = texts_of(two.here);

  const Json planned = two.restore({"--deleted", "-n"});
  CHECK(Notes::told(planned) == "brought back img/p.png, brought back n/1.md, brought back n/deep/4.md");
  CHECK(texts_of(two.here) == gone);

  control(two.server, "DELETE", "/requests", "");
  const Json done = two.restore({"--deleted"});
  CHECK(done["files"] == planned["files"]);
  CHECK(texts_of(two.here).at("n/1.md") == two.before.at("n/1.md"));
  CHECK(texts_of(two.here).at("img/p.png") == "picture p");
  CHECK(texts_of(two.here).at("n/3.md") == "edited\n");
  CHECK_FALSE(fs::exists(two.here / "n/2.md"));
  CHECK_FALSE(fs::exists(two.here / "img/q.png"));
  // The bytes of the picture alone come from the service.
  for (const Json& request : parse(control(two.server, "GET", "/requests", ""))["data"]) {
    CAPTURE(request.dump());
    CHECK_THAT(text_at(request, "operation"), Contains("files."));
  }
  CHECK(Notes::told(two.restore({"--deleted"})).empty());
  SECTION("as one run, which undo takes back") { two.undo_gives(gone); }
  SECTION("the documents stay the same") {
    const Ended ran = two.ws(two.here, {"sync"});
    CHECK(ran.exit == 0);
    CHECK_THAT(ran.out, !Contains("create") && !Contains("delete"));
  }
}

TEST_CASE("way back: reset of a renamed picture gives it its name back, by either name", "[cli]") {
  Notes two;
  fs::rename(two.here / "img/p.png", two.here / "img/moved.png");
  REQUIRE(two.ws(two.here, {"sync", "mv", "img/q.png", "img/r.png"}).exit == 0);
  write_text(two.here / "n/shows.md", two.before.at("n/shows.md"));
  const std::string first = GENERATE("img/moved.png", "img/p.png");
  CHECK(Notes::told(two.reset({first})) == "renamed img/p.png");
  CHECK(Notes::told(two.reset({"img/r.png"})) == "renamed img/q.png");
  CHECK(texts_of(two.here) == two.before);
}

TEST_CASE("way back: a note is not brought back beside the twin of its name", "[cli]") {
  Notes two;
  fs::remove(two.here / "n/1.md");
  fs::remove(two.here / "img/p.png");
  write_text(two.here / "n/1.MD", "a twin\n");
  write_text(two.here / "img/P.png", "a twin");
  const Texts before = texts_of(two.here);
  for (const char* path : {"n/1.md", "img/p.png"}) {
    const Ended one = two.ws(two.here, {"sync", "restore", path});
    CHECK(one.exit == 2);
    CHECK_THAT(one.err, Contains("are one name on other machines"));
  }
  static_cast<void>(two.ws(two.here, {"sync", "restore", "--deleted"}));
  CHECK(texts_of(two.here) == before);
}

TEST_CASE("way back: a folder and a pattern get what both sides agreed on, a run and a state, what was then", "[cli]") {
  Notes two;
  write_text(two.here / "n/1.md", "second\n");
  fs::remove(two.here / "n/3.md");
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  const Texts second = texts_of(two.here);
  write_text(two.here / "n/1.md", "unsent\n");
  write_text(two.here / "n/deep/4.md", "unsent\n");
  fs::remove(two.here / "n/2.md");
  const Texts third = texts_of(two.here);

  SECTION("a folder") {
    CHECK(Notes::told(two.restore({"n"})) == "replaced n/1.md, brought back n/2.md, replaced n/deep/4.md");
    CHECK(texts_of(two.here) == second);
    two.undo_gives(third);
  }
  SECTION("a pattern") {
    CHECK(Notes::told(two.restore({"n/*.md"})) == "replaced n/1.md, brought back n/2.md");
    CHECK(texts_of(two.here).at("n/deep/4.md") == "unsent\n");
  }
  SECTION("a folder that is gone") {
    fs::remove_all(two.here / "n");
    two.restore({"n"});
    CHECK(texts_of(two.here) == second);
  }
  SECTION("as a run left it") {
    const Json runs = parse(two.ws(two.here, {"sync", "log", "--runs", "--json"}).out);
    const std::string first = runs["data"][1]["run"].dump();
    two.restore({"n", "--at", "run:" + first});
    CHECK(texts_of(two.here) == two.before);
    two.undo_gives(third);
  }
  SECTION("a state of the history") {
    const Json states = parse(two.ws(two.here, {"sync", "log", "n/3.md", "--json"}).out);
    const std::string state = states["data"].back()["id"];
    two.restore({"n", "--at", state});
    CHECK(texts_of(two.here).at("n/3.md") == two.before.at("n/3.md"));
    CHECK(texts_of(two.here).at("n/1.md") == two.before.at("n/1.md"));
  }
  SECTION("what is not known") {
    CHECK(two.ws(two.here, {"sync", "restore", "n", "--at", "run:99"}).exit == 6);
    CHECK(two.ws(two.here, {"sync", "restore", "n", "--at", "run:x"}).exit == 2);
    CHECK(two.ws(two.here, {"sync", "restore", "nowhere"}).exit == 6);
    const Ended nothing = two.ws(two.here, {"sync", "restore"});
    CHECK(nothing.exit == 2);
    CHECK_THAT(nothing.err, Contains("--deleted"));
  }
  if (texts_of(two.here) == third) CHECK(two.ws(two.here, {"sync", "status"}).exit == 0);
}

TEST_CASE("way back: reset brings the bytes of a picture that was edited on the service", "[cli]") {
  Notes two;
  const bool is_renamed = GENERATE(false, true);
  CAPTURE(is_renamed);
  write_text(two.there / "img/p.png", "edited there");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  if (is_renamed) {
    fs::rename(two.here / "img/p.png", two.here / "img/mine.png");
  } else {
    write_text(two.here / "img/p.png", "edited here");
  }
  const Ended reset = two.ws(two.here, {"sync", "reset", "--all", "--yes"});
  INFO(reset.out << reset.err);
  CHECK(reset.exit == 0);
  CHECK(texts_of(two.here) == texts_of(two.there));
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(read_text(two.there / "img/p.png") == "edited there");
  CHECK_FALSE(fs::exists(two.there / "img/mine.png"));
}

TEST_CASE("way back: reset takes what the service has, asks first, and undo undoes it", "[cli]") {
  Notes two;
  write_text(two.there / "n/3.md", "from there\n");
  fs::rename(two.there / "n/deep/4.md", two.there / "n/4.md");
  fs::remove(two.there / "n/2.md");
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  const Texts service = texts_of(two.there);

  write_text(two.here / "n/1.md", "mine\n");
  write_text(two.here / "n/2.md", "edited, and archived there\n");
  write_text(two.here / "n/3.md", "mine\n");
  fs::remove(two.here / "a.md");
  fs::rename(two.here / "deep/b.md", two.here / "deep/renamed.md");
  write_text(two.here / "img/p.png", "another picture");
  fs::rename(two.here / "img/q.png", two.here / "img/other.png");
  write_text(two.here / "never-sent.md", "new\n");
  const Texts mine = texts_of(two.here);
  Texts wanted = service;
  wanted["never-sent.md"] = "new\n";

  const Ended refused = two.ws(two.here, {"sync", "reset", "--all"});
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("--yes"));
  CHECK(texts_of(two.here) == mine);
  CHECK(two.ws(two.here, {"sync", "reset"}).exit == 2);

  SECTION("all of it") {
    two.reset({"--all"});
    CHECK(texts_of(two.here) == wanted);
    SECTION("and the two sides are in step but for what was never sent") {
      const Ended ran = two.ws(two.here, {"sync"});
      INFO(ran.out << ran.err);
      CHECK(ran.exit == 0);
      CHECK(texts_of(two.here) == wanted);
      REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
      CHECK(texts_of(two.there) == wanted);
      CHECK_THAT(ran.out, !Contains("push_update") && !Contains("push_move") && !Contains("push_delete"));
    }
    SECTION("and undo takes it back, so that the next run meets what it would have met") {
      two.undo_gives(mine);
      const Ended ran = two.ws(two.here, {"sync"});
      INFO(ran.out << ran.err);
      CHECK(ran.exit == 7);
      CHECK(read_text(two.here / "n/3.md") == "mine\n");
      CHECK(fs::exists(two.here / "n/4.md"));
    }
    SECTION("and what was replaced is in the history, whatever git throws away") {
      const std::string history = two.here / ".ws/history.git";
      REQUIRE(run_command({.arguments = {"git", "-C", history, "gc", "--quiet", "--prune=now"}}).exit == 0);
      CHECK_THAT(two.ws(two.here, {"sync", "log", "n/1.md"}).out, Contains("The text here, before it was"));
      CHECK(two.ws(two.here, {"sync", "restore", "n/1.md"}).exit == 0);
      CHECK(read_text(two.here / "n/1.md") == "mine\n");
    }
  }
  SECTION("one file") {
    CHECK(Notes::told(two.reset({"n/3.md"})) == "replaced n/3.md");
    Texts now = mine;
    now["n/3.md"] = "from there\n";
    CHECK(texts_of(two.here) == now);
  }
  SECTION("nothing differs") {
    two.reset({"--all"});
    CHECK(two.reset({"--all"}).at("files").empty());
  }
}

TEST_CASE("way back: reset of a note that was never sent ends alike with -n", "[cli]") {
  Notes two;
  write_text(two.here / "new.md", "new\n");
  for (const char* more : {"--yes", "-n"}) {
    const Ended ended = two.ws(two.here, {"sync", "reset", "new.md", more});
    CHECK(ended.exit == 6);
    CHECK_THAT(ended.err, Contains("new.md was never sent"));
  }
}

TEST_CASE("way back: reset gives a damaged file its text, and undo what was in it", "[cli]") {
  Notes two;
  const std::string damage =
      GENERATE(std::string("\xff not UTF-8\n"), std::string("NUL\0\n", 5), std::string(1200000, 'x'));
  write_text(two.here / "n/1.md", damage);
  write_text(two.here / "img/p.png", "");
  const Texts damaged = texts_of(two.here);
  CHECK(Notes::told(two.restore({"--deleted"})).empty());
  CHECK(two.ws(two.here, {"sync", "leave", "n/1.md"}).exit == 7);
  CHECK(two.ws(two.here, {"sync", "leave", "img/p.png"}).exit == 7);
  CHECK(texts_of(two.here) == damaged);
  CHECK(two.reset({"--all"}).at("files").size() == 2);
  CHECK(texts_of(two.here) == two.before);
  two.undo_gives(damaged);
}

TEST_CASE("way back: a picture whose name is decomposed is not missing, renamed or twinned", "[cli]") {
  Notes two;
  const std::string name = "img/e\xcc\x81.png";
  write_text(two.here / name, "picture e");
  write_text(two.here / "n/1.md", "![e](../" + name + ")\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  const Texts now = texts_of(two.here);
  CHECK(Notes::told(two.restore({"--deleted"})).empty());
  CHECK(Notes::told(two.reset({"--all"})).empty());
  write_text(two.here / name, "");
  CHECK(two.reset({"--all"}).at("files").size() == 1);
  CHECK(texts_of(two.here) == now);
}

TEST_CASE("way back: what was archived on the service can stay here", "[cli]") {
  Notes two;
  for (const char* name : {"n/1.md", "n/2.md", "n/3.md", "n/deep/4.md", "img/p.png"}) fs::remove(two.there / name);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  const Ended stopped = two.ws(two.here, {"sync"});
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.out + stopped.err,
             Contains("to keep here what was archived or deleted on the service: `ws sync --keep-archived`") &&
                 Contains("  img/  1 deleted on the service\n") && Contains("  n/deep/  1 archived on the service\n"));
  CHECK(texts_of(two.here) == two.before);
  const Json planned = parse(two.ws(two.here, {"sync", "plan", "--keep-archived", "--json"}).out);
  CHECK(planned.at("actions").empty());

  const Ended kept = two.ws(two.here, {"sync", "--keep-archived", "--json"});
  INFO(kept.out << kept.err);
  CHECK(kept.exit == 0);
  CHECK(texts_of(two.here) == two.before);
  // It is told until it is edited or removed here; nobody else gets it back.
  for (int run = 0; run < 2; ++run) {
    const Ended again = two.ws(two.here, {"sync", "--json"});
    CHECK(again.exit == 0);
    CHECK(parse(again.out)["detached"].size() == 4);
    CHECK(texts_of(two.here) == two.before);
  }
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK_FALSE(fs::exists(two.there / "n/1.md"));
  // New archives are weighed again.
  for (const char* name : {"n/shows.md", "a.md", "deep/b.md"}) fs::remove(two.there / name);
  REQUIRE(two.ws(two.there, {"sync", "--allow-deletes"}).exit == 0);
  Command asked = two.person.command({"sync"}, two.here);
  asked.input = "keep\n";
  const Screen screen = run_on_terminal(asked, 100);
  INFO(screen.text);
  CHECK(screen.exit == 0);
  CHECK_THAT(screen.text, Contains("3 files were archived on the service: type `keep` to keep them here, or"));
  CHECK(texts_of(two.here) == two.before);
}

TEST_CASE("way back: restore of several names gives each what it gets alone, and tells which is unknown", "[cli]") {
  Notes two;
  write_text(two.here / "n/3.md", "edited\n");
  for (const char* name : {"n/1.md", "n/deep/4.md", "img/p.png"}) fs::remove(two.here / name);
  REQUIRE(two.ws(two.here, {"sync", "--allow-deletes"}).exit == 0);
  const Texts after = texts_of(two.here);
  CHECK(Notes::told(two.restore({"n/1.md", "img/p.png", "n/3.md"})) ==
        "brought back img/p.png, brought back n/1.md, replaced n/3.md");
  CHECK(texts_of(two.here).at("n/3.md") == two.before.at("n/3.md"));
  CHECK(read_text(two.here / "img/p.png") == "picture p");
  two.undo_gives(after);
  const Json report = two.restore({"n/1.md", "nowhere.md"}, 13);
  CHECK(Notes::told(report) == "brought back n/1.md");
  REQUIRE(report.at("left").size() == 1);
  CHECK(report.at("left")[0].at("path") == "nowhere.md");
}

TEST_CASE("way back: why files beside the notes are not synced is told as it is", "[cli]") {
  const Notes two;
  write_text(two.here / "big.md", "![b](img/big.png)\n" + std::string(1100000, 'x') + "\n");
  write_text(two.here / "img/big.png", "picture big");
  CHECK_THAT(two.ws(two.here, {"sync"}).err,
             Contains("1 file is not synced: not Markdown, and no synced note links to it"));
  write_text(two.here / ".ws/config.yaml", "attachments: off\n");
  CHECK_THAT(two.ws(two.here, {"sync"}).err, Contains("3 files are not synced: not Markdown, and attachments are off"));
}

TEST_CASE("way back: the undo of a reset gives neither side the other's text", "[cli]") {
  const TwoFolders two;
  const bool is_edited = GENERATE(true, false);
  const bool is_new = GENERATE(false, true);
  const bool was_synced = GENERATE(true, false);
  CAPTURE(is_edited, is_new, was_synced);
  const std::string name = is_new ? "new.md" : "a.md";
  write_text(two.there / name, "one\nthere\nthree\n");
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  if (is_edited || is_new) write_text(two.here / name, "one\nhere\nthree\n");
  const auto mine = texts_of(two.here);
  const auto theirs = texts_of(two.there);
  const Ended reset = two.ws(two.here, {"sync", "reset", name, "--yes"});
  INFO(reset.out << reset.err);
  REQUIRE(reset.exit == 0);
  CHECK(texts_of(two.here) == theirs);
  if (was_synced) REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(texts_of(two.here) == mine);
  CHECK(two.ws(two.here, {"sync"}).exit == (is_edited || is_new ? 7 : 0));
  REQUIRE(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there) == theirs);
}

TEST_CASE("way back: reset names what was never sent, and takes the service's note of that name", "[cli]") {
  const TwoFolders two;
  write_text(two.here / "never-sent.md", "mine\n");
  const Json reset = parse(two.ws(two.here, {"sync", "reset", "--all", "--yes", "--json"}).out);
  REQUIRE(reset.at("left").size() == 1);
  CHECK(reset.at("left")[0]["path"] == "never-sent.md");
  CHECK(two.ws(two.here, {"sync", "reset", "--all", "--yes"}).exit == 0);
  CHECK(two.ws(two.here, {"sync", "reset", "never-sent.md", "--yes"}).exit == 6);
}

TEST_CASE("way back: a command after another of its kind that was cut off is an operation of its own", "[cli]") {
  const TwoFolders two;
  for (int i = 0; i < 30; ++i) write_text(two.here / ("l" + std::to_string(i) + ".md"), "[a](a.md) [b](deep/b.md)\n");
  REQUIRE(two.ws(two.here, {"sync"}).exit == 0);
  Command cut = two.person.command({"sync", "mv", "a.md", "k.md"}, two.here);
  cut.arguments.insert(
      cut.arguments.begin(),
      {"strace", "-f", "-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:signal=KILL:when=4"});
  run_command(cut);
  REQUIRE(fs::exists(two.here / "k.md"));
  REQUIRE(two.ws(two.here, {"sync", "mv", "deep/b.md", "deep/c.md"}).exit == 0);
  const Json runs = parse(two.ws(two.here, {"sync", "log", "--runs", "--json"}).out).at("data");
  CHECK_THAT(text_at(runs.at(0), "command"), Contains("deep/c.md"));
  CHECK_THAT(text_at(runs.at(1), "command"), Contains("k.md"));
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(fs::exists(two.here / "deep/b.md"));
  CHECK(fs::exists(two.here / "k.md"));
}
