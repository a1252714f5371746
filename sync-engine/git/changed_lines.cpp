#include "sync-engine/git/changed_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/text.hpp"
#include "sync-engine/git/library.hpp"

namespace ws::sync::git {
namespace {

/// git counts lines from 1, and says of an empty range the line before it.
std::size_t first_line(int start, int lines) { return static_cast<std::size_t>(lines == 0 ? start : start - 1); }

/// The whole of both texts by libgit2.
Result<std::vector<ChangedLines>> compare_at_once(std::string_view before, std::string_view after) {
  std::vector<ChangedLines> changes;
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

/// What libgit2 compares at once, lines of both texts together: its time grows faster than their number.
constexpr std::size_t max_lines_at_once = 20'000;
/// Longer runs of lines are not looked for to hold two texts together.
constexpr std::size_t longest_run = 8;

struct Lines {
  std::vector<std::string_view> texts = {};
  std::vector<std::uint32_t> numbers = {};  ///< equal lines have equal numbers, in both texts
};

using LineNumbers = std::unordered_map<std::string_view, std::uint32_t>;

Lines lines_with_numbers(std::string_view text, LineNumbers& known) {
  Lines lines{.texts = whole_lines(text)};
  for (const std::string_view line : lines.texts) {
    lines.numbers.push_back(known.try_emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return lines;
}

/// Lines [before_begin, before_end) of the one text and [after_begin, after_end) of the other.
using Stretch = ChangedLines;

/// Compares long texts in stretches between runs of lines that stand once in either. What has no such run, and is too
/// long to be compared at once, counts as changed as a whole. Time is about linear in the number of lines.
class StretchComparison {
 public:
  StretchComparison(const Lines& before, const Lines& after) : before_(before), after_(after) {}

  Result<std::vector<ChangedLines>> run() {
    WS_TRY(compare({0, before_.texts.size(), 0, after_.texts.size()}, 1));
    return std::move(changes_);
  }

 private:
  struct Match {
    std::size_t before = 0;
    std::size_t after = 0;
  };

  Stretch without_equal_ends(Stretch in) const {
    const auto& left = before_.numbers;
    const auto& right = after_.numbers;
    while (in.before_begin < in.before_end && in.after_begin < in.after_end &&
           left[in.before_begin] == right[in.after_begin]) {
      ++in.before_begin;
      ++in.after_begin;
    }
    while (in.before_begin < in.before_end && in.after_begin < in.after_end &&
           left[in.before_end - 1] == right[in.after_end - 1]) {
      --in.before_end;
      --in.after_end;
    }
    return in;
  }

  static std::string_view text_of(const Lines& lines, std::size_t begin, std::size_t end) {
    const char* const first = lines.texts[begin].data();
    const std::string_view last = lines.texts[end - 1];
    return {first, static_cast<std::size_t>(last.data() + last.size() - first)};
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most as deep as `run` can be multiplied
  Result<void> compare(Stretch in, std::size_t run) {
    in = without_equal_ends(in);
    const std::size_t old_lines = in.before_end - in.before_begin;
    const std::size_t new_lines = in.after_end - in.after_begin;
    if (old_lines == 0 && new_lines == 0) return {};
    if (old_lines == 0 || new_lines == 0 || (run > longest_run && old_lines + new_lines > max_lines_at_once)) {
      changes_.push_back(in);
      return {};
    }
    if (old_lines + new_lines <= max_lines_at_once) return compare_small(in);
    Stretch rest = in;
    for (const Match& match : common_runs(in, run)) {
      if (match.before < rest.before_begin || match.after < rest.after_begin) continue;
      WS_TRY(compare({rest.before_begin, match.before, rest.after_begin, match.after}, run * 8));
      rest.before_begin = match.before + run;
      rest.after_begin = match.after + run;
    }
    return compare(rest, run * 8);
  }

  Result<void> compare_small(const Stretch& in) {
    WS_LET(const std::vector<ChangedLines> found,
           compare_at_once(text_of(before_, in.before_begin, in.before_end),
                           text_of(after_, in.after_begin, in.after_end)));
    for (const ChangedLines& change : found) {
      changes_.push_back({.before_begin = in.before_begin + change.before_begin,
                          .before_end = in.before_begin + change.before_end,
                          .after_begin = in.after_begin + change.after_begin,
                          .after_end = in.after_begin + change.after_end});
    }
    return {};
  }

  /// Calls `take` with a hash of every run of so many lines, and where it begins.
  template <class Take>
  static void each_run(
      const std::vector<std::uint32_t>& numbers, std::size_t begin, std::size_t end, std::size_t run, Take take) {
    constexpr std::uint64_t factor = 0x9E37'79B9'7F4A'7C15U;
    std::uint64_t power = 1;
    for (std::size_t i = 1; i < run; ++i) power *= factor;
    std::uint64_t hash = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (i - begin >= run) hash -= power * (numbers[i - run] + std::uint64_t{1});
      hash = hash * factor + numbers[i] + 1;
      if (i - begin + 1 >= run) take(hash, i + 1 - run);
    }
  }

  /// The runs that stand once in either stretch, in the longest order that both share.
  std::vector<Match> common_runs(const Stretch& in, std::size_t run) const {
    struct Places {
      std::size_t times_before = 0;
      std::size_t times_after = 0;
      std::size_t after = 0;
    };
    std::unordered_map<std::uint64_t, Places> places;
    places.reserve(in.before_end - in.before_begin);
    each_run(before_.numbers, in.before_begin, in.before_end, run, [&](std::uint64_t hash, std::size_t) {
      ++places[hash].times_before;
    });
    each_run(after_.numbers, in.after_begin, in.after_end, run, [&](std::uint64_t hash, std::size_t at) {
      Places& place = places[hash];
      ++place.times_after;
      place.after = at;
    });
    std::vector<Match> matches;
    each_run(before_.numbers, in.before_begin, in.before_end, run, [&](std::uint64_t hash, std::size_t at) {
      const Places& place = places[hash];
      if (place.times_before != 1 || place.times_after != 1) return;
      const auto line = [](std::size_t number) { return static_cast<std::ptrdiff_t>(number); };
      const auto first = before_.numbers.begin() + line(at);
      if (std::equal(first, first + line(run), after_.numbers.begin() + line(place.after))) {
        matches.push_back({.before = at, .after = place.after});
      }
    });
    return longest_rising(matches);
  }

  /// Of matches in the order of the one text, the longest list that is in order in the other too (patience sorting).
  static std::vector<Match> longest_rising(const std::vector<Match>& matches) {
    constexpr auto none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> tops;  // of each pile the last match
    std::vector<std::size_t> previous(matches.size(), none);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      const auto pile = std::partition_point(
          tops.begin(), tops.end(), [&](std::size_t top) { return matches[top].after < matches[i].after; });
      if (pile != tops.begin()) previous[i] = *std::prev(pile);
      if (pile == tops.end()) {
        tops.push_back(i);
      } else {
        *pile = i;
      }
    }
    std::vector<Match> rising;
    for (std::size_t i = tops.empty() ? none : tops.back(); i != none; i = previous[i]) rising.push_back(matches[i]);
    std::reverse(rising.begin(), rising.end());
    return rising;
  }

  const Lines& before_;
  const Lines& after_;
  std::vector<ChangedLines> changes_ = {};
};

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

/// Writes changes as hunks of a unified diff, those together that are near to each other.
class Hunks {
 public:
  Hunks(std::string_view before, std::string_view after) : before_(whole_lines(before)), after_(whole_lines(after)) {}

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

bool is_compared_at_once(std::string_view before, std::string_view after) {
  const auto lines = [](std::string_view text) { return std::count(text.begin(), text.end(), '\n'); };
  return lines(before) + lines(after) <= static_cast<std::ptrdiff_t>(max_lines_at_once);
}

Result<std::vector<ChangedLines>> changed_lines(std::string_view before, std::string_view after) {
  if (before == after) return std::vector<ChangedLines>();
  if (is_compared_at_once(before, after)) return compare_at_once(before, after);
  LineNumbers known;
  const Lines old_lines = lines_with_numbers(before, known);
  const Lines new_lines = lines_with_numbers(after, known);
  return StretchComparison(old_lines, new_lines).run();
}

Result<std::string> diff_text(std::string_view before, std::string_view after) {
  if (before == after) return std::string();
  if (is_compared_at_once(before, after)) return diff_at_once(before, after);
  WS_LET(const std::vector<ChangedLines> changes, changed_lines(before, after));
  return Hunks(before, after).write(changes);
}

}  // namespace ws::sync::git
