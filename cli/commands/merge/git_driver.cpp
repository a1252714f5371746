#include "cli/commands/merge/git_driver.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/process.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/shared/commands.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// The names that `sync::is_markdown` knows, small or capital: git tells the two apart.
constexpr std::string_view attribute_lines[] = {
    "*.md merge=ws", "*.markdown merge=ws", "*.MD merge=ws", "*.MARKDOWN merge=ws"};

constexpr std::string_view driver_key = "merge.ws.driver";
constexpr std::string_view name_key = "merge.ws.name";
constexpr std::string_view driver_name = "Markdown, by ws merge";

// git takes a driver that fails in any way for a conflict and leaves our text without a marker. So what does not end
// with 0 or 1 (no ws, an older one, one that was killed) is merged by git: `ws merge` has not touched %A then. Versions
// of git before 2.44 leave %S, %X and %Y as they are (`label_of`), later ones may have no name for the base: an empty
// word.
constexpr std::string_view driver_line =
    "if command -v ws >/dev/null; then ws merge --driver --path=%P --marker-size=%L --label-base %S --label-ours %X "
    "--label-theirs %Y %O %A %B; else (exit 2); fi; s=$?; if test $s -gt 1; then "
    "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; s=$?; fi; exit $s";
/// Found in every line that any version has written.
constexpr std::string_view driver_mark = "ws merge --driver";

enum class GitScope { local, global };

std::string_view git_flag_of(GitScope scope) { return scope == GitScope::local ? "--local" : "--global"; }

Result<RunEnd> run_git(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "git");
  auto ended = run_process(std::move(arguments), {}, {});
  if (!ended && ended.error().code == "program_not_found") {
    return fail(
        Failure::Kind::usage, "git is not installed, or not in PATH", "install git, then run the same command again");
  }
  return ended;
}

/// What git says on stderr, as the reason of a failure: its first line.
std::string reason_of(const RunEnd& ended) {
  std::string_view line = std::string_view(ended.err).substr(0, ended.err.find('\n'));
  for (const std::string_view prefix : {"fatal: ", "error: "}) {
    if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
  }
  return line.empty() ? fmt::format("git ended with {}", ended.exit) : clean(line, Breaks::space);
}

std::string first_line(const RunEnd& ended) { return ended.out.substr(0, ended.out.find('\n')); }

/// Files that git reads by itself in every repository, or in this one.
struct Places {
  fs::path attributes = {};
  std::string config = {};  ///< the words by which messages name it
};

/// The repository's own files: `info/` and `config` of all its worktrees, never committed.
Result<Places> local_places() {
  WS_LET(const RunEnd found, run_git({"rev-parse", "--git-path", "info/attributes", "--git-path", "config"}));
  if (found.exit != 0) {
    return fail(Failure::Kind::usage,
                "git finds no repository here: " + reason_of(found),
                "run this inside a repository, or with --global for all of yours");
  }
  const std::vector<std::string_view> lines = split(found.out, '\n');
  if (lines.size() < 2) return fail(Failure::Kind::disk, "git does not say where its attributes are");
  return Places{.attributes = fs::absolute(lines[0]).lexically_normal(),
                .config = fs::absolute(lines[1]).lexically_normal().string()};
}

/// As gitattributes(5) has it: core.attributesFile, else `git/attributes` below $XDG_CONFIG_HOME or ~/.config.
Result<Places> global_places(const Environment& environment) {
  Places places{.config = "your git config (git config --global)"};
  for (const char* const level : {"--global", "--system"}) {
    WS_LET(const RunEnd named, run_git({"config", level, "--type=path", "--get", "core.attributesFile"}));
    if (named.exit == 0 && !first_line(named).empty()) {
      places.attributes = first_line(named);
      return places;
    }
  }
  const auto config = environment.text("XDG_CONFIG_HOME");
  const auto home = environment.text("HOME");
  if (!config && !home) {
    return fail(Failure::Kind::usage,
                "HOME is not set, so git's global config cannot be found",
                "set HOME, or run this with --local inside a repository");
  }
  places.attributes = (config ? fs::path(*config) : fs::path(*home) / ".config") / "git" / "attributes";
  return places;
}

bool is_ours(std::string_view line) {
  return std::ranges::find(attribute_lines, trimmed_end(line)) != std::end(attribute_lines);
}

/// The text with those of our lines that it lacks at its end: git takes the last line that matches. Where the last line
/// has no newline ours have none either, so that taking them out gives the same bytes.
std::string with_attributes(std::string text) {
  std::vector<std::string_view> missing;
  for (const std::string_view line : attribute_lines) {
    const auto lines = whole_lines(text);
    const bool has_it = std::ranges::any_of(lines, [&](std::string_view one) { return trimmed_end(one) == line; });
    if (!has_it) missing.push_back(line);
  }
  const bool is_open = !text.empty() && text.back() != '\n';
  for (const std::string_view line : missing) {
    text += is_open ? fmt::format("\n{}", line) : fmt::format("{}\n", line);
  }
  return text;
}

std::string without_attributes(std::string_view text) {
  std::string kept;
  bool was_open = false;
  for (const std::string_view line : whole_lines(text)) {
    if (!is_ours(line)) {
      kept += line;
    } else {
      was_open = !line.ends_with('\n');
    }
  }
  if (was_open && kept.ends_with('\n')) kept.pop_back();
  return kept;
}

/// Sets or removes one value of git's config; both keys are ours alone.
Result<void> change_config(GitScope scope, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"config", std::string(git_flag_of(scope))});
  WS_LET(const RunEnd ended, run_git(std::move(arguments)));
  if (ended.exit == 0) return {};
  return fail(Failure::Kind::disk, "git cannot write its config: " + reason_of(ended));
}

/// The values of a key in that file alone; empty: it is not set there.
Result<std::vector<std::string>> config_values(GitScope scope, std::string_view key) {
  WS_LET(const RunEnd ended, run_git({"config", std::string(git_flag_of(scope)), "--get-all", std::string(key)}));
  // 1: not set. A file of the user that is missing is no failure.
  if (ended.exit > 1 && scope == GitScope::local) {
    return fail(Failure::Kind::disk, "git cannot read its config: " + reason_of(ended));
  }
  std::vector<std::string> values;
  for (const std::string_view line : split(ended.out, '\n')) {
    if (!line.empty()) values.emplace_back(line);
  }
  return values;
}

struct Setup {
  GitScope scope = GitScope::local;
  Places places = {};
  std::string attributes_before = {};
  std::string attributes_after = {};
  std::vector<std::string> drivers = {};  ///< the values of the driver's key
  std::vector<std::string> names = {};
};

Result<Setup> read_setup(Session& session) {
  Setup setup{.scope = session.has("global") ? GitScope::global : GitScope::local};
  WS_LET(setup.places, setup.scope == GitScope::global ? global_places(session.world().environment) : local_places());
  WS_LET(setup.drivers, config_values(setup.scope, driver_key));
  WS_LET(setup.names, config_values(setup.scope, name_key));
  const auto foreign = std::ranges::find_if(
      setup.drivers, [](const std::string& line) { return line.find(driver_mark) == std::string::npos; });
  if (foreign != setup.drivers.end()) {
    return fail(
        Failure::Kind::conflict,
        fmt::format("{} is set to another program: {}", driver_key, clean(*foreign, Breaks::space)),
        "to remove it: " +
            ShellCommand{"git", "config", std::string(git_flag_of(setup.scope)), "--unset-all", std::string(driver_key)}
                .in_backticks());
  }
  auto text = read_file(setup.places.attributes);
  if (!text && text.error().kind != Failure::Kind::not_found) return fail(std::move(text).error());
  setup.attributes_before = text ? *text : std::string();
  return setup;
}

Result<void> write_attributes(const Setup& setup) {
  if (setup.attributes_after == setup.attributes_before) return {};
  WS_LET(const fs::path file, follow_link(setup.places.attributes));
  if (setup.attributes_after.empty()) {
    std::error_code error;
    fs::remove(file, error);
    if (!error) return {};
    return fail(Failure::Kind::disk, fmt::format("cannot remove {}: {}", file.string(), error.message()));
  }
  WS_TRY(make_folders(file.parent_path()));
  return write_file(file, setup.attributes_after);
}

void show(Session& session, std::string_view verb, const Setup& setup, bool has_config) {
  const auto block = [&](bool is_told, const std::string& place, const std::vector<std::string>& lines) {
    if (!is_told) return;
    session.printer().line(clean(fmt::format("{} {}:", verb, place), Breaks::space));
    for (const std::string& line : lines) session.printer().line("  " + line);
  };
  block(setup.attributes_after != setup.attributes_before,
        setup.places.attributes.string(),
        {std::begin(attribute_lines), std::end(attribute_lines)});
  block(has_config,
        setup.places.config,
        {fmt::format("{} = {}", name_key, driver_name), fmt::format("{} = {}", driver_key, driver_line)});
}

Result<ExitCode> install_driver(Session& session, Setup setup) {
  const bool is_dry = session.has("dry-run");
  setup.attributes_after = with_attributes(setup.attributes_before);
  const bool has_config =
      setup.drivers != std::vector{std::string(driver_line)} || setup.names != std::vector{std::string(driver_name)};
  const std::string where = setup.scope == GitScope::local ? "this repository" : "all your repositories";
  if (!has_config && setup.attributes_after == setup.attributes_before) {
    session.printer().sentence(fmt::format("git merges Markdown with ws in {} already.", where));
    return ExitCode::done;
  }
  show(session, is_dry ? "Would write to" : "Write to", setup, has_config);
  if (is_dry) return ExitCode::done;
  // The driver before the files that name it.
  if (has_config) {
    WS_TRY(change_config(setup.scope, {"--replace-all", std::string(name_key), std::string(driver_name)}));
    WS_TRY(change_config(setup.scope, {"--replace-all", std::string(driver_key), std::string(driver_line)}));
  }
  WS_TRY(write_attributes(setup));
  ShellCommand uninstall{"ws", "merge", "--uninstall"};
  if (setup.scope == GitScope::global) uninstall.add({"--global"});
  session.printer().sentence(
      fmt::format("git merges Markdown with ws in {} from now on; {} undoes this.", where, uninstall.in_backticks()));
  if (!find_program("ws")) session.note("note: ws is not in PATH: until it is, git merges by lines as before");
  return ExitCode::done;
}

Result<ExitCode> uninstall_driver(Session& session, Setup setup) {
  const bool is_dry = session.has("dry-run");
  setup.attributes_after = without_attributes(setup.attributes_before);
  const bool has_name = std::ranges::find(setup.names, driver_name) != setup.names.end();
  const bool has_config = !setup.drivers.empty() || has_name;
  const std::string where = setup.scope == GitScope::local ? "this repository" : "all repositories";
  if (!has_config && setup.attributes_after == setup.attributes_before) {
    session.printer().sentence(fmt::format("git does not merge with ws in {}.", where));
    return ExitCode::done;
  }
  show(session, is_dry ? "Would remove from" : "Remove from", setup, has_config);
  if (is_dry) return ExitCode::done;
  WS_TRY(write_attributes(setup));
  if (!setup.drivers.empty()) WS_TRY(change_config(setup.scope, {"--unset-all", std::string(driver_key)}));
  if (has_name) WS_TRY(change_config(setup.scope, {"--unset-all", std::string(name_key)}));
  session.printer().sentence("git merges Markdown by lines again.");
  return ExitCode::done;
}

}  // namespace

Result<ExitCode> set_up_driver(Session& session) {
  if (session.has("install") && session.has("uninstall")) {
    return fail(Failure::Kind::usage, "give --install or --uninstall, not both");
  }
  if (session.has("local") && session.has("global")) {
    return fail(Failure::Kind::usage, "give --local or --global, not both");
  }
  if (!session.arguments().words.empty()) {
    return fail(Failure::Kind::usage, "--install and --uninstall take no files");
  }
  WS_LET(Setup setup, read_setup(session));
  return session.has("install") ? install_driver(session, std::move(setup))
                                : uninstall_driver(session, std::move(setup));
}

bool is_merge_driver(const std::vector<std::string>& arguments) {
  constexpr std::size_t fewest = 5;  // merge --driver BASE OURS THEIRS
  const auto has = [&](std::string_view word) { return std::ranges::find(arguments, word) != arguments.end(); };
  return arguments.size() >= fewest && has("merge") && has("--driver");
}

void leave_merge_to_git(const std::vector<std::string>& arguments) {
  // 255: git could not merge either; newer versions of git stop then.
  constexpr const char* script =
      "git merge-file \"$1\" -L ours -L base -L theirs \"$3\" \"$2\" \"$4\"; s=$?; "
      "test $s -gt 0 && test $s -lt 128 && exit 1; exit $s";
  constexpr std::string_view size_flag = "--marker-size=";
  std::string size = "--marker-size=7";
  for (const std::string& argument : arguments) {
    const bool is_size = argument.starts_with(size_flag) &&
                         argument.find_first_not_of("0123456789", size_flag.size()) == std::string::npos;
    if (is_size && argument.size() > size_flag.size()) size = argument;
  }
  std::vector<std::string> command = {"sh", "-c", script, "sh", size};
  command.insert(command.end(), arguments.end() - 3, arguments.end());
  static_cast<void>(Process::replace_this(std::move(command)));
}

}  // namespace ws::cli
