#include "cli/catalogue.hpp"

#include <algorithm>
#include <utility>

#include "api-client/contract/operations.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/operation_commands.hpp"

namespace ws::cli {
namespace {

/// Operations whose command is the operation and nothing more. Those with a workflow of their own are not here.
constexpr std::string_view plain_operations[] = {
    "me.get",         "workspaces.list",    "workspaces.create", "projects.create", "docs.list",
    "questions.list", "conversations.list", "conversations.get", "comments.list",   "files.list",
    "files.get",      "agents.list",        "agents.update",     "tests.catalog",   "tests.cases_list",
    "tests.case_get", "tests.suites_list",  "tests.suite_get",   "tests.runs_list",
};

/// Exact other names (`cli.md`, "Grammar"): the singular of a noun, at the place where the noun stands.
constexpr std::pair<std::string_view, std::string_view> singulars[] = {
    {"doc", "docs"},
    {"workspace", "workspaces"},
    {"project", "projects"},
    {"node", "nodes"},
    {"question", "questions"},
    {"conversation", "conversations"},
    {"comment", "comments"},
    {"file", "files"},
    {"agent", "agents"},
    {"event", "events"},
    {"test", "tests"},
};
constexpr std::pair<std::string_view, std::string_view> test_singulars[] = {
    {"tests case", "tests cases"}, {"tests suite", "tests suites"}, {"tests run", "tests runs"}};
constexpr std::pair<std::string_view, std::string_view> other_names[] = {{"docs delete", "docs archive"}};

std::string replaced(std::string words) {
  for (const auto& [alias, name] : singulars) {
    if (words == alias) return std::string(name);
  }
  for (const auto& [alias, name] : test_singulars) {
    if (words == alias) return std::string(name);
  }
  for (const auto& [alias, name] : other_names) {
    if (words == alias) return std::string(name);
  }
  return words;
}

/// Whether what follows `argument` is its value. `words` are those before it: `ws sync` has the flags of `ws sync run`.
bool takes_value(const std::vector<Entry>& entries, std::string_view words, std::string_view argument) {
  const auto takes = [argument](const Flag& flag) {
    if (flag.takes == Takes::nothing) return false;
    return argument == "--" + flag.name || (flag.letter != 0 && argument == std::string("-") + flag.letter);
  };
  if (std::ranges::any_of(global_flags(), takes)) return true;
  const std::vector<Flag> paging = paging_flags();
  const std::vector<Flag> body = body_flags();
  if (std::ranges::any_of(paging, takes) || std::ranges::any_of(body, takes)) return true;
  const auto by_default = std::ranges::find(entries, default_verb(words), &Entry::words);
  return by_default != entries.end() && std::ranges::any_of(by_default->make().flags, takes);
}

bool begins_with(std::string_view words, std::string_view begin) {
  return words.substr(0, begin.size()) == begin && (words.size() == begin.size() || words[begin.size()] == ' ');
}

}  // namespace

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string_view default_verb(std::string_view words) { return words == "sync" ? "sync run" : std::string_view(); }

std::vector<Entry> catalogue() {
  std::vector<Entry> plain;
  for (const std::string_view id : plain_operations) {
    const contract::Operation* operation = contract::find_operation(id);
    if (operation == nullptr) continue;
    plain.push_back({operation->command, operation->summary, [operation] { return operation_command(*operation); }});
  }
  std::vector<Entry> entries = workflow_commands();
  // Before those that are about ws itself.
  entries.insert(std::ranges::find(entries, "call", &Entry::words), plain.begin(), plain.end());
  return entries;
}

bool is_group(const std::vector<Entry>& entries, const std::vector<std::string>& words) {
  const std::string begin = joined(words);
  return std::ranges::any_of(entries, [&](const Entry& entry) { return begins_with(entry.words, begin); });
}

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
    const std::string longer = replaced(words.empty() ? argument : words + " " + argument);
    const auto fits = [&](const Entry& entry) { return begins_with(entry.words, longer); };
    if (!std::ranges::any_of(entries, fits)) {
      resolution.next = argument;
      resolution.next_at = i;
      break;
    }
    words = longer;
  }
  resolution.rest.insert(resolution.rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    resolution.words.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto exact = std::ranges::find(entries, words, &Entry::words);
  if (exact != entries.end()) resolution.entry = *exact;
  return resolution;
}

}  // namespace ws::cli
