// ws-mock: words in, a server out.
#include <csignal>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include "api-client/base/yaml.hpp"
#include "api-client/contract/openapi.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/application/serve.hpp"
#include "server-mock/faults/fault_rules.hpp"
#include "server-mock/fixtures/fixtures.hpp"

#ifdef WS_JEMALLOC
#include <jemalloc/jemalloc.h>

/// Read by jemalloc before `main`: one thread allocates, so one arena is enough.
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
constexpr int file_exit = 14;  // as `ws` has it: a local file, or who holds its lock

/// The flags as they were typed.
struct Words {
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
  bool json = false;
  std::vector<std::string> checked = {};
};

void add_flags(CLI::App& app, Words& words) {
  const CLI::Range seconds(1, 86400);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  CLI::Option* listen =
      app.add_option("--listen", words.listen, "address and port; 0 is any free one")->capture_default_str();
  app.add_option("--unix", words.unix_path, "a Unix socket at this path, for its owner alone, in place of a port")
      ->excludes(listen);
  app.add_option("--allow-host",
                 words.allow_hosts,
                 "a name by which clients call this server, such as a service's in compose; its address, that of "
                 "--listen and localhost are known")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--ready-file", words.ready_file, "written when the server answers: base_url, port, pid, token");
  app.add_option("--fixtures", words.fixtures, "the world to start with: YAML, JSON, or a folder of Markdown")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  CLI::Option* data =
      app.add_option("--data", words.data, "SQLite file; started again it goes on where it was (default: in memory)");
  app.add_flag("--reset", words.reset, "begin anew: what is in the file of --data goes")->needs(data);
  app.add_option(
      "--seed",
      words.seed,
      "ids, codes and tokens (default: 1; with --data, and where others can call, keys and codes are random)");
  app.add_option("--clock", words.clock, "real, frozen:TIME or offset:+2h")->capture_default_str();
  app.add_option("--auth", words.auth, "strict, any or off")
      ->check(CLI::IsMember({"strict", "any", "off"}))
      ->capture_default_str();
  app.add_option("--device", words.device, "who approves logins: manual, auto, after:N or deny")->capture_default_str();
  app.add_option("--device-interval", words.device_interval, "seconds between polls")
      ->check(seconds)
      ->capture_default_str();
  app.add_option("--device-expires", words.device_expires, "seconds until a code expires")
      ->check(seconds)
      ->capture_default_str();
  app.add_option("--assume", words.assume, "KEY=VALUE; see `ws-mock assumptions`")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_flag("--strict", words.strict, "unknown request fields are an error");
  app.add_option("--faults", words.faults, "fault rules, as POST /_mock/faults takes them, in YAML or JSON");
  app.add_option("--rate-limit", words.rate_limit, "calls that each key may make: 20/s, 100/m, 1000/h");
  app.add_option("--journal", words.journal, "requests kept, 0 to 1000000")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--journal-file", words.journal_file, "every request as a line of JSON, behind what is there");
  CLI::Option* tls = app.add_option("--tls", words.tls, "CERT,KEY: serve HTTPS with these PEM files");
  app.add_flag("--tls-self-signed", words.tls_self_signed, "serve HTTPS on localhost; the ready file names the ca_file")
      ->excludes(tls);
  app.add_option("--log", words.log, "text, json or off (default: text; with exec: off)")
      ->check(CLI::IsMember({"text", "json", "off"}));
  app.add_option("--control-token", words.control_token, "what calls under /_mock must bring");
  app.add_flag("--no-control", words.no_control, "nothing under /_mock");
  app.add_flag("--exit-with-parent", words.exit_with_parent, "end when the process that started this one ends");
  app.add_option("--idle-exit", words.idle_exit, "end after so long without a request: 30s, 10m");
}

/// manual, auto, after:N, deny
Result<void> parse_device(std::string_view text, WorldOptions& options) {
  constexpr std::string_view after = "after:";
  if (text == "manual") {
    options.device = DeviceMode::manual;
  } else if (text == "auto") {
    options.device = DeviceMode::automatic;
  } else if (text == "deny") {
    options.device = DeviceMode::deny;
  } else {
    const auto polls = text.starts_with(after) ? parse_bounded(text.substr(after.size())) : Result<Json>(Json());
    if (!polls || !polls->is_number_unsigned() || *polls > 1'000'000) {
      return fail(Failure::Kind::usage, fmt::format("--device \"{}\" is none of manual, auto, after:N, deny", text));
    }
    options.device = DeviceMode::after_polls;
    options.device_polls = polls->get<int>();
  }
  return {};
}

Result<std::vector<FaultRule>> read_faults(const std::string& path) {
  if (path.empty()) return std::vector<FaultRule>();
  WS_LET(const Written file, read_written(path));
  Complaints complaints;
  std::vector<FaultRule> rules = read_fault_rules(*file.value, {}, complaints);
  if (complaints.empty()) return rules;
  return fail(Failure::Kind::invalid, fmt::format("{}", fmt::join(render(file, complaints), "\n")));
}

/// 0: never.
Result<std::chrono::milliseconds> read_idle_exit(const std::string& text) {
  if (text.empty()) return std::chrono::milliseconds{0};
  WS_LET(const std::chrono::milliseconds duration, parse_duration(text));
  if (duration.count() > 0) return duration;
  return fail(Failure::Kind::usage, fmt::format("--idle-exit \"{}\" is no time to wait", text), "say 30s or 10m");
}

/// Empty: plain HTTP.
Result<std::optional<http::TlsIdentity>> read_tls(const Words& words) {
  std::optional<http::TlsIdentity> identity;
  if (words.tls_self_signed) {
    WS_LET(identity, http::make_tls_identity());
  } else if (!words.tls.empty()) {
    const std::size_t comma = words.tls.find(',');
    if (comma == std::string::npos) {
      return fail(Failure::Kind::usage, fmt::format("--tls \"{}\" is not CERT,KEY", words.tls));
    }
    WS_LET(identity, http::read_tls_identity(words.tls.substr(0, comma), words.tls.substr(comma + 1)));
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

/// The allocator keeps freed pages for some seconds of work: closed sandboxes would stay resident in a server that
/// idles.
void give_memory_back() {
#ifdef WS_JEMALLOC
  static const std::string purge = fmt::format("arena.{}.purge", MALLCTL_ARENAS_ALL);
  ::mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
#endif
}

Result<ServeSettings> settings_of(const Words& words) {
  ServeSettings settings;
  WS_LET(settings.server.listen, http::Address::parse(words.listen));
  settings.server.listen.unix_path = words.unix_path;
  WS_LET(settings.server.idle_exit, read_idle_exit(words.idle_exit));
  if (!settings.server.listen.is_loopback() && words.control_token.empty() && !words.no_control) {
    return fail(Failure::Kind::usage,
                fmt::format("--listen {} is open to others", words.listen),
                "protect the control surface with --control-token T, or leave it out with --no-control");
  }
  SandboxOptions& sandbox = settings.application.sandbox;
  if (!words.data.empty()) sandbox.data = words.data;
  sandbox.auth = auth_mode(words.auth);
  sandbox.journal.entries = words.journal;
  if (words.reset) sandbox.kept = KeptWorld::is_replaced;
  const bool is_lasting = !words.data.empty() || !settings.server.listen.is_loopback();
  sandbox.world.seed = words.seed.value_or(default_seed);
  sandbox.world.secrets = is_lasting && !words.seed ? Secrets::random : Secrets::seeded;
  if (is_lasting && words.seed) {
    fmt::print(stderr,
               "ws-mock: with --seed {} keys and codes are the same every time, and whoever knows the seed can make "
               "them\n",
               *words.seed);
  }
  sandbox.world.unknown_fields = words.strict ? Unknown::refused : Unknown::ignored;
  sandbox.world.device_interval = std::chrono::seconds(words.device_interval);
  sandbox.world.device_expires = std::chrono::seconds(words.device_expires);
  WS_TRY(parse_device(words.device, sandbox.world));
  WS_LET(sandbox.clock, MockClock::parse(words.clock));
  for (const std::string& assignment : words.assume) WS_TRY(sandbox.assumptions.set(assignment));
  if (!words.rate_limit.empty()) {
    WS_LET(sandbox.rate, Rate::parse(words.rate_limit));
  }
  WS_LET(sandbox.faults, read_faults(words.faults));
  WS_LET(sandbox.fixtures, Fixtures::read(words.fixtures));
  settings.application.journal_file = words.journal_file;
  settings.application.give_memory_back = give_memory_back;
  settings.application.control = {.is_on = !words.no_control, .token = words.control_token};
  settings.application.log = log_style(words.log);
  WS_TRY(http::OwnNames::check(words.allow_hosts));
  settings.application.names = http::OwnNames::of(settings.server.listen, words.allow_hosts);
  settings.ready_file = words.ready_file;
  WS_LET(settings.server.tls, read_tls(words));
  settings.trust = words.tls_self_signed ? TrustFile::written : TrustFile::none;
  return settings;
}

int complain(const Failure& failure) {
  // Of several complaints about files each has its line, as a compiler's do: "world.yaml:3:5: ...".
  const bool many = failure.what.find('\n') != std::string::npos;
  fmt::print(stderr, "ws-mock:{}{}\n", many ? '\n' : ' ', failure.what);
  if (!failure.hint.empty()) fmt::print(stderr, "  {}\n", failure.hint);
  const bool usage = failure.kind == Failure::Kind::usage || failure.kind == Failure::Kind::invalid ||
                     failure.kind == Failure::Kind::not_found;
  if (failure.kind == Failure::Kind::disk) return file_exit;
  return usage ? usage_exit : failed_exit;
}

/// `parent`: as it was when the program began. In a container it may well be process 1.
void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have gone before that.
  if (::getppid() != parent) std::raise(SIGTERM);
}

int run_server(const Words& words, std::vector<std::string> command, pid_t parent) {
  auto settings = settings_of(words);
  if (!settings) return complain(settings.error());
  if (!command.empty()) {
    settings->command = std::move(command);
    settings->announce = AnnounceUrl::no;
    if (words.log.empty()) settings->application.log = LogStyle::off;
  }
  if (words.exit_with_parent) end_with_parent(parent);
  const auto code = serve(*settings);
  return code ? *code : complain(code.error());
}

int print_openapi(bool yaml) {
  const Json document = contract::openapi("");
  fmt::print("{}\n", yaml ? to_yaml(document) : dump(document, 2));
  return 0;
}

/// Puts the fixtures into a world that is thrown away.
Result<void> try_out(const std::vector<std::string>& paths) {
  SandboxOptions options;
  WS_LET(options.fixtures, Fixtures::read(paths));
  WS_LET(const std::unique_ptr<Sandbox> sandbox, Sandbox::open(options));
  const auto count = [&](const char* what, const char* sql) -> Result<std::string> {
    WS_LET(const sqlite::Lent row, sandbox->world->database.cached(sql));
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

/// The program's own version, that of the API, and of each library that is part of the program (CMake knows them).
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
    const Json document = {
        {"v", 1}, {"version", WS_VERSION}, {"api_version", contract::api_version}, {"libraries", std::move(all)}};
    fmt::print("{}\n", dump(document, 2));
    return 0;
  }
  fmt::print("ws-mock {}, API {}\n\nLibraries in this program:\n", WS_VERSION, contract::api_version);
  for (const auto& [name, version] : libraries) fmt::print("  {:<22} {}\n", name, version);
  return 0;
}

int check(const std::vector<std::string>& paths) {
  const auto tried = try_out(paths);
  return tried ? 0 : complain(tried.error());
}

int print_assumptions() {
  for (const AssumptionSwitch& one : assumption_switches()) {
    fmt::print("{:<22} {}\n", one.key, fmt::join(one.values, "  "));
  }
  fmt::print("\nThe first value is the default. Set with --assume KEY=VALUE or PATCH /_mock/assumptions.\n");
  return 0;
}

/// What stands behind `--` is the command of `exec`, whatever it looks like.
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
  Words words;
  CLI::App app("A whole Workspace service in one binary, for tests and for trying things out.", "ws-mock");
  bool version_flag = false;
  app.add_flag("--version", version_flag, "show the version, and those of the libraries in this program");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_flags(app, words);
  CLI::App* serve_words = app.add_subcommand("serve", "serve until stopped; what happens without a word, too");
  CLI::App* exec = app.add_subcommand("exec", "exec [flags] -- CMD...: run CMD with WS_BASE_URL and WS_TOKEN set");
  CLI::App* openapi = app.add_subcommand("openapi", "print the API as an OpenAPI 3.1 document");
  openapi->add_flag("--yaml", words.yaml, "as YAML");
  CLI::App* assumptions = app.add_subcommand("assumptions", "list the switches of --assume");
  CLI::App* version = app.add_subcommand("version", "show the version, and those of the libraries in this program");
  version->add_flag("--json", words.json, "as JSON");
  CLI::App* check_words = app.add_subcommand("check", "check FIXTURES...: everything that is wrong with them");
  check_words->add_option("paths", words.checked, "YAML, JSON, or a folder of Markdown")->required();
  for (CLI::App* each : {serve_words, exec, openapi, assumptions, version, check_words}) each->fallthrough();
  try {
    std::ranges::reverse(arguments);  // the order that CLI11 wants of a vector
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_exit;
  }
  if (version_flag || version->parsed()) return print_version(words.json);
  if (exec->parsed() == command.empty()) {
    return complain({.kind = Failure::Kind::usage, .what = "a command stands behind exec and --, and nowhere else"});
  }
  if (openapi->parsed()) return print_openapi(words.yaml);
  if (assumptions->parsed()) return print_assumptions();
  if (check_words->parsed()) return check(words.checked);
  return run_server(words, std::move(command), parent);
}

}  // namespace

int main(int count, char** texts) {
  std::signal(SIGCHLD, SIG_DFL);  // inherited as ignored, no child would leave an exit code
  try {
    return run(count, texts);
  } catch (const std::exception& bug) {
    fmt::print(stderr, "ws-mock: internal error: {}\n", bug.what());
    return failed_exit;
  }
}
