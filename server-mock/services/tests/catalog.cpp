#include "server-mock/services/tests/catalog.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace ws::mock {
namespace {

constexpr std::string_view smoke[] = {
    "documents.read_back",
    "access.share_opens",
    "tree.no_cycle",
    "sync.commit_creates",
    "search.finds_section",
    "questions.cite_literally",
    "comments.thread_counts",
};
constexpr std::string_view documents[] = {
    "documents.read_back",
    "documents.revision_rises",
    "documents.stale_write_refused",
    "documents.archive_hides",
    "documents.archived_is_closed",
    "documents.limits_hold",
};
constexpr std::string_view access[] = {
    "access.private_is_hidden",
    "access.share_opens",
    "access.viewer_changes_nothing",
    "access.other_workspace_is_404",
    "access.share_is_capped",
    "search.hides_private",
    "questions.hide_private",
};
constexpr std::string_view tree[] = {"tree.no_cycle", "tree.project_at_root", "tree.move_changes_project"};
constexpr std::string_view sync[] = {
    "sync.commit_creates",
    "sync.commit_repeats",
    "sync.one_writer_wins",
    "sync.absence_deletes_nothing",
    "sync.edits_are_seen",
    "sync.hash_is_checked",
};
constexpr std::string_view knowledge[] = {
    "search.finds_section",
    "search.hides_private",
    "search.forgets_archived",
    "search.takes_any_text",
    "search.pages_are_stable",
    "questions.cite_literally",
    "questions.admit_ignorance",
    "questions.hide_private",
    "questions.keep_artifacts",
    "conversations.count",
    "comments.thread_counts",
    "comments.anchor_is_lost",
};
constexpr std::string_view soak[] = {"sync.one_writer_wins", "search.pages_are_stable"};

constexpr TestSuite suites[] = {
    {.id = "smoke", .title = "One of each kind", .case_ids = smoke},
    {.id = "documents", .title = "Documents and their revisions", .case_ids = documents},
    {.id = "access", .title = "Who sees and changes what", .case_ids = access},
    {.id = "tree", .title = "Projects, Pages and moves", .case_ids = tree},
    {.id = "sync", .title = "Local Markdown sync", .case_ids = sync},
    {.id = "knowledge", .title = "Search, questions, comments", .case_ids = knowledge},
    {.id = "soak",
     .title = "The same cases for a day (not here: a run ends with the call that launches it)",
     .case_ids = soak,
     .not_runnable_because = "it takes a day, and a run here ends with the call that launches it"},
};

std::array<std::span<const TestCase>, 3> areas() { return {content_cases(), sync_cases(), knowledge_cases()}; }

}  // namespace

std::size_t case_count() {
  std::size_t count = 0;
  for (const std::span<const TestCase> area : areas()) count += area.size();
  return count;
}

const TestCase& case_at(std::size_t at) {
  for (const std::span<const TestCase> area : areas()) {
    if (at < area.size()) return area[at];
    at -= area.size();
  }
  std::abort();  // out of range: a bug in the caller
}

const TestCase* find_case(std::string_view id) {
  for (const std::span<const TestCase> area : areas()) {
    const auto found = std::ranges::find(area, id, &TestCase::id);
    if (found != area.end()) return &*found;
  }
  return nullptr;
}

std::span<const TestSuite> test_suites() { return suites; }

const TestSuite* find_suite(std::string_view id) {
  const auto* found = std::ranges::find(suites, id, &TestSuite::id);
  return found == std::end(suites) ? nullptr : found;
}

}  // namespace ws::mock
