#include "api-client/base/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <utf8proc.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/handle.hpp"

namespace ws::utf8 {
namespace {

void release(utf8proc_uint8_t* text) noexcept { std::free(text); }

/// Calls utf8proc_map; returns nothing if the text is not UTF-8.
std::string map(std::string_view text, unsigned options) {
  // ASCII is unchanged by composition, and most names are ASCII.
  utf8proc_uint8_t* raw = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()),
                                             &raw,
                                             static_cast<utf8proc_option_t>(options));
  const Handle<utf8proc_uint8_t, release> mapped(raw);
  if (size < 0) return std::string(text);
  return std::string(reinterpret_cast<const char*>(mapped.get()), static_cast<std::size_t>(size));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The code point at the start of `text` and its length; the length is 0 if it is malformed.
struct Decoded {
  char32_t code_point = 0xFFFD;
  std::size_t bytes = 0;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first >= 0xC2 && first < 0xE0 && tail(1)) return {((first & 0x1FU) << 6U) | (byte(1) & 0x3FU), 2};
  if (first >= 0xE0 && first < 0xF0 && tail(1) && tail(2)) {
    const char32_t value = ((first & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU);
    if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF)) return {value, 3};
  }
  if (first >= 0xF0 && first < 0xF5 && tail(1) && tail(2) && tail(3)) {
    const char32_t value =
        ((first & 0x07U) << 18U) | ((byte(1) & 0x3FU) << 12U) | ((byte(2) & 0x3FU) << 6U) | (byte(3) & 0x3FU);
    if (value >= 0x10000 && value <= 0x10FFFF) return {value, 4};
  }
  return {};
}

/// Counts the ASCII bytes at the front of `text`. Whole blocks are tested at once: most texts are mostly ASCII, and
/// every synced file passes through here.
std::size_t ascii_run(std::string_view text) {
  constexpr std::size_t words = 8;
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080U;
  std::array<std::uint64_t, words> block{};
  std::size_t run = 0;
  while (text.size() - run >= sizeof block) {
    std::memcpy(block.data(), text.data() + run, sizeof block);
    std::uint64_t seen = 0;
    for (const std::uint64_t word : block) seen |= word;
    if ((seen & high_bits) != 0) break;
    run += sizeof block;
  }
  while (run < text.size() && static_cast<unsigned char>(text[run]) < 0x80) ++run;
  return run;
}

enum class Part { separator, letter, accent, alone };

/// Scripts that put no spaces between words: Thai to Lao, Burmese, Khmer, kana, Han (The Unicode Standard, blocks).
bool is_unspaced(char32_t c) {
  const auto within = [&](char32_t first, char32_t last) { return c >= first && c <= last; };
  return within(0x0E00, 0x0EFF) || within(0x1000, 0x109F) || within(0x1780, 0x17FF) || within(0x2E80, 0x2FDF) ||
         within(0x3005, 0x3007) || within(0x3040, 0x312F) || within(0x31F0, 0x31FF) || within(0x3400, 0x4DBF) ||
         within(0x4E00, 0x9FFF) || within(0xF900, 0xFAFF) || within(0x20000, 0x3FFFF);
}

Part part_of(char32_t code_point) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return is_unspaced(code_point) ? Part::alone : Part::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      // Accents of Latin, Greek and Cyrillic are removed; the vowel signs of other scripts are part of the word.
      if (code_point >= 0x0300 && code_point <= 0x036F) return Part::accent;
      return is_unspaced(code_point) ? Part::alone : Part::letter;
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_CO: return Part::alone;
    default: return Part::separator;
  }
}

/// Builds words from the code points of a text.
class WordBuilder {
 public:
  void add(char32_t code_point, std::size_t begin, std::size_t end) {
    if (code_point < 0x80) {
      const auto c = static_cast<char>(code_point);
      const bool upper = c >= 'A' && c <= 'Z';
      if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        extend(begin, end) += upper ? static_cast<char>(c - 'A' + 'a') : c;
      } else {
        finish();
      }
      return;
    }
    std::array<utf8proc_int32_t, 32> folded{};  // the longest decomposition has 18
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        static_cast<utf8proc_int32_t>(code_point),
        folded.data(),
        static_cast<utf8proc_ssize_t>(folded.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE),
        &boundary);
    for (utf8proc_ssize_t i = 0; i < count && i < static_cast<utf8proc_ssize_t>(folded.size()); ++i) {
      add_folded(static_cast<char32_t>(folded[static_cast<std::size_t>(i)]), begin, end);
    }
  }
  void finish() {
    if (!current_.key.empty()) found_.push_back(std::move(current_));
    current_ = {};
  }
  std::vector<Word> take() {
    finish();
    return std::move(found_);
  }

 private:
  void add_folded(char32_t code_point, std::size_t begin, std::size_t end) {
    switch (part_of(code_point)) {
      case Part::letter: append(extend(begin, end), code_point); break;
      case Part::accent:
        if (!current_.key.empty()) current_.end = end;
        break;
      case Part::alone:
        finish();
        append(extend(begin, end), code_point);
        current_.alone = true;
        finish();
        break;
      case Part::separator: finish(); break;
    }
  }
  std::string& extend(std::size_t begin, std::size_t end) {
    if (current_.key.empty()) current_.begin = begin;
    current_.end = end;
    return current_.key;
  }

  std::vector<Word> found_ = {};
  Word current_ = {};
};

/// Letters, marks, digits and connectors: `\p{Word}` in the Ruby regular expression that GitHub uses.
bool is_part_of_slug(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return c == '-';
  }
}

}  // namespace

bool is_valid(std::string_view text) {
  while (true) {
    if (!text.empty() && static_cast<unsigned char>(text.front()) < 0x80) text.remove_prefix(ascii_run(text));
    if (text.empty()) return true;
    const std::size_t bytes = decode(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view prefix(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size()) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U && count-- == 0) break;
    ++end;
  }
  return text.substr(0, end);
}

std::string nfc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string fold_key(std::string_view text) {
  if (is_ascii(text)) return to_lower(text);
  return map(map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD), UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string lookalike_key(std::string_view text) {
  if (is_ascii(text)) return to_lower(text);
  const unsigned options =
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE | UTF8PROC_STRIPNA;
  return map(map(text, options), options);
}

std::vector<Word> words(std::string_view text) {
  WordBuilder builder;
  for (std::size_t begin = 0; begin < text.size();) {
    std::string_view rest = text.substr(begin);
    const char32_t code_point = next(rest);
    const std::size_t end = text.size() - rest.size();
    builder.add(code_point, begin, end);
    begin = end;
  }
  return builder.take();
}

std::size_t columns(std::string_view text) {
  std::size_t total = 0;
  for_each(text, [&](char32_t code_point) {
    const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
    if (width > 0) total += static_cast<std::size_t>(width);
  });
  return total;
}

char32_t next(std::string_view& text) {
  const Decoded decoded = decode(text);
  text.remove_prefix(std::max<std::size_t>(decoded.bytes, 1));
  return decoded.code_point;
}

void append(std::string& text, char32_t code_point) {
  std::uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::string slug(std::string_view heading) {
  std::string out;
  for_each(heading, [&](char32_t c) {
    if (c == ' ') {
      out += '-';
    } else if (is_part_of_slug(c)) {
      append(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  });
  return out;
}

}  // namespace ws::utf8
