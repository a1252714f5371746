#include "server-mock/pipeline/error_response.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/output/print.hpp"
#include "server-mock/pages/pages.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view json_type = "application/json";

/// Members of the error besides `detail` and `code`.
void add_members(Json& body, const ApiError& api_error) {
  if (!api_error.members->is_object()) return;
  for (const auto& [name, value] : api_error.members->items()) {
    if (name != "detail") body[name] = value;
  }
}

Json plain(const ApiError& api_error, std::string_view request_id) {
  Json body = {{"detail", api_error.message}, {"code", api_error.code}, {"request_id", request_id}};
  add_members(body, api_error);
  return body;
}

Json problem(const ApiError& api_error, std::string_view request_id) {
  Json body = {{"type", "about:blank"}, {"title", http::reason_phrase(api_error.status)}, {"status", api_error.status}};
  body.update(plain(api_error, request_id));
  return body;
}

Json detail_object(const ApiError& api_error) {
  Json detail = {{"code", api_error.code}, {"message", api_error.message}};
  add_members(detail, api_error);
  return {{"detail", std::move(detail)}};
}

std::string html(const ApiError& api_error) {
  const std::string title = fmt::format("{} {}", api_error.status, http::reason_phrase(api_error.status));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head>\n"
      "<body><h1>{0}</h1><p>{1}</p></body></html>\n",
      pages::escape(title),
      pages::escape(api_error.message));
}

}  // namespace

http::Response render(const ApiError& api_error, std::string_view request_id, const Assumptions& assumptions) {
  // Printed even with `--log off`: a bug of the server must not go unnoticed.
  if (!api_error.cause.empty()) tell(fmt::format("ws-mock: {}: internal error: {}", request_id, api_error.cause));
  http::Response response(api_error.status);
  if (api_error.status == 401) response.header("WWW-Authenticate", "Bearer realm=\"workspace\"");
  if (api_error.status == 429 || api_error.status == 503 || api_error.code == "idempotency_in_flight") {
    response.header("Retry-After", "1");
  }
  if (const Json* detail = find(*api_error.members, "detail"); detail != nullptr) {
    Json body = {{"detail", *detail}, {"code", api_error.code}};
    add_members(body, api_error);
    response.body(json_type, dump(body));
    return response;
  }
  const std::string_view style = assumptions.value("error_style");
  if (style == "problem") {
    response.body("application/problem+json", dump(problem(api_error, request_id)));
  } else if (style == "detail_object") {
    response.body(json_type, dump(detail_object(api_error)));
  } else if (style == "html") {
    response.body("text/html; charset=utf-8", html(api_error));
  } else {
    response.body(json_type, dump(plain(api_error, request_id)));
  }
  return response;
}

http::Response render_allow(std::string_view method,
                            std::string_view allow,
                            std::string_view request_id,
                            const Assumptions& assumptions) {
  const ApiError api_error = {
      .status = 405, .code = "method_not_allowed", .message = "This path does not take this method"};
  http::Response response = method == "OPTIONS" ? http::Response(204) : render(api_error, request_id, assumptions);
  response.header("Allow", allow);
  return response;
}

}  // namespace ws::mock
