#include "cli/grammar/help.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/grammar/parse.hpp"
#include "cli/grammar/topics.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t widest_name = 32;

const std::vector<std::pair<std::string, std::string>> first_commands = {
    {"ws login --base-url URL", "get a key for this machine"},
    {"ws docs list", "list the documents"},
    {"ws search WORDS", "search the Workspace"},
    {"ws ask 'QUESTION'", "ask a question and show the answer"},
    {"ws sync init", "sync the current folder with the Workspace"},
};

/// Two columns: a name, and text that is wrapped beside it.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& lines, const Terminal& terminal) {
  std::size_t width = 0;
  for (const auto& [name, text] : lines) {
    if (utf8::columns(name) <= widest_name) width = std::max(width, utf8::columns(name));
  }
  const std::size_t column = indent + width + 2;
  const auto available = static_cast<std::size_t>(std::clamp(terminal.columns(), 60, 120));
  std::string rendered;
  for (const auto& [name, text] : lines) {
    std::string line(indent, ' ');
    line += name;
    if (utf8::columns(name) > width) {
      line += "\n" + std::string(column, ' ');
    } else {
      line.append(width - utf8::columns(name) + 2, ' ');
    }
    line += wrap(text, available - std::min(column, available / 2), column);
    trim_end(line, " ");
    rendered += line + "\n";
  }
  return rendered;
}

std::string heading(std::string_view text, const Terminal& terminal) {
  return "\n" + terminal.paint(Stream::out, Look::strong, text) + "\n";
}

std::pair<std::string, std::string> flag_line(const Flag& flag) {
  std::string name = flag.letter == 0 ? "    " : std::string("-") + flag.letter;
  if (flag.letter != 0 && !flag.name.empty()) name += ", ";
  if (!flag.name.empty()) name += "--" + flag.name;
  if (flag.takes_value()) name += " " + flag.placeholder;
  std::string text = flag.help;
  const auto add = [&text](const std::string& part) { text += text.empty() ? part : "; " + part; };
  if (!flag.limits.empty()) add(flag.limits);
  if (flag.is_repeated) add("may be repeated");
  if (!flag.fallback.empty() && flag.fallback != "false") add("default " + flag.fallback);
  return {std::move(name), std::move(text)};
}

std::string flag_lines(std::span<const Flag> flags, const Terminal& terminal) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Flag& flag : flags) lines.push_back(flag_line(flag));
  return two_columns(lines, terminal);
}

std::string_view first_word(std::string_view words) { return words.substr(0, words.find(' ')); }

Json flag_to_json(const Flag& flag) {
  Json value = Json::object();
  value["name"] = flag.name.empty() ? Json() : Json("--" + flag.name);
  value["letter"] = flag.letter == 0 ? Json() : Json(std::string("-") + flag.letter);
  value["takes"] = !flag.takes_value() ? "nothing" : flag.is_repeated ? "many" : "one";
  value["placeholder"] = flag.placeholder.empty() ? Json() : Json(flag.placeholder);
  value["help"] = flag.help;
  value["limits"] = flag.limits.empty() ? Json() : Json(flag.limits);
  value["default"] = flag.fallback.empty() ? Json() : Json(flag.fallback);
  return value;
}

Json flags_to_json(std::span<const Flag> flags) {
  Json list = Json::array();
  for (const Flag& flag : flags) list.push_back(flag_to_json(flag));
  return list;
}

std::string_view word(Count count) {
  switch (count) {
    case Count::one: return "one";
    case Count::optional: return "optional";
    case Count::many: return "many";
    case Count::any: return "any";
  }
  return "one";
}

}  // namespace

std::string render_overview(const std::vector<Entry>& entries, const Terminal& terminal) {
  std::string text = "ws syncs a folder of Markdown with a Workspace service and calls its whole API.\n\n";
  text += "Usage: " + terminal.paint(Stream::out, Look::strong, "ws COMMAND [ARGUMENT...] [flags]") + "\n";
  text += heading("Start here", terminal) + two_columns(first_commands, terminal);
  text += heading("Commands", terminal);
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Entry& entry : entries) {
    const std::string noun(first_word(entry.words));
    const auto known = std::ranges::find(lines, noun, &std::pair<std::string, std::string>::first);
    if (entry.words == noun) {
      lines.emplace_back(noun, entry.summary);
      continue;
    }
    const std::string verb(first_word(entry.words.substr(noun.size() + 1)));
    if (known == lines.end()) {
      lines.emplace_back(noun, verb);
    } else if ((", " + known->second + ",").find(", " + verb + ",") == std::string::npos) {
      known->second += ", " + verb;
    }
  }
  text += two_columns(lines, terminal);
  lines = {{"ws help COMMAND", "a command, its flags and examples"}};
  for (const Topic& topic : help_topics()) {
    lines.emplace_back("ws help " + std::string(topic.name), std::string(topic.summary));
  }
  return text + heading("Help", terminal) + two_columns(lines, terminal);
}

std::string render_flags(const Terminal& terminal) {
  return "Flags of every command.\n" + heading("Flags", terminal) + flag_lines(global_flags(), terminal);
}

std::string render_group(const std::vector<Entry>& entries, std::string_view words, const Terminal& terminal) {
  std::vector<std::pair<std::string, std::string>> lines;
  const std::string begin = std::string(words) + " ";
  for (const Entry& entry : entries) {
    if (entry.words.substr(0, begin.size()) == begin)
      lines.emplace_back("ws " + std::string(entry.words), entry.summary);
  }
  const std::string_view by_default = default_verb(words);
  const std::string alone = by_default.empty() ? ""
                                               : ShellCommand{}.words("ws").words(words).in_backticks() + " alone is " +
                                                     ShellCommand{}.words("ws").words(by_default).in_backticks() + ". ";
  return two_columns(lines, terminal) + "\n" + alone +
         ShellCommand{"ws", "help"}.words(begin).add({"VERB"}).in_backticks() + " shows flags and examples.\n";
}

std::string render_help(const Command& command, const Terminal& terminal) {
  std::string text = command.summary + ".\n";
  if (!command.details.empty()) {
    const auto width = static_cast<std::size_t>(std::clamp(terminal.columns(), 60, 120));
    text += "\n" + wrap(command.details, width, 0) + "\n";
  }
  text += "\n  " + terminal.paint(Stream::out, Look::strong, usage_line(command)) + "\n";
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Word& one : command.arguments) {
    if (!one.help.empty()) lines.emplace_back(one.placeholder, one.help);
  }
  if (!lines.empty()) text += heading("Arguments", terminal) + two_columns(lines, terminal);
  if (!command.flags.empty()) text += heading("Flags", terminal) + flag_lines(command.flags, terminal);
  text += heading(command.examples.size() == 1 ? "Example" : "Examples", terminal);
  for (const std::string& example : command.examples) text += "  " + example + "\n";
  if (command.operation != nullptr) {
    text += "\nIt calls the operation " + std::string(command.operation->id);
    if (!command.operation->scope.empty()) text += "; the key needs the scope " + std::string(command.operation->scope);
    text += ".\n";
  }
  return text + "\nFlags of every command: `ws help flags`.\n";
}

Json help_to_json(const Command& command) {
  Json help = {{"v", 1}, {"command", command.words}, {"summary", command.summary}, {"details", command.details}};
  help["usage"] = usage_line(command);
  help["arguments"] = Json::array();
  for (const Word& one : command.arguments) {
    help["arguments"].push_back({{"placeholder", one.placeholder}, {"help", one.help}, {"count", word(one.count)}});
  }
  help["flags"] = flags_to_json(command.flags);
  help["global_flags"] = flags_to_json(global_flags());
  help["examples"] = command.examples;
  help["operation"] = command.operation == nullptr ? Json() : Json(command.operation->id);
  help["scope"] =
      command.operation == nullptr || command.operation->scope.empty() ? Json() : Json(command.operation->scope);
  return help;
}

Json catalogue_to_json(const std::vector<Entry>& entries, std::string_view words) {
  Json commands = Json::array();
  for (const Entry& entry : entries) {
    if (entry.words.substr(0, words.size()) != words) continue;
    commands.push_back({{"command", entry.words}, {"summary", entry.summary}});
  }
  return {{"v", 1}, {"commands", std::move(commands)}, {"global_flags", flags_to_json(global_flags())}};
}

}  // namespace ws::cli
