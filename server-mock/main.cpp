// ws-mock: parses the command line and runs the server.
#include <csignal>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include "api-client/base/build_info.hpp"
#include "api-client/base/yaml.hpp"
#include "api-client/contract/openapi.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/application/health.hpp"
#include "server-mock/application/serve.hpp"
#include "server-mock/compare_command.hpp"
#include "server-mock/control/control.hpp"
#include "server-mock/faults/fault_rules.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/fixtures/schema.hpp"
#include "server-mock/sweep/coverage.hpp"
#include "server-mock/sweep_command.hpp"

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

constexpr std::uint64_t default_seed = 1;
constexpr int usage_exit = 2;
constexpr int failed_exit = 1;
constexpr int stopped_exit = 3;  // of a sweep, in which 1 means findings
constexpr int file_exit = 14;    // as in `ws`: a local file or its lock

/// The parsed flags.
struct Flags {
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> allow_hosts = {};
  std::string ready_file = {};
  std::vector<std::string> fixtures = {};
  std::string data = {};
  std::optional<std::uint64_t> seed = {};
  bool reset = false;
  std::string clock = "real";
  std::string auth = "strict";
  std::string device = "manual";
  std::int64_t device_interval = 5;
  std::int64_t device_expires = 900;
  std::vector<std::string> assume = {};
  bool strict = false;
  std::string faults = {};
  std::string rate_limit = {};
  std::size_t journal = JournalBounds{}.entries;
  std::string journal_file = {};
  std::string tls = {};
  bool tls_self_signed = false;
  std::string log = {};
  std::string control_token = {};
  bool no_control = false;
  bool exit_with_parent = false;
  std::string unix_path = {};
  std::string idle_exit = {};
  bool yaml = false;
  bool control = false;
  bool json = false;
  std::vector<std::string> checked = {};
  std::string asked = {};
  bool schema = false;
  std::string report = {};
  SweepFlags sweep = {};
  std::string assume_file = {};
  DiffFlags diff = {};
  RecordFlags record = {};
};

void add_flags(CLI::App& app, Flags& flags) {
  const CLI::Range seconds(1, 86400);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  CLI::Option* listen =
      app.add_option("--listen", flags.listen, "address and port; 0 is any free one")->capture_default_str();
  app.add_option("--unix", flags.unix_path, "a Unix socket at this path, for its owner alone, in place of a port")
      ->excludes(listen);
  app.add_option("--allow-host",
                 flags.allow_hosts,
                 "a name by which clients call this server, such as a service's in compose; its address, that of "
                 "--listen and localhost are known")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--ready-file", flags.ready_file, "written when the server answers: base_url, port, pid, token");
  app.add_option("--fixtures", flags.fixtures, "the world to start with: YAML, JSON, or a folder of Markdown")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  CLI::Option* data =
      app.add_option("--data", flags.data, "SQLite file; started again it goes on where it was (default: in memory)");
  app.add_flag("--reset", flags.reset, "begin anew: what is in the file of --data goes")->needs(data);
  app.add_option(
      "--seed",
      flags.seed,
      "ids, codes and tokens (default: 1; with --data, and where others can call, keys and codes are random)");
  app.add_option("--clock", flags.clock, "real, frozen:TIME or offset:+2h")->capture_default_str();
  app.add_option("--auth", flags.auth, "strict, any or off")
      ->check(CLI::IsMember({"strict", "any", "off"}))
      ->capture_default_str();
  app.add_option("--device", flags.device, "who approves logins: manual, auto, after:N or deny")->capture_default_str();
  app.add_option("--device-interval", flags.device_interval, "seconds between polls")
      ->check(seconds)
      ->capture_default_str();
  app.add_option("--device-expires", flags.device_expires, "seconds until a code expires")
      ->check(seconds)
      ->capture_default_str();
  app.add_option("--assume", flags.assume, "KEY=VALUE; see `ws-mock assumptions`")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--assume-file", flags.assume_file, "YAML of KEY: VALUE, as `ws-mock diff --assumptions` writes it");
  app.add_flag("--strict", flags.strict, "unknown request fields are an error");
  app.add_option("--faults", flags.faults, "fault rules, as POST /_mock/faults takes them, in YAML or JSON");
  app.add_option("--rate-limit", flags.rate_limit, "calls that each key may make: 20/s, 100/m, 1000/h");
  app.add_option("--journal", flags.journal, "requests kept, 0 to 1000000")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--journal-file", flags.journal_file, "every request as a line of JSON, behind what is there");
  CLI::Option* tls = app.add_option("--tls", flags.tls, "CERT,KEY: serve HTTPS with these PEM files");
  app.add_flag("--tls-self-signed", flags.tls_self_signed, "serve HTTPS on localhost; the ready file names the ca_file")
      ->excludes(tls);
  app.add_option("--log", flags.log, "text, json or off (default: text; with exec: off)")
      ->check(CLI::IsMember({"text", "json", "off"}));
  app.add_option("--control-token", flags.control_token, "what calls under /_mock must bring");
  app.add_flag("--no-control", flags.no_control, "nothing under /_mock");
  app.add_flag("--exit-with-parent", flags.exit_with_parent, "end when the process that started this one ends");
  app.add_option("--idle-exit", flags.idle_exit, "end after so long without a request: 30s, 10m");
}

/// manual, auto, after:N, deny
Result<void> parse_device(std::string_view text, WorldOptions& options) {
  constexpr std::string_view after = "after:";
  options.device = text == "manual" ? DeviceMode::manual
                   : text == "auto" ? DeviceMode::automatic
                   : text == "deny" ? DeviceMode::deny
                                    : DeviceMode::after_polls;
  if (options.device != DeviceMode::after_polls) return {};
  const auto polls = text.starts_with(after) ? parse_bounded(text.substr(after.size())) : Result<Json>(Json());
  if (!polls || !polls->is_number_unsigned() || *polls > 1'000'000) {
    return fail(Failure::Kind::usage, fmt::format("--device \"{}\" is none of manual, auto, after:N, deny", text));
  }
  options.device_polls = polls->get<int>();
  return {};
}

Result<std::vector<FaultRule>> read_faults(const std::string& path) {
  if (path.empty()) return std::vector<FaultRule>();
  WS_LET(const SourceFile file, read_source_file(path));
  ValidationErrors errors;
  std::vector<FaultRule> rules = read_fault_rules(*file.value, {}, errors);
  if (errors.empty()) return rules;
  return fail(Failure::Kind::invalid, fmt::format("{}", fmt::join(render(file, errors), "\n")));
}

/// `KEY: VALUE` lines; what --assume says wins.
Result<void> read_assumptions(const std::string& path, Assumptions& assumptions) {
  if (path.empty()) return {};
  WS_LET(const SourceFile file, read_source_file(path));
  if (!file.value->is_object())
    return fail(Failure::Kind::invalid, fmt::format("{}: it is no map of KEY: VALUE", path));
  for (const auto& [key, value] : file.value->items()) {
    const auto set = assumptions.set(key, value.is_string() ? value.get<std::string>() : dump(value));
    if (!set) return fail(Failure::Kind::invalid, fmt::format("{}: {}", path, set.error().what), set.error().hint);
  }
  return {};
}

/// 0: never.
Result<std::chrono::milliseconds> read_idle_exit(const std::string& text) {
  if (text.empty()) return std::chrono::milliseconds{0};
  WS_LET(const std::chrono::milliseconds duration, parse_duration(text));
  if (duration.count() > 0) return duration;
  return fail(Failure::Kind::usage, fmt::format("--idle-exit \"{}\" is no time to wait", text), "say 30s or 10m");
}

/// Empty: plain HTTP.
Result<std::optional<http::TlsIdentity>> read_tls(const Flags& flags) {
  std::optional<http::TlsIdentity> identity;
  if (flags.tls_self_signed) {
    WS_LET(identity, http::make_tls_identity());
  } else if (!flags.tls.empty()) {
    const std::size_t comma = flags.tls.find(',');
    if (comma == std::string::npos) {
      return fail(Failure::Kind::usage, fmt::format("--tls \"{}\" is not CERT,KEY", flags.tls));
    }
    WS_LET(identity, http::read_tls_identity(flags.tls.substr(0, comma), flags.tls.substr(comma + 1)));
  }
  return identity;
}

AuthMode auth_mode(std::string_view text) {
  if (text == "off") return AuthMode::off;
  return text == "any" ? AuthMode::any : AuthMode::strict;
}

LogStyle log_style(std::string_view text) {
  if (text == "off") return LogStyle::off;
  return text == "json" ? LogStyle::json : LogStyle::text;
}

/// jemalloc returns freed pages only while it is used: after closing sandboxes an idle server would keep them resident.
void release_memory() {
#ifdef WS_JEMALLOC
  static const std::string purge = fmt::format("arena.{}.purge", MALLCTL_ARENAS_ALL);
  ::mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
#endif
}

/// For a server that other machines can reach.
void warn_if_unprotected(const Flags& flags, const SandboxOptions& sandbox) {
  const auto warn = [&](std::string_view flag, std::string_view risk, std::string_view instead) {
    fmt::print(stderr, "ws-mock: with {} everybody who can reach {} {}; use {}\n", flag, flags.listen, risk, instead);
  };
  const DeviceMode device = sandbox.world.device;
  if (device == DeviceMode::automatic || device == DeviceMode::after_polls)
    warn("--device " + flags.device, "gets a key without approval", "--device manual");
  if (sandbox.auth != AuthMode::strict) warn("--auth " + flags.auth, "can call every operation", "--auth strict");
}

Result<ServeSettings> settings_of(const Flags& flags) {
  ServeSettings settings;
  WS_LET(settings.server.listen, http::Address::parse(flags.listen));
  settings.server.listen.unix_path = flags.unix_path;
  WS_LET(settings.server.idle_exit, read_idle_exit(flags.idle_exit));
  if (!settings.server.listen.is_loopback() && flags.control_token.empty() && !flags.no_control) {
    return fail(Failure::Kind::usage,
                fmt::format("--listen {} is open to others", flags.listen),
                "protect the control surface with --control-token T, or leave it out with --no-control");
  }
  SandboxOptions& sandbox = settings.application.sandbox;
  if (!flags.data.empty()) sandbox.data = flags.data;
  sandbox.auth = auth_mode(flags.auth);
  sandbox.journal.entries = flags.journal;
  if (flags.reset) sandbox.existing_data = ExistingData::replace;
  const bool is_lasting = !flags.data.empty() || !settings.server.listen.is_loopback();
  sandbox.world.seed = flags.seed.value_or(default_seed);
  sandbox.world.secrets = is_lasting && !flags.seed ? Secrets::random : Secrets::seeded;
  if (is_lasting && flags.seed) {
    fmt::print(stderr,
               "ws-mock: with --seed {} keys and codes are the same every time, and whoever knows the seed can make "
               "them\n",
               *flags.seed);
  }
  sandbox.world.unknown_fields = flags.strict ? UnknownFields::refused : UnknownFields::ignored;
  sandbox.world.device_interval = std::chrono::seconds(flags.device_interval);
  sandbox.world.device_expires = std::chrono::seconds(flags.device_expires);
  WS_TRY(parse_device(flags.device, sandbox.world));
  if (!settings.server.listen.is_loopback()) warn_if_unprotected(flags, sandbox);
  WS_LET(sandbox.clock, MockClock::parse(flags.clock));
  WS_TRY(read_assumptions(flags.assume_file, sandbox.assumptions));
  for (const std::string& assignment : flags.assume) WS_TRY(sandbox.assumptions.set(assignment));
  if (!flags.rate_limit.empty()) {
    WS_LET(sandbox.rate, Rate::parse(flags.rate_limit));
  }
  WS_LET(sandbox.faults, read_faults(flags.faults));
  WS_LET(sandbox.fixtures, Fixtures::read(flags.fixtures));
  settings.application.journal_file = flags.journal_file;
  settings.application.release_memory = release_memory;
  settings.application.control = {.is_on = !flags.no_control, .token = flags.control_token};
  settings.application.log = log_style(flags.log);
  WS_TRY(http::AllowedHosts::check(flags.allow_hosts));
  settings.application.names = http::AllowedHosts::of(settings.server.listen, flags.allow_hosts);
  settings.ready_file = flags.ready_file;
  WS_LET(settings.server.tls, read_tls(flags));
  settings.trust = flags.tls_self_signed ? TrustFile::written : TrustFile::none;
  return settings;
}

int report_failure(const Failure& failure) {
  // Errors in files have a line each, like a compiler's: "world.yaml:3:5: ...".
  const bool many = failure.what.find('\n') != std::string::npos;
  fmt::print(stderr, "ws-mock:{}{}\n", many ? '\n' : ' ', failure.what);
  if (!failure.hint.empty()) fmt::print(stderr, "  {}\n", failure.hint);
  const bool usage = failure.kind == Failure::Kind::usage || failure.kind == Failure::Kind::invalid ||
                     failure.kind == Failure::Kind::not_found;
  if (failure.kind == Failure::Kind::disk) return file_exit;
  return usage ? usage_exit : failed_exit;
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
  if (!command.empty()) {
    settings->command = std::move(command);
    settings->announce = AnnounceUrl::no;
    if (flags.log.empty()) settings->application.log = LogStyle::off;
  }
  if (flags.exit_with_parent) end_with_parent(parent);
  sweep::CoverageReport report;
  if (!flags.report.empty()) settings->application.observer = [&report](const Json& entry) { report.add(entry); };
  const auto code = serve(*settings);
  if (!code) return report_failure(code.error());
  if (flags.report.empty()) return *code;
  const auto written = report.write(flags.report);
  if (!written && *code == 0) return report_failure(written.error());
  if (!written) report_failure(written.error());
  return *code;
}

int run_sweep(const Flags& flags, const std::vector<std::string>& command) {
  auto settings = settings_of(flags);
  if (!settings) return report_failure(settings.error());
  settings->application.log = LogStyle::off;
  const auto code = mock::run_sweep(flags.sweep, command, settings->application);
  if (code) return *code;
  return report_failure(code.error()) == usage_exit ? usage_exit : stopped_exit;
}

int run_diff(const Flags& flags) {
  auto settings = settings_of(flags);
  if (!settings) {
    report_failure(settings.error());
    return usage_exit;
  }
  settings->application.log = LogStyle::off;
  const auto code = mock::run_diff(flags.diff, settings->application);
  if (code) return *code;
  report_failure(code.error());
  return usage_exit;
}

int run_record(const Flags& flags) {
  const auto code = mock::run_record(flags.record, flags.listen);
  return code ? *code : report_failure(code.error());
}

int print_openapi(bool yaml, bool control) {
  const Json document = control ? control_openapi("") : contract::openapi("");
  fmt::print("{}\n", yaml ? to_yaml(document) : dump(document, 2));
  return 0;
}

/// Loads the fixtures into a temporary world.
Result<void> check_fixtures(const std::vector<std::string>& paths) {
  SandboxOptions options;
  WS_LET(options.fixtures, Fixtures::read(paths));
  WS_LET(const std::unique_ptr<Sandbox> sandbox, Sandbox::open(options));
  const auto count = [&](const char* what, const char* sql) -> Result<std::string> {
    WS_LET(const sqlite::CachedStatement row, sandbox->world->database.cached(sql));
    WS_TRY(row->step());
    return fmt::format("{} {}", what, row->integer(0));
  };
  WS_LET(const std::string people, count("people", "select count(*) from users"));
  WS_LET(const std::string workspaces, count("Workspaces", "select count(*) from workspaces"));
  WS_LET(const std::string documents, count("documents", "select count(*) from documents"));
  WS_LET(const std::string agents, count("agents", "select count(*) from agents"));
  fmt::print("{}, {}, {}, {}\n", people, workspaces, documents, agents);
  return {};
}

/// The versions of the program, of the API, and of each linked library (from CMake).
int print_version(bool as_json) {
  std::vector<std::pair<std::string, std::string>> libraries;
  for (std::string_view rest = WS_LIBRARIES; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
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
    fmt::print("{}\n", dump(document, 2));
    return 0;
  }
  fmt::print("ws-mock {}, API {}\n\nLibraries in this program:\n", WS_VERSION, contract::api_version);
  for (const auto& [name, version] : libraries) fmt::print("  {:<22} {}\n", name, version);
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

/// Of the server at the URL, or at --listen.
int print_health(const Flags& flags) {
  std::string_view place = flags.asked.empty() ? std::string_view(flags.listen) : flags.asked;
  if (place.starts_with("http://")) place.remove_prefix(std::string_view("http://").size());
  place = place.substr(0, place.find('/'));
  auto address = http::Address::parse(place);
  if (!address) return report_failure(address.error());
  address->unix_path = flags.unix_path;
  if (address->port == 0 && flags.unix_path.empty()) {
    return report_failure({.kind = Failure::Kind::usage,
                           .what = "health needs to know which server to ask",
                           .hint = "ws-mock health http://127.0.0.1:8080, or the --listen of the server"});
  }
  const auto healthy = check_health(*address);
  if (!healthy) return report_failure(healthy.error());
  fmt::print("ok\n");
  return 0;
}

int print_assumptions() {
  for (const AssumptionSwitch& one : assumption_switches()) {
    fmt::print("{:<22} {}\n", one.key, fmt::join(one.values, "  "));
  }
  fmt::print("\nThe first value is the default. Set with --assume KEY=VALUE or PATCH /_mock/assumptions.\n");
  return 0;
}

/// What the man page and the reference are made of: the flags of a word, and those of the words below it.
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
  fmt::print("{}\n", dump(all, 2));
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

int run(int count, char** texts) {
  const pid_t parent = ::getppid();
  std::vector<std::string> arguments(texts + 1, texts + count);
  std::vector<std::string> command = split_command(arguments);
  Flags flags;
  flags.sweep.replayed = replayed_flags(arguments);
  CLI::App app("A whole Workspace service in one binary, for tests and for trying things out.", "ws-mock");
  bool version_flag = false;
  app.add_flag("--version", version_flag, "show the version, and those of the libraries in this program");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_flags(app, flags);
  CLI::App* serve_words = app.add_subcommand("serve", "serve until stopped; what happens without a word, too");
  CLI::App* exec = app.add_subcommand("exec", "exec [flags] -- CMD...: run CMD with WS_BASE_URL and WS_TOKEN set");
  exec->add_option(
      "--report", flags.report, "write what was called, and the guesses that answers rest on (.json: JSON)");
  CLI::App* sweep = app.add_subcommand(
      "sweep", "sweep [flags] -- CMD...: run CMD once for each fault that can hit each of its requests");
  add_sweep_flags(*sweep, flags.sweep);
  CLI::App* diff = app.add_subcommand("diff", "compare a service, or a recording of one, with this mock");
  add_diff_flags(*diff, flags.diff);
  CLI::App* record = app.add_subcommand("record", "stand before a service and write what passes, without secrets");
  add_record_flags(*record, flags.record);
  CLI::App* openapi = app.add_subcommand("openapi", "print the API as an OpenAPI 3.1 document");
  openapi->add_flag("--yaml", flags.yaml, "as YAML");
  openapi->add_flag("--control", flags.control, "the calls under /_mock instead");
  CLI::App* assumptions = app.add_subcommand("assumptions", "list the switches of --assume");
  CLI::App* version = app.add_subcommand("version", "show the version, and those of the libraries in this program");
  version->add_flag("--json", flags.json, "as JSON");
  CLI::App* check_words = app.add_subcommand("check", "check FIXTURES...: everything that is wrong with them");
  check_words->add_option("paths", flags.checked, "YAML, JSON, or a folder of Markdown");
  check_words->add_flag("--schema", flags.schema, "print the JSON Schema of a fixtures file instead");
  CLI::App* health = app.add_subcommand("health", "health [URL]: whether the server at URL, or at --listen, answers");
  health->add_option("url", flags.asked, "http://ADDRESS:PORT");
  CLI::App* reference = app.add_subcommand("__reference")->group("");
  for (CLI::App* each : {serve_words, exec, sweep, diff, record, openapi, assumptions, version, check_words, health}) {
    each->fallthrough();
  }
  try {
    std::ranges::reverse(arguments);  // CLI11 takes arguments in reverse order
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_exit;
  }
  if (version_flag || version->parsed()) return print_version(flags.json);
  if ((exec->parsed() || sweep->parsed()) == command.empty()) {
    return report_failure(
        {.kind = Failure::Kind::usage, .what = "a command stands behind exec or sweep and --, and nowhere else"});
  }
  if (sweep->parsed()) return run_sweep(flags, command);
  if (diff->parsed()) return run_diff(flags);
  if (record->parsed()) return run_record(flags);
  if (openapi->parsed()) return print_openapi(flags.yaml, flags.control);
  if (assumptions->parsed()) return print_assumptions();
  if (check_words->parsed() && flags.schema) {
    fmt::print("{}\n", dump(fixtures_json_schema(), 2));
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
  try {
    return run(count, texts);
  } catch (const std::exception& bug) {
    fmt::print(stderr, "ws-mock: internal error: {}\n", bug.what());
    return failed_exit;
  }
}
