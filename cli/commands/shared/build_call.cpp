#include "cli/commands/shared/build_call.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "cli/commands/shared/keyed_call.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/output/members.hpp"

namespace ws::cli {
namespace {

using contract::Field;
using contract::In;
using contract::Operation;
using contract::Paging;

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

/// Who gave a text as `--body` finds the flag for it here: "@ada is this right?" is taken for a file's name.
std::string hint_about_body(const Session& session) {
  for (const Flag& flag : session.command().flags) {
    if (flag.letter == 'm')
      return fmt::format("--body is the whole request as JSON or @FILE; the text is -m {}", flag.placeholder);
  }
  return "--body is the whole request as JSON or @FILE";
}

/// `--body`, an empty object where it is not given.
Result<Json> given_body(Session& session) {
  const auto given = session.arguments().value("body");
  if (!given) return Json(Json::object());
  Result<std::string> text = text_or_file(*given);
  if (!text) {
    text.error().hint = hint_about_body(session);
    return fail(std::move(text).error());
  }
  auto body = parse_bounded(*text);
  if (!body) return fail(Failure::Kind::usage, "--body takes JSON: " + body.error().what, hint_about_body(session));
  if (auto exact = check_numbers(*body, Numbers::of_64_bits); !exact) {
    return fail(Failure::Kind::usage, "--body: " + exact.error().what);
  }
  if (!body->is_object()) {
    const bool is_let_through = session.has("no-validate") && session.command().words.substr(0, 5) == "call ";
    if (!is_let_through) return fail(Failure::Kind::usage, "--body takes a JSON object");
    return body;
  }
  WS_TRY(check_given_body(*given, *body));
  return body;
}

/// The given flag that sets the member.
std::string flag_for(const Session& session, const Field& field) {
  for (const Flag& flag : session.command().flags) {
    if (flag.fills == field.name && session.has(flag.name)) return flag.name;
  }
  return flag_name(field.name);
}

/// `--body` and over it the flags.
Result<Json> build_body(Session& session, const Operation& operation) {
  WS_LET(Json body, given_body(session));
  WS_TRY(check_overlays(session.arguments()));
  const bool has_overlay = session.has("F") || session.has("J");
  if (!body.is_object() && has_overlay) return fail(Failure::Kind::usage, "-F and -J need a body that is an object");
  for (const Field& field : operation.request->fields) {
    const std::string name = flag_for(session, field);
    if (is_paging(operation, field.name) || is_global_flag(name) || !session.has(name) || !body.is_object()) continue;
    WS_LET(body[std::string(field.name)], parse_value(field, session.arguments().values(name), "--" + name));
  }
  return body;
}

/// How the user spells what a violation is about.
std::string spelled(const Session& session,
                    const Operation& operation,
                    const contract::Violation& violation,
                    bool words_are_arguments) {
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
  for (const Flag& flag : session.command().flags) {
    if (flag.fills == text) return flag.spelled();
  }
  return is_global_flag(text) ? "the body's `" + text + "`" : "--" + kebab(text);
}

/// "read, comment or edit"
std::string either(std::span<const std::string_view> values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " or " : ", ";
    text += values[i];
  }
  return text;
}

/// What is wrong, in the words of the command line; what lies deeper in the body in those of the API.
std::string told(const Session& session,
                 const Operation& operation,
                 const contract::Violation& violation,
                 bool words_are_arguments) {
  const std::string name = spelled(session, operation, violation, words_are_arguments);
  const auto* const member = violation.loc.size() == 2 ? std::get_if<std::string>(&violation.loc[1]) : nullptr;
  const Field* const field = member == nullptr ? nullptr : find_member(operation, *member);
  if (field == nullptr) return name + ": " + violation.message;
  const std::string takes =
      field->type.kind == contract::Kind::choice ? either(field->type.values) : describe(field->type);
  if (violation.type == "missing") return name + " is required" + (takes.empty() ? "" : ": " + takes);
  return takes.empty() ? name + ": " + violation.message : name + " must be " + takes;
}

}  // namespace

bool is_paging(const Operation& operation, std::string_view name) {
  return operation.paging != contract::Paging::none && (name == "limit" || name == "cursor");
}

bool is_global_flag(std::string_view name) {
  const auto same = [name](const Flag& flag) { return flag.name == name; };
  return name == "body" || std::ranges::any_of(global_flags(), same);
}

const Field* find_member(const Operation& operation, std::string_view name) {
  if (const auto* parameter = contract::find_parameter(operation, name)) return &parameter->field;
  return operation.request == nullptr ? nullptr : contract::find_field(*operation.request, name);
}

bool is_list(const Operation& operation) {
  if (operation.paging != Paging::none) return true;
  const contract::Schema* const answer = operation.responses.front().schema;
  if (operation.method != contract::Method::get || answer == nullptr) return false;
  return std::ranges::any_of(item_members, [answer](std::string_view name) {
    const contract::Field* const member = contract::find_field(*answer, name);
    return member != nullptr && member->type.kind == contract::Kind::array;
  });
}

Result<std::optional<std::int64_t>> count_flag(const Session& session, std::string_view flag, std::string_view limits) {
  const auto text = session.arguments().value(flag);
  if (!text) return std::optional<std::int64_t>();
  const auto value = parse_whole<std::int64_t>(*text);
  if (value && *value >= 1) return value;
  return fail(Failure::Kind::usage, fmt::format("--{} takes an integer, {}, not `{}`", flag, limits, *text));
}

Result<void> apply_paging_flags(Session& session, const Operation& operation, Call& call) {
  if (!is_list(operation)) return {};
  WS_LET(const auto limit, count_flag(session, "limit", "1-100"));
  WS_LET(const auto max_items, count_flag(session, "max-items", "at least 1"));
  if (operation.paging == Paging::none && limit.value_or(0) > largest_page) {
    return fail(Failure::Kind::usage, fmt::format("--limit takes an integer, 1-100, not `{}`", *limit));
  }
  if (const auto cursor = session.arguments().value("cursor")) {
    if (operation.paging != Paging::cursor) {
      return fail(Failure::Kind::usage,
                  "the API has no cursor for " + ShellCommand{"ws"}.words(session.command().words).in_backticks());
    }
    set_member(operation, call, "cursor", Json(*cursor));
  }
  if (operation.paging == Paging::none) return {};
  if (limit) {
    set_member(operation, call, "limit", Json(*limit));
  } else if (operation.paging == Paging::limit_only || (session.has("all") || session.has("max-items"))) {
    const std::int64_t most = operation.paging == Paging::limit_only ? max_items.value_or(largest_page) : largest_page;
    set_member(operation, call, "limit", Json(std::min(most, largest_page)));
  }
  return {};
}

void set_member(const Operation& operation, Call& call, std::string_view name, const Json& value) {
  if (contract::find_parameter(operation, name) == nullptr) {
    if (!call.body->is_object()) return;  // a body that is no object is sent as given
    (*call.body)[std::string(name)] = value;
    return;
  }
  std::erase_if(call.parameters, [name](const auto& parameter) { return parameter.first == name; });
  std::string text = value.is_string() ? value.get<std::string>() : dump(value);
  call.parameters.emplace_back(std::string(name), std::move(text));
}

Result<Call> build_call(Session& session, const Operation& operation, const FillBody& fill) {
  Call call{.operation = operation.id};
  if (operation.request != nullptr) {
    WS_LET(Json body, build_body(session, operation));
    call.body = JsonBox(std::move(body));
  }
  for (const auto& parameter : operation.parameters) {
    const std::string name = flag_name(parameter.field.name);
    if (parameter.in == In::header || is_paging(operation, parameter.field.name)) continue;
    // Query values stay text; validation converts them.
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
  if (operation.request == nullptr) return call;
  if (fill && call.body->is_object()) WS_TRY(fill(*call.body));
  // Last, so that what words and flags set is overlaid too.
  for (const std::string& one : session.arguments().values("F")) WS_TRY(overlay(*call.body, operation, one, false));
  for (const std::string& one : session.arguments().values("J")) WS_TRY(overlay(*call.body, operation, one, true));
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
    const std::string text = told(session, operation, violation, !by_id);
    if (violation.limit == contract::Source::assumed) {
      session.note("note: " + text + "; the request is sent all the same");
    } else if (!session.has("no-validate")) {
      return fail(
          Failure::Kind::usage,
          text,
          ShellCommand{"ws"}.words(session.command().words).add({"--help"}).in_backticks() + " shows the limits");
    }
  }
  return {};
}

Result<void> check_named_members(Session& session, const Operation& operation) {
  // A read may answer with more than the API document says, so it is asked; a change is not made to find out.
  const contract::Schema* const answer = operation.responses.front().schema;
  if (operation.retry == contract::RetryClass::read || answer == nullptr) return {};
  auto checked = check_members(session.printer().named_members(), *answer);
  if (checked) return {};
  checked.error().hint += "; what else the service may answer is read by --jq or --json";
  return checked;
}

Result<void> make_ready(Session& session, const Operation& operation, Call& call) {
  WS_TRY(check_named_members(session, operation));
  WS_TRY(check_call(session, operation, call));
  call.validate = false;  // checked above, with the flags' names
  return settle_idempotency_key(session, operation, call);
}

}  // namespace ws::cli
