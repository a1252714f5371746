// The sentences about a conflict: both names, who changed what and when, and the revisions.
#include "cli/walk/conflict_story.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace ws;
using namespace ws::cli::walk;
using Catch::Matchers::Contains;
using sync::Conflict;
using sync::ConflictCase;

namespace {

sync::RelativePath path_of(std::string_view text) {
  auto path = sync::RelativePath::parse(text);
  REQUIRE(path);
  return std::move(*path);
}

std::string told(const ShownConflict& shown) {
  return fmt::format("{}\n{}", fmt::join(shown.story, "\n"), fmt::join(shown.details, "\n"));
}

}  // namespace

TEST_CASE("story: a service that went back says from which revision to which, and which documents", "[cli]") {
  const sync::ConflictTexts texts{.conflict = sync::rewound_service()};
  CHECK_THAT(told(tell_conflict(texts, {})), Contains("went back to an older state"));
  sync::Rewound rewound{.before = {12}, .now = {9}};
  rewound.documents = {
      {.path = path_of("gone.md"), .before = sync::DocumentRevision{2}},
      {.path = path_of("new.md"), .now = sync::DocumentRevision{1}},
      {.path = path_of("soup.md"), .before = sync::DocumentRevision{4}, .now = sync::DocumentRevision{3}}};
  const ShownConflict shown = tell_conflict(texts, {.rewound = rewound});
  CHECK_THAT(told(shown),
             Contains("went back from revision 12 to 9") && Contains("3 documents differ:") &&
                 Contains("gone.md: revision 2 is missing on the service") &&
                 Contains("new.md: revision 1, not known here") && Contains("soup.md: revision 4 -> 3"));
}

TEST_CASE("story: one document that went back says from which revision to which", "[cli]") {
  Conflict conflict{.which = ConflictCase::document_went_back, .path = path_of("soup.md")};
  conflict.base = sync::Entry{.path = conflict.path, .revision = {4}};
  CHECK_THAT(told(tell_conflict({.conflict = conflict}, {})),
             Contains("had revision 4; the service does not have it any more"));
  conflict.remote = sync::Entry{.path = conflict.path, .revision = {3}};
  CHECK_THAT(told(tell_conflict({.conflict = conflict}, {})), Contains("went back from revision 4 to 3"));
}

TEST_CASE("story: of two pictures both names, both kinds, who and when, and both can be opened", "[cli]") {
  Conflict conflict{.which = ConflictCase::attachment_edited_on_both, .path = path_of("p.png"), .device = "desk"};
  conflict.local = sync::Entry{.path = conflict.path};
  conflict.remote = sync::Entry{.path = conflict.path};
  const ShownConflict shown = tell_conflict({.conflict = conflict},
                                            {.my_time = "2026-11-20 10:04",
                                             .their_time = "2026-11-20 10:05",
                                             .my_file = "image/png, 12 KB",
                                             .their_file = "image/png, 13 KB",
                                             .list_changed = "Grace Hopper, on 2026-11-20 10:06",
                                             .their_place = "p (remote).png"});
  CHECK_THAT(told(shown),
             Contains("Mine, here, on desk: p.png, image/png, 12 KB, changed on 2026-11-20 10:04") &&
                 Contains("p (remote).png, image/png, 13 KB, sent on 2026-11-20 10:05") && Contains("Grace Hopper"));
  CHECK(shown.files == std::vector<std::string>{"p.png", "p (remote).png"});
}

TEST_CASE("story: of two documents of one name both names, both texts, and who", "[cli]") {
  Conflict conflict{.which = ConflictCase::two_documents, .path = path_of("taken.md"), .device = "desk"};
  conflict.local = sync::Entry{.path = conflict.path};
  conflict.remote = sync::Entry{.path = conflict.path};
  const ShownConflict shown =
      tell_conflict({.conflict = conflict, .local = "mine", .remote = "theirs"},
                    {.my_time = "2026-11-20 10:04", .their_name = "Grace Hopper", .their_place = "taken (remote).md"});
  CHECK_THAT(told(shown),
             Contains("Mine, here, on desk: taken.md, changed on 2026-11-20 10:04") && Contains("Grace Hopper") &&
                 Contains("here it is taken (remote).md"));
  CHECK(shown.mine == "mine");
  CHECK(shown.theirs == "theirs");
  CHECK(shown.files == std::vector<std::string>{"taken.md", "taken (remote).md"});
}
