#include "sync-engine/reconcile/identify.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync {
namespace {

using test::path;

/// A base of `a.md` with number 1, `b.md` with number 2 and so on; the text of each is its name.
struct Numbered {
  BaseTree base = {};
  std::map<DocumentId, FileId> numbers = {};
  std::map<DocumentId, WrittenFile> written = {};
  FoundTree found = {};
  std::vector<HiddenFile> hidden = {};
  std::set<std::string> busy = {};
  std::map<std::string, std::string> texts = {};  ///< of the files that are found

  explicit Numbered(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      base.documents.emplace(DocumentId{name}, Entry{.path = path(name), .hash = Sha256::of(name), .revision = {1}});
      numbers.emplace(DocumentId{name}, FileId{numbers.size() + 1, 7});
    }
  }
  /// The file of that number lies there, with that text.
  void lies(const std::string& at, std::uint64_t number, const std::string& text) {
    found.files.push_back({path(at), Sha256::of(text), {number, 7}});
    texts[at] = text;
  }
  void hides(const std::string& at, std::uint64_t number, SkipReason reason) {
    found.skipped.push_back({at, reason});
    hidden.push_back({reason, number == 0 ? FileId{} : FileId{number, 7}});
  }
  LocalTree local() const {
    return identify(base,
                    found,
                    {.renames = {.files = [this] { return numbers; },
                                 .written = [this] { return written; },
                                 .base_text = [](const DocumentId& document) { return document.text(); },
                                 .file_text = [this](const RelativePath& file) { return texts.at(file.string()); }},
                     .hidden = [this] { return hidden; },
                     .busy = [this](const RelativePath& file) { return busy.contains(file.string()); }});
  }
};

using Unsyncable = std::map<DocumentId, SkipReason>;

std::vector<std::string> places(const LocalTree& local) {
  std::vector<std::string> lines;
  for (const auto& [document, entry] : local.tracked) lines.push_back(document.text() + " at " + entry.path.string());
  for (const auto& [file, hash] : local.created) lines.push_back("new " + file.string());
  return lines;
}
using Places = std::vector<std::string>;

}  // namespace

TEST_CASE("identify: a file that was renamed and is not read now is there, and not deleted", "[sync-engine]") {
  const SkipReason reason = GENERATE(SkipReason::not_utf8,
                                     SkipReason::holds_nul,
                                     SkipReason::too_large,
                                     SkipReason::unreadable,
                                     SkipReason::symlink,
                                     SkipReason::ignored,
                                     SkipReason::dangerous_name,
                                     SkipReason::busy);
  CAPTURE(name(reason));
  Numbered tree({"a.md", "b.md", "c.md"});
  tree.hides("w.md", 1, reason);
  tree.lies("b.md", 2, "b.md");
  CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"a.md"}, reason}});
  CHECK(places(tree.local()) == Places{"b.md at b.md"});  // c.md was deleted
}

TEST_CASE("identify: what this program wrote is its document's, whatever its text is and whoever has the old name",
          "[sync-engine]") {
  Numbered tree({"a.md", "b.md"});
  tree.lies("b.md", 2, "b.md");
  const std::int64_t born = GENERATE(0, 5);
  const FileId ours{.inode = 9, .device = 7, .born_ns = born};
  tree.written.emplace(DocumentId{"a.md"}, WrittenFile{.path = path("n.md"), .id = ours, .text = Sha256::of("ours")});
  const auto lies = [&](const std::string& at, const std::string& text) {
    tree.lies(at, 9, text);
    tree.found.files.back().id = ours;
  };
  SECTION("where it was put") {
    lies("n.md", "ours");
    CHECK(places(tree.local()) == Places{"a.md at n.md", "b.md at b.md"});
  }
  SECTION("where it was put, and another file has the old name") {
    lies("n.md", "ours");
    tree.lies("a.md", 10, GENERATE("a.md", "ours", "another"));
    CHECK(places(tree.local()) == Places{"a.md at n.md", "b.md at b.md", "new a.md"});
  }
  SECTION("moved since") {
    lies("m.md", "ours");
    CHECK(places(tree.local()) == Places{"a.md at m.md", "b.md at b.md"});
  }
  SECTION("moved and edited since: told by its birth time") {
    lies("m.md", "edited");
    CHECK(places(tree.local()) ==
          (born == 0 ? Places{"b.md at b.md", "new m.md"} : Places{"a.md at m.md", "b.md at b.md"}));
  }
  SECTION("moved by somebody before this program could say that it had written it") {
    tree.written.at(DocumentId{"a.md"}) = {.path = path("a.md"), .id = {1, 7}, .text = Sha256::of("ours")};
    lies("m.md", "ours");
    CHECK(places(tree.local()) == Places{"a.md at m.md", "b.md at b.md"});
  }
  SECTION("written anew by an editor") {
    tree.lies("n.md", 11, "edited");
    CHECK(places(tree.local()) == Places{"a.md at n.md", "b.md at b.md"});
  }
  SECTION("moved to a name that is ignored") {
    tree.hides("w.md", 9, SkipReason::ignored);
    tree.hidden.back().id = ours;
    CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"a.md"}, SkipReason::ignored}});
  }
  SECTION("deleted since") { CHECK(places(tree.local()) == Places{"b.md at b.md"}); }
}

TEST_CASE("identify: of two documents with one place and one text, the number of the file tells whose it is",
          "[sync-engine]") {
  // The file of the first was renamed here and waits for a decision; the second came to its place since.
  Numbered tree({"a.md", "b.md"});
  tree.base.documents.at(DocumentId{"b.md"}) = tree.base.documents.at(DocumentId{"a.md"});
  tree.lies("a.md", 2, "a.md");
  tree.lies("q.md", 1, "a.md");
  CHECK(places(tree.local()) == Places{"a.md at q.md", "b.md at a.md"});
}

TEST_CASE("identify: while something cannot be looked at, what is missing is not deleted", "[sync-engine]") {
  Numbered tree({"a.md", "b.md"});
  tree.lies("b.md", 2, "b.md");
  tree.hides("locked/w.md", 0, SkipReason::unreadable);
  CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"a.md"}, SkipReason::unreadable}});
  tree.lies("n.md", 1, "a.md");
  CHECK(tree.local().unsyncable.empty());
  CHECK(places(tree.local()) == Places{"a.md at n.md", "b.md at b.md"});
}

TEST_CASE("identify: a chain of renames behind a busy file waits in about linear time", "[sync-engine]") {
  constexpr std::uint64_t links = 4'000;
  const auto link = [](std::uint64_t number) { return std::to_string(10'000 + number) + ".md"; };
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < links; ++i) names.push_back(link(i));
  Numbered tree(names);
  // Each has the next one's name; the last one's file is being written under a name of its own.
  for (std::uint64_t i = 0; i + 1 < links; ++i) tree.lies(link(i + 1), i + 1, link(i));
  tree.hides("w.md", links, SkipReason::busy);
  const auto begun = std::chrono::steady_clock::now();
  const LocalTree local = tree.local();
  CHECK(local.unsyncable.size() == links);
  CHECK(places(local).empty());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
}

TEST_CASE("identify: while a file is busy that nobody knows, what is missing waits", "[sync-engine]") {
  Numbered tree({"a.md", "b.md", "c.md"});
  tree.lies("b.md", 2, "b.md");
  SECTION("its number is new") {
    tree.hides("w.md", 9, SkipReason::busy);
    CHECK(tree.local().unsyncable ==
          Unsyncable{{DocumentId{"a.md"}, SkipReason::busy}, {DocumentId{"c.md"}, SkipReason::busy}});
  }
  SECTION("it went before it could be looked at") {
    tree.hides("w.md", 0, SkipReason::busy);
    CHECK(tree.local().unsyncable.size() == 2);
  }
  SECTION("it is one that is known: the others are deleted") {
    tree.base.documents.erase(DocumentId{"b.md"});
    tree.found.files.clear();
    tree.hides("w.md", 3, SkipReason::busy);
    CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"c.md"}, SkipReason::busy}});
  }
  SECTION("another that is hidden for good holds up nothing") {
    tree.hides("w.md", 9, SkipReason::not_utf8);
    CHECK(tree.local().unsyncable.empty());
  }
  SECTION("one that was found, and is still being written") {
    tree.lies("w.md", 9, "whatever");
    CHECK(tree.local().unsyncable.empty());
    tree.busy = {"w.md"};
    CHECK(tree.local().unsyncable.size() == 2);
  }
  SECTION("a new file with the text of one tells where that is") {
    tree.hides("w.md", 9, SkipReason::busy);
    tree.lies("n.md", 8, "c.md");
    CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"a.md"}, SkipReason::busy}});
    CHECK(places(tree.local()) == Places{"b.md at b.md", "c.md at n.md"});
  }
}

TEST_CASE("identify: what was put in the place of one that waits, waits with it", "[sync-engine]") {
  Numbered tree({"a.md", "b.md", "c.md"});
  SECTION("two change places, and one is being written") {
    tree.lies("a.md", 2, "b.md");
    tree.lies("b.md", 1, "something else");
    tree.lies("c.md", 3, "c.md");
    tree.busy = {"b.md"};
    CHECK(tree.local().unsyncable ==
          Unsyncable{{DocumentId{"a.md"}, SkipReason::busy}, {DocumentId{"b.md"}, SkipReason::busy}});
    CHECK(places(tree.local()) == Places{"c.md at c.md"});
  }
  SECTION("a chain, whose first was not read") {
    tree.hides("w.md", 3, SkipReason::busy);
    tree.lies("c.md", 2, "b.md");
    tree.lies("b.md", 1, "a.md");
    CHECK(tree.local().unsyncable.size() == 3);
    CHECK(places(tree.local()).empty());
  }
  SECTION("a folder in the place of the file") {
    tree.hides("w.md", 3, SkipReason::busy);
    tree.lies("a.md", 1, "a.md");
    tree.lies("b.md", 2, "b.md");
    tree.lies("c.md/new.md", 8, "new");
    CHECK(places(tree.local()) == Places{"a.md at a.md", "b.md at b.md"});
  }
}

TEST_CASE("identify: a file renamed to the twin of another is skipped, its document stays", "[sync-engine]") {
  Numbered tree({"Z.md", "x.md"});
  tree.lies("z.md", 2, "x.md");
  SECTION("the other is there") {
    tree.lies("Z.md", 1, "Z.md");
    CHECK(places(tree.local()) == Places{"Z.md at Z.md"});
    CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"x.md"}, SkipReason::twin}});
    CHECK(tree.local().skipped == std::vector<Skipped>{{"z.md", SkipReason::twin}});
  }
  SECTION("and a new file at its old place is its edit") {
    tree.lies("Z.md", 1, "Z.md");
    tree.lies("x.md", 8, "another text");
    CHECK(places(tree.local()) == Places{"Z.md at Z.md", "x.md at x.md"});
    CHECK(tree.local().unsyncable.empty());
    CHECK(tree.local().skipped == std::vector<Skipped>{{"z.md", SkipReason::twin}});
  }
  SECTION("the other went: it is a move") {
    CHECK(places(tree.local()) == Places{"x.md at z.md"});
    CHECK(tree.local().skipped.empty());
  }
  SECTION("the other was renamed too") {
    tree.lies("y.md", 1, "Z.md");
    CHECK(places(tree.local()) == Places{"Z.md at y.md", "x.md at z.md"});
  }
}

TEST_CASE("identify: a file that was moved and edited is known by its number and birth time", "[sync-engine]") {
  Numbered tree({"a.md", "b.md"});
  const auto lies_born = [&](const std::string& at, std::uint64_t number, std::int64_t born) {
    tree.lies(at, number, "another text");
    tree.found.files.back().id.born_ns = born;
  };
  const auto knows_births = [&] {
    tree.numbers[DocumentId{"a.md"}].born_ns = 11;
    tree.numbers[DocumentId{"b.md"}].born_ns = 12;
  };
  SECTION("names that were swapped, both texts edited") {
    knows_births();
    lies_born("a.md", 2, 12);
    lies_born("b.md", 1, 11);
    CHECK(places(tree.local()) == Places{"a.md at b.md", "b.md at a.md"});
  }
  SECTION("the number of a deleted file was given again") {
    knows_births();
    tree.lies("b.md", 2, "b.md");
    lies_born("n.md", 1, 13);
    CHECK(places(tree.local()) == Places{"b.md at b.md", "new n.md"});
  }
  SECTION("and that of the file that has it now is hidden: the document was deleted") {
    knows_births();
    tree.lies("b.md", 2, "b.md");
    tree.hides("n.md", 1, SkipReason::ignored);
    tree.hidden.back().id.born_ns = 13;
    CHECK(tree.local().unsyncable.empty());
    tree.hidden.back().id.born_ns = 11;
    CHECK(tree.local().unsyncable == Unsyncable{{DocumentId{"a.md"}, SkipReason::ignored}});
  }
  SECTION("where no birth time is known the text has to confirm it, as in a state of an earlier version") {
    lies_born("a.md", 2, 12);
    lies_born("b.md", 1, 11);
    CHECK(places(tree.local()) == Places{"a.md at a.md", "b.md at b.md"});
  }
  SECTION("an editor that saves by a rename makes another file at the same place") {
    knows_births();
    lies_born("a.md", 8, 20);
    tree.lies("b.md", 2, "b.md");
    CHECK(places(tree.local()) == Places{"a.md at a.md", "b.md at b.md"});
  }
}

TEST_CASE("identify: a name in another case, with whatever text, is the same document", "[sync-engine]") {
  Numbered tree({"x.md"});
  tree.lies("X.md", 9, "another text");
  CHECK(places(tree.local()) == Places{"x.md at X.md"});
}

TEST_CASE("identify: a change of case alone is a rename", "[sync-engine]") {
  Numbered tree({"x.md"});
  tree.lies("X.md", 1, "x.md");
  CHECK(places(tree.local()) == Places{"x.md at X.md"});
}

}  // namespace ws::sync
