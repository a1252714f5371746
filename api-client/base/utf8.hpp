/// Unicode: validity, lengths in code points, the forms that decide whether two names are one (utf8proc's only home).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ws::utf8 {

/// Well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_valid(std::string_view text);

/// The length that the API's limits count. For valid text; elsewhere the number of lead bytes.
std::size_t code_points(std::string_view text);

/// The first `count` code points.
std::string_view prefix(std::string_view text, std::size_t count);

/// Canonical composition. Text that is not valid UTF-8 comes back as it is.
std::string nfc(std::string_view text);

/// NFC, then full case folding, then NFC: two names with one key are twins on some file system (`safety.md`).
std::string fold_key(std::string_view text);

/// NFKC, case folded, ignorable code points removed: what a name may be taken for (`safety.md`, "Path rules").
std::string lookalike_key(std::string_view text);

/// A word of a text, in the form in which a search compares it.
struct Word {
  std::string key = {};   ///< compatibility forms, case and the accents of Latin, Greek and Cyrillic folded away
  std::size_t begin = 0;  ///< where it stands in the text
  std::size_t end = 0;
  bool alone = false;  ///< a symbol, or a character of a script that writes without spaces: a word of its own
};
/// Runs of letters and digits ("naïve 7" is `naive`, `7`), and the characters that are `alone`. All else separates.
std::vector<Word> words(std::string_view text);

/// Columns on a terminal: 0 for combining and control, 2 for wide.
std::size_t columns(std::string_view text);

/// Calls `visit(char32_t)` for each code point; U+FFFD for a byte that is none.
template <class Visit>
void for_each(std::string_view text, Visit visit);

/// Reads one code point and moves `text` past it; U+FFFD (and one byte) where there is none. `text` is not empty.
char32_t next(std::string_view& text);
/// Appends the UTF-8 form.
void append(std::string& text, char32_t code_point);

template <class Visit>
void for_each(std::string_view text, Visit visit) {
  while (!text.empty()) visit(next(text));
}

}  // namespace ws::utf8
