/// Turns search text into terms for the index. Pure.
///
/// Terms consist of letters and digits (`utf8::words`), so no input - quotes, operators, column names - becomes FTS5
/// syntax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/utf8.hpp"

namespace ws::mock {

/// Consecutive words; the last may be a prefix ("kno" finds "knots").
struct Term {
  std::vector<std::string> keys = {};
  bool is_prefix = false;
  bool operator==(const Term&) const = default;
};

/// Further terms of a text are ignored.
inline constexpr std::size_t max_terms = 64;

/// A term for each part between spaces: "well-known knots" is `well known`, `knots`.
std::vector<Term> parse_terms(std::string_view text);

enum class Fillers { keep, drop };
/// A term for each different word; in scripts without spaces for each pair of characters. `drop` leaves out stop words,
/// unless there are only stop words.
std::vector<Term> parse_words(std::string_view text, Fillers fillers);

enum class Match { all, any };
/// The terms as an FTS5 expression. `terms` is not empty.
std::string to_expression(const std::vector<Term>& terms, Match match);

/// Whether the term occurs at that word.
bool stands_at(const Term& term, const std::vector<utf8::Word>& words, std::size_t place);
/// The number of terms that occur in the words.
std::size_t count_found(const std::vector<Term>& terms, const std::vector<utf8::Word>& words);

}  // namespace ws::mock
