// `ws __complete`, and the scripts of the shells that call it.
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"

namespace ws::cli {
namespace {

// bash takes words apart at `:` and `=` (COMP_WORDBREAKS) and replaces the last part alone: the parts are put together
// again by the blanks between them, and candidates lose what stands before the last part.
constexpr std::string_view bash_script = R"sh(# bash completion for ws: eval "$(ws completion bash)"
_ws() {
  local line rest=${COMP_LINE:0:COMP_POINT} word before i
  local -a lines words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then
      words[${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$word"}
  done
  word=${words[${#words[@]}-1]}
  before=
  [[ $word == *[:=]* ]] && before=${word%"${word##*[:=]}"}
  mapfile -t lines < <(ws __complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for line in "${lines[@]}"; do
    case $line in
      :files) compopt -o default ;;
      *) line=${line%%$'\t'*} && COMPREPLY+=("${line#"$before"}") ;;
    esac
  done
}
complete -F _ws ws
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef ws
# zsh completion for ws: source <(ws completion zsh), or a file _ws in $fpath
_ws() {
  local line files=0
  local -a candidates
  for line in "${(@f)$(ws __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      *$'\t'*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) candidates+=("${line//:/\\:}") ;;
    esac
  done
  (( ${#candidates} )) && _describe -V ws candidates
  (( files )) && { compset -P '--*='; _files }
}
if [ "$funcstack[1]" = _ws ]; then _ws "$@"; else compdef _ws ws; fi
)sh";

constexpr std::string_view fish_script = R"sh(# fish completion for ws: ws completion fish | source
function __ws_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (ws __complete $words[2..-1] 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c ws -f -a '(__ws_complete)'
)sh";

/// What is known of the things that a word or flag names: the operation that lists them, and what tells one from
/// another.
struct Source {
  std::string_view name;  // of the parameter or member
  std::string_view operation;
  std::string_view id;
  std::string_view about;
};
constexpr Source sources[] = {
    {"document_id", "docs.list", "id", "title"},
    {"node_id", "docs.list", "node_id", "title"},
    {"parent_node_id", "docs.list", "node_id", "title"},
    {"before_node_id", "docs.list", "node_id", "title"},
    {"target_root_node_id", "docs.list", "node_id", "title"},
    {"question_id", "questions.list", "id", "prompt"},
    {"conversation_id", "conversations.list", "id", "title"},
    {"asset_id", "files.list", "id", "original_file_name"},
    {"agent_id", "agents.list", "id", "handle"},
    {"workspace_id", "workspaces.list", "id", "name"},
    {"case_id", "tests.cases_list", "case_id", "title"},
    {"case_ids", "tests.cases_list", "case_id", "title"},
    {"suite_id", "tests.suites_list", "suite_id", "title"},
    {"run_id", "tests.runs_list", "id", "status"},
};

class Candidates {
 public:
  explicit Candidates(std::string begin) : begin_(std::move(begin)) {}

  /// The first so many characters are there already and are no part of what is sought: "--format=" of "--format=n".
  void skip(std::size_t count) {
    kept_ += begin_.substr(0, count);
    begin_.erase(0, count);
  }
  void add(std::string_view text, std::string_view about = "") {
    if (text.substr(0, begin_.size()) != begin_ || text.empty() || !seen_.insert(std::string(text)).second) return;
    text_ += kept_ + std::string(text);
    if (!about.empty()) text_ += "\t" + clean(about, Breaks::space);
    text_ += '\n';
  }
  void files() { text_ += ":files\n"; }
  const std::string& begin() const { return begin_; }
  std::string take() { return std::move(text_); }

 private:
  std::string begin_;
  std::string kept_ = {};
  std::string text_ = {};
  std::set<std::string> seen_ = {};
};

/// bash puts a candidate into the line as it is: only what no shell reads anything into is completed.
bool is_plain_id(std::string_view id) {
  return !id.starts_with('-') && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

/// Asks the server for the ids that `name` may take; empty on any failure.
void add_ids(const World& world, const Parsed& given, std::string_view name, Candidates& candidates) {
  const auto* source = std::ranges::find(sources, name, &Source::name);
  if (source == std::end(sources)) return;
  Command command = operation_command(*contract::find_operation(source->operation));
  Parsed flags;
  for (const char* const kept : {"profile", "workspace", "base-url"}) {
    if (const auto value = given.value(kept)) flags.flags[kept] = {*value};
  }
  flags.flags["quiet"] = {"true"};
  flags.flags["no-retry"] = {"true"};
  flags.flags["timeout"] = {"2"};
  Session session(world, command, std::move(flags));
  if (!session.open(nullptr)) return;
  auto client = session.client();
  if (!client) return;
  Call call{.operation = source->operation};
  if (command.operation->paging != contract::Paging::none) set_member(*command.operation, call, "limit", Json(100));
  const auto reply = (*client)->call(std::move(call));
  const Json* items = reply ? find(*reply->json, "data") : nullptr;
  if (items == nullptr || !items->is_array()) return;
  for (const Json& item : *items) {
    const std::string id = find_text(item, source->id).value_or("");
    if (is_plain_id(id)) candidates.add(id, find_text(item, source->about).value_or(""));
  }
}

/// "table, tsv, json" and "one of open, resolved" are choices; "1-100" is not.
std::vector<std::string> choices_of(std::string_view limits) {
  if (limits.substr(0, 7) == "one of ") limits.remove_prefix(7);
  std::vector<std::string> choices;
  std::string text(limits);
  for (std::size_t at = 0; (at = text.find(" or ", at)) != std::string::npos;) text.replace(at, 4, ", ");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(", ", begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    if (one.empty() || one.find(' ') != std::string::npos) return {};
    choices.push_back(one);
    begin = end + 2;
  }
  return choices.size() > 1 ? choices : std::vector<std::string>();
}

bool takes_file(std::string_view placeholder) {
  return placeholder.find("FILE") != std::string_view::npos || placeholder.find("DIR") != std::string_view::npos ||
         placeholder.find("PATH") != std::string_view::npos;
}

void add_value(const World& world, const Parsed& given, const Flag& flag, Candidates& candidates) {
  if (flag.is_repeated) candidates.skip(candidates.begin().rfind(',') + 1);
  for (const std::string& choice : choices_of(flag.limits)) candidates.add(choice);
  if (takes_file(flag.placeholder)) return candidates.files();
  if (flag.name == "scopes") {
    for (const std::string_view scope : contract::all_scopes) candidates.add(scope);
  }
  std::string name = flag.name;
  std::ranges::replace(name, '-', '_');
  add_ids(world, given, name == "workspace" ? "workspace_id" : name, candidates);
}

const Flag* find_flag(const std::vector<Flag>& flags, std::string_view word) {
  for (const Flag& flag : flags) {
    if (word == "--" + flag.name || (flag.letter != 0 && word == std::string("-") + flag.letter)) return &flag;
  }
  return nullptr;
}

std::vector<Flag> flags_of(const Command* command) {
  std::vector<Flag> flags = command == nullptr ? std::vector<Flag>() : command->flags;
  for (const Flag& flag : global_flags()) flags.push_back(flag);
  return flags;
}

/// The words below those that were understood.
void add_words(const std::vector<Entry>& entries, const std::vector<std::string>& words, Candidates& candidates) {
  const std::string begin = words.empty() ? "" : joined(words) + " ";
  for (const Entry& entry : entries) {
    if (entry.words.substr(0, begin.size()) != begin) continue;
    const std::string_view below = entry.words.substr(begin.size());
    const std::string_view next = below.substr(0, below.find(' '));
    candidates.add(next, next == below ? entry.summary : std::string_view());
  }
  if (words.empty()) candidates.add("help", "Show help for a command");
}

void add_argument(const World& world, const Command& command, const Parsed& given, Candidates& candidates) {
  if (command.words == "call" || command.words == "schema") {
    for (const auto* operation : contract::operations()) candidates.add(operation->id, operation->summary);
    return;
  }
  if (command.words == "config get" || command.words == "config set" || command.words == "config explain") {
    for (const SettingRule& rule : setting_rules()) candidates.add(rule.key, rule.help);
    return;
  }
  if (command.words == "completion") {
    for (const char* const shell : {"bash", "zsh", "fish"}) candidates.add(shell);
    return;
  }
  if (command.arguments.empty()) return;
  const std::size_t at = std::min(given.words.size(), command.arguments.size() - 1);
  if (takes_file(command.arguments[at].placeholder)) return candidates.files();
  if (command.operation == nullptr || command.operation->arguments.empty()) return;
  const std::size_t which = std::min(at, command.operation->arguments.size() - 1);
  add_ids(world, given, command.operation->arguments[which].target, candidates);
}

/// Sorts the words into `given`; the flag whose value comes next, or null.
const Flag* read_words(const std::vector<std::string>& words, const std::vector<Flag>& flags, Parsed& given) {
  const Flag* open = nullptr;
  for (const std::string& word : words) {
    if (open != nullptr) {
      given.flags[open->name.empty() ? std::string(1, open->letter) : open->name].push_back(word);
      open = nullptr;
    } else if (const Flag* flag = find_flag(flags, word)) {
      open = flag->takes_value() ? flag : nullptr;
    } else if (word.substr(0, 1) != "-") {
      given.words.push_back(word);
    }
  }
  return open;
}

Result<ExitCode> print_script(Session& session) {
  const std::string& shell = session.arguments().words.front();
  const std::string_view script = shell == "bash"   ? bash_script
                                  : shell == "zsh"  ? zsh_script
                                  : shell == "fish" ? fish_script
                                                    : std::string_view();
  if (script.empty()) {
    return fail(Failure::Kind::usage, "there is no completion for `" + shell + "`", "use bash, zsh or fish");
  }
  if (prints_text(session)) {
    session.printer().raw(script);
  } else {
    session.printer().resource({{"v", 1}, {"shell", shell}, {"script", script}});
  }
  return ExitCode::done;
}

}  // namespace

std::string complete(const World& world, const std::vector<Entry>& entries, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Candidates candidates(words.back());
  std::vector<std::string> before(words.begin(), words.end() - 1);
  if (!before.empty() && before.front() == "help") before.erase(before.begin());
  const Resolution found = resolve(entries, before);
  std::optional<Command> command;
  if (found.entry) command = found.entry->make();
  const std::vector<Flag> flags = flags_of(command ? &*command : nullptr);

  Parsed given;
  const Flag* open = read_words(found.rest, flags, given);
  const std::size_t equals = candidates.begin().find('=');
  if (open == nullptr && candidates.begin().substr(0, 2) == "--" && equals != std::string::npos) {
    open = find_flag(flags, candidates.begin().substr(0, equals));
    candidates.skip(equals + 1);
  }
  if (open != nullptr) {
    add_value(world, given, *open, candidates);
  } else if (candidates.begin().substr(0, 1) == "-") {
    for (const Flag& flag : flags) candidates.add(flag.spelled(), flag.help);
  } else {
    if (given.words.empty()) add_words(entries, found.words, candidates);
    if (command) add_argument(world, *command, given, candidates);
  }
  return candidates.take();
}

Command completion_command() {
  return {.words = "completion",
          .summary = "Print the script that completes ws in a shell",
          .details = "Words and flags need no network; ids are asked of the service.",
          .arguments = {{.placeholder = "SHELL", .help = "bash, zsh or fish"}},
          .examples = {"eval \"$(ws completion bash)\"", "ws completion fish | source"},
          .needs_no_settings = true,
          .run = print_script};
}

}  // namespace ws::cli
