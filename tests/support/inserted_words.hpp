/// Finds words that were lost in a merge.
#pragma once

#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace ws::test {

/// How often each word occurs in a text. Numbers are ignored: a merge renumbers list items.
inline std::map<std::string, int> word_counts(std::string_view text) {
  std::map<std::string, int> words;
  std::string current;
  const auto close = [&] {
    if (current.find_first_not_of("0123456789") != std::string::npos) ++words[current];
    current.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      current += c;
    } else {
      close();
    }
  }
  close();
  return words;
}

/// Words that `side` added to `base` and that are missing from `merged`.
inline std::string missing_words(std::string_view base, std::string_view side, std::string_view merged) {
  const auto before = word_counts(base);
  const auto present = word_counts(merged);
  std::string missing;
  for (const auto& [word, count] : word_counts(side)) {
    const auto was = before.find(word);
    const auto is = present.find(word);
    const int inserted = count - (was == before.end() ? 0 : was->second);
    if (inserted > (is == present.end() ? 0 : is->second)) missing += word + " ";
  }
  return missing;
}

}  // namespace ws::test
