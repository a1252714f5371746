/// Which words a text lost on the way through a merge.
#pragma once

#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace ws::test {

/// How often each word stands in a text. Numbers are left out: those of list items are counted anew by a merge.
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

/// The words that `side` has more often than `base`, and `merged` less often than `side` brought in.
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
