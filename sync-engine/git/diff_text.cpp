#include "sync-engine/git/diff_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/git/library.hpp"

namespace ws::sync::git {
namespace {

constexpr std::size_t context_lines = 3;

Result<std::string> diff_at_once(std::string_view before, std::string_view after) {
  WS_LET(const Library* git, library());
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_PATIENCE;
  options.context_lines = context_lines;
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

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// Writes changes as hunks of a unified diff, those together that are near to each other.
class Hunks {
 public:
  Hunks(std::string_view before, std::string_view after) : before_(split_lines(before)), after_(split_lines(after)) {}

  std::string write(const std::vector<ChangedLines>& changes) {
    for (std::size_t first = 0; first < changes.size();) {
      std::size_t last = first;
      while (last + 1 < changes.size() &&
             changes[last + 1].before_begin - changes[last].before_end <= 2 * context_lines) {
        ++last;
      }
      write_hunk(changes, first, last);
      first = last + 1;
    }
    return std::move(text_);
  }

 private:
  void write_hunk(const std::vector<ChangedLines>& changes, std::size_t first, std::size_t last) {
    const std::size_t lead = std::min(context_lines, changes[first].before_begin);
    const std::size_t tail = std::min(context_lines, before_.size() - changes[last].before_end);
    const std::size_t begin = changes[first].before_begin - lead;
    const std::size_t end = changes[last].before_end + tail;
    const std::size_t after_begin = changes[first].after_begin - lead;
    const std::size_t after_end = changes[last].after_end + tail;
    text_ += fmt::format("@@ -{} +{} @@\n", range(begin, end), range(after_begin, after_end));
    std::size_t at = begin;
    for (std::size_t i = first; i <= last; ++i) {
      write_lines(' ', before_, at, changes[i].before_begin);
      write_lines('-', before_, changes[i].before_begin, changes[i].before_end);
      write_lines('+', after_, changes[i].after_begin, changes[i].after_end);
      at = changes[i].before_end;
    }
    write_lines(' ', before_, at, end);
  }

  /// An empty range names the line before it, as git does.
  static std::string range(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    const std::size_t first = count == 0 ? begin : begin + 1;
    return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
  }

  void write_lines(char sign, const std::vector<std::string_view>& lines, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      text_ += sign;
      text_ += lines[i];
      if (!lines[i].ends_with('\n')) text_ += "\n\\ No newline at end of file\n";
    }
  }

  std::vector<std::string_view> before_;
  std::vector<std::string_view> after_;
  std::string text_ = {};
};

}  // namespace

Result<std::string> diff_text(std::string_view before, std::string_view after) {
  if (before == after) return std::string();
  if (is_compared_at_once(before, after)) return diff_at_once(before, after);
  WS_LET(const std::vector<ChangedLines> changes, changed_lines(before, after));
  return Hunks(before, after).write(changes);
}

}  // namespace ws::sync::git
