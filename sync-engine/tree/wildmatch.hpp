/// Shell patterns over paths, as git's `wildmatch` with WM_PATHNAME reads them.
#pragma once

#include <string_view>

namespace ws::sync {

/// Whether `pattern` matches the whole of `path`. `*` and `?` do not match '/', a leading or enclosed `**/` matches any
/// number of folders, none too, and a trailing `/**` everything below. Brackets know ranges, `!` and `^`, and classes
/// like `[:alpha:]`. A pattern that ends within a bracket or behind a backslash matches nothing.
///
/// Time is at most the pattern's length times the path's, whatever the stars; git's own is exponential in them.
bool wildmatch(std::string_view pattern, std::string_view path);

/// Whether `pattern` can match any path: its brackets end, and no backslash does. Time is linear in its length.
bool can_match(std::string_view pattern);

}  // namespace ws::sync
