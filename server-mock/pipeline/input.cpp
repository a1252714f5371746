#include "server-mock/pipeline/input.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {
namespace {

using contract::Field;
using contract::Findings;
using contract::In;
using contract::Operation;
using contract::Step;
using contract::Violation;

constexpr JsonBounds body_bounds = {.max_bytes = std::size_t{16} << 20U};
constexpr std::size_t max_warnings = 20;

void append(Findings& all, Findings&& more) {
  std::ranges::move(more.violations, std::back_inserter(all.violations));
  std::ranges::move(more.unknown, std::back_inserter(all.unknown));
}

/// The headers of the operation's table entry with their values, repeated ones included.
http::Pairs headers_of(const Operation& operation, const http::Request& request) {
  http::Pairs pairs;
  for (const contract::Parameter& parameter : operation.parameters) {
    if (parameter.in != In::header) continue;
    for (const http::Header& field : request.headers) {
      if (equal_ignoring_case(field.name, parameter.field.name)) pairs.emplace_back(field.name, field.value);
    }
  }
  return pairs;
}

/// Not UTF-8: no operation accepts it.
void check_encoding(const Operation& operation, const http::Pairs& query, Findings& findings) {
  for (const auto& [name, value] : query) {
    const contract::Parameter* known = contract::find_parameter(operation, name);
    if (known == nullptr || known->in != In::query || utf8::is_valid(value)) continue;
    findings.violations.push_back({.loc = {std::string("query"), name},
                                   .type = "string_unicode",
                                   .message = "Input should be a valid string, unable to parse raw data as a unicode "
                                              "string",
                                   .input = Json(value)});
  }
}

void fill_in(Json& object, const contract::Schema& schema);

/// Fills in defaults. An integer that was written with a fraction of zero (300.0) becomes an integer: services read it
/// as one.
void fill_in(Json& value, const contract::Type& type) {
  if (type.kind == contract::Kind::integer && value.is_number_float())
    value = static_cast<std::int64_t>(value.get<double>());
  if (type.kind == contract::Kind::object && value.is_object()) fill_in(value, *type.object);
  if (type.kind == contract::Kind::array && value.is_array() && type.items->kind == contract::Kind::object) {
    for (Json& item : value) fill_in(item, *type.items);
  }
}

/// Fills in the defaults of the table. (A test of the table checks that `parse_bounded` reads each of them.)
void fill_in(Json& object, const contract::Schema& schema) {
  for (const Field& field : schema.fields) {
    if (const Json* sent = find(object, field.name); sent == nullptr) {
      if (field.fallback.empty()) continue;
      if (auto value = parse_bounded(field.fallback)) object[std::string(field.name)] = std::move(*value);
    } else if (sent->is_structured() || sent->is_number_float()) {
      fill_in(object[std::string(field.name)], field.type);
    }
  }
}

Json parameters_of(const Operation& operation, const http::Pairs& values, const http::Pairs& query) {
  Json parameters = Json::object();
  for (const contract::Parameter& parameter : operation.parameters) {
    const Field& field = parameter.field;
    if (parameter.in == In::header) continue;
    const http::Pairs& from = parameter.in == In::path ? values : query;
    const auto sent = std::ranges::find(from, field.name, &http::Pairs::value_type::first);
    if (sent != from.end()) {
      parameters[std::string(field.name)] = contract::parse_lax(field.type, sent->second);
    } else if (!field.fallback.empty()) {
      if (auto value = parse_bounded(field.fallback)) parameters[std::string(field.name)] = std::move(*value);
    }
  }
  return parameters;
}

/// The value at a `loc`; null if it is not in the body.
Json value_at(const std::vector<Step>& loc, const Json& body) {
  const Json* value = &body;
  for (std::size_t i = 1; i < loc.size() && value != nullptr; ++i) {
    if (const auto* name = std::get_if<std::string>(&loc[i])) {
      value = find(*value, *name);
    } else {
      const std::size_t place = std::get<std::size_t>(loc[i]);
      value = value->is_array() && place < value->size() ? &(*value)[place] : nullptr;
    }
  }
  return value == nullptr ? Json(nullptr) : *value;
}

std::string text_of(const std::vector<Step>& loc) {
  std::string text = contract::render(Violation{.loc = loc});
  return text.substr(0, text.rfind(':'));
}

std::string warning_of(const Findings& findings) {
  if (findings.unknown.empty()) return {};
  std::string text = "unknown and ignored: ";
  const std::size_t shown = std::min(findings.unknown.size(), max_warnings);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + text_of(findings.unknown[i]);
  if (shown < findings.unknown.size()) text += fmt::format(" and {} more", findings.unknown.size() - shown);
  return text;
}

/// Parses the body and adds violations to the findings.
Json body_of(const Operation& operation, const http::Request& request, Findings& findings) {
  if (operation.request == nullptr) return nullptr;
  if (request.body.empty()) {
    append(findings, contract::validate_body(operation, nullptr));
    return nullptr;
  }
  auto body = parse_bounded(request.body, body_bounds);
  if (!body) {
    findings.violations.push_back(contract::json_invalid(body.error().what));
    return nullptr;
  }
  append(findings, contract::validate_body(operation, &*body));
  return std::move(*body);
}

}  // namespace

std::optional<ApiError> check_content_type(const Operation& operation, const http::Request& request) {
  if (operation.request == nullptr || request.body.empty()) return std::nullopt;
  const auto given = request.find("Content-Type");
  if (!given) return std::nullopt;
  std::string_view type = given->substr(0, given->find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  const bool suffix = type.size() > 5 && equal_ignoring_case(type.substr(type.size() - 5), "+json");
  if (suffix || equal_ignoring_case(type, "application/json")) return std::nullopt;
  return ApiError{.status = 415,
                  .code = "unsupported_media_type",
                  .message = "This operation takes a body of the type application/json"};
}

tl::expected<Input, ApiError> read_input(const Operation& operation,
                                         const http::Request& request,
                                         const http::Pairs& values,
                                         UnknownFields unknown_fields) {
  const http::Pairs query = http::parse_query(request.query);
  Findings findings = contract::validate_parameters(operation, values, query, headers_of(operation, request));
  check_encoding(operation, query, findings);
  Json body = body_of(operation, request, findings);
  if (unknown_fields == UnknownFields::refused) {
    for (const std::vector<Step>& loc : findings.unknown) {
      const bool in_query = std::get<std::string>(loc.front()) == "query";
      const Json input =
          in_query ? Json(http::value_of(query, std::get<std::string>(loc.back()))) : value_at(loc, body);
      findings.violations.push_back(contract::extra_forbidden(loc, input));
    }
  }
  if (!findings.violations.empty()) return tl::unexpected(invalid_request(findings.violations));
  if (operation.request != nullptr) fill_in(body, *operation.request);
  return Input{
      .parameters = parameters_of(operation, values, query), .body = std::move(body), .warning = warning_of(findings)};
}

}  // namespace ws::mock
