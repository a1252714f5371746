#include "sync-engine/git/changed_lines.hpp"

#include "sync-engine/git/library.hpp"

namespace ws::sync::git {
namespace {

/// git counts lines from 1, and says of an empty range the line before it.
std::size_t first_line(int start, int lines) { return static_cast<std::size_t>(lines == 0 ? start : start - 1); }

}  // namespace

Result<std::vector<ChangedLines>> changed_lines(std::string_view before, std::string_view after) {
  std::vector<ChangedLines> changes;
  if (before == after) return changes;
  WS_LET(const Library* git, library());
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_PATIENCE;
  options.context_lines = 0;
  options.interhunk_lines = 0;
  git_patch* patch = nullptr;
  const int code = git->patch_from_buffers(
      &patch, before.data(), before.size(), nullptr, after.data(), after.size(), nullptr, &options);
  if (code < 0) return fail(failure(*git, "compare two texts"));
  const std::size_t count = git->patch_num_hunks(patch);
  changes.reserve(count);
  int got = 0;
  for (std::size_t i = 0; i < count && got == 0; ++i) {
    const git_diff_hunk* hunk = nullptr;
    got = git->patch_get_hunk(&hunk, nullptr, patch, i);
    if (got != 0) break;
    const std::size_t from = first_line(hunk->old_start, hunk->old_lines);
    const std::size_t to = first_line(hunk->new_start, hunk->new_lines);
    changes.push_back({.before_begin = from,
                       .before_end = from + static_cast<std::size_t>(hunk->old_lines),
                       .after_begin = to,
                       .after_end = to + static_cast<std::size_t>(hunk->new_lines)});
  }
  git->patch_free(patch);
  if (got != 0) return fail(failure(*git, "read a comparison"));
  return changes;
}

}  // namespace ws::sync::git
