/// Which lines of a text became which lines of another (libgit2's patience diff), and what differs between two texts,
/// as git and patch write it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// Lines [before_begin, before_end) were replaced by lines [after_begin, after_end), from 0. One of the two may be
/// empty: an insertion or a deletion.
struct ChangedLines {
  std::size_t before_begin = 0;
  std::size_t before_end = 0;
  std::size_t after_begin = 0;
  std::size_t after_end = 0;
  bool operator==(const ChangedLines&) const = default;
};

/// Whether libgit2 compares both at once. Its time grows faster than their length, so texts of more than 20,000 lines
/// together are compared in stretches between runs of lines that stand once in either.
bool is_compared_at_once(std::string_view before, std::string_view after);

/// In order, none touching the next; empty for equal texts. Time is about linear in the length. Fails with `internal`.
Result<std::vector<ChangedLines>> changed_lines(std::string_view before, std::string_view after);

/// The hunks of a unified diff with three lines of context, without the lines that name the files; empty for equal
/// texts. Fails with `internal`.
Result<std::string> diff_text(std::string_view before, std::string_view after);

}  // namespace ws::sync::git
