/// What somebody typed, as terms that an index can be asked for. Pure.
///
/// A term is made of letters and digits alone (`utf8::words`), so nothing that is typed - quotes, operators, column
/// names, punctuation - ever becomes syntax of FTS5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/utf8.hpp"

namespace ws::mock {

/// Words that stand one behind the other; the last may be the beginning of a word ("kno" finds "knots").
struct Term {
  std::vector<std::string> keys = {};
  bool is_prefix = false;
  bool operator==(const Term&) const = default;
};

/// At most so many terms of one text count; the others are left out.
inline constexpr std::size_t max_terms = 64;

/// A term for each piece between spaces: "well-known knots" is `well known`, `knots`.
std::vector<Term> parse_terms(std::string_view text);

enum class Fillers { keep, drop };
/// A term for each word, each once; of scripts without spaces for each pair of characters. `drop` leaves out "what",
/// "the", "ist" and the like, unless nothing else is there.
std::vector<Term> parse_words(std::string_view text, Fillers fillers);

enum class Match { all, any };
/// The terms as an FTS5 expression. `terms` is not empty.
std::string to_expression(const std::vector<Term>& terms, Match match);

/// Whether the term begins at that word.
bool stands_at(const Term& term, const std::vector<utf8::Word>& words, std::size_t place);
/// How many of the terms stand somewhere in the words.
std::size_t count_found(const std::vector<Term>& terms, const std::vector<utf8::Word>& words);

}  // namespace ws::mock
