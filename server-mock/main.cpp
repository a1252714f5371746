// ws-mock: parses the command line and runs the server.
#include <cerrno>
#include <csignal>
#include <exception>
#include <functional>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include "api-client/base/build_info.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/yaml.hpp"
#include "api-client/contract/openapi.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/application/serve.hpp"
#include "server-mock/commands.hpp"
#include "server-mock/control/control.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/sweep/coverage.hpp"

#ifdef WS_JEMALLOC
#include <jemalloc/jemalloc.h>

/// Read by jemalloc before `main`. Only one thread allocates much, so one arena is enough.
extern "C" {
const char* malloc_conf = "narenas:1";
}
#endif

namespace {

using namespace ws;
using namespace ws::mock;

constexpr int usage_exit = 2;
constexpr int failed_exit = 1;
constexpr int stopped_exit = 3;  // of a sweep, in which 1 means findings
constexpr int file_exit = 14;    // as in `ws`: a local file or its lock, or what cannot be printed
constexpr int reader_gone_exit = 128 + SIGPIPE;

/// jemalloc returns freed pages only while it is used: after closing sandboxes an idle server would keep them resident.
void release_memory() {
#ifdef WS_JEMALLOC
  static const std::string purge = fmt::format("arena.{}.purge", MALLCTL_ARENAS_ALL);
  ::mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
#endif
}

int report_failure(const Failure& failure) {
  // Errors in files have a line each, like a compiler's: "world.yaml:3:5: ...".
  const bool many = failure.what.find('\n') != std::string::npos;
  tell(fmt::format("ws-mock:{}{}", many ? "\n" : " ", failure.what));
  if (!failure.hint.empty()) tell(fmt::format("  {}", failure.hint));
  const bool usage = failure.kind == Failure::Kind::usage || failure.kind == Failure::Kind::invalid ||
                     failure.kind == Failure::Kind::not_found;
  if (failure.kind == Failure::Kind::disk) return file_exit;
  return usage ? usage_exit : failed_exit;
}

int code_of(const Result<int>& result, std::optional<int> failed = {}) {
  if (result) return *result;
  const int code = report_failure(result.error());
  return failed.value_or(code);
}

/// `parent`: the parent process at start. In a container this may be process 1.
void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before prctl.
  if (::getppid() != parent) std::raise(SIGTERM);
}

int run_server(const Flags& flags, std::vector<std::string> command, pid_t parent) {
  auto settings = settings_of(flags);
  if (!settings) return report_failure(settings.error());
  settings->application.release_memory = release_memory;
  if (!command.empty()) {
    settings->command = std::move(command);
    settings->announce = AnnounceUrl::no;
    if (flags.log.empty()) settings->application.log = LogStyle::off;
    settings->after_command = grade_after_command(flags.grade);
  } else {
    settings->announce = AnnounceUrl::with_help;
  }
  if (flags.exit_with_parent) end_with_parent(parent);
  sweep::CoverageReport report;
  if (!flags.report.empty())
    settings->application.observer = [&report](const Exchange& exchange) { report.add(exchange); };
  const auto code = flags.trace.empty() ? serve(*settings) : exec_traced(flags, *settings);
  if (!code) return report_failure(code.error());
  if (flags.report.empty()) return *code;
  const auto written = report.write(flags.report);
  if (!written && *code == 0) return report_failure(written.error());
  if (!written) report_failure(written.error());
  return *code;
}

/// `failed`: the exit code of every failure; empty: that of its kind.
int with_settings(const Flags& flags,
                  const std::function<Result<int>(ServeSettings&)>& run_command,
                  std::optional<int> failed = {}) {
  auto settings = settings_of(flags);
  return settings ? code_of(run_command(*settings), failed) : code_of(fail(settings.error()), failed);
}

int run_sweep(const Flags& flags, const std::vector<std::string>& command) {
  return with_settings(flags, [&](ServeSettings& settings) -> Result<int> {
    settings.application.release_memory = release_memory;
    settings.application.log = LogStyle::off;
    const auto code = mock::run_sweep(flags.sweep, command, settings.application);
    if (code) return *code;
    return report_failure(code.error()) == usage_exit ? usage_exit : stopped_exit;
  });
}

int run_diff(const Flags& flags) {
  return with_settings(
      flags,
      [&](ServeSettings& settings) {
        settings.application.log = LogStyle::off;
        return mock::run_diff(flags.diff, settings.application);
      },
      usage_exit);
}

int run_trace(const Flags& flags, bool is_opened, pid_t parent) {
  if (flags.trace.empty()) {
    return report_failure(
        {.kind = Failure::Kind::usage, .what = "--at is a request of a trace", .hint = "add --trace FILE"});
  }
  if (flags.exit_with_parent) end_with_parent(parent);
  return code_of(is_opened ? open_trace(flags) : serve_trace(flags));
}

int print_openapi(bool yaml, bool control, contract::As as) {
  const Json document = control ? control_openapi("") : contract::openapi("", as);
  print((yaml ? TerminalText(to_yaml(document)) : TerminalText::json(dump(document, 2))) + "\n");
  return 0;
}

/// Loads the fixtures into a temporary world.
Result<void> check_fixtures(const std::vector<std::string>& paths) {
  SandboxOptions options;
  WS_LET(options.fixtures, Fixtures::read(paths));
  for (const std::string& note : options.fixtures.notes()) tell("ws-mock: " + note);
  WS_LET(const std::unique_ptr<Sandbox> sandbox, Sandbox::open(options));
  WS_LET(const Json state, sandbox->read_state());
  const auto count = [&](const char* table) { return state.at("tables").at(table).size(); };
  print(fmt::format("people {}, Workspaces {}, documents {}, agents {}\n",
                    count("users"),
                    count("workspaces"),
                    count("documents"),
                    count("agents")));
  return {};
}

/// The versions of the program, of the API, and of each linked library (from CMake).
int print_version(bool as_json) {
  std::vector<std::pair<std::string, std::string>> libraries;
  for (const std::string_view one : split(WS_LIBRARIES, ',')) {
    const std::size_t space = one.find(' ');
    libraries.emplace_back(one.substr(0, space), one.substr(space + 1));
  }
  if (as_json) {
    Json all = Json::object();
    for (const auto& [name, version] : libraries) all[name] = version;
    const Json document = {{"v", 1},
                           {"version", WS_VERSION},
                           {"api_version", contract::api_version},
                           {"commit", build_commit()},
                           {"compiler", build_compiler()},
                           {"libraries", std::move(all)}};
    print(TerminalText::json(dump(document, 2)) + "\n");
    return 0;
  }
  print(fmt::format("ws-mock {}, API {}\n\nLibraries in this program:\n", WS_VERSION, contract::api_version));
  for (const auto& [name, version] : libraries) print(fmt::format("  {:<22} {}\n", name, version));
  return 0;
}

int check(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return report_failure(
        {.kind = Failure::Kind::usage, .what = "check needs a fixtures file", .hint = "ws-mock check FILE"});
  }
  const auto tried = check_fixtures(paths);
  return tried ? 0 : report_failure(tried.error());
}

/// Prints the health of the server at the given URL, or at --listen.
int print_health(const Flags& flags) {
  std::string_view place = flags.asked.empty() ? std::string_view(flags.listen) : flags.asked;
  const bool is_tls = place.starts_with("https://") || flags.tls_self_signed || !flags.tls.empty();
  const std::string_view scheme = is_tls ? "https" : "http";
  for (const std::string_view one : {"http://", "https://"}) {
    if (place.starts_with(one)) place.remove_prefix(one.size());
  }
  place = place.substr(0, place.find('/'));
  auto address = http::Address::parse(place);
  if (!address) return report_failure(address.error());
  address->unix_path = flags.unix_path;
  if (address->port == 0 && flags.unix_path.empty()) {
    return report_failure({.kind = Failure::Kind::usage,
                           .what = "health needs to know which server to ask",
                           .hint = "ws-mock health http://127.0.0.1:8080, or the --listen of the server"});
  }
  const auto healthy = check_health(*address, scheme);
  if (!healthy) return report_failure(healthy.error());
  print("ok\n");
  return 0;
}

int print_assumptions() {
  for (const AssumptionSwitch& one : assumption_switches()) {
    print(fmt::format("{:<22} {}\n", one.key, fmt::join(one.values, "  ")));
  }
  print("\nThe first value is the default. Set with --assume KEY=VALUE or PATCH /_mock/assumptions.\n");
  return 0;
}

/// The input for the man page and the reference: the flags of a command and of its subcommands.
Json flags_reference(const CLI::App& app) {
  Json all = {{"name", app.get_name()}, {"summary", app.get_description()}, {"footer", app.get_footer()}};
  all["flags"] = Json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == "--help") continue;
    all["flags"].push_back({{"name", option->get_name(option->get_positional(), true)},
                            {"takes", option->get_items_expected_max() == 0 ? "" : option->get_type_name()},
                            {"default", option->get_default_str()},
                            {"help", option->get_description()}});
  }
  all["words"] = Json::array();
  for (const CLI::App* word : app.get_subcommands([](const CLI::App* one) { return one->get_group() != ""; })) {
    all["words"].push_back(flags_reference(*word));
  }
  return all;
}

/// Hidden: for packaging/documents.
int print_reference(const CLI::App& app) {
  Json all = {{"v", 1}, {"version", WS_VERSION}, {"program", flags_reference(app)}};
  all["assumptions"] = Json::array();
  for (const AssumptionSwitch& one : assumption_switches()) {
    all["assumptions"].push_back({{"key", one.key}, {"values", one.values}});
  }
  all["control"] = control_openapi("");
  all["fixtures"] = fixtures_json_schema();
  print(TerminalText::json(dump(all, 2)) + "\n");
  return 0;
}

/// Splits off what follows `--`: the command of `exec`.
std::vector<std::string> split_command(std::vector<std::string>& arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> command(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return command;
}

/// An empty value, as of a variable that is not set, is not the same as no flag: what was asked for would be left out
/// without a word. And CLI11 wraps a negative number around where an option takes an unsigned one.
void refuse_wrong_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check([option, is_unsigned = option->get_type_name() == "UINT"](const std::string& text) {
      if (text.empty()) throw CLI::ArgumentMismatch(option->get_name());
      if (is_unsigned && text.starts_with('-')) throw CLI::ConversionError(option->get_name(), std::vector{text});
      return std::string();
    });
  }
  for (CLI::App* word : app.get_subcommands([](const CLI::App* /*any*/) { return true; })) {
    refuse_wrong_values(*word);
  }
}

int run(int count, char** texts) {
  const pid_t parent = ::getppid();
  std::vector<std::string> arguments(texts + 1, texts + count);
  std::vector<std::string> command = split_command(arguments);
  const std::vector<std::string> words = arguments;
  Flags flags;
  CLI::App app("A whole Workspace service in one binary, for tests and for trying things out.", "ws-mock");
  bool version_flag = false;
  app.add_flag("--version", version_flag, "show the version, and those of the libraries in this program");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_flags(app, flags);
  CLI::App* serve_words = app.add_subcommand("serve", "serve until stopped; the same as without a command");
  CLI::App* exec = app.add_subcommand("exec", "exec [flags] -- CMD...: run CMD with WS_BASE_URL and WS_TOKEN set");
  exec->add_option("--report",
                   flags.report,
                   "write which operations were called, and which assumptions the answers rest on (.json: JSON)");
  exec->add_option("--trace", flags.trace, "record every request, to be looked at with `ws-mock open`");
  add_expect_flags(*exec, flags.grade);
  serve_words->add_option("--trace", flags.trace, "a file of exec --trace: the world as it was then, live");
  serve_words->add_option("--at", flags.at, "after this request of the trace (default: the last; 0: the start)");
  CLI::App* open = app.add_subcommand("open", "open FILE: show a trace of exec --trace in the browser, with a slider");
  open->add_option("trace", flags.trace, "what exec --trace wrote")->required();
  CLI::App* start = app.add_subcommand("start", "start a server in the background; prints export lines for a shell");
  CLI::App* env = app.add_subcommand("env", "print the export lines of the server that start has started");
  CLI::App* stop = app.add_subcommand("stop", "stop the server that start has started");
  for (CLI::App* each : {start, env, stop}) add_name_flag(*each, flags.name);
  CLI::App* grade = app.add_subcommand("grade", "compare the state of a server with a wanted one");
  add_grade_flags(*grade, flags.grade);
  CLI::App* sweep = app.add_subcommand(
      "sweep", "sweep [flags] -- CMD...: run CMD once for each fault that can hit each of its requests");
  add_sweep_flags(*sweep, flags.sweep);
  flags.sweep.replayed = replayed_flags(*sweep, arguments);
  CLI::App* diff = app.add_subcommand("diff", "compare a service, or a recording of one, with this mock");
  add_diff_flags(*diff, flags.diff);
  CLI::App* record = app.add_subcommand("record", "forward requests to a service and record them, without secrets");
  add_record_flags(*record, flags.record);
  CLI::App* openapi = app.add_subcommand("openapi", "print the API as an OpenAPI 3.1 document");
  openapi->add_flag("--yaml", flags.yaml, "as YAML");
  openapi->add_flag("--control", flags.control, "the calls under /_mock instead");
  openapi->add_flag("--as-mocked",
                    flags.as_mocked,
                    "with the members that the mock always sends as required, for the types of a generated client");
  CLI::App* assumptions = app.add_subcommand("assumptions", "list the switches of --assume");
  CLI::App* version = app.add_subcommand("version", "show the version, and those of the libraries in this program");
  version->add_flag("--json", flags.json, "as JSON");
  CLI::App* check_words = app.add_subcommand("check", "check FIXTURES...: list everything that is wrong with fixtures");
  check_words->add_option("paths", flags.checked, "YAML, JSON, or a folder of Markdown");
  check_words->add_flag("--schema", flags.schema, "print the JSON Schema of a fixtures file instead");
  CLI::App* health =
      app.add_subcommand("health", "health [URL]: ask whether the server at URL, or at --listen, answers");
  health->add_option("url", flags.asked, "http://ADDRESS:PORT, or https://ADDRESS:PORT");
  CLI::App* reference = app.add_subcommand("__reference")->group("");
  refuse_wrong_values(app);
  try {
    std::ranges::reverse(arguments);  // CLI11 takes arguments in reverse order
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    print(render_help(app));
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_failure(usage_failure(app, error));
  }
  if (version_flag || version->parsed()) return print_version(flags.json);
  if ((exec->parsed() || sweep->parsed()) == command.empty()) {
    const std::vector<CLI::App*> named = app.get_subcommands();
    return report_failure(command_failure(named.empty() ? "" : named.front()->get_name(), !command.empty()));
  }
  if (start->parsed()) {
    return with_settings(flags, [&](const ServeSettings&) { return start_in_background(flags.name, words); });
  }
  if (env->parsed()) return code_of(print_environment(flags.name));
  if (stop->parsed()) return code_of(stop_in_background(flags.name));
  if (grade->parsed()) return code_of(run_grade(flags.grade, flags.data, flags.control_token), usage_exit);
  if (sweep->parsed()) return run_sweep(flags, command);
  if (diff->parsed()) return run_diff(flags);
  if (record->parsed()) {
    return with_settings(flags, [&](const ServeSettings& settings) { return run_record(flags.record, settings); });
  }
  if (open->parsed() || (serve_words->parsed() && (!flags.trace.empty() || flags.at))) {
    return run_trace(flags, open->parsed(), parent);
  }
  if (openapi->parsed()) {
    return print_openapi(flags.yaml, flags.control, flags.as_mocked ? contract::As::mocked : contract::As::published);
  }
  if (assumptions->parsed()) return print_assumptions();
  if (check_words->parsed() && flags.schema) {
    print(TerminalText::json(dump(fixtures_json_schema(), 2)) + "\n");
    return 0;
  }
  if (check_words->parsed()) return check(flags.checked);
  if (reference->parsed()) return print_reference(app);
  if (health->parsed()) return print_health(flags);
  return run_server(flags, std::move(command), parent);
}

}  // namespace

int main(int count, char** texts) {
  std::signal(SIGCHLD, SIG_DFL);  // if it is inherited as ignored, waitpid returns no exit code
  prepare_output();
  int code = failed_exit;
  try {
    code = run(count, texts);
  } catch (const std::exception& bug) {
    tell(fmt::format("ws-mock: internal error: {}", bug.what()));
  }
  if (!end_output() && code == 0) return errno == EPIPE ? reader_gone_exit : file_exit;
  return code;
}
