#include "server-mock/services/shared/errors.hpp"

#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/base/suggestion.hpp"

namespace ws::mock {

Unexpected refuse(Failure failure) { return Unexpected(internal_error(std::move(failure.what))); }

ApiError internal_error(std::string cause) {
  return ApiError{.status = 500,
                  .code = "internal_error",
                  .message = "Internal server error; the log has more under the request's id",
                  .cause = std::move(cause)};
}

Unexpected not_found(std::string_view what) {
  return Unexpected(ApiError{.status = 404, .code = "not_found", .message = fmt::format("There is no such {}", what)});
}

Unexpected forbidden(std::string_view sentence) {
  return Unexpected(ApiError{.status = 403, .code = "forbidden", .message = std::string(sentence)});
}

Unexpected insufficient_role(contract::Role required) {
  return Unexpected(
      ApiError{.status = 403,
               .code = "insufficient_role",
               .message = fmt::format("This needs the role {} in the Workspace", contract::name(required)),
               .members = Json{{"required_role", contract::name(required)}}});
}

Unexpected conflict(std::string_view code, std::string_view sentence) {
  return Unexpected(ApiError{.status = 409, .code = std::string(code), .message = std::string(sentence)});
}

Unexpected revision_conflict(const World& world, const Document& now, std::int64_t expected) {
  return Unexpected(
      ApiError{.status = world.assumptions.is("revision_mismatch", "412") ? 412 : 409,
               .code = "revision_conflict",
               .message = fmt::format("The document is at content revision {}, not {}", now.content_revision, expected),
               .members = Json{{"current_content_revision", now.content_revision},
                               {"current_content_sha256", now.content_sha256},
                               {"expected_content_revision", expected}}});
}

Unexpected invalid(
    std::string_view where, std::string_view name, std::string_view type, std::string_view message, const Json& input) {
  const Json entry = {{"type", type}, {"loc", Json::array({where, name})}, {"msg", message}, {"input", input}};
  return Unexpected(ApiError{.status = 422,
                             .code = "validation_error",
                             .message = std::string(message),
                             .members = Json{{"detail", Json::array({entry})}}});
}

ApiResult<void> require_role(const ServiceCall& call, contract::Role role) {
  if (role < call.operation.role) return insufficient_role(call.operation.role);
  return {};
}

Loc within(Loc loc, contract::Step step) {
  loc.push_back(std::move(step));
  return loc;
}

std::string unknown_member_message(std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return fmt::format("Unknown: {}; none is taken here", name);
  return fmt::format("Unknown: {}; known are {}", name, fmt::join(known, ", "));
}

std::string no_such(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const std::string near = nearest_names(name, known);
  return fmt::format("There is no {} {}{}{}", what, name, near.empty() ? "" : "; ", near);
}

void ValidationErrors::check(const Json& value, const contract::Schema& schema, const Loc& loc) {
  contract::Findings findings = contract::validate_value(value, schema, loc);
  std::ranges::move(findings.violations, std::back_inserter(violations_));
  std::vector<std::string_view> names;
  for (const contract::Field& field : schema.fields) names.push_back(field.name);
  for (Loc& unknown : findings.unknown) {
    const auto* name = std::get_if<std::string>(&unknown.back());
    const bool is_direct = unknown.size() == loc.size() + 1 && name != nullptr;
    contract::Violation violation = contract::extra_forbidden(unknown, nullptr);
    if (is_direct) violation.message = unknown_member_message(*name, names);
    violations_.push_back(std::move(violation));
  }
}

void ValidationErrors::add(Loc loc, std::string_view type, std::string_view message, const Json& input) {
  violations_.push_back(
      {.loc = std::move(loc), .type = std::string(type), .message = std::string(message), .input = input});
}

ApiError invalid_request(const std::vector<contract::Violation>& violations) {
  Json body = contract::to_json(violations);
  return ApiError{.status = 422,
                  .code = "validation_error",
                  .message = "The request is not valid",
                  .members = Json{{"detail", std::move(body["detail"])}}};
}

}  // namespace ws::mock
