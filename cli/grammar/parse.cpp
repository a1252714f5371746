#include "cli/grammar/parse.hpp"

#include <algorithm>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"

namespace ws::cli {
namespace {

std::string key_of(const Flag& flag) { return flag.name.empty() ? std::string(1, flag.letter) : flag.name; }

CLI::Option* declare(CLI::App& app, const Flag& flag, std::vector<std::string>& values) {
  std::string names;
  if (flag.letter != 0) names = std::string("-") + flag.letter;
  if (!flag.name.empty()) names += (names.empty() ? "--" : ",--") + flag.name;
  if (!flag.also.empty()) names += ",--" + flag.also;
  if (flag.takes == Takes::nothing) return app.add_flag(names);
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

/// A flag that is an argument here, or a member of a body where there is none.
std::string misplaced(const Command& command, const std::string& name) {
  for (const Word& word : command.arguments) {
    const std::string argument = "--" + to_lower(word.placeholder);
    if (argument == name) return "give it as the argument " + word.placeholder + ": " + usage_line(command);
  }
  if (name.starts_with("-F") || name.starts_with("-J")) return "it sends no body: parameters are flags of their own";
  return {};
}

Failure unknown_flag(const Command& command, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const Flag& flag : command.flags) known.push_back(flag.spelled());
  for (const Flag& flag : global_flags()) known.push_back(flag.spelled());
  std::string hint = misplaced(command, name);
  if (hint.empty()) hint = suggestion(name, known);
  if (hint.empty()) hint = help_of(command).ticked() + " lists the flags";
  return usage_failure(command, ShellCommand{"ws"}.words(command.words).ticked() + " has no flag " + name, hint);
}

Result<void> check_words(const Command& command, const std::vector<std::string>& words) {
  std::size_t least = 0;
  std::size_t most = 0;
  for (const Word& word : command.arguments) {
    if (word.count == Count::one || word.count == Count::many) {
      if (words.size() <= least)
        return fail(usage_failure(command, "the argument " + word.placeholder + " is missing"));
      ++least;
    }
    most = word.count == Count::many || word.count == Count::any ? words.size() : most + 1;
  }
  // "-1" reads as a number, and where no number belongs it was meant as a flag.
  if (words.size() > most && words[most].starts_with('-')) return fail(unknown_flag(command, words[most]));
  if (words.size() > most) return fail(usage_failure(command, "`" + words[most] + "` is one argument too many"));
  return {};
}

/// "-1" is a number, "-" is stdin.
bool looks_like_flag(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && !(word[1] >= '0' && word[1] <= '9');
}

struct Declared {
  const Flag* flag;
  CLI::Option* option;
  std::vector<std::string> values;
};

Result<Parsed> collect(const Command& command, const CLI::App& app, std::vector<std::unique_ptr<Declared>>& declared) {
  Parsed parsed;
  // No positional option is declared: CLI11 would take a word like "[a,b]" apart.
  bool flags_ended = false;
  for (std::string& word : app.remaining()) {
    if (!flags_ended && word == "--") {
      flags_ended = true;
    } else if (!flags_ended && looks_like_flag(word)) {
      return fail(unknown_flag(command, word));
    } else {
      parsed.words.push_back(std::move(word));
    }
  }
  for (const auto& one : declared) {
    if (one->option->count() == 0) continue;
    if (one->flag->takes == Takes::nothing) {
      const std::string last = one->option->results().back();
      if (last != "true") {
        if (last == "false") continue;
        return fail(usage_failure(command, one->flag->spelled() + " takes no value"));
      }
      one->values = {"true"};
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

Result<Parsed> parse(const Command& command, const std::vector<std::string>& arguments) {
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
  WS_LET(Parsed parsed, collect(command, app, declared));
  if (!parsed.has("help") && !parsed.has("version")) WS_TRY(check_words(command, parsed.words));
  return parsed;
}

}  // namespace ws::cli
