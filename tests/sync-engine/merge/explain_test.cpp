#include "sync-engine/merge/explain.hpp"

#include <catch2/catch.hpp>

namespace ws::sync {
namespace {

std::vector<std::string> told(const std::string& base, const std::string& ours, const std::string& theirs) {
  const auto merge = merge::merge_markdown(base, ours, theirs);
  REQUIRE(merge);
  std::vector<std::string> sentences;
  for (const merge::ExplainedPlace& place : merge::explain(*merge)) sentences.push_back(place.sentence());
  return sentences;
}

}  // namespace

TEST_CASE("explain: each place tells what each side did, and which rule settled it", "[sync-engine]") {
  CHECK(told("# T\n\n- a\n\nend\n", "# T!\n\n- a\n- b\n\nend\n", "# T\n\n- a\n- c\n\nend\n") ==
        std::vector<std::string>{"line 1: ours changes 1 line: taken",
                                 "line 4: ours adds 1 line, theirs adds 1 line: merged entry by entry"});
  CHECK(told("# T\n\ntext\n", "# T\n\ntext\n\n## A\n\na\n", "# T\n\ntext\n\n## B\n\nb\n") ==
        std::vector<std::string>{"line 4: ours adds 4 lines, theirs adds 4 lines: both sections stay"});
  CHECK(
      told("one fine line\n", "one good line\n", "one odd line\n") ==
      std::vector<std::string>{"line 1: ours changes 1 line, theirs changes 1 line: conflict, both sides changed it"});
  CHECK(told("---\nupdated: 2024-05-01\n---\nx\n",
             "---\nupdated: 2024-05-02\n---\nx\n",
             "---\nupdated: 2024-05-03\n---\nx\n") ==
        std::vector<std::string>{"line 2: ours changes 1 line, theirs changes 1 line: the later date is taken"});
  CHECK(told("a \n\nb\n", "a\n\nb\n", "a \n\nc\n") ==
        std::vector<std::string>{"line 1: ours changes 1 line: text replaces blanks",
                                 "line 3: theirs changes 1 line: taken"});
}

TEST_CASE("explain: a conflict says what the texts show of its cause", "[sync-engine]") {
  // git is clean here, and writes the entry twice.
  CHECK(told("- [b](u)\n", "- [x](v)\n- [b](u)\n", "- [b](u)\n- [x](v)\n")
            .back()
            .ends_with("conflict, both sides added or moved the same text to different places"));
  CHECK(told("one\ntwo\nthree\nfour\nfive\n", "one\nfive\n", "one\ntwo\nthree\nmore\nfour\nfive\n")
            .back()
            .ends_with("conflict, one side removes what the other adds to"));
}

}  // namespace ws::sync
