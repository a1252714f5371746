// Every pair of changes of an attachment, as data.
#include "sync-engine/attachments/plan_attachments.hpp"

#include <catch2/catch.hpp>

#include "sync-engine/attachments/shown_files.hpp"

using namespace ws;
using namespace ws::sync;

namespace {

RelativePath at(const std::string& path) { return *RelativePath::parse(path); }

Attachment row_of(const std::string& bytes) {
  return {.size_bytes = bytes.size(), .hash = Sha256::of(bytes), .media_type = "image/png", .asset = "asset-" + bytes};
}
LocalAttachment file_of(const std::string& bytes) { return {.size_bytes = bytes.size(), .hash = Sha256::of(bytes)}; }

using Texts = std::map<std::string, std::string>;

AttachmentSides sides(const Texts& base, const Texts& here, const Texts& there) {
  AttachmentSides sides;
  for (const auto& [path, bytes] : base) sides.base.emplace(at(path), row_of(bytes));
  for (const auto& [path, bytes] : here) sides.local.emplace(at(path), file_of(bytes));
  for (const auto& [path, bytes] : there) sides.remote.emplace(at(path), row_of(bytes));
  return sides;
}

/// "push_update a.png", "conflict a.png", "agree a.png", "forget a.png", in this order.
std::vector<std::string> words(const AttachmentPlan& plan) {
  std::vector<std::string> words;
  for (const Action& action : plan.actions) {
    std::string word = std::string(name(action.kind)) + " ";
    if (action.previous_path) word += action.previous_path->string() + " > ";
    words.push_back(word + action.path.string());
    CHECK(action.attachment);
  }
  for (const AttachmentCollision& collision : plan.collisions) words.push_back("conflict " + collision.path.string());
  for (const auto& [path, row] : plan.settled) words.push_back((row ? "agree " : "forget ") + path.string());
  for (const Skipped& each : plan.skipped) words.push_back("skip " + each.path);
  return words;
}

struct Row {
  const char* id;
  Texts base, here, there;
  std::vector<std::string> wanted;
  std::vector<std::string> with_accept_deletes = {"as wanted"};
};

const std::vector<Row> rows = {
    {"UU", {{"a", "1"}}, {{"a", "1"}}, {{"a", "1"}}, {}},
    {"UE", {{"a", "1"}}, {{"a", "1"}}, {{"a", "2"}}, {"pull_update a"}},
    {"UD", {{"a", "1"}}, {{"a", "1"}}, {}, {"pull_delete a"}},
    {"UM", {{"a", "1"}}, {{"a", "1"}}, {{"b", "1"}}, {"pull_move a > b"}},
    {"UC", {{"a", "1"}}, {{"a", "1"}}, {{"a", "2"}, {"b", "1"}}, {"pull_update a", "pull_create b"}},
    {"UT", {{"a", "1"}}, {{"a", "1"}}, {{"a/x", "2"}}, {"pull_delete a", "pull_create a/x"}},
    {"UT, the same bytes", {{"a", "1"}}, {{"a", "1"}}, {{"a/x", "1"}}, {"pull_move a > a/x"}},
    {"EU", {{"a", "1"}}, {{"a", "2"}}, {{"a", "1"}}, {"push_update a"}},
    {"EE=", {{"a", "1"}}, {{"a", "2"}}, {{"a", "2"}}, {"agree a"}},
    {"EE", {{"a", "1"}}, {{"a", "2"}}, {{"a", "3"}}, {"conflict a"}},
    {"ED", {{"a", "1"}}, {{"a", "2"}}, {}, {"conflict a"}},
    {"EM", {{"a", "1"}}, {{"a", "2"}}, {{"b", "1"}}, {"pull_move a > b", "push_update b"}},
    {"EC", {{"a", "1"}}, {{"a", "2"}}, {{"a", "3"}, {"b", "1"}}, {"pull_create b", "conflict a"}},
    // Once the conflict is decided for the folder, its files come.
    {"ET", {{"a", "1"}}, {{"a", "2"}}, {{"a/x", "3"}}, {"conflict a", "skip a/x"}},
    {"DU", {{"a", "1"}}, {}, {{"a", "1"}}, {"push_delete a"}},
    {"DE", {{"a", "1"}}, {}, {{"a", "2"}}, {"pull_create a"}, {"push_delete a"}},
    {"DD", {{"a", "1"}}, {}, {}, {"forget a"}},
    {"DM", {{"a", "1"}}, {}, {{"b", "1"}}, {"pull_create b", "forget a"}, {"push_delete b", "forget a"}},
    {"DC",
     {{"a", "1"}},
     {},
     {{"a", "2"}, {"b", "1"}},
     {"pull_create a", "pull_create b"},
     {"push_delete a", "pull_create b"}},
    {"DT", {{"a", "1"}}, {}, {{"a/x", "2"}}, {"pull_create a/x", "forget a"}},
    {"MU", {{"a", "1"}}, {{"b", "1"}}, {{"a", "1"}}, {"push_move a > b"}},
    {"ME", {{"a", "1"}}, {{"b", "1"}}, {{"a", "2"}}, {"push_move a > b", "pull_update b"}},
    {"MD", {{"a", "1"}}, {{"b", "1"}}, {}, {"push_create b", "forget a"}, {"pull_delete b", "forget a"}},
    {"MM=", {{"a", "1"}}, {{"b", "1"}}, {{"b", "1"}}, {"adopt b", "forget a"}},
    {"MM=, edited there", {{"a", "1"}}, {{"b", "1"}}, {{"b", "2"}}, {"pull_update b", "forget a"}},
    {"MM=, edited here", {{"a", "1"}}, {{"b", "2"}}, {{"b", "1"}}, {"push_update b", "forget a"}},
    {"MM=, edited alike", {{"a", "1"}}, {{"b", "2"}}, {{"b", "2"}}, {"adopt b", "forget a"}},
    {"MM=, edited on both sides", {{"a", "1"}}, {{"b", "2"}}, {{"b", "3"}}, {"conflict b", "forget a"}},
    {"MM", {{"a", "1"}}, {{"b", "1"}}, {{"c", "1"}}, {"push_create b", "pull_create c", "forget a"}},
    {"MC", {{"a", "1"}}, {{"b", "1"}}, {{"a", "1"}, {"b", "2"}}, {"push_delete a", "conflict b"}},
    {"MT",
     {{"a", "1"}},
     {{"b", "1"}},
     {{"a/x", "2"}},
     {"pull_create a/x", "push_create b", "forget a"},
     {"pull_create a/x", "pull_delete b", "forget a"}},
    {"CU", {}, {{"a", "1"}}, {}, {"push_create a"}},
    {"CC=", {}, {{"a", "1"}}, {{"a", "1"}}, {"adopt a"}},
    {"CC", {}, {{"a", "1"}}, {{"a", "2"}}, {"conflict a"}},
    {"CM", {{"a", "1"}}, {{"a", "1"}, {"b", "2"}}, {{"b", "1"}}, {"pull_delete a", "conflict b"}},
    {"CT", {}, {{"a", "1"}}, {{"a/x", "2"}}, {"skip a", "skip a/x"}},
    {"CT, the folder here", {}, {{"a/x", "1"}, {"b", "1"}}, {{"a", "2"}}, {"push_create b", "skip a", "skip a/x"}},
    {"CT, edited here", {{"a", "1"}}, {{"a", "2"}}, {{"a", "1"}, {"a/x", "2"}}, {"push_update a", "skip a/x"}},
    {"TU", {{"a", "1"}}, {{"a/x", "2"}}, {{"a", "1"}}, {"push_delete a", "push_create a/x"}},
    {"TU, the same bytes", {{"a", "1"}}, {{"a/x", "1"}}, {{"a", "1"}}, {"push_move a > a/x"}},
    {"TU, back to a file", {{"a/x", "1"}}, {{"a", "2"}}, {{"a/x", "1"}}, {"push_create a", "push_delete a/x"}},
    {"TE",
     {{"a", "1"}},
     {{"a/x", "2"}},
     {{"a", "3"}},
     {"push_create a/x", "conflict a"},
     {"push_delete a", "push_create a/x"}},
    {"TD", {{"a", "1"}}, {{"a/x", "2"}}, {}, {"push_create a/x", "forget a"}},
    {"TM",
     {{"a", "1"}},
     {{"a/x", "2"}},
     {{"b", "1"}},
     {"push_create a/x", "pull_create b", "forget a"},
     {"push_create a/x", "push_delete b", "forget a"}},
    {"TT=", {{"a", "1"}}, {{"a/x", "2"}}, {{"a/x", "2"}}, {"adopt a/x", "forget a"}},
    {"TT", {{"a", "1"}}, {{"a/x", "2"}}, {{"a/x", "3"}}, {"conflict a/x", "forget a"}},
    {"TT, two folders",
     {{"a", "1"}},
     {{"a/x", "2"}},
     {{"a/y", "3"}},
     {"push_create a/x", "pull_create a/y", "forget a"}},
    // Two files with the same bytes: which one was renamed to which nobody can tell.
    {"twin bytes",
     {{"a", "1"}, {"b", "1"}},
     {{"c", "1"}, {"d", "1"}},
     {{"a", "1"}, {"b", "1"}},
     {"push_delete a", "push_delete b", "push_create c", "push_create d"}},
};

}  // namespace

TEST_CASE("attachments: every pair of changes", "[sync-engine]") {
  for (const Row& row : rows) {
    CAPTURE(row.id);
    CHECK(words(plan_attachments(sides(row.base, row.here, row.there))) == row.wanted);
    const bool is_same = row.with_accept_deletes.front() == "as wanted";
    CHECK(words(plan_attachments(sides(row.base, row.here, row.there), {.accept_deletes = true})) ==
          (is_same ? row.wanted : row.with_accept_deletes));
  }
}

TEST_CASE("attachments: a one-sided change is the same one on the other side", "[sync-engine]") {
  const auto mirrored = [](std::string word) {
    if (word.starts_with("push_")) return "pull_" + word.substr(5);
    if (word.starts_with("pull_")) return "push_" + word.substr(5);
    return word;
  };
  for (const Row& row : rows) {
    if (row.base == row.here || row.base == row.there) {
      CAPTURE(row.id);
      std::vector<std::string> expected;
      for (const std::string& word : row.wanted) expected.push_back(mirrored(word));
      CHECK(words(plan_attachments(sides(row.base, row.there, row.here))) == expected);
    }
  }
}

TEST_CASE("attachments: what is out of sight here is neither deleted nor replaced", "[sync-engine]") {
  for (const Hindrance why : {Hindrance::unreadable,
                              Hindrance::ignored,
                              Hindrance::excluded,
                              Hindrance::too_large,
                              Hindrance::symlink,
                              Hindrance::empty,
                              Hindrance::busy}) {
    for (const Texts& there : {Texts{{"a", "1"}}, Texts{{"a", "2"}}, Texts{}}) {
      AttachmentSides both = sides({{"a", "1"}}, {}, there);
      both.local.emplace(at("a"), LocalAttachment{.hidden = why});
      const AttachmentPlan plan = plan_attachments(both, {.accept_deletes = true});
      CHECK(words(plan) == std::vector<std::string>{"skip a"});
      CHECK(plan.skipped.front().reason == why);
    }
  }
}

TEST_CASE("attachments: a list that is not whole deletes nothing", "[sync-engine]") {
  AttachmentSides both = sides({{"a", "1"}, {"b", "1"}}, {{"a", "1"}, {"b", "1"}}, {{"b", "1"}});
  both.remote_is_whole = false;
  CHECK(words(plan_attachments(both)).empty());
}

TEST_CASE("attachments: what a note shows, and which of several files of one name", "[sync-engine]") {
  OtherFiles files;
  std::vector<std::string> paths = {"y/note.md", "y/other.md"};
  for (const char* path : {"a.png", "img/b.png", "x/c.png", "y/c.png", "y/z/d.png", "p/e.png", "q/e.png"}) {
    files.add(path);
    paths.emplace_back(path);
  }
  ShownFiles shown;
  const std::string text =
      "![](../a.png) [b](/img/b.png) ![[c.png]] ![[z/d.png]] ![](../../out.png) ![[e.png]] ![](none.png) [[other]]\n";
  add_shown(shown, at("y/note.md"), links::read_references(text), links::TreeFiles(paths), files);
  std::vector<std::string> found;
  for (const auto& [path, notes] : shown.notes) found.push_back(path.string());
  CHECK(found == std::vector<std::string>{"a.png", "img/b.png", "y/c.png", "y/z/d.png"});
  REQUIRE(shown.unclear.size() == 1);
  CHECK(shown.unclear.front().path == "e.png");
}
