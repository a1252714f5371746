/// What a command is: its words, arguments and flags as data, and the function that does it.
///
/// Parsing (`parse.hpp`), help for people and machines (`help.hpp`) and suggestions (`api-client/base/suggestion.hpp`)
/// are read off this.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"
#include "cli/base/exit_code.hpp"

namespace ws::cli {

class Session;

/// What a word or the value of a flag names, so that it may be given by another name than its id.
enum class Subject { text, document, agent, project, thing };

struct Flag {
  std::string name = {};         ///< "title" for `--title`; empty: a letter only
  char letter = 0;               ///< 'm' for `-m`; 0: none
  std::string placeholder = {};  ///< "ID"; empty: it takes no value
  bool is_repeated = false;      ///< the value may be given several times
  std::string help = {};         ///< half a sentence without a full stop
  std::string limits = {};       ///< "1-100", "one of read, comment, edit"
  std::string fallback = {};     ///< the default
  Subject names = Subject::text;
  std::string also = {};   ///< an older, longer name that is understood and not shown: "project-id"
  std::string fills = {};  ///< the parameter or member that it sets, where that has another name

  bool takes_value() const { return !placeholder.empty(); }
  /// "--title", or "-C" where there is no long name.
  std::string spelled() const { return name.empty() ? std::string("-") + letter : "--" + name; }
};

enum class Count { one, optional, many, any };  ///< exactly 1, 0-1, 1-n, 0-n

struct Word {
  std::string placeholder = {};  ///< "ID"
  std::string help = {};
  Count count = Count::one;
  Subject names = Subject::text;
  bool is_command = false;  ///< a command of the user's, after --
  bool fills_body = false;  ///< a member of the body, so that `--body`, -F or -J may give it instead
};

/// The parsed command line; values are text.
struct Parsed {
  std::vector<std::string> words = {};
  std::map<std::string, std::vector<std::string>, std::less<>> flags = {};  ///< by name, or by letter

  bool has(std::string_view flag) const { return flags.find(flag) != flags.end(); }
  std::optional<std::string> value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;
  /// The same with every value split at its commas.
  std::vector<std::string> items(std::string_view flag) const;
};

struct Command {
  std::string words = {};    ///< "docs list"
  std::string summary = {};  ///< one sentence, no full stop
  std::string details = {};  ///< further sentences, or empty
  std::vector<Word> arguments = {};
  std::vector<Flag> flags = {};
  std::vector<std::string> examples = {};          ///< runnable lines
  const contract::Operation* operation = nullptr;  ///< the one it stands for, if it is one
  bool writes_output = false;                      ///< `--output` is its own to write, not the printer's
  bool fills_folder = false;                       ///< `--output` may be a folder, which it writes files into
  bool runs_on = false;                            ///< runs until it is stopped: notes are printed at once
  bool needs_no_settings = false;                  ///< it does without those that cannot be read or used
  bool hands_back = false;         ///< after a signal it gives back what it holds, however long it takes
  bool passes_on = false;          ///< sends a call as it is given, and keeps no record of it
  bool reads_no_settings = false;  ///< it works alike anywhere: no `config.yaml`, no `.ws.yaml`, no working directory
  std::function<Result<ExitCode>(Session&)> run = {};
};

/// Flags that every command takes.
std::span<const Flag> global_flags();
/// Flags of commands that list: --limit, --cursor, --all, --max-items.
std::vector<Flag> paging_flags();
/// Flags of commands that send a body: --body, -F, -J, and --dry-run's companions.
std::vector<Flag> body_flags();

}  // namespace ws::cli
