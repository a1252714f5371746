#include <algorithm>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "api-client/base/suggestion.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/output/print.hpp"

namespace ws::mock {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t page_columns = 80;
constexpr std::size_t widest_name = 26;

std::string two_columns(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [name, text] : lines) {
    if (name.size() <= widest_name) width = std::max(width, name.size());
  }
  const std::size_t column = 2 + width + 2;
  std::string page;
  for (const auto& [name, text] : lines) {
    page += "  " + name;
    page += name.size() > width ? "\n" + std::string(column, ' ') : std::string(width - name.size() + 2, ' ');
    page += wrapped(text, page_columns - column, column) + "\n";
  }
  return page;
}

/// Splits "open FILE: a trace in the browser" into the usage and the summary of `open`.
std::pair<std::string, std::string> words_and_summary(const CLI::App& command) {
  const std::string text = command.get_description();
  const std::size_t colon = text.find(": ");
  const bool has_words = text.starts_with(command.get_name() + " ") && colon != std::string::npos;
  if (has_words) return {text.substr(0, colon), text.substr(colon + 2)};
  const bool has_flags = command.get_options().size() > 1;
  return {command.get_name() + (has_flags ? " [flags]" : ""), text};
}

/// "strict|any|off" for a choice, "N" for a number in a range, otherwise the parser's name for the type.
std::string placeholder(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  if (open != std::string::npos) {
    std::string choices = type.substr(open + 1, type.find('}') - open - 1);
    std::ranges::replace(choices, ',', '|');
    return " " + choices;
  }
  return type.starts_with("TEXT") ? " TEXT" : " N";
}

Lines flags_of(const CLI::App& app) {
  Lines lines;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    std::string name = option->get_name(false, true);
    name = name.substr(0, name.find('{'));  // of a flag that has a negative form
    if (const std::size_t comma = name.find(','); comma != std::string::npos) name.insert(comma + 1, " ");
    std::string text = name == "-h, --help" ? "this page" : option->get_description();
    const std::string fallback = option->get_default_str();
    if (!fallback.empty()) text += fmt::format(" (default: {})", fallback);
    lines.emplace_back(name + placeholder(*option), std::move(text));
  }
  return lines;
}

std::string program_page(const CLI::App& program) {
  std::string page = program.get_description() + "\n\nUsage: ws-mock [COMMAND] [flags]\n";
  page += "\nStart here\n" + two_columns({{"ws-mock", "serve until stopped; the first line is the address"},
                                          {"ws-mock exec -- CMD...", "run CMD with WS_BASE_URL and WS_TOKEN set"},
                                          {"ws-mock sweep -- CMD...", "run CMD once for each fault that can hit it"},
                                          {"ws-mock check FILE", "check a fixtures file"},
                                          {"ws-mock openapi", "print the API as an OpenAPI document"}});
  Lines commands;
  for (const CLI::App* one : program.get_subcommands([](const CLI::App* each) { return each->get_group() != ""; })) {
    commands.emplace_back(one->get_name(), words_and_summary(*one).second);
  }
  page += "\nCommands\n" + two_columns(commands) + "\nFlags\n" + two_columns(flags_of(program));
  return page + "\nHelp\n" + two_columns({{"ws-mock COMMAND --help", "a command and its flags"}});
}

std::string command_page(const CLI::App& command) {
  auto [words, summary] = words_and_summary(command);
  summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
  std::string page = wrapped(summary, page_columns, 0) + ".\n\nUsage: ws-mock " + words + "\n\nFlags\n";
  page += two_columns(flags_of(command)) + "\n`ws-mock --help` lists the flags of every command.\n";
  return command.get_footer().empty() ? page : page + "\n" + command.get_footer() + "\n";
}

const CLI::App* named_command(const CLI::App& program) {
  const std::vector<CLI::App*> named = program.get_subcommands();
  return named.empty() ? nullptr : named.front();
}

/// "a, b or c" for "{a,b,c}".
std::string choices_of(std::string_view braces) {
  std::string text(braces.substr(1, braces.find('}') - 1));
  const std::size_t last = text.rfind(',');
  if (last != std::string::npos) text.replace(last, 1, " or ");
  for (std::size_t at = text.find(','); at != std::string::npos; at = text.find(',', at + 2)) text.replace(at, 1, ", ");
  return text;
}

/// Explains an invalid value: CLI11 2.1 gives the flag, a colon, and one of these texts.
std::string about_value(const std::string& flag, const std::string& why) {
  const std::string_view not_in = " not in {";
  const std::string_view value = "Value ";
  const std::string_view range = " not in range ";
  if (const std::size_t at = why.find(range); at != std::string::npos && why.starts_with(value)) {
    const std::string given = why.substr(value.size(), at - value.size());
    std::string bounds = why.substr(at + range.size());
    return fmt::format("{} takes a number from {}, not `{}`", flag, bounds, given);
  }
  if (const std::size_t at = why.find(not_in); at != std::string::npos) {
    const auto choices = choices_of(std::string_view(why).substr(at + not_in.size() - 1));
    return fmt::format("{} takes {}, not `{}`", flag, choices, why.substr(0, at));
  }
  return flag + ": " + why;
}

std::string about_word(const std::string& word, bool has_command) {
  if (word.starts_with('-')) return "ws-mock has no flag " + word;
  return has_command ? "`" + word + "` is one argument too many" : "ws-mock has no command `" + word + "`";
}

/// "--data" and "--reset" from "--reset requires --data".
std::pair<std::string, std::string> both_sides(const std::string& text, const std::string& between) {
  const std::size_t at = text.find(between);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + between.size())};
}

/// The unknown word; empty where the error is another.
std::string unknown_word(const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return {};
  // The parser names all that it did not expect, the value of an unknown flag before the flag.
  std::istringstream words(both_sides(error.what(), ": ").second);
  std::string first;
  for (std::string word; words >> word;) {
    if (word.starts_with('-')) return word;
    if (first.empty()) first = word;
  }
  return first;
}

/// "did you mean `--listen`?", or empty.
std::string suggestion_for(const CLI::App& program, const CLI::ParseError& error) {
  const std::string word = unknown_word(error);
  const CLI::App* const command = named_command(program);
  std::vector<std::string> known;
  if (word.starts_with("--")) {
    for (const CLI::App* const app : {&program, command}) {
      if (app == nullptr) continue;
      for (const CLI::Option* const option : app->get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    }
  } else if (command == nullptr) {
    for (const CLI::App* const one : program.get_subcommands({})) known.push_back(one->get_name());
  }
  return suggestion(word, known, word.starts_with("--") ? "" : "ws-mock");
}

std::string told(const CLI::App& program, const CLI::ParseError& error) {
  const std::string text = error.what();
  const auto [flag, why] = both_sides(text, ": ");
  const auto is = [&error](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::ExtrasError)) return about_word(unknown_word(error), named_command(program) != nullptr);
  if (is(CLI::ExitCodes::ArgumentMismatch)) return flag + " needs a value";
  if (is(CLI::ExitCodes::ValidationError)) return about_value(flag, why);
  if (is(CLI::ExitCodes::ConversionError)) {
    const auto [name, value] = both_sides(why, " = ");
    return fmt::format("{} takes a number, not `{}`", name, value);
  }
  if (is(CLI::ExitCodes::RequiresError)) {
    const auto [one, other] = both_sides(text, " requires ");
    return one + " needs " + other;
  }
  if (is(CLI::ExitCodes::ExcludesError)) {
    const auto [one, other] = both_sides(text, " excludes ");
    return "give " + one + " or " + other + ", not both";
  }
  return is(CLI::ExitCodes::RequiredError) ? "an argument is missing" : text;
}

}  // namespace

std::string render_help(const CLI::App& program) {
  const CLI::App* const command = named_command(program);
  return command == nullptr ? program_page(program) : command_page(*command);
}

Failure usage_failure(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* const command = named_command(program);
  Failure failure{.kind = Failure::Kind::usage, .what = told(program, error)};
  const bool is_missing =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && command != nullptr;
  if (is_missing) {
    failure.hint = "usage: ws-mock " + words_and_summary(*command).first;
  } else if (const std::string meant = suggestion_for(program, error); !meant.empty()) {
    failure.hint = meant;
  } else if (command == nullptr) {
    failure.hint = "`ws-mock --help` lists commands and flags";
  } else {
    failure.hint = "`ws-mock " + command->get_name() + " --help` and `ws-mock --help` list the flags";
  }
  return failure;
}

Failure command_failure(const std::string& word, bool has_command) {
  if (has_command) {
    return {.kind = Failure::Kind::usage,
            .what = (word.empty() ? "ws-mock" : word) + " takes no command after --",
            .hint = "`ws-mock exec -- CMD...` runs one with the mock beside it"};
  }
  return {.kind = Failure::Kind::usage,
          .what = word + " needs a command after --",
          .hint = "usage: ws-mock " + word + " [flags] -- CMD..."};
}

}  // namespace ws::mock
