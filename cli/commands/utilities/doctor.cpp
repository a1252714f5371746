// `ws doctor`: checks settings, keys, network and server, in the order in which a call needs them.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shared_library.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/utilities/checks.hpp"
#include "cli/credentials/keyring.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

std::string_view word(State state) {
  switch (state) {
    case State::good: return "ok";
    case State::note: return "note";
    case State::bad: return "bad";
  }
  return "bad";
}

void look_at_settings(Session& session, Checks& checks) {
  const std::filesystem::path config = session.paths().config / "config.yaml";
  std::error_code ignored;
  const bool there = std::filesystem::exists(config, ignored);
  checks.good("config", config.string() + (there ? "" : " (none; not required)"));
  const auto stored = session.credentials().load();
  if (!stored) return checks.bad("keys", stored.error());
  checks.good("keys", std::to_string(stored->size()) + " stored in " + session.credentials().place(KeptIn::file));
}

void look_at_libraries(const Session& session, Checks& checks) {
  struct Wanted {
    const char* name;
    const char* file;
    const char* without;
  };
  constexpr Wanted all[] = {{"libjq", "libjq.so.1", "--jq does not work (apt install libjq1)"},
                            {"libsecret", "libsecret-1.so.0", "keys go to a file only (apt install libsecret-1-0)"}};
  for (const Wanted& one : all) {
    if (SharedLibrary::open(one.file, "")) {
      checks.good(one.name, one.file);
    } else {
      checks.note(one.name, std::string("missing: ") + one.without, "");
    }
  }
  if (!Keyring::is_likely(session.world().environment)) {
    checks.note("keyring", "no session bus; keys are kept with --store file", "");
  }
}

/// What the key may do, and until when.
void look_at_key(const Json& identity, Checks& checks) {
  const Json* credential = find(identity, "credential");
  const Json* user = find(identity, "user");
  const Json* agent = find(identity, "agent");
  std::string who = user == nullptr ? "" : find_text(*user, "email").value_or("");
  if (who.empty() && agent != nullptr) who = "@" + find_text(*agent, "handle").value_or("");
  checks.good("key", "accepted" + (who.empty() ? "" : ", of " + who));
  if (credential == nullptr) return;
  const std::string scopes = fmt::format("{}", fmt::join(find_texts(*credential, "scopes"), " "));
  checks.good("scopes", scopes.empty() ? "none" : scopes);
  const auto expires = find_text(*credential, "expires_at");
  checks.good("expires", expires ? *expires : "never");
}

void look_at_server(Session& session, Checks& checks) {
  const auto url = session.base_url();
  if (!url) return checks.bad("server", url.error());
  checks.good("server", url->text);
  const auto key = session.key();
  if (!key) return checks.bad("key", key.error());
  const auto client = session.client();
  if (!client) return checks.bad("libcurl", client.error());
  const auto reply = (*client)->call({.operation = "me.get", .timeout = std::chrono::seconds{15}, .repeat = false});
  if (!reply) {
    const bool answered = reply.error().call.http_status != 0;
    return checks.bad(answered ? "key" : "connection", reply.error());
  }
  checks.good("connection", "the server answers");
  look_at_key(*reply->json, checks);
  if (const auto date = http::find_header(reply->headers, "Date")) {
    const Time now = session.world().clock.now();
    const Time theirs = http::parse_http_date(*date, now).value_or(now);
    constexpr std::chrono::minutes far{2};
    if (theirs - now > far) checks.note("clock", "this machine's clock is behind the server's", "set the clock");
    if (now - theirs > far) checks.note("clock", "this machine's clock is ahead of the server's", "set the clock");
  }
}

void print_for_people(Session& session, const std::vector<Check>& checks) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  const auto wrapped = [&](const std::string& text) {
    return wrap_for(session.terminal(), Stream::out, clean(text, Breaks::space), width + 8);
  };
  for (const Check& check : checks) {
    const Look look = check.state == State::good ? Look::good : check.state == State::note ? Look::warning : Look::bad;
    std::string mark(word(check.state));
    mark.resize(4, ' ');
    session.printer().line(session.terminal().paint(Stream::out, look, mark) + "  " + check.name +
                           std::string(width - check.name.size() + 2, ' ') + wrapped(check.detail));
    if (!check.hint.empty()) session.printer().line(std::string(width + 8, ' ') + wrapped(check.hint));
  }
}

Result<ExitCode> doctor(Session& session) {
  Checks checks;
  if (session.has("service")) {
    check_service(session, checks);
  } else {
    checks.good("ws", std::string(version()));
    look_at_settings(session, checks);
    look_at_libraries(session, checks);
    look_at_server(session, checks);
  }
  if (session.format() == Format::table) {
    print_for_people(session, checks.all());
    return checks.exit();
  }
  Json whole = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const Check& check : checks.all()) {
    whole["data"].push_back({{"check", check.name},
                             {"state", word(check.state)},
                             {"detail", check.detail},
                             {"hint", check.hint.empty() ? Json() : Json(check.hint)}});
  }
  session.printer().list("ws.checks", whole, {});
  return checks.exit();
}

}  // namespace

Command doctor_command() {
  return {.words = "doctor",
          .summary = "Check settings, keys, libraries, server and key, one by one",
          .details =
              "The exit code is that of the first failed check: 4 without a key, 11 without a network.\n\n"
              "With --service it says in ten lines which of this client's expectations the service breaks. It only "
              "reads; `ws-mock diff` also tries the calls that change something, and writes the settings of a mock "
              "that answers alike.",
          .flags = {{.name = "service", .help = "compare what the service answers with what this client expects"}},
          .examples = {"ws doctor", "ws doctor --service"},
          .run = doctor};
}

}  // namespace ws::cli
