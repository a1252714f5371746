#include "cli/app.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/shell_command.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/contract/operations.hpp"
#include "cli/commands/registry.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/names.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/grammar/help.hpp"
#include "cli/grammar/parse.hpp"
#include "cli/grammar/topics.hpp"
#include "cli/output/failure.hpp"
#include "cli/terminal/progress.hpp"

namespace ws::cli {
namespace {

Failure usage(std::string what, std::string hint) {
  return {.kind = Failure::Kind::usage, .what = std::move(what), .hint = std::move(hint)};
}

/// Looks for a flag among arguments that are not parsed yet.
bool mentions(const std::vector<std::string>& arguments, std::string_view one, std::string_view other = "") {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == one || (!other.empty() && argument == other)) return true;
  }
  return false;
}

bool wants_json(const std::vector<std::string>& arguments, const Environment& environment) {
  if (mentions(arguments, "--json")) return true;
  std::string format = environment.get("WS_FORMAT").value_or("");
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].substr(0, 9) == "--format=") format = arguments[i].substr(9);
    if (arguments[i] == "--format" && i + 1 < arguments.size()) format = arguments[i + 1];
  }
  return format == "json" || format == "ndjson";
}

/// Splits at blanks as a shell does, with single and double quotes. Empty for an unterminated quote.
std::optional<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (const char c : text) {
    if (quote != 0 ? c == quote : (c == '\'' || c == '"')) {
      quote = quote != 0 ? char{0} : c;
      if (!in_word) words.emplace_back();
      in_word = true;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      words.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

/// The verb of ours for one that other programs use: `ws docs ls` means `ws docs list`. The first that is known.
std::optional<std::string> usual_verb(const std::string& word, const std::vector<std::string>& known) {
  using Verbs = std::vector<std::string_view>;
  static const Verbs all = {"list", "status", "check", "catalog", "show"};
  static const Verbs one = {"get", "show", "status", "list", "check", "catalog"};
  static const Verbs made = {"create", "add", "init", "upload"};
  static const Verbs gone = {"archive", "revoke", "untie"};
  static const std::map<std::string_view, Verbs> verbs = {{"ls", all},
                                                          {"list", all},
                                                          {"view", one},
                                                          {"show", one},
                                                          {"get", one},
                                                          {"cat", one},
                                                          {"open", one},
                                                          {"new", made},
                                                          {"add", made},
                                                          {"create", made},
                                                          {"rm", gone},
                                                          {"remove", gone},
                                                          {"delete", gone},
                                                          {"set", {"update"}},
                                                          {"change", {"update"}},
                                                          {"run", {"launch"}}};
  if (std::ranges::find(known, word) != known.end()) return word;
  const auto found = verbs.find(word);
  if (found == verbs.end()) return std::nullopt;
  for (const std::string_view ours : found->second) {
    if (std::ranges::find(known, ours) != known.end()) return std::string(ours);
  }
  return std::nullopt;
}

class App {
 public:
  App(const World& world, std::vector<std::string> arguments) : world_(world), arguments_(std::move(arguments)) {}
  App(const App&) = delete;
  App& operator=(const App&) = delete;
  ~App() { world_.terminal.on_write_error({}); }

  Result<ExitCode> run() {
    // Nothing else is looked up: neither the other commands nor the flags that are not there.
    if (arguments_.size() == 1 && (arguments_.front() == "--version" || arguments_.front() == "-V")) {
      return run_parsed(version_command(), {.flags = {{"version", {"true"}}}});
    }
    entries_ = all_commands();
    if (!arguments_.empty() && arguments_.front() == "help") return help();
    if (!arguments_.empty() && arguments_.front() == "__complete") {
      print(complete(world_, entries_, {arguments_.begin() + 1, arguments_.end()}));
      return ExitCode::done;
    }
    if (!arguments_.empty() && arguments_.front() == "__reference") {
      print(reference_text(entries_));
      return ExitCode::done;
    }
    Resolution found = resolve(entries_, arguments_);
    if (found.words.empty() && found.next) {
      WS_TRY(expand_alias(found));
      found = resolve(entries_, arguments_);
    }
    if (found.words.empty() && !found.next) return without_words();
    return command(found, false);
  }

  /// The failure as it is written to stderr.
  std::string error_text(const Failure& failure) const {
    const ExitCode exit = exit_code_of(failure, world_.caught_signal());
    const bool json = json_errors_.value_or(wants_json(arguments_, world_.environment));
    return json ? failure_line(failure, exit) : render_failure(failure, exit, world_.terminal);
  }

 private:
  /// Expands an alias of the user's config.yaml once; aliases within an alias are not expanded.
  Result<void> expand_alias(const Resolution& found) {
    WS_LET(const auto aliases, read_aliases(Paths::of(world_.environment)));
    const auto alias = aliases.find(*found.next);
    if (alias == aliases.end()) return {};
    auto words = split_words(alias->second);
    if (!words) return fail(usage("the alias `" + alias->first + "` has an unclosed quote", "`ws config list`"));
    const auto place = arguments_.begin() + static_cast<std::ptrdiff_t>(found.next_at);
    arguments_.insert(arguments_.erase(place), words->begin(), words->end());
    return {};
  }

  Result<ExitCode> without_words() {
    if (mentions(arguments_, "--version", "-V")) return command(resolve(entries_, {"version"}), false);
    if (arguments_.empty() || mentions(arguments_, "--help", "-h")) return print_overview();
    return fail(usage("no command is given", "`ws help` lists the commands"));
  }

  Result<ExitCode> print_overview() {
    if (mentions(arguments_, "--json")) {
      print(dump(catalogue_to_json(entries_, ""), 2) + "\n");
    } else {
      print(render_overview(entries_, world_.terminal));
    }
    return ExitCode::done;
  }

  Result<ExitCode> help() {
    std::vector<std::string> rest(arguments_.begin() + 1, arguments_.end());
    if (rest.empty() || rest.front().starts_with('-')) return print_overview();
    if (rest.front() == "exit-codes") return command(resolve(entries_, rest), false);
    if (const auto topic = find_topic(rest.front())) {
      print(topic->text.empty() ? render_flags(world_.terminal) : std::string(topic->text));
      return ExitCode::done;
    }
    return command(resolve(entries_, rest), true);
  }

  Result<ExitCode> group(const Resolution& found, bool help) {
    const std::string words = joined(found.words);
    const bool is_json = mentions(found.rest, "--json");
    // A noun alone asks for its help; with flags and no verb something was forgotten.
    if (!help && !found.rest.empty() && !is_json) {
      return fail(usage(ShellCommand{"ws"}.words(words).in_backticks() + " needs a verb", "one of " + verbs_of(words)));
    }
    print(is_json ? dump(catalogue_to_json(entries_, words + " "), 2) + "\n"
                  : render_group(entries_, words, world_.terminal));
    return ExitCode::done;
  }

  std::string verbs_of(const std::string& words) const {
    std::string verbs;
    for (const Entry& entry : entries_) {
      if (entry.words.substr(0, words.size() + 1) != words + " ") continue;
      verbs += (verbs.empty() ? "" : ", ") + std::string(entry.words.substr(words.size() + 1));
    }
    return verbs;
  }

  /// The words that may follow `begin`, "" or "docs ".
  std::vector<std::string> words_after(std::string_view begin) const {
    std::vector<std::string> known;
    for (const Entry& entry : entries_) {
      if (entry.words.substr(0, begin.size()) != begin) continue;
      const std::string_view below = entry.words.substr(begin.size());
      known.emplace_back(below.substr(0, below.find(' ')));
    }
    return known;
  }

  /// For a verb without its noun, `ws ls` or `ws pull`: that of documents, of syncing, else the first that has it.
  std::string noun_with(const std::string& verb) const {
    std::vector<std::string> nouns = {"docs", "sync"};
    for (const Entry& entry : entries_) nouns.emplace_back(entry.words.substr(0, entry.words.find(' ')));
    for (const std::string& noun : nouns) {
      const auto ours = usual_verb(verb, words_after(noun + " "));
      if (ours) return noun + " " + *ours;
    }
    return {};
  }

  Result<ExitCode> unknown(const Resolution& found) {
    const std::string begin = found.words.empty() ? "" : joined(found.words) + " ";
    const std::vector<std::string> known = words_after(begin);
    const std::string whole = found.words.empty() ? noun_with(*found.next) : std::string();
    std::string hint = whole.empty()
                           ? suggestion(usual_verb(*found.next, known).value_or(*found.next), known, "ws " + begin)
                           : suggestion(whole, {whole}, "ws ");
    if (hint.empty())
      hint = found.words.empty()
                 ? "`ws help` lists them"
                 : ShellCommand{"ws", "help"}.words(joined(found.words)).in_backticks() + " lists the verbs";
    return fail(usage(ShellCommand{"ws"}.words(begin).add({*found.next}).in_backticks() + " is not a command", hint));
  }

  /// `ws sync DIR` is `ws sync run DIR` where DIR is a folder.
  Resolution with_default_verb(Resolution found) const {
    const std::string_view by_default = default_verb(joined(found.words));
    if (by_default.empty() || mentions(found.rest, "--help", "-h")) return found;
    std::error_code ignored;
    if (found.next && !std::filesystem::is_directory(*found.next, ignored)) return found;
    found.entry = *std::ranges::find(entries_, by_default, &Entry::words);
    return found;
  }

  /// `ws call ID`: the command depends on the operation.
  Result<Command> call(Resolution& found) const {
    // The first word that is no flag and no flag's value: `ws -C DIR call ID`.
    const auto id = found.next ? std::ranges::find(found.rest, *found.next) : found.rest.end();
    const auto* operation = id == found.rest.end() ? nullptr : contract::find_operation(*id);
    if (operation != nullptr) {
      found.rest.erase(id);
      return call_command(*operation);
    }
    if (id == found.rest.end()) {
      return fail(
          usage("`ws call` needs the id of an operation", "`ws commands` lists them, `ws schema ID` shows more"));
    }
    std::vector<std::string> known;
    for (const auto* one : contract::operations()) known.emplace_back(one->id);
    std::string hint = suggestion(*id, known, "ws call ");
    return fail(usage("there is no operation `" + *id + "`", hint.empty() ? "`ws commands` lists them" : hint));
  }

  Result<ExitCode> command(Resolution found, bool help) {
    if (!help && found.entry && found.entry->words == "mock") return fail(start_mock(found.rest));
    help = help || mentions(found.rest, "--help", "-h");
    if (!help) found = with_default_verb(std::move(found));
    if (found.words.empty() || (!found.entry && found.next)) return unknown(found);
    if (!found.entry) return group(found, help);
    Command chosen = found.entry->make();
    const bool asks_for_call = found.entry->words == "call";
    if (asks_for_call && !(help && !found.next)) {
      WS_LET(chosen, call(found));
    }
    if (help) return print_help(chosen, mentions(found.rest, "--json"));
    return run_command(chosen, found.rest);
  }

  Result<ExitCode> print_help(const Command& chosen, bool json) {
    print(json ? dump(help_to_json(chosen), 2) + "\n" : render_help(chosen, world_.terminal));
    return ExitCode::done;
  }

  Result<ExitCode> run_command(const Command& chosen, const std::vector<std::string>& rest) {
    WS_LET(Parsed parsed, parse(chosen, rest, entries_));
    if (parsed.has("version") && chosen.words != "version") return command(resolve(entries_, {"version"}), false);
    return run_parsed(chosen, std::move(parsed));
  }

  Result<ExitCode> run_parsed(const Command& chosen, Parsed parsed) {
    WS_TRY(apply(parsed));
    Session session(world_, chosen, std::move(parsed));
    WS_TRY(session.open(find_view));
    if (auto named = resolve_names(session); !named) {
      return fail(session.with_hint(std::move(named).error()));
    }
    json_errors_ = session.has_json_errors();
    world_.terminal.on_write_error([this, &session](std::string what, Terminal::WriteError error) {
      if (error == Terminal::WriteError::reader_gone && !session.outcomes().has_made()) return std::string();
      return error_text(session.outcomes().tell({.kind = Failure::Kind::disk, .what = std::move(what)}));
    });
    Result<ExitCode> ended = run_session(session, chosen);
    world_.terminal.on_write_error({});
    return ended;
  }

  /// A key that the service shows once is not lost with what `--fields` or `--jq` leave out.
  static Result<void> keep_unshown(Session& session) {
    const std::string& answer = session.printer().unshown();
    if (answer.empty()) return {};
    const auto file = keep_answer(session.paths().state, answer);
    if (!file) {
      return fail(
          session.outcomes().tell({.kind = Failure::Kind::disk, .what = "the new secret was not shown, nor kept"}));
    }
    session.note("the new secret was not shown; the answer is in " + file->string() + ", which only you can read");
    return {};
  }

  Result<ExitCode> run_session(Session& session, const Command& chosen) {
    if (chosen.hands_back && world_.end_in_own_time != nullptr) world_.end_in_own_time(SecondSignal::kills);
    Result<ExitCode> ended = chosen.run(session);
    if (!ended && ended.error().code == "unusable_answer") session.outcomes().disbelieve(ended.error().call.operation);
    if (!ended) ended = fail(session.with_hint(std::move(ended).error()));
    // The output of a failed command is shown, but --output writes no file.
    if (!ended && session.has("output")) return ended;
    auto finished = session.printer().finish();
    if (ended && !finished) return fail(session.outcomes().tell(std::move(finished).error()));
    if (finished) WS_TRY(keep_unshown(session));
    if (finished) session.output_done();
    if (ended && has_reached_reader(*ended, session)) session.outcomes().told();
    if (ended) session.print_notes();
    return ended;
  }

  Result<void> apply(const Parsed& parsed) {
    if (parsed.has("no-input")) world_.terminal.forbid_questions();
    if (parsed.has("quiet")) world_.terminal.set_quiet();
    if (parsed.has("plain")) world_.terminal.set_plain();
    WS_TRY(parse_progress(parsed.value("progress"), world_.terminal));
    if (const auto color = parsed.value("color")) {
      if (*color != "auto" && *color != "always" && *color != "never") {
        return fail(usage("--color takes auto, always or never, not `" + *color + "`", ""));
      }
      if (*color == "always") world_.terminal.set_color(ColorChoice::always);
      if (*color == "never") world_.terminal.set_color(ColorChoice::never);
    }
    const auto folder = parsed.value("C");
    if (folder && ::chdir(folder->c_str()) != 0) {
      return fail(usage("cannot go to " + *folder + ": " + std::strerror(errno), ""));
    }
    return {};
  }

  /// After a batch that failed in part, the same batch again does only what is left.
  static bool has_reached_reader(ExitCode exit, const Session& session) {
    const bool is_batch = session.has("stdin") || session.arguments().words.size() > 1;
    return exit != ExitCode::partial || !is_batch;
  }

  void print(const std::string& text) { world_.terminal.write(Stream::out, text); }

  World world_;
  std::vector<std::string> arguments_;
  std::vector<Entry> entries_;
  std::optional<bool> json_errors_;  // empty until the output format is known
};

}  // namespace

namespace {

Result<ExitCode> run_arguments(App& app) {
  try {
    return app.run();
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    return fail(
        Failure::Kind::disk,
        "cannot use " + (path.empty() ? std::string("the working directory") : path) + ": " + error.code().message());
  } catch (const std::exception& bug) {
    return fail(Failure::Kind::internal, std::string("ws failed unexpectedly") + ": " + bug.what());
  }
}

}  // namespace

ExitCode run(const World& world, const std::vector<std::string>& arguments) {
  App app(world, arguments);
  const Result<ExitCode> result = run_arguments(app);
  if (result) return *result;
  world.terminal.write(Stream::err, app.error_text(result.error()));
  if (is_merge_driver(arguments)) {
    world.terminal.write(Stream::err, "note: git merges this file by lines, as it does without ws\n");
    leave_merge_to_git(arguments);
    return ExitCode::local;
  }
  return exit_code_of(result.error(), world.caught_signal());
}

}  // namespace ws::cli
