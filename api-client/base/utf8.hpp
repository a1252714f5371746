/// Unicode: validity, lengths in code points, normal forms for comparing names (the only user of utf8proc).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::utf8 {

/// Well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_valid(std::string_view text);

/// The length that the API's limits count. For valid text; otherwise the number of lead bytes.
std::size_t code_points(std::string_view text);

/// The first `count` code points.
std::string_view prefix(std::string_view text, std::size_t count);

/// Canonical composition (NFC). Returns text that is not valid UTF-8 unchanged.
std::string nfc(std::string_view text);

/// NFC, then full case folding, then NFC: two names with the same key collide on some file system (`safety.md`).
std::string fold_key(std::string_view text);

/// NFKC, case folded, ignorable code points removed: names with one key look alike (`safety.md`, "Path rules").
std::string lookalike_key(std::string_view text);

/// A word of a text, normalised for searching.
struct Word {
  std::string key = {};   ///< compatibility forms, folded case, without accents on Latin, Greek and Cyrillic
  std::size_t begin = 0;  ///< offset in the text
  std::size_t end = 0;
  bool alone = false;  ///< a symbol, or a character of a script that writes without spaces: a word by itself
};
/// Splits into runs of letters and digits ("naïve 7" is `naive`, `7`) and characters that are `alone`.
std::vector<Word> words(std::string_view text);

/// The anchor name of a heading by GitHub's rule: lower case; letters, digits, `-` and `_` are kept, a space becomes
/// `-`, everything else is dropped.
std::string slug(std::string_view heading);

/// The width on a terminal in columns: 0 for combining and control characters, 2 for wide ones.
std::size_t columns(std::string_view text);

/// Calls `visit(char32_t)` for each code point; with U+FFFD for each malformed byte.
template <class Visit>
void for_each(std::string_view text, Visit visit);

/// Reads one code point and advances `text` past it; U+FFFD and one byte if it is malformed. `text` must not be empty.
char32_t next(std::string_view& text);
/// Appends the UTF-8 form.
void append(std::string& text, char32_t code_point);

template <class Visit>
void for_each(std::string_view text, Visit visit) {
  while (!text.empty()) visit(next(text));
}

}  // namespace ws::utf8
