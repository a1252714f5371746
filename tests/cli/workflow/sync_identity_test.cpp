// A file that `ws` itself wrote keeps its document; and what a plan promises is what is done.
#include <filesystem>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/workflow/two_folders.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// Two folders whose n.md is nothing but links to a.md and to deep/b.md.
struct Linked : TwoFolders {
  Linked() {
    write_text(here / "n.md", "[a](a.md)\n[b](deep/b.md)\n");
    both();
    before = ids();
  }
  /// The documents that are not archived.
  std::set<std::string> ids() const {
    std::set<std::string> found;
    const Json list = parse(person.ws({"docs", "list", "--all", "--json"}).out);
    for (const Json& each : list["data"]) {
      if (text_at(each, "status") != "archived") found.insert(text_at(each, "id"));
    }
    REQUIRE(found.size() >= 3);
    return found;
  }
  Ended sync(const fs::path& folder) const { return ws(folder, {"sync"}); }
  void both() const {
    for (const fs::path& side : {here, there, here}) {
      const Ended ended = sync(side);
      INFO(ended.out << ended.err);
      REQUIRE(ended.exit == 0);
    }
    CHECK(same());
  }
  void keep_links() const {
    write_text(here / ".ws/config.yaml", read_text(here / ".ws/config.yaml") + "links: keep\n");
  }
  /// The next run here sends a rename with another text, and the documents are the same ones.
  void moves(const std::string& from, const std::string& to) const {
    const Ended ended = sync(here);
    INFO(ended.out << ended.err);
    CHECK(ended.exit == 0);
    CHECK_THAT(ended.out, Contains(fmt::format("push_move\t{}\t{}", to, from)) && Contains("push_update\t" + to));
    CHECK_THAT(ended.out, !Contains("create") && !Contains("delete"));
    both();
    CHECK(ids() == before);
  }

  std::set<std::string> before;
};

std::multiset<std::string> rows_of(const Ended& ended) {
  INFO(ended.out << ended.err);
  std::multiset<std::string> found;
  const Json report = parse(ended.out);
  for (const Json& row : report["actions"]) found.insert(text_at(row, "action") + " " + text_at(row, "path"));
  return found;
}

const std::string moved_links = "[a](../a.md)\n[b](../deep/b.md)\n";

}  // namespace

TEST_CASE("identity: a note that `sync mv` renames and edits keeps its document", "[cli][identity]") {
  const Linked two;
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  CHECK(read_text(two.here / "d/n.md") == moved_links);
  two.moves("n.md", "d/n.md");
}

TEST_CASE("identity: a note that is renamed by `sync mv` and edited elsewhere is one note with both edits",
          "[cli][identity]") {
  Linked two;
  write_text(two.here / "n.md", "# N\n\n[a](a.md)\n[b](deep/b.md)\n\nend\n");
  two.both();
  write_text(two.there / "n.md", read_text(two.there / "n.md") + "more\n");
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  two.both();
  CHECK(read_text(two.there / "d/n.md") == "# N\n\n" + moved_links + "\nend\nmore\n");
  CHECK_FALSE(fs::exists(two.here / "n.md"));
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: links that `sync mv` edited are merged with what was written beside them, on either side",
          "[cli][identity]") {
  const bool is_sent_first = GENERATE(false, true);
  CAPTURE(is_sent_first);
  const Linked two;
  write_text(two.there / "n.md", read_text(two.there / "n.md") + "more [a](a.md)\n");
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  const fs::path& first = is_sent_first ? two.here : two.there;
  REQUIRE(two.sync(first).exit == 0);
  REQUIRE(two.sync(is_sent_first ? two.there : two.here).exit == 0);
  two.both();
  CHECK(read_text(two.here / "d/n.md") == moved_links + "more [a](../a.md)\n");
  CHECK_FALSE(fs::exists(two.there / "n.md"));
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: links that `links fix` edited are merged with what was written beside them, on either side",
          "[cli][identity]") {
  const bool is_sent_first = GENERATE(false, true);
  const std::string then = GENERATE("nothing", "mv", "rename", "swap");
  CAPTURE(is_sent_first, then);
  const Linked two;
  fs::rename(two.here / "a.md", two.here / "a2.md");
  fs::rename(two.here / "deep/b.md", two.here / "b2.md");
  two.both();
  REQUIRE(two.ws(two.here, {"links", "fix", "--yes"}).exit == 0);
  std::string links = "[a](a2.md)\n[b](b2.md)\n";
  REQUIRE(read_text(two.here / "n.md") == links);
  std::string place = "n.md";
  if (then == "mv") {
    REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
    links = "[a](../a2.md)\n[b](../b2.md)\n";
    place = "d/n.md";
  } else if (then == "rename") {
    fs::create_directory(two.here / "d");
    place = "d/index.md";
    fs::rename(two.here / "n.md", two.here / place);
  } else if (then == "swap") {
    place = "a2.md";
    fs::rename(two.here / "n.md", two.here / "x");
    fs::rename(two.here / "a2.md", two.here / "n.md");
    fs::rename(two.here / "x", two.here / "a2.md");
  }
  write_text(two.there / "n.md", read_text(two.there / "n.md") + "more\n");
  const fs::path& first = is_sent_first ? two.here : two.there;
  REQUIRE(two.sync(first).exit == 0);
  const Ended second = two.sync(is_sent_first ? two.there : two.here);
  INFO(second.out << second.err);
  CHECK(second.exit == 0);
  two.both();
  CHECK(read_text(two.here / place) == links + "more\n");
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: links that `sync mv` edited are merged, whatever the note was renamed to afterwards",
          "[cli][identity]") {
  const std::string place = GENERATE("h.md", "e/f/h.md", "a.md");
  CAPTURE(place);
  const Linked two;
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  write_text(two.there / "n.md", read_text(two.there / "n.md") + "more\n");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::create_directories(two.here / "e/f");
  if (place == "a.md") fs::rename(two.here / "a.md", two.here / "x");
  fs::rename(two.here / "d/n.md", two.here / place);
  if (place == "a.md") fs::rename(two.here / "x", two.here / "d/n.md");
  two.both();
  CHECK(read_text(two.there / place) == moved_links + "more\n");
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: links that `links: keep` edited are merged and follow their note, whatever was staged meanwhile",
          "[cli][identity]") {
  const bool is_staged = GENERATE(false, true);
  const bool is_edited_there = GENERATE(false, true);
  CAPTURE(is_staged, is_edited_there);
  const Linked two;
  two.keep_links();
  fs::rename(two.here / "a.md", two.here / "a2.md");
  fs::rename(two.here / "deep/b.md", two.here / "b2.md");
  if (is_staged) REQUIRE(two.ws(two.here, {"sync", "push"}).exit == 0);
  if (is_edited_there) write_text(two.there / "n.md", read_text(two.there / "n.md") + "more\n");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::create_directory(two.here / "d");
  fs::rename(two.here / "n.md", two.here / "d/h.md");
  two.both();
  CHECK(read_text(two.there / "d/h.md") ==
        "[a](../a2.md)\n[b](../b2.md)\n" + std::string(is_edited_there ? "more\n" : ""));
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: edits of one line by two people, while `sync mv` renamed the note, are a conflict of one note",
          "[cli][identity]") {
  const Linked two;
  write_text(two.there / "n.md", "[a, there](there.md)\n[b](deep/b.md)\n");
  REQUIRE(two.sync(two.there).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  const std::string ours = "[a, here](../a.md)\n[b](../deep/b.md)\n";
  write_text(two.here / "d/n.md", ours);
  CHECK(two.sync(two.here).exit == 7);
  REQUIRE(two.ws(two.here, {"sync", "resolve", "d/n.md", "--keep", "local"}).exit == 0);
  two.both();
  CHECK(read_text(two.there / "d/n.md") == ours);
  CHECK_FALSE(fs::exists(two.there / "n.md"));
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: a note that `sync mv` edited and that is renamed afterwards keeps its document",
          "[cli][identity]") {
  const Linked two;
  REQUIRE(two.ws(two.here, {"sync", "mv", "deep/b.md", "x/b.md"}).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "a.md", "x/a.md"}).exit == 0);
  SECTION("by `sync mv`") { REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/index.md"}).exit == 0); }
  SECTION("by another program") {
    fs::create_directory(two.here / "d");
    fs::rename(two.here / "n.md", two.here / "d/index.md");
  }
  SECTION("again and again") {
    REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "e/n.md"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "mv", "e", "f/g"}).exit == 0);
    fs::create_directory(two.here / "d");
    fs::rename(two.here / "f/g/n.md", two.here / "d/index.md");
  }
  two.moves("n.md", "d/index.md");
}

TEST_CASE("identity: a note that `sync mv` renamed stays known when an editor writes it anew", "[cli][identity]") {
  const Linked two;
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  write_text(two.here / "d/.n.md.new", moved_links + "edited\n");
  fs::rename(two.here / "d/.n.md.new", two.here / "d/n.md");
  two.moves("n.md", "d/n.md");
}

TEST_CASE("identity: a file that comes to the old name of a note that `sync mv` renamed is a new one",
          "[cli][identity]") {
  const Linked two;
  const std::string old = read_text(two.here / "n.md");
  REQUIRE(two.ws(two.here, {"sync", "mv", "n.md", "d/n.md"}).exit == 0);
  write_text(two.here / "n.md", GENERATE_COPY(old, old + "more\n"));
  const Ended ended = two.sync(two.here);
  INFO(ended.out << ended.err);
  CHECK_THAT(ended.out, Contains("push_move\td/n.md\tn.md") && Contains("push_create\tn.md"));
  two.both();
  CHECK(two.ids().size() == two.before.size() + 1);
}

TEST_CASE("identity: a note that restore, undo or a decision wrote keeps its document when it is renamed",
          "[cli][identity]") {
  const Linked two;
  const auto rename = [&two] {
    fs::create_directory(two.here / "d");
    fs::rename(two.here / "n.md", two.here / "d/n.md");
  };
  SECTION("restore") {
    write_text(two.here / "n.md", "quite\nanother\ntext\n");
    two.both();
    REQUIRE(two.ws(two.here, {"sync", "restore", "n.md"}).exit == 0);
    rename();
  }
  SECTION("restore of a note that was deleted") {
    write_text(two.here / "n.md", "quite\nanother\ntext\n");
    two.both();
    fs::remove(two.here / "n.md");
    REQUIRE(two.ws(two.here, {"sync", "restore", "n.md"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "mv", "a.md", "x/a.md"}).exit == 0);
    rename();
  }
  SECTION("undo of a rename with its links, of which nothing was sent") {
    REQUIRE(two.ws(two.here, {"sync", "mv", "deep/b.md", "x/b.md"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "mv", "a.md", "x/a.md"}).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
    rename();
  }
  SECTION("the markers of a conflict") {
    write_text(two.here / "n.md", "one\nhere\n");
    write_text(two.there / "n.md", "one\nthere\n");
    REQUIRE(two.sync(two.there).exit == 0);
    REQUIRE(two.sync(two.here).exit == 7);
    REQUIRE(two.ws(two.here, {"sync", "resolve", "n.md", "--markers"}).exit == 7);
    REQUIRE_THAT(read_text(two.here / "n.md"), Contains("<<<<<<<"));
    rename();
    CHECK_THAT(two.sync(two.here).out, !Contains("create") && !Contains("delete"));
    CHECK(two.ids() == two.before);
    return;
  }
  SECTION("a merge that could not be sent") {
    write_text(two.here / "n.md", "first\n[a](a.md)\n[b](deep/b.md)\n");
    write_text(two.there / "n.md", "[a](a.md)\n[b](deep/b.md)\nlast\nlast\nlast\nlast\nlast\n");
    REQUIRE(two.sync(two.there).exit == 0);
    REQUIRE(two.ws(two.here, {"sync", "pull"}).exit == 0);
    CHECK_THAT(read_text(two.here / "n.md"), Contains("first") && Contains("last"));
    rename();
    write_text(two.here / "d/n.md", "first\n");
    const Ended ended = two.sync(two.here);
    INFO(ended.out << ended.err);
    CHECK_THAT(ended.out, Contains("push_move\td/n.md\tn.md") && !Contains("create") && !Contains("delete"));
    CHECK(two.ids() == two.before);
    return;
  }
  const Ended ended = two.sync(two.here);
  INFO(ended.out << ended.err);
  CHECK_THAT(ended.out, Contains("push_move\td/n.md\tn.md") && !Contains("create") && !Contains("delete"));
  two.both();
  CHECK(two.ids() == two.before);
}

TEST_CASE("identity: a note or picture whose file was put back or saved anew keeps its document when it is renamed",
          "[cli][identity]") {
  Linked two;
  const std::string text = "![p](p.png)\n[b](deep/b.md)\n";
  write_text(two.here / "n.md", text);
  write_text(two.here / "p.png", "picture");
  two.both();
  two.before = two.ids();
  const std::string name = GENERATE("n.md", "p.png");
  const std::string moved = "d/" + name;
  const fs::path file = two.here / name;
  const auto state = [&two] { return read_text(two.here / ".ws/state.db"); };
  const auto runs_quietly = [&two] {
    const Ended ended = two.sync(two.here);
    INFO(ended.out << ended.err);
    CHECK(ended.exit == 0);
    CHECK_THAT(ended.err, Contains("nothing to do"));
  };
  const bool is_saved_anew = GENERATE(true, false);
  const std::string then = GENERATE("run", "status, run", "other", "nothing");
  CAPTURE(name, is_saved_anew, then);
  if (is_saved_anew) {
    if (then == "nothing") return;  // no run saw the new file
    write_text(two.here / ".new", read_text(file));
    fs::rename(two.here / ".new", file);
  } else {
    fs::remove(file);
    REQUIRE(two.ws(two.here, {"sync", "restore", name}).exit == 0);
  }
  const std::string before = state();
  if (then == "status, run") REQUIRE(two.ws(two.here, {"sync", "status"}).exit == 0);
  CHECK(state() == before);
  if (then == "other") {
    write_text(two.here / "a.md", "edited\n");
    REQUIRE(two.sync(two.here).exit == 0);
  } else if (then != "nothing") {
    runs_quietly();
    const std::string recorded = state();
    runs_quietly();
    CHECK(two.ws(two.here, {"sync", "status"}).exit == 0);
    runs_quietly();
    CHECK(state() == recorded);
  }
  fs::create_directory(two.here / "d");
  fs::rename(file, two.here / moved);
  write_text(two.here / moved, "all other");
  if (name == "p.png") write_text(two.here / "n.md", "![p](d/p.png)\n[b](deep/b.md)\n");
  two.moves(name, moved);
}

TEST_CASE("links: keep: a folder of notes that are mostly links is renamed, and nothing is archived",
          "[cli][identity]") {
  Linked two;
  fs::create_directory(two.here / "moc");
  for (int i = 1; i <= 12; ++i)
    write_text(two.here / fmt::format("moc/m{}.md", i),
               fmt::format("[a](../a.md)\n[b](../deep/b.md)\n[{0}](m{0}.md)\n", i));
  two.both();
  two.before = two.ids();
  two.keep_links();
  fs::create_directory(two.here / "archive");
  fs::rename(two.here / "moc", two.here / "archive/moc");
  const std::string text = read_text(two.here / "archive/moc/m1.md");
  const Ended looked = two.ws(two.here, {"sync", "run", "-n", "--json"});
  CHECK(read_text(two.here / "archive/moc/m1.md") == text);
  CHECK(parse(looked.out)["links_mended"] == 24);
  const Ended ended = two.ws(two.here, {"sync", "--json"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 0);
  CHECK(parse(ended.out)["links_mended"] == 24);
  CHECK(rows_of(ended).size() == 24);
  CHECK(rows_of(looked) == rows_of(ended));
  two.both();
  CHECK(two.ids() == two.before);
  CHECK(read_text(two.there / "archive/moc/m1.md") == "[a](../../a.md)\n[b](../../deep/b.md)\n[1](m1.md)\n");
}

TEST_CASE("links: keep: a plan holds the edits of links that the run makes, merges too", "[cli][identity]") {
  const Linked two;
  two.keep_links();
  write_text(two.there / "n.md", read_text(two.there / "n.md") + "more\n");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::rename(two.here / "a.md", two.here / "a2.md");
  const Ended planned = two.ws(two.here, {"sync", "plan"});
  INFO(planned.out << planned.err);
  CHECK_THAT(planned.out, Contains("push_move\ta2.md\ta.md") && Contains("merge\tn.md"));
  CHECK_THAT(planned.err, Contains("would edit 1 link to renamed files"));
  SECTION("in one go") {
    CHECK_THAT(two.sync(two.here).out, Contains("push_move\ta2.md\ta.md") && Contains("merge\tn.md"));
  }
  SECTION("step by step") {
    const Ended looked = two.ws(two.here, {"sync", "pull", "-n"});
    CHECK_THAT(looked.out, Contains("merge\tn.md") && !Contains("push"));
    CHECK_THAT(two.ws(two.here, {"sync", "pull"}).out, Contains("merge\tn.md") && !Contains("push"));
    CHECK_THAT(two.sync(two.here).out, Contains("push_move\ta2.md\ta.md") && Contains("push_update\tn.md"));
  }
  two.both();
  CHECK(read_text(two.there / "n.md") == "[a](a2.md)\n[b](deep/b.md)\nmore\n");
}

TEST_CASE("links: keep: a plan holds the edits of links to a picture that is renamed", "[cli][identity]") {
  const Linked two;
  two.keep_links();
  write_text(two.here / "p.png", "picture");
  write_text(two.here / "n.md", "![](p.png)\n");
  REQUIRE(two.sync(two.here).exit == 0);
  fs::rename(two.here / "p.png", two.here / "q.png");
  const Ended planned = two.ws(two.here, {"sync", "plan", "--json"});
  CHECK(read_text(two.here / "n.md") == "![](p.png)\n");
  const Ended done = two.ws(two.here, {"sync", "--json"});
  CHECK(rows_of(done) == std::multiset<std::string>{"push_move q.png", "push_update n.md"});
  CHECK(rows_of(planned) == rows_of(done));
  CHECK(read_text(two.here / "n.md") == "![](q.png)\n");
}

TEST_CASE("links: keep: a note that is skipped as a twin keeps its document when its link is edited",
          "[cli][identity]") {
  const Linked two;
  two.keep_links();
  write_text(two.here / "p.png", "picture");
  write_text(two.here / "n.md", "![](p.png)\n");
  fs::create_directory(two.here / "t.md");
  write_text(two.here / "t.md/x.md", "in a folder\n");
  REQUIRE(two.sync(two.here).exit == 0);
  const std::set<std::string> before = two.ids();
  fs::rename(two.here / "n.md", two.here / "T.md");
  fs::rename(two.here / "p.png", two.here / "q.png");
  const auto runs_and_keeps = [&] {
    const Ended ended = two.sync(two.here);
    const Ended status = two.ws(two.here, {"sync", "status"});
    INFO(ended.out << ended.err << status.out << status.err);
    CHECK(ended.exit == 0);
    CHECK_THAT(status.out, Contains("detached\t\tn.md") && Contains("skipped\t\tT.md"));
    CHECK(two.ids() == before);
  };
  runs_and_keeps();
  CHECK(read_text(two.here / "T.md") == "![](q.png)\n");
  SECTION("by restore too") { REQUIRE(two.ws(two.here, {"sync", "restore", "T.md"}).exit == 0); }
  SECTION("by undo too") {
    const Ended undone = two.ws(two.here, {"sync", "undo", "--yes"});
    CHECK(undone.exit == 13);
    CHECK_THAT(undone.err, Contains("not undone: T.md, the file cannot be read now"));
  }
  runs_and_keeps();
  fs::rename(two.here / "T.md", two.here / "m.md");
  CHECK(two.sync(two.here).exit == 0);
  CHECK(two.ids() == before);
}

TEST_CASE("links: keep: a run that the guard stops has edited no link", "[cli][identity]") {
  const Linked two;
  const auto all = GENERATE(true, false);
  fs::create_directory(two.here / "p");
  std::string shown;
  for (int i = 1; i <= 15; ++i) {
    write_text(two.here / fmt::format("p/{}.png", i), fmt::format("picture {}", i));
    write_text(two.here / fmt::format("p/{}.md", i), fmt::format("text {}\n", i));
    shown += fmt::format("![](p/{}.png)\n", i);
  }
  write_text(two.here / "n.md", "[a](a.md)\n" + shown);
  REQUIRE(two.sync(two.here).exit == 0);
  two.keep_links();
  for (int i = 1; i <= 15; ++i) fs::remove(two.here / fmt::format("p/{}.{}", i, all ? "png" : "md"));
  fs::rename(two.here / "a.md", two.here / "a2.md");
  const auto before = texts_of(two.here);
  const Ended ended = two.sync(two.here);
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 7);
  CHECK(texts_of(two.here) == before);
}

TEST_CASE("links: keep: links are kept by push and commit too", "[cli][identity]") {
  const Linked two;
  two.keep_links();
  fs::rename(two.here / "a.md", two.here / "a2.md");
  const Ended pushed = two.ws(two.here, {"sync", "push"});
  INFO(pushed.out << pushed.err);
  CHECK(pushed.exit == 0);
  CHECK(read_text(two.here / "n.md") == "[a](a2.md)\n[b](deep/b.md)\n");
  REQUIRE(two.ws(two.here, {"sync", "commit"}).exit == 0);
  two.both();
  CHECK(read_text(two.there / "n.md") == "[a](a2.md)\n[b](deep/b.md)\n");
  CHECK(two.ids() == two.before);
}

TEST_CASE("sync mv: a place that is ignored is refused before anything is edited", "[cli][identity]") {
  const Linked two;
  write_text(two.here / ".wsignore", "ig/\n*.tmp.md\n");
  const auto before = texts_of(two.here);
  const std::string to = GENERATE("ig/n.md", "n.tmp.md", "ig/deep/n.md");
  const Ended ended = two.ws(two.here, {"sync", "mv", "n.md", to});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 2);
  CHECK_THAT(ended.err, Contains(to + " is ignored"));
  CHECK(two.ws(two.here, {"sync", "mv", "deep", "ig"}).exit == 2);
  CHECK(texts_of(two.here) == before);
}

TEST_CASE("links check: names what `links fix` writes, where a rename is known", "[cli][identity]") {
  const Linked two;
  fs::create_directory(two.here / "notes");
  for (const char* name : {"n1.md", "n2.md", "n5.md"}) write_text(two.here / "notes" / name, std::string(name) + "\n");
  write_text(two.here / "n.md", "[5](notes/n5.md) [6](notes/n6.md)\n");
  two.both();
  fs::rename(two.here / "notes/n5.md", two.here / "notes/n55.md");
  const bool is_sent = GENERATE(true, false);
  if (is_sent) REQUIRE(two.sync(two.here).exit == 0);
  const Ended checked = two.ws(two.here, {"links", "check"});
  CHECK(checked.exit == 1);
  CHECK_THAT(checked.out,
             Contains("`notes/n5.md` does not exist; it was renamed to `notes/n55.md`") &&
                 Contains("`notes/n6.md` does not exist; the nearest name is `"));
  REQUIRE(two.ws(two.here, {"links", "fix", "--yes"}).exit == 0);
  CHECK(read_text(two.here / "n.md") == "[5](notes/n55.md) [6](notes/n6.md)\n");
}

TEST_CASE("links check: names a file as the note says it, and calls none renamed whose note was", "[cli][identity]") {
  const Linked two;
  fs::create_directory(two.here / "notes");
  write_text(two.here / "target.md", "target\n");
  write_text(two.here / "other.md", "other\n");
  write_text(two.here / "n.md", "[t](target.md) [o](other.md) [g](tarrget.md)\n");
  two.both();
  fs::rename(two.here / "n.md", two.here / "notes/n.md");
  fs::rename(two.here / "other.md", two.here / "notes/another.md");
  const bool is_sent = GENERATE(true, false);
  if (is_sent) REQUIRE(two.sync(two.here).exit == 0);
  CHECK_THAT(two.ws(two.here, {"links", "check"}).out,
             Contains("`target.md` does not exist; the nearest name is `../target.md`") &&
                 Contains("`other.md` does not exist; it was renamed to `another.md`") &&
                 Contains("`tarrget.md` does not exist; the nearest name is `../target.md`"));
}

TEST_CASE("sync undo: walks back through the runs, and passes over those of which nothing is left", "[cli][identity]") {
  const Linked two;
  write_text(two.here / "a.md", "one\ntwo\nthree\nfour\n");
  REQUIRE(two.sync(two.here).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "mv", "deep/b.md", "c.md"}).exit == 0);
  REQUIRE(two.sync(two.here).exit == 0);
  REQUIRE(two.ws(two.here, {"sync", "undo"}).exit == 0);
  CHECK(fs::exists(two.here / "deep/b.md"));
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\nfour\n");
  const Ended looked = two.ws(two.here, {"sync", "undo", "-n", "--json"});
  const Json planned = parse(looked.out);
  CHECK(planned["passed_over"].size() == 1);
  const Ended second = two.ws(two.here, {"sync", "undo"});
  INFO(second.out << second.err);
  CHECK(second.exit == 0);
  CHECK_THAT(second.out + second.err,
             Contains("(ws sync mv deep/b.md c.md, ") && Contains("): nothing of it is left to undo"));
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
  REQUIRE(two.ws(two.here, {"sync", "redo"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\nfour\n");
  const Json third = parse(two.ws(two.here, {"sync", "undo", "--json"}).out);
  CHECK(third["passed_over"].empty());
  CHECK(read_text(two.here / "a.md") == "one\ntwo\nthree\n");
}

TEST_CASE("sync undo: what would come to an ignored place is named and left", "[cli][identity]") {
  const Linked two;
  fs::create_directory(two.here / "d");
  write_text(two.here / "d/y.md", "y\n");
  write_text(two.here / "z.md", "z\n");
  two.both();
  fs::remove_all(two.here / "d");
  fs::remove(two.here / "z.md");
  REQUIRE(two.sync(two.here).exit == 0);
  write_text(two.here / ".wsignore", "d/\n");
  const Json planned = parse(two.ws(two.here, {"sync", "undo", "-n", "--json"}).out);
  REQUIRE(planned["left"].size() == 1);
  CHECK(planned["left"][0]["path"] == "d/y.md");
  CHECK_THAT(text_at(planned["left"][0], "reason"), Contains("ignored"));
  REQUIRE(planned["anew"].size() == 1);
  CHECK(planned["anew"][0]["path"] == "z.md");
  const Ended ended = two.ws(two.here, {"sync", "undo", "--json"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit == 13);
  CHECK(parse(ended.out)["anew"] == planned["anew"]);
  CHECK_FALSE(fs::exists(two.here / "d"));
  CHECK(read_text(two.here / "z.md") == "z\n");
}

TEST_CASE("identity: a run with `links: keep` tells of links that are broken after it", "[cli][identity]") {
  const Linked two;
  two.keep_links();
  write_text(two.there / ".ws/config.yaml", read_text(two.there / ".ws/config.yaml") + "links: keep\n");
  write_text(two.here / "x.md", "[f](d/f.md)\n");
  write_text(two.here / "d/f.md", "[x](../x.md)\n");
  two.both();
  fs::rename(two.there / "x.md", two.there / "d/x.md");
  REQUIRE(two.sync(two.there).exit == 0);
  fs::create_directory(two.here / "new");
  fs::rename(two.here / "d/f.md", two.here / "new/f.md");
  const Ended run = two.sync(two.here);
  const Ended check = two.ws(two.here, {"links", "check"});
  INFO(run.out << run.err << check.out);
  CHECK((check.exit == 0) != (run.err.find("broken: `ws links check` lists") != std::string::npos));
}

TEST_CASE("identity: with `links: keep` undo and redo give back the bytes, and a pull that edited links is a run",
          "[cli][identity]") {
  const Linked two;
  two.keep_links();
  two.both();
  const auto before = texts_of(two.here);
  fs::rename(two.here / "a.md", two.here / "t.md");
  fs::rename(two.here / "n.md", two.here / "a.md");
  fs::rename(two.here / "t.md", two.here / "n.md");
  const std::string way = GENERATE("sync", "pull", "push");
  CAPTURE(way);
  const auto ran =
      two.ws(two.here, way == "sync" ? std::vector<std::string>{"sync"} : std::vector<std::string>{"sync", way});
  INFO(ran.out << ran.err);
  REQUIRE(ran.exit == 0);
  const auto after = texts_of(two.here);
  REQUIRE(after != before);
  const Ended undone = two.ws(two.here, {"sync", "undo", "--yes"});
  INFO(undone.out << undone.err);
  CHECK(undone.exit == 0);
  if (way == "sync") {
    CHECK(texts_of(two.here) == before);
    CHECK(two.ws(two.here, {"sync", "redo", "--yes"}).exit == 0);
    CHECK(texts_of(two.here) == after);
  } else {
    // The names are the person's own, whom nobody asked to take them back.
    CHECK(texts_of(two.here).at("n.md") == before.at("a.md"));
    CHECK(texts_of(two.here).at("a.md") == before.at("n.md"));
  }
}
