#include "api-client/base/suggestion.hpp"

#include <algorithm>
#include <utility>

#include "api-client/base/shell_command.hpp"

namespace ws {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, row);
  }
  return above[b.size()];
}

namespace {

/// "unarchive" of "archive", "--no-merge" of "--merge": near by letters, and what nobody wants who said the other.
bool is_opposite(std::string_view one, std::string_view other) {
  if (one.size() < other.size()) return is_opposite(other, one);
  const auto last_word = [](std::string_view words) { return words.substr(words.rfind(' ') + 1); };
  std::string_view longer = last_word(one);
  std::string_view shorter = last_word(other);
  longer.remove_prefix(std::min(longer.find_first_not_of('-'), longer.size()));
  shorter.remove_prefix(std::min(shorter.find_first_not_of('-'), shorter.size()));
  constexpr std::string_view prefixes[] = {"un", "no-", "de", "dis"};
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
    return longer.starts_with(prefix) && longer.substr(prefix.size()) == shorter;
  });
}

}  // namespace

std::vector<std::string> similar_names(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string>> close;
  for (const std::string& candidate : known) {
    if (is_opposite(word, candidate)) continue;
    std::size_t distance = edit_distance(word, candidate);
    // A prefix counts as close, however long the name is.
    if (word.size() >= 2 && candidate.substr(0, word.size()) == word) distance = 1;
    if (distance <= std::max<std::size_t>(1, word.size() / 3)) close.emplace_back(distance, candidate);
  }
  std::ranges::stable_sort(close, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (auto& [distance, name] : close) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    if (names.size() == 3) break;
  }
  return names;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known, std::string_view prefix) {
  std::string text;
  for (const std::string& name : similar_names(word, known)) {
    text += (text.empty() ? "did you mean " : ", ") + ShellCommand{}.words(prefix).words(name).in_backticks();
  }
  return text.empty() ? text : text + "?";
}

std::string nearest_names(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t most = 3;
  constexpr std::size_t longest_compared = 100;
  if (std::string meant = suggestion(word, known); !meant.empty()) return meant;
  const auto area_of = [](std::string_view name) { return name.substr(0, name.find('.')); };
  std::vector<std::pair<std::pair<bool, std::size_t>, std::string>> near;
  for (const std::string& name : known) {
    const bool is_elsewhere = word.find('.') == std::string_view::npos || area_of(name) != area_of(word);
    near.push_back({{is_elsewhere, edit_distance(word.substr(0, longest_compared), name)}, name});
  }
  std::ranges::stable_sort(near, {}, [](const auto& one) { return one.first; });
  std::vector<std::string> names;
  for (const auto& [distance, name] : near) {
    if (names.size() < most && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "the nearest are " : ", ") + ShellCommand{}.words(name).in_backticks();
  }
  return text;
}

}  // namespace ws
