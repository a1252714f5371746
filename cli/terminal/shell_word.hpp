/// Text that stands as one word in a command which somebody pastes into a shell.
#pragma once

#include <string>
#include <string_view>

namespace ws::cli {

/// As it is where that is safe, otherwise in single quotes: nothing in a name is run. Control characters are shown, as
/// on any line (clean.hpp).
std::string shell_word(std::string_view text);
/// The same of a path: one that begins with `-` is no flag.
std::string shell_path(std::string_view path);

}  // namespace ws::cli
