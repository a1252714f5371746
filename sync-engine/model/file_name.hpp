/// The one way from a text that came from outside (an id, a title, a given name) to the name of a file.
///
/// What comes out is one part of a path that breaks none of the rules of `relative_path.hpp`: no `/`, no `..`, nothing
/// reserved. `tests/architecture/file_names_test.cpp` reads the sources for any other way.
#pragma once

#include <string>
#include <string_view>

namespace ws::sync {

/// Where the text comes from, which decides how it becomes a name.
enum class NamedBy {
  id,     ///< a UUID stays as it is; of anything else the SHA-256 is taken
  title,  ///< what some system does not allow becomes `-`, but not in front; a long one is cut
  given,  ///< the name of a file: the last part of a path, else unchanged
  tool,   ///< for a temporary file that other programs are given: ASCII letters and digits, `-` and `_`
};

/// The name, with `ending` added. Empty where a title or a given name leaves none that may be used.
std::string file_name(NamedBy how, std::string_view text, std::string_view ending = {});

/// Whether `name` is one that `file_name` could have made of a title: for what is read from a file of ours.
bool is_file_name(std::string_view name);

}  // namespace ws::sync
