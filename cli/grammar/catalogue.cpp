#include "cli/grammar/catalogue.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/text.hpp"

namespace ws::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> other_names[] = {{"docs delete", "docs archive"}};

/// The words, an exact other name of theirs replaced (`cli.md`, "Grammar"): the singular of a noun that has verbs
/// ("doc", "tests run") stands for its plural.
std::string replaced(const std::vector<Entry>& entries, std::string words) {
  const auto has_verbs = [plural = words + "s "](const Entry& entry) { return entry.words.starts_with(plural); };
  if (std::ranges::any_of(entries, has_verbs)) return words + "s";
  for (const auto& [alias, name] : other_names) {
    if (words == alias) return std::string(name);
  }
  return words;
}

/// Whether what follows `argument` is its value. `words` are those before it: `ws sync` has the flags of `ws sync run`.
bool takes_value(const std::vector<Entry>& entries, std::string_view words, std::string_view argument) {
  const auto takes = [argument](const Flag& flag) {
    if (!flag.takes_value()) return false;
    return argument == "--" + flag.name || (flag.letter != 0 && argument == std::string("-") + flag.letter);
  };
  if (std::ranges::any_of(global_flags(), takes)) return true;
  const std::vector<Flag> paging = paging_flags();
  const std::vector<Flag> body = body_flags();
  if (std::ranges::any_of(paging, takes) || std::ranges::any_of(body, takes)) return true;
  const auto by_default = std::ranges::find(entries, default_verb(words), &Entry::words);
  return by_default != entries.end() && std::ranges::any_of(by_default->make().flags, takes);
}

}  // namespace

bool begins_with(std::string_view words, std::string_view begin) {
  return words.substr(0, begin.size()) == begin && (words.size() == begin.size() || words[begin.size()] == ' ');
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string_view default_verb(std::string_view words) { return words == "sync" ? "sync run" : std::string_view(); }

Resolution resolve(const std::vector<Entry>& entries, const std::vector<std::string>& arguments) {
  Resolution resolution;
  std::string words;
  std::size_t i = 0;
  for (; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") break;
    if (argument.size() > 1 && argument.front() == '-') {
      resolution.rest.push_back(argument);
      if (takes_value(entries, words, argument) && i + 1 < arguments.size()) resolution.rest.push_back(arguments[++i]);
      continue;
    }
    const std::string longer = replaced(entries, words.empty() ? argument : fmt::format("{} {}", words, argument));
    const auto fits = [&](const Entry& entry) { return begins_with(entry.words, longer); };
    if (!std::ranges::any_of(entries, fits)) {
      resolution.next = argument;
      resolution.next_at = i;
      break;
    }
    words = longer;
  }
  resolution.rest.insert(resolution.rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  for (const std::string_view word : split(words, ' ')) {
    if (!word.empty()) resolution.words.emplace_back(word);
  }
  const auto exact = std::ranges::find(entries, words, &Entry::words);
  if (exact != entries.end()) resolution.entry = *exact;
  return resolution;
}

}  // namespace ws::cli
