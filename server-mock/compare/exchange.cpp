#include "server-mock/compare/exchange.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/http/target.hpp"

namespace ws::mock::compare {
namespace {

constexpr std::string_view bearer = "<";
constexpr JsonBounds recorded_bounds = {.max_bytes = std::size_t{16} << 20U};
constexpr std::size_t max_path_bytes = 4096;

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

Json shape_of(const Json& value) {
  if (value.is_object()) {
    Json shape = Json::object();
    for (const auto& [key, member] : value.items()) shape[key] = shape_of(member);
    return shape;
  }
  if (value.is_array()) return value.empty() ? Json::array() : Json::array({shape_of(value.front())});
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_null()) return nullptr;
  return value.is_number_integer() ? "integer" : "number";
}

Json names_of(const Json& object) {
  Json names = Json::array();
  if (!object.is_object()) return names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

}  // namespace

Result<RedactedExchange> RedactedExchange::read(std::string_view line) {
  WS_LET(const Json value, parse_bounded(line, recorded_bounds));
  if (find_bool(value, "shapes_only")) {
    return fail(Failure::Kind::invalid, "a recording of shapes alone holds no requests that could be sent again");
  }
  if (find(value, "v") != nullptr && find(value, "request") != nullptr) {
    return fail(Failure::Kind::invalid,
                "this recording is of an earlier ws-mock, which wrote another form: record again");
  }
  auto exchange = read_exchange(value);
  if (!exchange || exchange->path.size() > max_path_bytes || exchange->response_headers.is_null()) {
    return fail(Failure::Kind::invalid, "this line is not a line of a recording");
  }
  return RedactedExchange(std::move(*exchange));
}

std::string RedactedExchange::line() const { return dump(to_json(exchange_)); }

std::string RedactedExchange::shape_line() const {
  const contract::Operation* operation = contract::find_operation(exchange_.operation);
  Json query = Json::array();
  for (const auto& [name, value] : http::parse_query(exchange_.query)) query.push_back(name);
  return dump({{"shapes_only", true},
               {"seq", exchange_.seq},
               {"method", exchange_.method},
               {"path", operation == nullptr ? Json(nullptr) : Json(operation->path)},
               {"query", std::move(query)},
               {"operation", text_or_null(exchange_.operation)},
               {"status", exchange_.status},
               {"request_body", shape_of(*exchange_.request_body)},
               {"response_headers", names_of(*exchange_.response_headers)},
               {"response_body", shape_of(*exchange_.response_body)}});
}

OperationFinder::OperationFinder() {
  const auto operations = contract::operations();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    router_.add(contract::name(operations[i]->method), operations[i]->path, i);
  }
}

const contract::Operation* OperationFinder::find(std::string_view method,
                                                 std::string_view path,
                                                 http::Pairs& values) const {
  http::Routed routed = router_.find(method, path);
  if (routed.outcome != http::Routed::Outcome::found) return nullptr;
  values = std::move(routed.values);
  return contract::operations()[routed.id];
}

// <KIND:NUMBER:LENGTH>
std::size_t placeholder_length(std::string_view text, std::size_t at) {
  if (text.substr(at, 1) != bearer) return 0;
  std::size_t end = at + 1;
  while (end < text.size() && ((text[end] >= 'a' && text[end] <= 'z') || text[end] == '_')) ++end;
  if (end == at + 1) return 0;
  for (int part = 0; part < 2; ++part) {
    if (end >= text.size() || text[end] != ':') return 0;
    const std::size_t first = ++end;
    while (end < text.size() && is_digit_char(text[end])) ++end;
    if (end == first || end - first > 9) return 0;
  }
  return end < text.size() && text[end] == '>' ? end + 1 - at : 0;
}

std::string_view kind_of(std::string_view placeholder) { return placeholder.substr(1, placeholder.find(':') - 1); }

std::string placeholder_text(std::string_view placeholder) {
  const std::size_t last = placeholder.rfind(':');
  std::size_t length = 0;
  for (const char c : placeholder.substr(last + 1, placeholder.size() - last - 2)) {
    length = length * 10 + static_cast<std::size_t>(c - '0');
  }
  length = std::min(length, std::size_t{1} << 21U);
  const std::size_t first = placeholder.find(':') + 1;
  std::string text = fmt::format("{}{}", placeholder.substr(first, last - first), kind_of(placeholder));
  std::erase(text, '_');
  text.resize(length, 'x');
  return text;
}

const contract::Schema* response_schema(const contract::Operation& operation, int status) {
  const auto found = std::ranges::find(operation.responses, status, &contract::Response::status);
  return found == operation.responses.end() ? nullptr : found->schema;
}

}  // namespace ws::mock::compare
