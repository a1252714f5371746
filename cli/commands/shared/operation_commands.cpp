#include "cli/commands/shared/operation_commands.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"

namespace ws::cli {
namespace {

using contract::Field;
using contract::In;
using contract::Operation;

enum class PathParameters { as_flags, as_words };

bool is_word(const Operation& operation, std::string_view name) {
  return std::ranges::any_of(operation.arguments, [name](const auto& argument) { return argument.target == name; });
}

std::vector<Flag> flags_of(const Operation& operation, PathParameters path) {
  std::vector<Flag> flags;
  const auto add = [&](const Field& field) {
    if (is_paging(operation, field.name)) return;
    if (path == PathParameters::as_words && is_word(operation, field.name)) return;
    // A member that is called like a flag of every command is reached by -F.
    if (!is_global_flag(flag_name(field.name))) flags.push_back(flag_of(field));
  };
  for (const auto& parameter : operation.parameters) {
    if (parameter.in != In::header) add(parameter.field);
  }
  if (operation.request != nullptr) {
    for (const Field& field : operation.request->fields) add(field);
    for (Flag& flag : body_flags()) flags.push_back(std::move(flag));
  }
  if (is_list(operation)) {
    for (Flag& flag : paging_flags()) {
      const bool is_refused = flag.name == "cursor" && operation.paging != contract::Paging::cursor;
      if (is_refused) flag.help = "not available: the API has no cursor for this list";
      flags.push_back(std::move(flag));
    }
  }
  if (operation.idempotency == contract::Idempotency::key) {
    flags.push_back(
        {.name = "idempotency-key",
         .placeholder = "K|stable",
         .help = "the key by which the service recognises a repeated request, for 24 hours; `stable`: derived from the "
                 "request",
         .limits = "at most 128 characters"});
  }
  if (is_remembered(operation, path == PathParameters::as_flags ? Door::any : Door::own)) flags.push_back(again_flag());
  return flags;
}

constexpr std::string_view sample_id = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";

std::string sample_of(const Field* field) {
  if (field == nullptr || field->type.kind != contract::Kind::uuid) return "example";
  return std::string(sample_id);
}

/// Operations on one thing that need nothing but its id: several may be named at once.
bool takes_many_ids(const Operation& operation) {
  return operation.arguments.size() == 1 && operation.request == nullptr &&
         operation.paging == contract::Paging::none && operation.responses.front().body == contract::Body::json;
}

}  // namespace

Command operation_command(const Operation& operation) {
  Command command{.words = std::string(operation.command),
                  .summary = std::string(operation.summary),
                  .flags = flags_of(operation, PathParameters::as_words),
                  .operation = &operation};
  std::string example = "ws " + command.words;
  for (const auto& argument : operation.arguments) {
    const Field* field = find_member(operation, argument.target);
    command.arguments.push_back(
        {.placeholder = std::string(argument.placeholder),
         .help = field == nullptr ? std::string() : describe(named_by(*field), field->type),
         .count = argument.presence == contract::Presence::required ? Count::one : Count::optional,
         .names = field == nullptr ? Subject::text : named_by(*field),
         .fills_body = contract::find_parameter(operation, argument.target) == nullptr});
    example += " " + sample_of(field);
  }
  // Words of a search need no quotes.
  if (operation.id == "search.run") command.arguments.back().count = Count::many;
  command.examples = {std::move(example)};
  if (takes_many_ids(operation)) {
    command.arguments.front().count = Count::any;
    command.flags.push_back(stdin_flag());
  }
  command.run = [&operation](Session& session) -> Result<ExitCode> {
    if (takes_many_ids(operation)) return run_on_ids(session, operation);
    WS_LET(Call call, build_call(session, operation));
    return run_call(session, operation, std::move(call));
  };
  return command;
}

Command operation_command(std::string_view id, Command own, const std::vector<std::string_view>& without) {
  Command read_off = operation_command(operation_of(id));
  if (own.words.empty()) own.words = std::move(read_off.words);
  if (own.summary.empty()) own.summary = std::move(read_off.summary);
  if (own.arguments.empty()) own.arguments = std::move(read_off.arguments);
  if (own.examples.empty()) own.examples = std::move(read_off.examples);
  if (!own.run) own.run = std::move(read_off.run);
  own.operation = read_off.operation;
  for (Flag& flag : read_off.flags) {
    if (std::ranges::find(without, flag.name) == without.end()) own.flags.push_back(std::move(flag));
  }
  return own;
}

Command call_command(const Operation& operation) {
  Command command{.words = "call " + std::string(operation.id),
                  .summary = std::string(operation.summary),
                  .flags = flags_of(operation, PathParameters::as_flags),
                  .operation = &operation,
                  .passes_on = true};
  std::string example = "ws " + command.words;
  for (const auto& parameter : operation.parameters) {
    if (parameter.in == In::path) example += " --" + kebab(parameter.field.name) + " " + sample_of(&parameter.field);
  }
  if (operation.request != nullptr) example += " --body @body.json";
  command.examples = {std::move(example)};
  command.run = [&operation](Session& session) -> Result<ExitCode> {
    WS_LET(Call call, build_call(session, operation));
    return run_call(session, operation, std::move(call));
  };
  return command;
}

Result<ExitCode> run_on_ids(Session& session, const Operation& operation) {
  WS_LET(Batch batch, batch_of(session, operation));
  if (is_list(operation)) {
    if (batch.is_one) {
      WS_TRY(apply_paging_flags(session, operation, *batch.calls.front()));
      return run_call(session, operation, std::move(*batch.calls.front()));
    }
    for (const char* const flag : {"limit", "cursor", "max-items"}) {
      if (session.has(flag)) return fail(Failure::Kind::usage, fmt::format("--{} is for one list; name one ID", flag));
    }
  }
  if (session.has("dry-run")) return print_requests(session, batch);
  WS_LET(Client * client, session.client());
  return run_batch(session, *client, operation, std::move(batch));
}

namespace {

Result<http::Request> prepared(Session& session, const Call& call) {
  const bool has_key = operation_of(call.operation).auth != contract::Auth::none;
  WS_LET(Client * client, has_key ? session.client() : session.keyless_client());
  return client->prepare(call);
}

Json to_json(const http::Request& request, const Json& body) {
  Json headers = Json::object();
  for (const auto& [name, value] : request.headers) headers[name] = value;
  return {{"v", 1}, {"method", request.method}, {"url", request.url}, {"headers", headers}, {"body", body}};
}

Json body_of(const Call& call) { return call.body.is_null() ? Json() : *call.body; }

}  // namespace

Result<Json> request_to_json(Session& session, const Call& call) {
  WS_LET(const http::Request request, prepared(session, call));
  return to_json(request, body_of(call));
}

Result<ExitCode> print_request(Session& session, const Call& call) {
  WS_LET(const http::Request request, prepared(session, call));
  return print_prepared(session, request, body_of(call));
}

ExitCode print_prepared(Session& session, const http::Request& request, const Json& body) {
  if (is_json(session.format()) || session.format() == Format::yaml) {
    session.printer().json(to_json(request, body));
    return ExitCode::done;
  }
  session.printer().line(request.method + " " + request.url);
  for (const auto& [name, value] : request.headers) session.printer().line(fmt::format("{}: {}", name, value));
  if (!request.body.empty()) session.printer().line("\n" + request.body);
  return ExitCode::done;
}

Result<ExitCode> run_call(Session& session, const Operation& operation, Call call) {
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  Result<Client*> client = operation.auth == contract::Auth::none ? session.keyless_client() : session.client();
  if (!client) return fail(client.error());
  if (is_list(operation)) return print_list(session, **client, operation, std::move(call));
  if (operation.responses.front().body == contract::Body::bytes) {
    call.sink = [&session](std::string_view piece) -> Result<void> {
      session.printer().raw(piece);
      return {};
    };
    WS_TRY((*client)->call(std::move(call)));
    return ExitCode::done;
  }
  WS_LET(const Reply reply, (*client)->call(std::move(call)));
  return print_reply(session, operation, reply);
}

}  // namespace ws::cli
