#include "server-mock/journal/exchange.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {
namespace {

constexpr JsonBounds recorded_bounds = {.max_bytes = std::size_t{16} << 20U};
constexpr std::size_t longest_path_bytes = 4096;

Json member_of(const Json& object, std::string_view name) {
  const Json* found = find(object, name);
  return found == nullptr ? Json() : *found;
}

std::string member_text(const Json& object, std::string_view name) { return find_text(object, name).value_or(""); }

std::optional<std::uint64_t> size_of(const Json& object, std::string_view name) {
  const Json* found = find(object, name);
  return found != nullptr && found->is_number_unsigned() ? std::optional(found->get<std::uint64_t>()) : std::nullopt;
}

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

}  // namespace

Json to_json(Exchange exchange) {
  constexpr std::size_t most_members = 18;
  ObjectBuilder value(most_members);
  value.add("seq", exchange.seq)
      .add("time", rfc3339(exchange.time_ms))
      .add("method", std::move(exchange.method))
      .add("path", std::move(exchange.path))
      .add_or_null("query", exchange.query)
      .add_or_null("operation", exchange.operation)
      .add("status", exchange.status == 0 ? Json(nullptr) : Json(exchange.status))
      .add("request_headers", std::move(*exchange.request_headers))
      .add("request_body", std::move(*exchange.request_body));
  if (exchange.request_bytes) value.add("request_bytes", *exchange.request_bytes);
  if (!exchange.response_headers.is_null()) value.add("response_headers", std::move(*exchange.response_headers));
  value.add("response_body", std::move(*exchange.response_body));
  if (exchange.response_bytes) value.add("response_bytes", *exchange.response_bytes);
  value.add("duration_ms", static_cast<double>(exchange.duration_us) / 1000)
      .add_or_null("fault", exchange.fault)
      .add_or_null("sandbox", exchange.sandbox);
  if (!exchange.warning.empty()) value.add("warning", std::move(exchange.warning));
  if (!exchange.assumed.empty()) value.add("assumed", std::move(exchange.assumed));
  return value.take();
}

Result<Exchange> read_exchange(const Json& value) {
  const Json* const status = find(value, "status");
  const Json* const headers = find(value, "request_headers");
  const auto time = parse_rfc3339(member_text(value, "time"));
  const bool has_status = status != nullptr && (status->is_null() || find_integer(value, "status"));
  if (!time || !has_status || headers == nullptr || !headers->is_object() || !find_text(value, "method") ||
      !find_text(value, "path")) {
    return fail(Failure::Kind::invalid,
                "this is not an exchange: it lacks one of time, method, path, status and request_headers");
  }
  const Json* const duration = find(value, "duration_ms");
  return Exchange{.redacted = Redacted(),
                  .seq = size_of(value, "seq").value_or(0),
                  .time_ms = time->time_since_epoch().count(),
                  .method = member_text(value, "method"),
                  .path = member_text(value, "path"),
                  .query = member_text(value, "query"),
                  .operation = member_text(value, "operation"),
                  .status = status->is_null() ? 0 : static_cast<int>(find_integer(value, "status").value_or(0)),
                  .request_headers = *headers,
                  .request_body = member_of(value, "request_body"),
                  .request_bytes = size_of(value, "request_bytes"),
                  .response_headers = member_of(value, "response_headers"),
                  .response_body = member_of(value, "response_body"),
                  .response_bytes = size_of(value, "response_bytes"),
                  .duration_us = duration != nullptr && duration->is_number()
                                     ? static_cast<std::int64_t>(duration->get<double>() * 1000)
                                     : 0,
                  .fault = member_text(value, "fault"),
                  .sandbox = member_text(value, "sandbox"),
                  .warning = member_text(value, "warning"),
                  .assumed = member_text(value, "assumed")};
}

std::string shape_line(const Exchange& exchange) {
  const contract::Operation* operation = contract::find_operation(exchange.operation);
  Json query = Json::array();
  for (const auto& [name, value] : http::parse_query(exchange.query)) query.push_back(name);
  Json headers = Json::array();
  for (const auto& [name, value] : exchange.response_headers->items()) headers.push_back(name);
  return dump({{"shapes_only", true},
               {"seq", exchange.seq},
               {"method", exchange.method},
               {"path", operation == nullptr ? Json(nullptr) : Json(operation->path)},
               {"query", std::move(query)},
               {"operation", text_or_null(exchange.operation)},
               {"status", exchange.status},
               {"request_body", shape_of(*exchange.request_body)},
               {"response_headers", std::move(headers)},
               {"response_body", shape_of(*exchange.response_body)}});
}

Result<Exchange> read_recorded(std::string_view line) {
  WS_LET(const Json value, parse_bounded(line, recorded_bounds));
  if (find_bool(value, "shapes_only")) {
    return fail(Failure::Kind::invalid,
                "the recording holds no values (--shapes-only), so its requests cannot be sent again");
  }
  if (find(value, "v") != nullptr && find(value, "request") != nullptr) {
    return fail(Failure::Kind::invalid,
                "this recording is of an earlier ws-mock, which wrote another form: record again");
  }
  auto exchange = read_exchange(value);
  if (!exchange || exchange->path.size() > longest_path_bytes || exchange->response_headers.is_null()) {
    return fail(Failure::Kind::invalid, "this line is not a line of a recording");
  }
  return exchange;
}

}  // namespace ws::mock
