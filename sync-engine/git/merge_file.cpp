#include "sync-engine/git/merge_file.hpp"

#include <algorithm>

#include "sync-engine/git/library.hpp"

namespace ws::sync::git {
namespace {

git_merge_file_input input_of(std::string_view text) {
  git_merge_file_input input = GIT_MERGE_FILE_INPUT_INIT;
  input.ptr = text.data() == nullptr ? "" : text.data();
  input.size = text.size();
  return input;
}

std::uint32_t flags_of(MarkerStyle style) {
  switch (style) {
    case MarkerStyle::merge: return GIT_MERGE_FILE_STYLE_MERGE;
    case MarkerStyle::diff3: return GIT_MERGE_FILE_STYLE_DIFF3;
    case MarkerStyle::zdiff3: return GIT_MERGE_FILE_STYLE_ZDIFF3;
  }
  return GIT_MERGE_FILE_STYLE_MERGE;
}

}  // namespace

bool is_binary(std::string_view text) {
  constexpr std::size_t looked_at = 8000;  // buffer_is_binary in git's xdiff-interface.c
  return text.substr(0, looked_at).find('\0') != std::string_view::npos;
}

Result<MergedFile> merge_file(std::string_view base,
                              std::string_view ours,
                              std::string_view theirs,
                              const Markers& markers) {
  WS_LET(const Library* git, library());
  git_merge_file_options options = GIT_MERGE_FILE_OPTIONS_INIT;
  options.ancestor_label = markers.base.c_str();
  options.our_label = markers.ours.c_str();
  options.their_label = markers.theirs.c_str();
  options.flags = flags_of(markers.style);
  options.marker_size = static_cast<unsigned short>(markers.size);
  const git_merge_file_input in_base = input_of(base);
  const git_merge_file_input in_ours = input_of(ours);
  const git_merge_file_input in_theirs = input_of(theirs);
  git_merge_file_result result{};
  if (git->merge_file(&result, &in_base, &in_ours, &in_theirs, &options) < 0) {
    return fail(failure(*git, "merge three texts"));
  }
  MergedFile merged{.text = std::string(result.ptr == nullptr ? "" : result.ptr, result.len),
                    .is_clean = result.automergeable != 0};
  git->merge_file_result_free(&result);
  return merged;
}

}  // namespace ws::sync::git
