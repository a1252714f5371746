// Serving a request whose response a fault rule changes, and finding that rule.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/openapi.hpp"
#include "server-mock/application/fault_effects.hpp"
#include "server-mock/application/sandbox_endpoint.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/pages/pages.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/pipeline/pipeline.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view openapi_path = "/openapi.json";

bool is_read(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

/// The `Allow` header for a path outside the API if the method is not allowed; empty if it is.
std::string_view methods_instead(const http::Request& request) {
  const bool asks = request.method == "OPTIONS";
  if (request.target == "*") return asks ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : "OPTIONS";
  if (request.path == pages::device_path && asks) return "GET, HEAD, POST, OPTIONS";
  if (request.path == openapi_path && !is_read(request)) return "GET, HEAD, OPTIONS";
  return {};
}

}  // namespace

/// Applies only to the API. Requests without a key share one limit.
std::optional<ApiError> SandboxEndpoint::rate_limit_error(const http::Request& request) {
  if (!request.path.starts_with("/v1")) return std::nullopt;
  const auto wait = sandbox_->rate_limit.take(
      request.find("Authorization").value_or(""), sandbox_->world->now(), sandbox_->world->real_now());
  if (!wait) return std::nullopt;
  const auto seconds = std::max(std::chrono::ceil<std::chrono::seconds>(*wait), std::chrono::seconds(1));
  return ApiError{.status = 429,
                  .code = "rate_limited",
                  .message = "Too many requests with this key",
                  .members = Json{{"retry_after", std::to_string(seconds.count())}}};
}

/// Names for pages, so that fault rules can match them.
std::string_view SandboxEndpoint::operation_of(const http::Request& request, http::Pairs& values) const {
  if (request.path == pages::device_path) return "page.device";
  if (pages::is_root(request, request.path)) return "page.root";
  if (is_upload(request.path)) return upload_operation;
  if (request.path == openapi_path) return "openapi";
  const contract::Operation* operation = shared_.pipeline.find(request, values);
  return operation == nullptr ? std::string_view() : operation->id;
}

std::shared_ptr<const FaultRule> SandboxEndpoint::find_fault(const http::Request& request) {
  http::Pairs values;
  const std::string_view operation = operation_of(request, values);
  return sandbox_->faults.take(
      {.operation = operation, .method = request.method, .path = http::decoded_path(request.path)},
      sandbox_->world->now());
}

Reply SandboxEndpoint::answer_without_fault(const http::Request& request, std::string_view request_id) {
  if (const std::string_view allow = methods_instead(request); !allow.empty()) {
    return {.response = render_allow(request.method, allow, request_id, sandbox_->world->assumptions)};
  }
  if (request.path == pages::device_path) {
    return {.response = pages::device(*sandbox_, shared_.approval, request, request_id), .operation = "page.device"};
  }
  if (pages::is_root(request, request.path)) {
    const auto inspector = shared_.control.is_on() ? pages::Inspector::shown : pages::Inspector::off;
    return {.response = pages::root(sandbox_->base_url, inspector), .operation = "page.root"};
  }
  if (request.path == openapi_path) {
    http::Response response;
    response.body("application/json", dump(contract::openapi(sandbox_->base_url), 2));
    return {.response = std::move(response), .operation = "openapi"};
  }
  if (!http::within_sandbox(request.path).id.empty()) {
    const ApiError gone = {.message = "There is no such sandbox, or it was closed"};
    return {.response = render(gone, request_id, sandbox_->world->assumptions)};
  }
  if (is_upload(request.path)) return put_upload(*sandbox_, request, request_id);
  if (auto skill = pages::skill(request)) return {.response = std::move(*skill), .operation = "page.skill"};
  return shared_.pipeline.handle(*sandbox_, request, request_id);
}

/// Runs the handler for its response and rolls back its changes.
Reply SandboxEndpoint::answer_rolled_back(const http::Request& request, std::string_view request_id) {
  World& world = *sandbox_->world;
  const Ids ids = world.ids;
  Reply reply;
  {
    const auto work = UnitOfWork::begin(world);
    reply = answer_without_fault(request, request_id);
  }
  world.ids = ids;
  return reply;
}

Reply SandboxEndpoint::answer(const http::Request& request, const ActiveRequest& active) {
  if (!sandbox_->faults.empty()) {
    if (const auto query = rewritten_query(request, active.fault.get())) {
      http::Request moved = request;
      moved.query = *query;
      return active.fault ? answer_with_fault(moved, active) : answer_without_fault(moved, active.request_id);
    }
  }
  return active.fault ? answer_with_fault(request, active) : answer_without_fault(request, active.request_id);
}

Reply SandboxEndpoint::answer_with_fault(const http::Request& request, const ActiveRequest& active) {
  const FaultRule& rule = *active.fault;
  const bool before = rule.phase == Phase::before;
  http::Pairs values;
  Reply reply;
  reply.operation = operation_of(request, values);
  const FaultedCall call = {.sandbox = *sandbox_,
                            .request = request,
                            .request_id = active.request_id,
                            .operation = reply.operation,
                            .values = values};
  Result<void> done;
  if (before) done = apply_to_world(call, rule, nullptr);
  if (before && rule.effect.replaces_response()) {
    reply.response = http::Response(0);
  } else if (before && rule.effect.alters_response()) {
    reply = answer_rolled_back(request, active.request_id);
  } else {
    reply = answer_without_fault(request, active.request_id);
  }
  if (reply.long_poll && !active.timed_out) return reply;
  if (done) done = apply_to_world(call, rule, &reply.response);
  if (!done) tell(fmt::format("ws-mock: the fault {} was applied only in part: {}", rule.id, done.error().what));
  reply.response = apply_to_response(call, rule, std::move(reply.response));
  return reply;
}

}  // namespace ws::mock
