#include "sync-engine/git/merge_text.hpp"

#include "sync-engine/git/library.hpp"

namespace ws::sync::git {

Result<std::optional<std::string>> merge_text(std::string_view base, std::string_view ours, std::string_view theirs) {
  using Merged = std::optional<std::string>;
  if (ours == theirs || theirs == base) return Merged(ours);
  if (ours == base) return Merged(theirs);
  WS_LET(const Library* git, library());
  const auto input = [&](std::string_view text) {
    git_merge_file_input made;
    git->merge_file_input_init(&made, GIT_MERGE_FILE_INPUT_VERSION);
    made.ptr = text.data();
    made.size = text.size();
    return made;
  };
  const git_merge_file_input ancestor = input(base);
  const git_merge_file_input left = input(ours);
  const git_merge_file_input right = input(theirs);
  git_merge_file_options options;
  git->merge_file_options_init(&options, GIT_MERGE_FILE_OPTIONS_VERSION);
  git_merge_file_result result{};
  if (git->merge_file(&result, &ancestor, &left, &right, &options) < 0) return fail(failure(*git, "merge two texts"));
  Merged merged;
  if (result.automergeable != 0) merged.emplace(result.ptr == nullptr ? "" : result.ptr, result.len);
  git->merge_file_result_free(&result);
  return merged;
}

}  // namespace ws::sync::git
