// What `ws` knows about itself and the API, without a server.
#include <nlohmann/json.hpp>

#include "api-client/base/build_info.hpp"
#include "api-client/base/shared_library.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/contract/openapi.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/http/curl.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

/// The versions of what is linked in, and what is found of the libraries that are opened at run time; null: missing.
Json libraries() {
  Json all = Json::object();
  for (std::string_view rest = WS_LIBRARIES; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const std::size_t space = one.find(' ');
    all[std::string(one.substr(0, space))] = one.substr(space + 1);
  }
  const auto curl = http::curl_version();
  all["libcurl"] = curl ? Json(*curl) : Json();
  constexpr std::pair<const char*, const char*> opened[] = {
      {"libjq", "libjq.so.1"}, {"libsecret", "libsecret-1.so.0"}, {"libqrencode", "libqrencode.so.4"}};
  for (const auto& [name, file] : opened) all[name] = SharedLibrary::open(file, "") ? Json(file) : Json();
  return all;
}

Result<ExitCode> print_version(Session& session) {
  if (prints_text(session)) {
    session.printer().line("ws " + std::string(version()));
  } else {
    session.printer().resource({{"v", 1},
                                {"version", version()},
                                {"api_version", contract::api_version},
                                {"commit", build_commit()},
                                {"compiler", build_compiler()},
                                {"libraries", libraries()}});
  }
  return ExitCode::done;
}

Json operation_line(const contract::Operation& operation) {
  const bool idempotent = operation.idempotency == contract::Idempotency::key;
  return {{"id", operation.id},
          {"method", contract::name(operation.method)},
          {"path", operation.path},
          {"command", "ws " + std::string(operation.command)},
          {"summary", operation.summary},
          {"scope", operation.scope.empty() ? Json() : Json(operation.scope)},
          {"retry_class", contract::name(operation.retry)},
          {"idempotency_key", idempotent}};
}

Result<ExitCode> print_commands(Session& session) {
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const auto* operation : contract::operations()) list["data"].push_back(operation_line(*operation));
  session.printer().list("ws.commands", list, {});
  return ExitCode::done;
}

Result<ExitCode> print_schema(Session& session) {
  const std::string& id = session.arguments().words.front();
  const auto* operation = contract::find_operation(id);
  if (operation == nullptr) {
    std::vector<std::string> known;
    for (const auto* one : contract::operations()) known.emplace_back(one->id);
    std::string hint = suggestion(id, known, "ws schema ");
    return fail(Failure::Kind::usage, "there is no operation `" + id + "`", hint.empty() ? "see `ws commands`" : hint);
  }
  const Json schema = contract::operation_schema(*operation);
  if (prints_text(session)) {
    session.printer().line(dump(schema, 2));
  } else {
    session.printer().resource(schema);
  }
  return ExitCode::done;
}

Result<ExitCode> print_exit_codes(Session& session) {
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const ExitCodeMeaning& one : exit_codes()) {
    list["data"].push_back({{"exit", number(one.code)}, {"name", one.name}, {"meaning", one.meaning}});
  }
  session.printer().list("ws.exit_codes", list, {});
  return ExitCode::done;
}

}  // namespace

Command version_command() {
  return {.words = "version",
          .summary = "Show the version",
          .details =
              "With --json also the commit and the compiler it was built from, and its libraries: those linked in with "
              "their versions, those opened at run time as found on this machine (null: missing).",
          .examples = {"ws version --json"},
          .needs_no_settings = true,
          .run = print_version};
}

Command call_overview_command() {
  return {.words = "call",
          .summary = "Call any operation of the API by its id",
          .details =
              "Every parameter is a flag: --document-id for document_id. `ws call ID --help` shows those of one "
              "operation, `ws commands` lists the ids.",
          .arguments = {{.placeholder = "ID", .help = "of the operation, as in `docs.get`"}},
          .examples = {"ws call me.get --json", "ws call docs.create -F title=Notes -F content='# Notes'"},
          .run = [](Session&) -> Result<ExitCode> { return fail(Failure::Kind::usage, "`ws call` needs an id"); }};
}

Command commands_command() {
  return {.words = "commands",
          .summary = "List every operation with its command",
          .examples = {"ws commands", "ws commands --format ids"},
          .run = print_commands};
}

Command schema_command() {
  return {.words = "schema",
          .summary = "Show an operation's request and answers as JSON Schema",
          .arguments = {{.placeholder = "ID", .help = "of the operation, as in `docs.get`"}},
          .examples = {"ws schema docs.create"},
          .run = print_schema};
}

Command exit_codes_command() {
  return {.words = "exit-codes",
          .summary = "List how a command may end",
          .examples = {"ws help exit-codes --json"},
          .needs_no_settings = true,
          .run = print_exit_codes};
}

}  // namespace ws::cli
