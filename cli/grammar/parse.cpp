#include "cli/grammar/parse.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view path_placeholders[] = {"FILE", "DIR", "PATH", "FROM", "TO", "BASE", "OURS", "THEIRS"};

std::string key_of(const Flag& flag) { return flag.name.empty() ? std::string(1, flag.letter) : flag.name; }

CLI::Option* declare(CLI::App& app, const Flag& flag, std::vector<std::string>& values) {
  std::string names;
  if (flag.letter != 0) names = std::string("-") + flag.letter;
  if (!flag.name.empty()) names += (names.empty() ? "--" : ",--") + flag.name;
  if (!flag.also.empty()) names += ",--" + flag.also;
  if (!flag.takes_value()) return app.add_flag(names);
  // Without allow_extra_args(false) CLI11 takes "[a,b]" apart and swallows the words behind the value.
  return app.add_option(names, values)->expected(1)->allow_extra_args(false)->take_all();
}

/// `--project_id=x` -> `--project-id=x`, where that is a flag; any other text stays as it is.
std::string hyphenated(const std::string& argument, const CLI::App& app) {
  if (argument.substr(0, 2) != "--") return argument;
  const std::size_t end = std::min(argument.find('='), argument.size());
  std::string name = argument.substr(0, end);
  std::ranges::replace(name, '_', '-');
  return app.get_option_no_throw(name) == nullptr ? argument : name + argument.substr(end);
}

Failure usage_failure(const Command& command, std::string what, std::string hint = {}) {
  if (hint.empty()) hint = "usage: " + usage_line(command);
  return {.kind = Failure::Kind::usage, .what = std::move(what), .hint = std::move(hint)};
}

ShellCommand help_of(const Command& command) { return ShellCommand{"ws"}.words(command.words).add({"--help"}); }

/// A flag that the command does not have, as it was given.
struct UnknownFlag {
  std::string name = {};  ///< "--content"
  bool has_value = false;
};

/// A flag that is an argument here, or a member of a body where there is none.
std::string misplaced(const Command& command, const std::string& name) {
  for (const Word& word : command.arguments) {
    const std::string argument = "--" + to_lower(word.placeholder);
    if (argument == name) return "give it as the argument " + word.placeholder + ": " + usage_line(command);
  }
  if (name.starts_with("-F") || name.starts_with("-J")) return "it sends no body: parameters are flags of their own";
  return {};
}

/// The flags of ours for one that other programs use.
std::vector<std::string> usual_flags(const std::string& name) {
  static const std::map<std::string_view, std::vector<std::string>> flags = {{"--content", {"--file", "--body"}},
                                                                             {"--text", {"--file", "--body"}},
                                                                             {"--input", {"--file", "--body"}},
                                                                             {"--data", {"--body"}},
                                                                             {"--name", {"--title"}},
                                                                             {"--subject", {"--title"}},
                                                                             {"--comment", {"--message"}},
                                                                             {"--reason", {"--message"}},
                                                                             {"--count", {"--limit"}},
                                                                             {"--max", {"--limit"}},
                                                                             {"--per-page", {"--limit"}},
                                                                             {"--page-size", {"--limit"}},
                                                                             {"--page", {"--cursor"}},
                                                                             {"--after", {"--cursor"}},
                                                                             {"--server", {"--base-url"}},
                                                                             {"--host", {"--base-url"}},
                                                                             {"--silent", {"--quiet"}},
                                                                             {"--trace", {"--debug"}},
                                                                             {"--confirm", {"--yes"}},
                                                                             {"--preview", {"--dry-run"}},
                                                                             {"--cwd", {"-C"}}};
  const auto found = flags.find(name);
  return found == flags.end() ? std::vector<std::string>() : found->second;
}

bool have_same_arguments(const Command& one, const Command& other) {
  return std::ranges::equal(one.arguments, other.arguments, {}, &Word::placeholder, &Word::placeholder);
}

/// The same flag, or the usual one, of a command with the same noun and arguments: `ws docs edit ID --title T` means
/// `ws docs update`.
std::string flag_of_sibling(const Command& command, const UnknownFlag& given, const std::vector<Entry>& entries) {
  const std::string noun = command.words.substr(0, command.words.rfind(' ') + 1);
  std::vector<std::string> names = usual_flags(given.name);
  names.insert(names.begin(), given.name);
  for (const std::string& name : names) {
    for (const Entry& entry : entries) {
      if (noun.empty() || !entry.words.starts_with(noun) || entry.words == command.words) continue;
      const Command sibling = entry.make();
      if (!have_same_arguments(sibling, command)) continue;
      const auto flag = std::ranges::find(sibling.flags, name, &Flag::spelled);
      if (flag == sibling.flags.end() || flag->takes_value() != given.has_value) continue;
      const std::string whole = sibling.words + " " + name;
      return suggestion(whole, {whole}, "ws ");
    }
  }
  return {};
}

Failure unknown_flag(const Command& command, const UnknownFlag& given, const std::vector<Entry>& entries) {
  const std::string& name = given.name;
  std::vector<std::string> known;
  for (const Flag& flag : command.flags) known.push_back(flag.spelled());
  for (const Flag& flag : global_flags()) known.push_back(flag.spelled());
  std::string hint = misplaced(command, name);
  if (hint.empty()) hint = suggestion(name, known);
  for (const std::string& usual : usual_flags(name)) {
    if (hint.empty() && std::ranges::find(known, usual) != known.end()) hint = suggestion(usual, {usual});
  }
  if (hint.empty()) hint = flag_of_sibling(command, given, entries);
  if (hint.empty()) hint = help_of(command).in_backticks() + " lists the flags";
  return usage_failure(command, ShellCommand{"ws"}.words(command.words).in_backticks() + " has no flag " + name, hint);
}

/// "FILE|-", "PATH": no file has an empty name, and joined to a folder it would be the folder.
bool names_path(std::string_view placeholder) {
  const auto is_path = [](std::string_view one) {
    return std::ranges::find(path_placeholders, one) != std::end(path_placeholders);
  };
  const std::size_t end = placeholder.find('|');
  return is_path(placeholder.substr(0, end)) || (end != std::string_view::npos && is_path(placeholder.substr(end + 1)));
}

Result<void> check_words(const Command& command, const Parsed& parsed, const std::vector<Entry>& entries) {
  const std::vector<std::string>& words = parsed.words;
  const bool has_body = parsed.has("body") || parsed.has("F") || parsed.has("J");
  std::size_t least = 0;
  std::size_t most = 0;
  for (const Word& word : command.arguments) {
    if ((word.count == Count::one || word.count == Count::many) && !(word.fills_body && has_body)) {
      if (words.size() <= least)
        return fail(usage_failure(command, "the argument " + word.placeholder + " is missing"));
      ++least;
    }
    most = word.count == Count::many || word.count == Count::any ? words.size() : most + 1;
  }
  // "-1" reads as a number, and where no number belongs it was meant as a flag.
  if (words.size() > most && words[most].starts_with('-')) {
    return fail(unknown_flag(command, {.name = words[most]}, entries));
  }
  if (words.size() > most) return fail(usage_failure(command, "`" + words[most] + "` is one argument too many"));
  return {};
}

/// "-1" is a number, "-" is stdin.
bool looks_like_flag(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && !(word[1] >= '0' && word[1] <= '9');
}

/// Of a batch an empty word is a row that fails.
Result<void> check_paths(const Command& command, const Parsed& parsed) {
  const std::vector<std::string>& words = parsed.words;
  for (std::size_t i = 0; i < words.size() && !command.arguments.empty(); ++i) {
    const Word& word = command.arguments[std::min(i, command.arguments.size() - 1)];
    const bool is_of_several = words.size() > command.arguments.size();
    if (words[i].empty() && !is_of_several && names_path(word.placeholder)) {
      return fail(usage_failure(command, "the argument " + word.placeholder + " is empty"));
    }
  }
  return {};
}

struct Declared {
  const Flag* flag;
  CLI::Option* option;
  std::vector<std::string> values;
};

/// The flag at this place among the words that are left.
UnknownFlag flag_at(const std::vector<std::string>& words, std::size_t place) {
  const std::string& word = words[place];
  const std::size_t end = word.find('=');
  const bool is_followed = place + 1 < words.size() && !looks_like_flag(words[place + 1]);
  return {.name = word.substr(0, end), .has_value = end != std::string::npos || is_followed};
}

Result<Parsed> collect(const Command& command,
                       const std::vector<Entry>& entries,
                       const CLI::App& app,
                       std::vector<std::unique_ptr<Declared>>& declared) {
  Parsed parsed;
  // No positional option is declared: CLI11 would take a word like "[a,b]" apart.
  bool flags_ended = false;
  const std::vector<std::string> left = app.remaining();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!flags_ended && left[i] == "--") {
      flags_ended = true;
    } else if (!flags_ended && looks_like_flag(left[i])) {
      return fail(unknown_flag(command, flag_at(left, i), entries));
    } else {
      parsed.words.push_back(left[i]);
    }
  }
  for (const auto& one : declared) {
    if (one->option->count() == 0) continue;
    if (!one->flag->takes_value()) {
      const std::string last = one->option->results().back();
      if (last != "true") {
        if (last == "false") continue;
        return fail(usage_failure(command, one->flag->spelled() + " takes no value"));
      }
      one->values = {"true"};
    } else if (names_path(one->flag->placeholder) && std::ranges::count(one->values, "") > 0) {
      return fail(usage_failure(command, one->flag->spelled() + " is empty, where it takes " + one->flag->placeholder));
    }
    parsed.flags.emplace(key_of(*one->flag), std::move(one->values));
  }
  return parsed;
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = "ws " + command.words;
  std::string last;
  for (const Word& word : command.arguments) {
    if (word.is_command) {
      last = " --";
      last += " " + word.placeholder + "...";
      continue;
    }
    switch (word.count) {
      case Count::one: line += " " + word.placeholder; break;
      case Count::optional: line += " [" + word.placeholder + "]"; break;
      case Count::many: line += " " + word.placeholder + "..."; break;
      case Count::any: line += " [" + word.placeholder + "...]"; break;
    }
  }
  return line + (command.flags.empty() ? "" : " [flags]") + last;
}

Result<Parsed> parse(const Command& command,
                     const std::vector<std::string>& arguments,
                     const std::vector<Entry>& entries) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::unique_ptr<Declared>> declared;
  const auto add = [&](const Flag& flag) {
    declared.push_back(std::make_unique<Declared>(Declared{&flag, nullptr, {}}));
    declared.back()->option = declare(app, flag, declared.back()->values);
  };
  for (const Flag& flag : command.flags) add(flag);
  for (const Flag& flag : global_flags()) {
    const bool own = std::ranges::any_of(command.flags, [&](const Flag& other) {
      return (!flag.name.empty() && other.name == flag.name) || (flag.letter != 0 && other.letter == flag.letter);
    });
    if (!own) add(flag);
  }

  bool flags_ended = false;
  std::vector<std::string> reversed;
  for (const std::string& argument : arguments) {
    flags_ended = flags_ended || argument == "--";
    reversed.push_back(flags_ended ? argument : hyphenated(argument, app));
  }
  std::ranges::reverse(reversed);
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    return fail(usage_failure(command, what.substr(0, what.find(':')) + " needs a value"));
  } catch (const CLI::Error& error) {
    return fail(usage_failure(command, error.what()));
  }
  WS_LET(Parsed parsed, collect(command, entries, app, declared));
  if (!parsed.has("help") && !parsed.has("version")) {
    WS_TRY(check_words(command, parsed, entries));
    WS_TRY(check_paths(command, parsed));
  }
  return parsed;
}

}  // namespace ws::cli
