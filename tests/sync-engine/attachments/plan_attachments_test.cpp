// Every pair of changes of an attachment, as data.
#include "sync-engine/attachments/plan_attachments.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "sync-engine/attachments/shown_files.hpp"
#include "tests/support/random_cases.hpp"

using namespace ws;
using namespace ws::sync;

namespace {

RelativePath at(const std::string& path) { return *RelativePath::parse(path); }

Attachment row_of(const std::string& bytes) {
  return {.size_bytes = bytes.size(), .hash = Sha256::of(bytes), .media_type = "image/png", .asset = "asset-" + bytes};
}
LocalAttachment file_of(const std::string& bytes) { return {.size_bytes = bytes.size(), .hash = Sha256::of(bytes)}; }

FileId number(std::uint64_t inode) { return {.inode = inode, .device = 1, .born_ns = 1}; }

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
    {"MM", {{"a", "1"}}, {{"b", "1"}}, {{"c", "1"}}, {"conflict b"}},
    {"MC", {{"a", "1"}}, {{"b", "1"}}, {{"a", "1"}, {"b", "2"}}, {"push_delete a", "conflict b"}},
    {"MT", {{"a", "1"}}, {{"b", "1"}}, {{"a/x", "2"}}, {"pull_create a/x", "push_create b", "forget a"}},
    {"CU", {}, {{"a", "1"}}, {}, {"push_create a"}},
    {"CC=", {}, {{"a", "1"}}, {{"a", "1"}}, {"adopt a"}},
    {"CC", {}, {{"a", "1"}}, {{"a", "2"}}, {"conflict a"}},
    {"CM", {{"a", "1"}}, {{"a", "1"}, {"b", "2"}}, {{"b", "1"}}, {"pull_delete a", "conflict b"}},
    {"CT", {}, {{"a", "1"}}, {{"a/x", "2"}}, {"conflict a", "skip a/x"}},
    {"CT, the folder here", {}, {{"a/x", "1"}, {"b", "1"}}, {{"a", "2"}}, {"push_create b", "conflict a", "skip a/x"}},
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
    // Files of the same bytes: the names tell which was renamed to which.
    {"twins, the folder renamed",
     {{"img/a", "1"}, {"img/b", "1"}},
     {{"pics/a", "1"}, {"pics/b", "1"}},
     {{"img/a", "1"}, {"img/b", "1"}},
     {"push_move img/a > pics/a", "push_move img/b > pics/b"}},
    {"twins of one name, the folder above renamed",
     {{"old/x/a", "1"}, {"old/y/a", "1"}, {"old/a", "1"}},
     {{"new/x/a", "1"}, {"new/y/a", "1"}, {"new/a", "1"}},
     {{"old/x/a", "1"}, {"old/y/a", "1"}, {"old/a", "1"}},
     {"push_move old/a > new/a", "push_move old/x/a > new/x/a", "push_move old/y/a > new/y/a"}},
    {"twins, each name changed in its folder",
     {{"a", "1"}, {"x/b", "1"}},
     {{"c", "1"}, {"x/d", "1"}},
     {{"a", "1"}, {"x/b", "1"}},
     {"push_move a > c", "push_move x/b > x/d"}},
    {"twins, one is left over",
     {{"x/a", "1"}, {"x/b", "1"}},
     {{"y/a", "1"}, {"z/c", "1"}},
     {{"x/a", "1"}, {"x/b", "1"}},
     {"push_move x/a > y/a", "push_move x/b > z/c"}},
    {"twins, one edited there",
     {{"x/a", "1"}, {"x/b", "1"}},
     {{"y/a", "1"}, {"y/b", "1"}},
     {{"x/a", "1"}, {"x/b", "2"}},
     {"push_move x/a > y/a", "push_move x/b > y/b", "pull_update y/b"}},
    // A name that differs only in case: the same file, also where it was edited.
    {"case, here", {{"P", "1"}}, {{"p", "1"}}, {{"P", "1"}}, {"push_move P > p"}},
    {"case, here, edited", {{"P", "1"}}, {{"p", "2"}}, {{"P", "1"}}, {"push_move P > p", "push_update p"}},
    {"case, there", {{"P", "1"}}, {{"P", "1"}}, {{"p", "1"}}, {"pull_move P > p"}},
    {"case, there, edited", {{"P", "1"}}, {{"P", "1"}}, {{"p", "2"}}, {"pull_move P > p", "pull_update p"}},
    {"case, with a copy elsewhere",
     {{"P", "1"}},
     {{"p", "1"}, {"x/P", "1"}},
     {{"P", "1"}},
     {"push_move P > p", "push_create x/P"}},
    // Nobody can tell: deleted and new.
    {"twins, both names changed in one folder",
     {{"a", "1"}, {"b", "1"}},
     {{"c", "1"}, {"d", "1"}},
     {{"a", "1"}, {"b", "1"}},
     {"push_delete a", "push_delete b", "push_create c", "push_create d"}},
    {"one name in two folders",
     {{"x/a", "1"}},
     {{"y/a", "1"}, {"z/a", "1"}},
     {{"x/a", "1"}},
     {"push_delete x/a", "push_create y/a", "push_create z/a"}},
};

Texts random_files(std::mt19937_64& random) {
  Texts files;
  for (std::size_t count = random() % 5; count > 0; --count) {
    static const std::array<std::string, 4> folders = {"", "x/", "y/", "x/y/"};
    files[folders[random() % folders.size()] + "abc"[random() % 3]] = "12"[random() % 2];
  }
  return files;
}

/// Files renamed, one by one or with their folder, edited, deleted and new.
Texts changed(const Texts& files, std::mt19937_64& random) {
  static const std::array<std::string, 4> folders = {"", "x/", "y/", "z/x/"};
  const std::size_t folder_goes = random() % 3;
  Texts after;
  for (const auto& [path, bytes] : files) {
    const std::size_t what = random() % 8;
    if (what == 0) continue;
    std::string place = path;
    if (folder_goes == 0 && path.starts_with("x/")) place = "w/" + path.substr(2);
    if (what < 3) place = folders[random() % folders.size()] + "abcd"[random() % 4];
    after[place] = what == 3 ? std::string(1, "345"[random() % 3]) : bytes;
  }
  if (random() % 3 == 0) after[folders[random() % folders.size()] + "e"] = "126"[random() % 3];
  return after;
}

std::set<std::string> contents(const Texts& files) {
  std::set<std::string> contents;
  for (const auto& [path, bytes] : files) contents.insert(bytes);
  return contents;
}

struct BothSides {
  Texts here, there;
  std::set<std::string> apart = {};  ///< places that the plan leaves to a person, or to a later run
};

std::string bytes_with(const Sha256& hash, const std::initializer_list<Texts>& sides) {
  for (const Texts& side : sides) {
    for (const auto& [path, bytes] : side) {
      if (Sha256::of(bytes) == hash) return bytes;
    }
  }
  return "bytes that nobody has";
}

/// What is on both sides after the plan.
BothSides carried_out(const AttachmentPlan& plan, Texts here, Texts there) {
  BothSides after{here, there};
  for (const Action& action : plan.actions) {
    const std::string path = action.path.string();
    const std::string source = action.previous_path ? action.previous_path->string() : path;
    switch (action.kind) {
      case ActionKind::push_create:
      case ActionKind::push_update: after.there[path] = after.here.at(path); break;
      case ActionKind::pull_create:
      case ActionKind::pull_update: after.here[path] = bytes_with(*action.result, {here, there}); break;
      case ActionKind::push_delete: CHECK(after.there.erase(path) == 1); break;
      case ActionKind::pull_delete: CHECK(after.here.erase(path) == 1); break;
      case ActionKind::push_move:
        CHECK(after.there.erase(source) == 1);
        after.there[path] = here.at(path);
        break;
      case ActionKind::pull_move:
        CHECK(after.here.erase(source) == 1);
        after.here[path] = here.at(source);
        break;
      default: CHECK(action.kind == ActionKind::adopt);
    }
    if (action.kind == ActionKind::pull_update) after.there[path] = after.here.at(path);
  }
  for (const AttachmentCollision& collision : plan.collisions) {
    after.apart.insert(collision.path.string());
    if (collision.there) after.apart.insert(collision.there->string());
  }
  for (const Skipped& each : plan.skipped) after.apart.insert(each.path);
  return after;
}

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

// Few places and few contents, so that equal files are renamed in many ways at once.
TEST_CASE("attachments: a plan brings both sides together, and no bytes that only one has are lost", "[sync-engine]") {
  const std::uint64_t seed = test::number_from_environment("WS_SEED", 1);
  const std::uint64_t cases = test::number_from_environment("WS_CASES", 3000);
  std::size_t renames = 0;
  for (std::uint64_t number = 0; number < cases; ++number) {
    CAPTURE(seed, number);
    std::mt19937_64 random(seed * 1'000'003 + number);
    const Texts base = random_files(random);
    const Texts here = changed(base, random);
    const Texts there = changed(base, random);
    CAPTURE(base, here, there);
    const AttachmentPlan plan = plan_attachments(sides(base, here, there));
    CAPTURE(words(plan));
    std::set<RelativePath> from, to;
    for (const Action& action : plan.actions) {
      if (!action.previous_path) continue;
      ++renames;
      CHECK(from.insert(*action.previous_path).second);
      CHECK(to.insert(action.path).second);
    }
    const auto [left, right, apart] = carried_out(plan, here, there);
    for (const auto& [path, bytes] : left) {
      if (!apart.contains(path)) CHECK((right.contains(path) && right.at(path) == bytes));
    }
    for (const auto& [path, bytes] : right) {
      if (!apart.contains(path)) CHECK(left.contains(path));
    }
    const std::set<std::string> known = contents(base);
    std::set<std::string> kept = contents(left);
    kept.merge(contents(right));
    for (const Texts& side : {here, there}) {
      for (const std::string& bytes : contents(side)) CHECK((known.contains(bytes) || kept.contains(bytes)));
    }
  }
  CHECK(renames > cases / 4);
}

TEST_CASE("attachments: what is out of sight here is neither deleted nor replaced", "[sync-engine]") {
  for (const SkipReason why : {SkipReason::unreadable,
                               SkipReason::ignored,
                               SkipReason::excluded,
                               SkipReason::too_large,
                               SkipReason::symlink,
                               SkipReason::empty,
                               SkipReason::busy}) {
    for (const Texts& there : {Texts{{"a", "1"}}, Texts{{"a", "2"}}, Texts{}}) {
      AttachmentSides both = sides({{"a", "1"}}, {}, there);
      both.local.emplace(at("a"), LocalAttachment{.hidden = why});
      const AttachmentPlan plan = plan_attachments(both, {.accept_deletes = true});
      CHECK(words(plan) == std::vector<std::string>{"skip a"});
      CHECK(plan.skipped.front().reason == why);
    }
  }
}

/// The disk knows the file, whatever its bytes are now.
TEST_CASE("plan attachments: a file that was renamed and edited is told by its number", "[sync-engine]") {
  const auto plan_of = [](const Texts& base, const Texts& here, const Texts& there) {
    AttachmentSides both = sides(base, here, there);
    both.files_known = {{at("p"), number(1)}};
    both.local.at(at("q")).file = number(1);
    return words(plan_attachments(both));
  };
  using Words = std::vector<std::string>;
  CHECK(plan_of({{"p", "1"}}, {{"q", "2"}}, {{"p", "1"}}) == Words{"push_move p > q", "push_update q"});
  CHECK(plan_of({{"p", "1"}}, {{"q", "1"}, {"r", "1"}}, {{"p", "1"}}) == Words{"push_move p > q", "push_create r"});
  // Edited there too: both are kept.
  CHECK(plan_of({{"p", "1"}}, {{"q", "2"}}, {{"p", "3"}}) == Words{"pull_create p", "push_create q"});
  CHECK(plan_of({{"p", "1"}}, {{"q", "2"}}, {}) == Words{"push_create q", "forget p"});
  CHECK(plan_of({{"p", "1"}}, {{"q", "2"}}, {{"q", "1"}}) == Words{"push_update q", "forget p"});
  CHECK(plan_of({{"p", "1"}}, {{"q", "2"}}, {{"q", "3"}}) == Words{"conflict q", "forget p"});
  // Another file has the name now.
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "1"}}, {{"p", "1"}}) == Words{"push_update p", "push_create q"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "1"}}, {{"r", "1"}}) == Words{"conflict q", "skip p"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "1"}}, {{"p", "2"}}) ==
        Words{"push_create p", "push_move p > q", "pull_update q"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "1"}}, {}) == Words{"push_create p", "push_create q", "forget p"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "2"}}, {{"p", "3"}}) == Words{"push_create q", "conflict p"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "2"}}, {{"r", "1"}}) ==
        Words{"push_create p", "push_create q", "pull_create r", "forget p"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "9"}, {"q", "1"}}, {{"q", "1"}}) == Words{"push_create p", "adopt q", "forget p"});
}

TEST_CASE("plan attachments: an accepted deletion takes only what was deleted", "[sync-engine]") {
  using Words = std::vector<std::string>;
  const auto plan_of = [](AttachmentSides both) { return words(plan_attachments(both, {.accept_deletes = true})); };
  // Renamed and edited here, edited there.
  AttachmentSides renamed = sides({{"p", "1"}}, {{"q", "2"}}, {{"p", "3"}});
  renamed.files_known = {{at("p"), number(1)}};
  renamed.local.at(at("q")).file = number(1);
  CHECK(plan_of(renamed) == Words{"pull_create p", "push_create q"});
  // Renamed here over another one.
  AttachmentSides over = sides({{"p", "1"}, {"q", "2"}}, {{"q", "1"}}, {{"p", "3"}, {"q", "2"}});
  over.files_known = {{at("p"), number(1)}, {at("q"), number(2)}};
  over.local.at(at("q")).file = number(1);
  CHECK(plan_of(over) == Words{"pull_create p", "push_update q"});
  // Swapped there: what has the name now was the other one.
  CHECK(plan_of(sides({{"p", "1"}, {"q", "2"}}, {{"q", "2"}}, {{"p", "2"}, {"q", "1"}})) ==
        Words{"pull_create p", "pull_update q"});
}

TEST_CASE("plan attachments: a name in another case is one file for everybody", "[sync-engine]") {
  using Words = std::vector<std::string>;
  const auto plan_of = [](const Texts& base, const Texts& here, const Texts& there) {
    return words(plan_attachments(sides(base, here, there)));
  };
  CHECK(plan_of({{"P", "1"}}, {{"p", "2"}}, {{"P", "3"}}) == Words{"conflict p"});
  CHECK(plan_of({{"P", "1"}}, {{"P", "2"}}, {{"p", "3"}}) == Words{"conflict P"});
  // Another file was renamed onto the old name.
  AttachmentSides other = sides({{"a", "1"}, {"b", "2"}}, {{"a", "2"}}, {{"A", "1"}, {"b", "2"}});
  other.files_known = {{at("a"), number(1)}, {at("b"), number(2)}};
  other.local.at(at("a")).file = number(2);
  CHECK(words(plan_attachments(other)) == Words{"pull_move a > A", "push_update A", "push_delete b"});
}

TEST_CASE("plan attachments: renamed on both sides, and one of the names out of sight: nothing happens",
          "[sync-engine]") {
  const LocalAttachment hidden{.hidden = SkipReason::ignored};
  using Words = std::vector<std::string>;
  AttachmentSides ours_is = sides({{"p", "1"}}, {}, {{"r", "1"}});
  for (const char* const path : {"p", "q"}) ours_is.local.emplace(at(path), hidden);
  CHECK(words(plan_attachments(ours_is)) == Words{"skip p", "skip q"});
  AttachmentSides theirs_is = sides({{"p", "1"}}, {{"q", "1"}}, {{"r", "1"}});
  theirs_is.local.emplace(at("r"), hidden);
  CHECK(words(plan_attachments(theirs_is)) == Words{"skip r"});
}

TEST_CASE("plan attachments: a folder here, whatever lies in it, is in the way of what comes", "[sync-engine]") {
  const auto plan_of = [](const Texts& base, const Texts& there) {
    AttachmentSides both = sides(base, {}, there);
    both.folders_here = {at("p")};
    return words(plan_attachments(both));
  };
  using Words = std::vector<std::string>;
  CHECK(plan_of({{"p", "1"}}, {{"p", "2"}}) == Words{"conflict p"});
  CHECK(plan_of({{"p", "1"}}, {{"p", "1"}}) == Words{"push_delete p"});
  CHECK(plan_of({}, {{"p", "2"}}) == Words{"conflict p"});
}

TEST_CASE("plan attachments: a file of one's own is in the way of what comes below its name", "[sync-engine]") {
  const auto plan_of = [](const Texts& base, const Texts& there) {
    AttachmentSides both = sides(base, {}, there);
    both.others_here = {at("p")};
    return words(plan_attachments(both));
  };
  using Words = std::vector<std::string>;
  CHECK(plan_of({}, {{"p/q", "1"}, {"pq", "1"}}) == Words{"pull_create pq", "skip p/q"});
  CHECK(plan_of({{"p/q", "1"}}, {{"p/q", "2"}}) == Words{"skip p/q"});
  CHECK(plan_of({{"p/q", "1"}}, {{"p/q", "1"}}) == Words{"push_delete p/q"});
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
