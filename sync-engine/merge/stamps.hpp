/// Keys of front matter that programs stamp with the time of the last change: of two stamps the later one counts.
///
/// Dates: `2024-05-01`, `2024-5-1`, `2024/05/01`, with a time behind `T` or blanks (`10:00`, `10:00:00.5`) and a zone
/// (`Z`, `+02:00`, `+0200`, `-05`), quoted or not. Two with a zone are compared as instants. Where one has no zone both
/// are compared as they are written; a date without a time is earlier than any time of its day.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::sync::merge {

/// `updated`, `modified`, `lastmod`, `date modified`, `last_modified`, or one of `more`; case and quotes do not count.
bool is_stamp_key(std::string_view key, const std::vector<std::string>& more);

/// The entry with the later date, of three as front matter has them: whole lines, comments above the key. Empty where
/// one of ours and theirs is no date on one line, or both changed the comments. Swapping ours and theirs changes
/// nothing.
std::optional<std::string> later_stamp(std::string_view base, std::string_view ours, std::string_view theirs);

}  // namespace ws::sync::merge
