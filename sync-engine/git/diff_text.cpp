#include "sync-engine/git/diff_text.hpp"

#include "sync-engine/git/library.hpp"

namespace ws::sync::git {

Result<std::string> diff_text(std::string_view before, std::string_view after) {
  if (before == after) return std::string();
  WS_LET(const Library* git, library());
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_PATIENCE;
  git_patch* patch = nullptr;
  const int code = git->patch_from_buffers(
      &patch, before.data(), before.size(), nullptr, after.data(), after.size(), nullptr, &options);
  if (code < 0) return fail(failure(*git, "compare two texts"));
  git_buf buffer = GIT_BUF_INIT;
  const int printed = git->patch_to_buf(&buffer, patch);
  git->patch_free(patch);
  if (printed < 0) return fail(failure(*git, "write a comparison"));
  std::string text(buffer.ptr == nullptr ? "" : buffer.ptr, buffer.size);
  git->buf_dispose(&buffer);
  const std::size_t hunk = text.rfind("@@ -", 0) == 0 ? 0 : text.find("\n@@ -");
  if (hunk == std::string::npos) return std::string();
  return hunk == 0 ? text : text.substr(hunk + 1);
}

}  // namespace ws::sync::git
