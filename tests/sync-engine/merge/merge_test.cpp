#include "sync-engine/merge/merge.hpp"

#include <catch2/catch.hpp>

#include "tests/sync-engine/merge/merge_cases.hpp"

namespace ws::sync {
namespace {

using merge::Merge;
using merge::merge_markdown;

std::string merged_or_conflict(const std::string& base, const std::string& ours, const std::string& theirs) {
  const auto merge = merge_markdown(base, ours, theirs);
  REQUIRE(merge);
  return merge->is_clean() ? merge->text() : "(conflict)";
}

}  // namespace

TEST_CASE("merge: every case of the corpus comes out as it is written there, whichever side is ours", "[sync-engine]") {
  const std::vector<test::MergeCase> cases = test::merge_cases();
  CHECK(cases.size() >= 120);
  for (const test::MergeCase& one : cases) {
    INFO(one.name);
    CHECK(merged_or_conflict(one.base, one.ours, one.theirs) == one.merged.value_or("(conflict)"));
    CHECK(merged_or_conflict(one.base, one.theirs, one.ours) == one.mirrored.value_or("(conflict)"));
  }
}

TEST_CASE("merge by lines: distant edits merge, colliding and touching ones do not, and the laws hold",
          "[sync-engine]") {
  using merge::merge_lines;
  const std::string base = "1\n2\n3\n4\n5\n";
  CHECK(*merge_lines(base, "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n") == "one\n2\n3\n4\nfive\n");
  CHECK(*merge_lines(base, "1\n2\n2a\n3\n4\n5\n", "1\n2\n3\n5\n") == "1\n2\n2a\n3\n5\n");
  CHECK(*merge_lines(base, "0\n1\n2\n3\n4\n5", "0\n1\n2\n3\n4\n5\n") == "0\n1\n2\n3\n4\n5");
  CHECK(*merge_lines(base, "1\n2\n3\n4\n5", "one\n2\n3\n4\n5\n") == "one\n2\n3\n4\n5");
  CHECK(*merge_lines(base, "one\n2\n3\n4\n5\n", "uno\n2\n3\n4\n5\n") == std::nullopt);
  CHECK(*merge_lines(base, "one\n2\n3\n4\n5\n", "1\ntwo\n3\n4\n5\n") == std::nullopt);
  CHECK(*merge_lines(base, "one\n2\n3\n4\n5\nsix\n", "one\n2\n3\n4\n5\n") == "one\n2\n3\n4\n5\nsix\n");
  CHECK(*merge_lines("", "a\n", "b\n") == std::nullopt);
  const std::string x = "1\n2\n3\n4\n5\nsix\n";
  CHECK(*merge_lines(base, x, base) == x);
  CHECK(*merge_lines(base, base, x) == x);
  CHECK(*merge_lines(base, x, x) == x);
}

TEST_CASE("merge: the laws hold on every text of the corpus", "[sync-engine]") {
  for (const test::MergeCase& one : test::merge_cases()) {
    INFO(one.name);
    CHECK(merged_or_conflict(one.base, one.ours, one.base) == one.ours);
    CHECK(merged_or_conflict(one.base, one.base, one.theirs) == one.theirs);
    CHECK(merged_or_conflict(one.base, one.ours, one.ours) == one.ours);
    CHECK(merged_or_conflict(one.base, one.theirs, one.theirs) == one.theirs);
  }
}

TEST_CASE("merge: a conflict keeps its neighbours merged, and shows all three texts", "[sync-engine]") {
  const auto merge =
      merge_markdown("# T\n\none\n\nmid\n\ntwo\n", "# T!\n\nuno\n\nmid\n\ntwo\n", "# T\n\neins\n\nmid\n\nzwei\n");
  REQUIRE(merge);
  CHECK_FALSE(merge->is_clean());
  CHECK(with_markers(*merge, "here", "there") ==
        "# T!\n\n<<<<<<< here\nuno\n||||||| base\none\n=======\neins\n>>>>>>> there\n\nmid\n\nzwei\n");
  CHECK(merge::has_markers(with_markers(*merge, "here", "there")));
  CHECK_FALSE(merge::has_markers("Title\n=======\n\n<<<<<< six\n"));
}

}  // namespace ws::sync
