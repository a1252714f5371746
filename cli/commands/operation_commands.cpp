#include "cli/commands/operation_commands.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "cli/commands/batch.hpp"
#include "cli/commands/composing.hpp"
#include "cli/commands/keyed_call.hpp"
#include "cli/commands/paging.hpp"
#include "cli/commands/values.hpp"

namespace ws::cli {
namespace {

using contract::Field;
using contract::In;
using contract::Operation;

bool is_paging(const Operation& operation, std::string_view name) {
  return operation.paging != contract::Paging::none && (name == "limit" || name == "cursor");
}

bool is_global(std::string_view name) {
  const auto same = [name](const Flag& flag) { return flag.name == name; };
  return name == "body" || std::ranges::any_of(global_flags(), same);
}

const Field* find_member(const Operation& operation, std::string_view name) {
  if (const auto* parameter = contract::find_parameter(operation, name)) return &parameter->field;
  return operation.request == nullptr ? nullptr : contract::find_field(*operation.request, name);
}

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
    if (!is_global(kebab(field.name))) flags.push_back(flag_of(field));
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
      if (is_refused) flag.help = "refused: the API has no cursor for this list";
      flags.push_back(std::move(flag));
    }
  }
  if (operation.idempotency == contract::Idempotency::key) {
    flags.push_back({.name = "idempotency-key",
                     .takes = Takes::one,
                     .placeholder = "K|stable",
                     .help = "the key under which a repeat is the same call; `stable`: derived from what is asked",
                     .limits = "at most 128 characters"});
  }
  return flags;
}

constexpr std::string_view sample_id = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";

std::string sample_of(const Field* field) {
  if (field == nullptr || field->type.kind != contract::Kind::uuid) return "example";
  return std::string(sample_id);
}

Result<void> overlay(Json& body, const Operation& operation, const std::string& assignment, bool is_json) {
  const std::size_t equals = assignment.find('=');
  const std::string_view letter = is_json ? "-J" : "-F";
  if (equals == std::string::npos || equals == 0) {
    return fail(Failure::Kind::usage, fmt::format("{} takes KEY=VALUE, not `{}`", letter, assignment));
  }
  std::string key = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  Field field{.name = key, .type = {.kind = is_json ? contract::Kind::any : contract::Kind::string}};
  const Field* known = operation.request == nullptr ? nullptr : contract::find_field(*operation.request, key);
  if (!is_json && known != nullptr) field = *known;
  WS_LET(const Json value, parse_value(field, {text}, fmt::format("{} {}", letter, key)));
  if (!set_at_path(body, key, value)) return fail(overlaid_twice(letter.back(), assignment));
  return {};
}

/// `--body`, an empty object where it is not given.
Result<Json> given_body(Session& session) {
  const auto given = session.arguments().value("body");
  if (!given) return Json(Json::object());
  WS_LET(const std::string text, text_or_file(*given));
  auto body = parse_bounded(text);
  if (!body) return fail(Failure::Kind::usage, "--body takes JSON: " + body.error().what);
  if (!body->is_object()) {
    const bool is_let_through = session.has("no-validate") && session.command().words.substr(0, 5) == "call ";
    if (!is_let_through) return fail(Failure::Kind::usage, "--body takes a JSON object");
    return body;
  }
  const bool is_inline = given->substr(0, 1) != "@" && *given != "-";
  for (const auto& member : body->items()) {
    if (!is_inline || !is_secret(member.key())) continue;
    return fail(Failure::Kind::usage, "the body's `" + member.key() + "` is a secret; give the body as @FILE or -");
  }
  return body;
}

Result<Json> build_body(Session& session, const Operation& operation) {
  WS_LET(Json body, given_body(session));
  WS_TRY(check_overlays(session.arguments()));
  const bool has_overlay = session.has("F") || session.has("J");
  if (!body.is_object() && has_overlay) return fail(Failure::Kind::usage, "-F and -J need a body that is an object");
  for (const Field& field : operation.request->fields) {
    const std::string name = kebab(field.name);
    if (is_paging(operation, field.name) || is_global(name) || !session.has(name) || !body.is_object()) continue;
    WS_LET(body[std::string(field.name)], parse_value(field, session.arguments().values(name), "--" + name));
  }
  for (const std::string& one : session.arguments().values("F")) WS_TRY(overlay(body, operation, one, false));
  for (const std::string& one : session.arguments().values("J")) WS_TRY(overlay(body, operation, one, true));
  return body;
}

/// How the user spells what a violation is about.
std::string spelled(const Operation& operation, const contract::Violation& violation, bool words_are_arguments) {
  std::string text;
  for (std::size_t i = 1; i < violation.loc.size(); ++i) {
    if (const auto* index = std::get_if<std::size_t>(&violation.loc[i])) {
      text += fmt::format("[{}]", *index);
    } else {
      text += (text.empty() ? "" : ".") + std::get<std::string>(violation.loc[i]);
    }
  }
  if (text.empty()) return "the body";
  for (const auto& argument : operation.arguments) {
    if (words_are_arguments && argument.target == text) return std::string(argument.placeholder);
  }
  return is_global(text) ? "the body's `" + text + "`" : "--" + kebab(text);
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
         .help = field == nullptr ? std::string() : describe(field->type),
         .count = argument.presence == contract::Presence::required ? Count::one : Count::optional});
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

Command call_command(const Operation& operation) {
  Command command{.words = "call " + std::string(operation.id),
                  .summary = std::string(operation.summary),
                  .flags = flags_of(operation, PathParameters::as_flags),
                  .operation = &operation};
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

Result<void> make_ready(Session& session, const Operation& operation, Call& call) {
  WS_TRY(check_call(session, operation, call));
  call.validate = false;  // checked above, with the flags' names
  return settle_idempotency_key(session, operation, call);
}

Result<ExitCode> run_on_ids(Session& session, const Operation& operation) {
  WS_LET(const std::vector<std::string> ids, ids_of(session));
  WS_LET(std::vector<Call> calls, batch_calls(session, operation, ids));
  if (is_list(operation)) {
    if (ids.size() == 1) {
      WS_TRY(apply_paging_flags(session, operation, calls.front()));
      return run_call(session, operation, std::move(calls.front()));
    }
    for (const char* const flag : {"limit", "cursor", "max-items"}) {
      if (session.has(flag)) return fail(Failure::Kind::usage, fmt::format("--{} is for one list; name one ID", flag));
    }
  }
  if (session.has("dry-run")) {
    for (const Call& call : calls) WS_TRY(print_request(session, call));
    return ExitCode::done;
  }
  WS_LET(Client * client, session.client());
  return run_batch(session, *client, operation, ids, std::move(calls));
}

void set_member(const Operation& operation, Call& call, std::string_view name, const Json& value) {
  if (contract::find_parameter(operation, name) == nullptr) {
    if (!call.body->is_object()) return;  // whoever gives such a body by hand gives all of it
    (*call.body)[std::string(name)] = value;
    return;
  }
  std::erase_if(call.parameters, [name](const auto& parameter) { return parameter.first == name; });
  std::string text = value.is_string() ? value.get<std::string>() : dump(value);
  call.parameters.emplace_back(std::string(name), std::move(text));
}

Result<Call> build_call(Session& session, const Operation& operation) {
  Call call{.operation = operation.id};
  if (operation.request != nullptr) {
    WS_LET(Json body, build_body(session, operation));
    call.body = JsonBox(std::move(body));
  }
  for (const auto& parameter : operation.parameters) {
    const std::string name = kebab(parameter.field.name);
    if (parameter.in == In::header || is_paging(operation, parameter.field.name)) continue;
    // Query values stay text: the table reads them laxly.
    if (const auto value = session.arguments().value(name)) {
      call.parameters.emplace_back(std::string(parameter.field.name), *value);
    }
  }
  const bool by_id = session.command().words.substr(0, 5) == "call ";
  const std::vector<std::string>& words = session.arguments().words;
  for (std::size_t i = 0; i < words.size() && !by_id && !operation.arguments.empty(); ++i) {
    const std::size_t last = operation.arguments.size() - 1;
    const contract::Argument& argument = operation.arguments[std::min(i, last)];
    const Field* field = find_member(operation, argument.target);
    if (field == nullptr) continue;
    std::string text = words[i];
    for (; i >= last && i + 1 < words.size(); ++i) text += " " + words[i + 1];  // a query of several words
    WS_LET(const Json value, parse_value(*field, {text}, argument.placeholder));
    set_member(operation, call, argument.target, value);
  }
  WS_TRY(apply_paging_flags(session, operation, call));
  return call;
}

Result<void> check_call(Session& session, const Operation& operation, const Call& call) {
  std::vector<std::pair<std::string, std::string>> path;
  std::vector<std::pair<std::string, std::string>> query;
  for (const auto& [name, value] : call.parameters) {
    const auto* parameter = contract::find_parameter(operation, name);
    (parameter != nullptr && parameter->in == In::path ? path : query).emplace_back(name, value);
  }
  std::vector<contract::Violation> violations = contract::validate_parameters(operation, path, query, {}).violations;
  if (operation.request != nullptr) {
    for (auto& one : contract::validate_body(operation, &*call.body).violations) violations.push_back(std::move(one));
  }
  const bool by_id = session.command().words.substr(0, 5) == "call ";
  for (const contract::Violation& violation : violations) {
    const std::string text = spelled(operation, violation, !by_id) + ": " + violation.message;
    if (violation.limit == contract::Source::assumed) {
      session.note("note: " + text + " (the server may see it otherwise)");
    } else if (!session.has("no-validate")) {
      return fail(Failure::Kind::usage,
                  text,
                  ShellCommand{"ws"}.words(session.command().words).add({"--help"}).ticked() + " shows the limits");
    }
  }
  return {};
}

Result<ExitCode> print_request(Session& session, const Call& call) {
  const bool has_key = operation_of(call.operation).auth != contract::Auth::none;
  WS_LET(Client * client, has_key ? session.client() : session.keyless_client());
  WS_LET(const http::Request request, client->prepare(call));
  if (is_json(session.format()) || session.format() == Format::yaml) {
    Json headers = Json::object();
    for (const auto& [name, value] : request.headers) headers[name] = value;
    Json shown = {{"v", 1}, {"method", request.method}, {"url", request.url}, {"headers", headers}};
    shown["body"] = call.body.is_null() ? Json() : *call.body;
    session.printer().json(shown);
    return ExitCode::done;
  }
  session.printer().line(request.method + " " + request.url);
  for (const auto& [name, value] : request.headers) session.printer().line(name + ": " + value);
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
  WS_LET(const Reply reply, send_call(session, **client, operation, std::move(call)));
  print_reply(session, operation, reply);
  return ExitCode::done;
}

}  // namespace ws::cli
