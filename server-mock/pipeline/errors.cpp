#include "server-mock/pipeline/errors.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/pages/html.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view json_type = "application/json";

/// Members of the refusal beside `detail` and `code`.
void add_members(Json& body, const Refusal& refusal) {
  if (!refusal.members->is_object()) return;
  for (const auto& [name, value] : refusal.members->items()) {
    if (name != "detail") body[name] = value;
  }
}

Json plain(const Refusal& refusal, std::string_view request_id) {
  Json body = {{"detail", refusal.message}, {"code", refusal.code}, {"request_id", request_id}};
  add_members(body, refusal);
  return body;
}

Json problem(const Refusal& refusal, std::string_view request_id) {
  Json body = {{"type", "about:blank"}, {"title", http::reason_phrase(refusal.status)}, {"status", refusal.status}};
  body.update(plain(refusal, request_id));
  return body;
}

Json detail_object(const Refusal& refusal) {
  Json detail = {{"code", refusal.code}, {"message", refusal.message}};
  add_members(detail, refusal);
  return {{"detail", std::move(detail)}};
}

std::string html(const Refusal& refusal) {
  const std::string title = fmt::format("{} {}", refusal.status, http::reason_phrase(refusal.status));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head>\n"
      "<body><h1>{0}</h1><p>{1}</p></body></html>\n",
      pages::escape(title),
      pages::escape(refusal.message));
}

}  // namespace

http::Response render(const Refusal& refusal, std::string_view request_id, const Assumptions& assumptions) {
  // Also where requests are not logged: a bug of the server is nothing that may pass unseen.
  if (!refusal.cause.empty()) fmt::print(stderr, "ws-mock: {}: internal error: {}\n", request_id, refusal.cause);
  http::Response response(refusal.status);
  if (refusal.status == 401) response.header("WWW-Authenticate", "Bearer realm=\"workspace\"");
  if (refusal.status == 429 || refusal.status == 503 || refusal.code == "idempotency_in_flight") {
    response.header("Retry-After", "1");
  }
  if (const Json* detail = find(*refusal.members, "detail"); detail != nullptr) {
    Json body = {{"detail", *detail}, {"code", refusal.code}};
    add_members(body, refusal);
    response.body(json_type, dump(body));
    return response;
  }
  const std::string_view style = assumptions.value("error_style");
  if (style == "problem") {
    response.body("application/problem+json", dump(problem(refusal, request_id)));
  } else if (style == "detail_object") {
    response.body(json_type, dump(detail_object(refusal)));
  } else if (style == "html") {
    response.body("text/html; charset=utf-8", html(refusal));
  } else {
    response.body(json_type, dump(plain(refusal, request_id)));
  }
  return response;
}

http::Response render_allow(std::string_view method,
                            std::string_view allow,
                            std::string_view request_id,
                            const Assumptions& assumptions) {
  const Refusal refusal = {
      .status = 405, .code = "method_not_allowed", .message = "This path is there, but not with this method"};
  http::Response response = method == "OPTIONS" ? http::Response(204) : render(refusal, request_id, assumptions);
  response.header("Allow", allow);
  return response;
}

}  // namespace ws::mock
