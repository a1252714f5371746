/// "Did you mean" for misspelled commands, flags and settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ws {

/// The number of insertions, deletions, substitutions and transpositions that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// At most three of `known` that are similar to `word`, the most similar first; empty if none is.
std::vector<std::string> similar_names(std::string_view word, const std::vector<std::string>& known);

/// Help for a name that `known` does not have: "did you mean `a`?" as `suggestion` says it, or, if no name is similar,
/// "the nearest are `a`, `b`", first the names that begin with the same part before a dot. Empty if `known` is.
std::string nearest_names(std::string_view word, const std::vector<std::string>& known);

/// "did you mean `a`, `b`?", or empty.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, std::string_view prefix = "");

}  // namespace ws
