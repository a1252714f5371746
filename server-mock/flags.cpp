#include "server-mock/flags.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "server-mock/faults/faults.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/output/print.hpp"

namespace ws::mock {
namespace {

constexpr std::uint64_t default_seed = 1;
/// The control token of a replay if the recorded server had one.
constexpr const char* replayed_token = "replayed";

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
    return fail(Failure::Kind::usage, fmt::format("--device takes manual, auto, after:N or deny, not \"{}\"", text));
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

/// `KEY: VALUE` lines, as assignments.
Result<std::vector<std::string>> read_assumptions(const std::string& path) {
  std::vector<std::string> assignments;
  if (path.empty()) return assignments;
  WS_LET(const SourceFile file, read_source_file(path));
  if (!file.value->is_object())
    return fail(Failure::Kind::invalid, fmt::format("{}: it is not a map of KEY: VALUE", path));
  for (const auto& [key, value] : file.value->items()) {
    assignments.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : dump(value)));
    const auto set = Assumptions().set(assignments.back());
    if (!set) return fail(Failure::Kind::invalid, fmt::format("{}: {}", path, set.error().what), set.error().hint);
  }
  return assignments;
}

/// 0: never.
Result<std::chrono::milliseconds> read_idle_exit(const std::string& text) {
  if (text.empty()) return std::chrono::milliseconds{0};
  WS_LET(const std::chrono::milliseconds duration, parse_duration(text));
  if (duration.count() > 0) return duration;
  return fail(Failure::Kind::usage, fmt::format("--idle-exit \"{}\" is not a time", text), "use 30s or 10m");
}

/// Empty: plain HTTP.
Result<std::optional<http::TlsIdentity>> read_tls(const Flags& flags, const http::AllowedHosts& names) {
  std::optional<http::TlsIdentity> identity;
  if (flags.tls_self_signed) {
    WS_LET(identity, http::make_tls_identity(names.names()));
  } else if (!flags.tls.empty()) {
    const std::size_t comma = flags.tls.find(',');
    if (comma == std::string::npos) {
      return fail(Failure::Kind::usage, fmt::format("--tls \"{}\" is not CERT,KEY", flags.tls));
    }
    WS_LET(identity, http::read_tls_identity(flags.tls.substr(0, comma), flags.tls.substr(comma + 1)));
  }
  return identity;
}

/// The host of `--public-url`.
Result<std::string> read_public_host(std::string_view url) {
  const bool is_web = url.starts_with("http://") || url.starts_with("https://");
  const auto parts = is_web ? http::split_host(http::authority_of(url)) : std::nullopt;
  const bool is_plain = url.find_first_of("?# \t\r\n\"<>\\") == std::string_view::npos;
  if (parts && is_plain) return parts->name.find(':') == std::string::npos ? parts->name : "[" + parts->name + "]";
  return fail(Failure::Kind::usage,
              fmt::format("--public-url \"{}\" is not of the form https://host[:port][/prefix]", url));
}

AuthMode auth_mode(std::string_view text) {
  if (text == "off") return AuthMode::off;
  return text == "any" ? AuthMode::any : AuthMode::strict;
}

LogStyle log_style(std::string_view text) {
  if (text == "off") return LogStyle::off;
  return text == "json" ? LogStyle::json : LogStyle::text;
}

/// For a server that other machines can reach.
void warn_if_unprotected(const Flags& flags, const SandboxOptions& sandbox) {
  const auto warn = [&](std::string_view flag, std::string_view risk, std::string_view instead) {
    tell(fmt::format("ws-mock: with {} everyone who can reach {} {}; use {}", flag, flags.listen, risk, instead));
  };
  const DeviceMode device = sandbox.world.device;
  if (device == DeviceMode::automatic || device == DeviceMode::after_polls)
    warn("--device " + flags.device, "gets a key without approval", "--device manual");
  if (sandbox.auth != AuthMode::strict) warn("--auth " + flags.auth, "can call every operation", "--auth strict");
}

Result<std::vector<FaultRule>> traced_faults(const Json& traced) {
  const Json* rules = find(traced, "faults");
  if (rules == nullptr || rules->is_null()) return std::vector<FaultRule>();
  ValidationErrors errors;
  std::vector<FaultRule> read = read_fault_rules(*rules, {}, errors);
  if (errors.empty()) return read;
  return fail(Failure::Kind::invalid, "the faults of this trace are damaged");
}

Result<Fixtures> traced_fixtures(const Json& traced) {
  const Json* files = find(traced, "fixtures");
  if (files == nullptr) return Fixtures();
  return Fixtures::of_all(*files);
}

}  // namespace

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
  app.add_option(
      "--public-url", flags.public_url, "the base of the addresses in answers, if a proxy is in front of the server");
  app.add_option("--ready-file", flags.ready_file, "written when the server answers: base_url, port, pid, token");
  app.add_option("--fixtures", flags.fixtures, "the world to start with: YAML, JSON, or a folder of Markdown")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  CLI::Option* data =
      app.add_option("--data", flags.data, "SQLite file; started again it continues where it was (default: in memory)");
  app.add_flag("--reset", flags.reset, "start over: delete what is in the file of --data")->needs(data);
  app.add_option(
      "--seed",
      flags.seed,
      "ids, codes and tokens (default: 1; with --data, and where others can call, keys and codes are random)");
  app.add_option("--clock", flags.clock, "real, frozen:TIME or offset:+2h")->default_str("real");
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
  app.add_option("--journal-file", flags.journal_file, "append every request as a line of JSON");
  CLI::Option* tls = app.add_option("--tls", flags.tls, "CERT,KEY: serve HTTPS with these PEM files");
  app.add_flag("--tls-self-signed", flags.tls_self_signed, "serve HTTPS on localhost; the ready file names the ca_file")
      ->excludes(tls);
  app.add_option("--log", flags.log, "text, json or off (default: text; with exec: off)")
      ->check(CLI::IsMember({"text", "json", "off"}));
  app.add_option("--control-token", flags.control_token, "the token that calls under /_mock need");
  app.add_flag("--no-control", flags.no_control, "leave out everything under /_mock");
  app.add_flag("--exit-with-parent", flags.exit_with_parent, "end when the process that started this one ends");
  app.add_option("--idle-exit", flags.idle_exit, "stop after this long without a request: 30s, 10m");
}

Result<ServeSettings> settings_of(const Flags& flags) {
  ServeSettings settings;
  WS_LET(settings.server.listen, http::Address::parse(flags.listen));
  settings.server.listen.unix_path = flags.unix_path;
  WS_LET(settings.server.idle_exit, read_idle_exit(flags.idle_exit));
  if (!settings.server.listen.is_loopback() && flags.control_token.empty() && !flags.no_control) {
    return fail(Failure::Kind::usage,
                fmt::format("--listen {} is open to other machines", flags.listen),
                "protect it with --control-token T, or leave out what the token protects with --no-control");
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
    tell(
        fmt::format("ws-mock: with --seed {} keys and codes are the same every time, and everyone who knows the seed "
                    "can compute them",
                    *flags.seed));
  }
  sandbox.world.unknown_fields = flags.strict ? UnknownFields::refused : UnknownFields::ignored;
  sandbox.world.device_interval = std::chrono::seconds(flags.device_interval);
  sandbox.world.device_expires = std::chrono::seconds(flags.device_expires);
  WS_TRY(parse_device(flags.device, sandbox.world));
  if (!settings.server.listen.is_loopback()) warn_if_unprotected(flags, sandbox);
  sandbox.is_clock_given = flags.clock.has_value();
  WS_LET(sandbox.clock, MockClock::parse(flags.clock.value_or("real")));
  // --assume overrides the file.
  WS_LET(const std::vector<std::string> from_file, read_assumptions(flags.assume_file));
  for (const std::string& assignment : from_file) WS_TRY(sandbox.assumptions.set(assignment));
  for (const std::string& assignment : flags.assume) WS_TRY(sandbox.assumptions.set(assignment));
  if (!flags.rate_limit.empty()) {
    WS_LET(sandbox.rate, Rate::parse(flags.rate_limit));
  }
  if (flags.traced.is_null()) {
    WS_LET(sandbox.faults, read_faults(flags.faults));
    WS_LET(sandbox.fixtures, Fixtures::read(flags.fixtures));
    for (const std::string& note : sandbox.fixtures.notes()) tell("ws-mock: " + note);
  } else {
    WS_LET(sandbox.faults, traced_faults(*flags.traced));
    WS_LET(sandbox.fixtures, traced_fixtures(*flags.traced));
  }
  settings.application.journal_file = flags.journal_file;
  settings.application.control = {.is_on = !flags.no_control, .token = flags.control_token};
  settings.application.log = log_style(flags.log);
  WS_TRY(http::AllowedHosts::check(flags.allow_hosts));
  std::vector<std::string> allowed = flags.allow_hosts;
  if (!flags.public_url.empty()) {
    WS_LET(const std::string host, read_public_host(flags.public_url));
    allowed.push_back(host);
    settings.application.public_url = flags.public_url;
    while (settings.application.public_url.ends_with('/')) settings.application.public_url.pop_back();
  }
  settings.application.names = http::AllowedHosts::of(settings.server.listen, allowed);
  settings.ready_file = flags.ready_file;
  WS_LET(settings.server.tls, read_tls(flags, settings.application.names));
  settings.trust = flags.tls_self_signed ? TrustFile::written : TrustFile::none;
  return settings;
}

Result<Json> flags_for_trace(const Flags& flags) {
  const auto refuse = [](const std::string& flag) {
    return fail(
        Failure::Kind::usage,
        fmt::format("--trace cannot record a server with {}", flag),
        "a trace needs --fixtures, a server that only this machine can call, and keys that are the same every time");
  };
  if (!flags.data.empty()) return refuse("--data");
  WS_LET(const http::Address listen, http::Address::parse(flags.listen));
  if (!listen.is_loopback()) return refuse("--listen " + flags.listen);
  Json faults;
  if (!flags.faults.empty()) {
    WS_LET(const SourceFile file, read_source_file(flags.faults));
    faults = *file.value;
  }
  WS_LET(std::vector<std::string> assumed, read_assumptions(flags.assume_file));
  assumed.insert(assumed.end(), flags.assume.begin(), flags.assume.end());
  Json fixtures = Json::array();
  WS_LET(const Fixtures read, Fixtures::read(flags.fixtures));
  for (const SourceFile& file : read.files()) fixtures.push_back(*file.value);
  return Json{{"seed", flags.seed.value_or(default_seed)},
              {"clock", flags.clock.value_or("real")},
              {"auth", flags.auth},
              {"device", flags.device},
              {"device_interval", flags.device_interval},
              {"device_expires", flags.device_expires},
              {"assume", std::move(assumed)},
              {"strict", flags.strict},
              {"rate_limit", flags.rate_limit},
              {"allow_hosts", flags.allow_hosts},
              {"public_url", flags.public_url},
              {"control", !flags.no_control},
              {"control_token", !flags.control_token.empty()},
              {"faults", std::move(faults)},
              {"fixtures", std::move(fixtures)}};
}

Result<void> flags_from_trace(const Json& traced, Flags& flags) {
  const auto take_text = [&](const char* name, std::string& into) { into = find_text(traced, name).value_or(into); };
  flags.clock = find_text(traced, "clock");
  take_text("auth", flags.auth);
  take_text("device", flags.device);
  take_text("rate_limit", flags.rate_limit);
  take_text("public_url", flags.public_url);
  flags.device_interval = find_integer(traced, "device_interval").value_or(flags.device_interval);
  flags.device_expires = find_integer(traced, "device_expires").value_or(flags.device_expires);
  constexpr std::int64_t longest_s = 86400;
  const bool in_range = flags.device_interval >= 1 && flags.device_interval <= longest_s && flags.device_expires >= 1 &&
                        flags.device_expires <= longest_s;
  const auto seed = find_integer(traced, "seed");
  const bool known_auth = flags.auth == "strict" || flags.auth == "any" || flags.auth == "off";
  if (!in_range || !known_auth || !seed) return fail(Failure::Kind::invalid, "the flags of this trace are damaged");
  flags.seed = static_cast<std::uint64_t>(*seed);
  flags.assume = find_texts(traced, "assume");
  flags.allow_hosts = find_texts(traced, "allow_hosts");
  flags.strict = find_bool(traced, "strict").value_or(false);
  flags.no_control = !find_bool(traced, "control").value_or(true);
  flags.control_token = find_bool(traced, "control_token").value_or(false) ? replayed_token : "";
  flags.traced = traced;
  return {};
}

}  // namespace ws::mock
