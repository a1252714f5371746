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

/// Of a name that is none of `known`: as `suggestion`, or where none is similar "the nearest are `a`, `b`". Of dotted
/// names those with the same first part are the nearer ones. Empty where nothing is known.
std::string nearest_names(std::string_view word, const std::vector<std::string>& known);

/// "did you mean `a`, `b`?", or empty.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, std::string_view prefix = "");

}  // namespace ws
