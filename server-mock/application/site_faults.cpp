// What becomes of a request whose answer is disturbed on purpose, and which requests those are.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/openapi.hpp"
#include "server-mock/application/site.hpp"
#include "server-mock/pages/device_page.hpp"
#include "server-mock/pages/skill_page.hpp"
#include "server-mock/pipeline/errors.hpp"
#include "server-mock/pipeline/upload_put.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view openapi_path = "/openapi.json";

bool is_read(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

/// The methods of a place beside the API, where they are asked for or not among them; empty: it is to be answered.
std::string_view methods_instead(const http::Request& request) {
  const bool asks = request.method == "OPTIONS";
  if (request.target == "*") return asks ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : "OPTIONS";
  if (request.path == pages::device_path && asks) return "GET, HEAD, POST, OPTIONS";
  if (request.path == openapi_path && !is_read(request)) return "GET, HEAD, OPTIONS";
  return {};
}

}  // namespace

/// Only the API is limited. Who has no key shares a measure with all who have none.
std::optional<Refusal> Site::over_the_rate(const http::Request& request) {
  if (!request.path.starts_with("/v1")) return std::nullopt;
  const auto wait = sandbox_->rate_limit.take(request.find("Authorization").value_or(""), sandbox_->world->now());
  if (!wait) return std::nullopt;
  const auto seconds = std::max(std::chrono::ceil<std::chrono::seconds>(*wait), std::chrono::seconds(1));
  return Refusal{.status = 429,
                 .code = "rate_limited",
                 .message = "Too many calls with this key",
                 .members = Json{{"retry_after", std::to_string(seconds.count())}}};
}

/// Pages have names too, so that a rule can mean them.
std::string_view Site::operation_of(const http::Request& request, http::Pairs& values) const {
  if (request.path == pages::device_path) return "page.device";
  if (is_upload(request.path)) return upload_operation;
  if (request.path == openapi_path) return "openapi";
  const contract::Operation* operation = household_.pipeline.find(request, values);
  return operation == nullptr ? std::string_view() : operation->id;
}

std::shared_ptr<const FaultRule> Site::find_fault(const http::Request& request) {
  http::Pairs values;
  const std::string_view operation = operation_of(request, values);
  return sandbox_->faults.take(
      {.operation = operation, .method = request.method, .path = http::decoded_path(request.path)});
}

Reply Site::undisturbed(const http::Request& request, std::string_view request_id) {
  if (const std::string_view allow = methods_instead(request); !allow.empty()) {
    return {.response = render_allow(request.method, allow, request_id, sandbox_->world->assumptions)};
  }
  if (request.path == pages::device_path) {
    return {.response = pages::device(*sandbox_, household_.approval, request, request_id), .operation = "page.device"};
  }
  if (request.path == openapi_path) {
    http::Response response;
    response.body("application/json", dump(contract::openapi(sandbox_->base_url), 2));
    return {.response = std::move(response), .operation = "openapi"};
  }
  if (!http::within_sandbox(request.path).id.empty()) {
    const Refusal gone = {.message = "There is no such sandbox (any more)"};
    return {.response = render(gone, request_id, sandbox_->world->assumptions)};
  }
  if (is_upload(request.path)) return put_upload(*sandbox_, request, request_id);
  if (auto skill = pages::skill(request)) return {.response = std::move(*skill), .operation = "page.skill"};
  return household_.pipeline.handle(*sandbox_, request, request_id);
}

/// The answer that the handler would give; nothing of what it did stays.
Reply Site::undone(const http::Request& request, std::string_view request_id) {
  World& world = *sandbox_->world;
  const Ids ids = world.ids;
  Reply reply;
  {
    const auto work = UnitOfWork::begin(world);
    reply = undisturbed(request, request_id);
  }
  world.ids = ids;
  return reply;
}

Reply Site::answer(const http::Request& request, const Begun& begun) {
  return begun.fault ? answer_disturbed(request, begun) : undisturbed(request, begun.request_id);
}

Reply Site::answer_disturbed(const http::Request& request, const Begun& begun) {
  const FaultRule& rule = *begun.fault;
  const bool before = rule.phase == Phase::before;
  http::Pairs values;
  Reply reply;
  reply.operation = operation_of(request, values);
  const FaultedCall call = {.sandbox = *sandbox_,
                            .request = request,
                            .request_id = begun.request_id,
                            .operation = reply.operation,
                            .values = values};
  Result<void> done;
  if (before) done = disturb_world(call, rule, nullptr);
  if (before && rule.effect.replaces_answer()) {
    reply.response = http::Response(0);
  } else if (before && rule.effect.spoils_answer()) {
    reply = undone(request, begun.request_id);
  } else {
    reply = undisturbed(request, begun.request_id);
  }
  if (reply.waiting && !begun.is_over) return reply;
  if (done) done = disturb_world(call, rule, &reply.response);
  if (!done) fmt::print(stderr, "ws-mock: the fault {} could not do all it should: {}\n", rule.id, done.error().what);
  reply.response = disturb_answer(call, rule, std::move(reply.response));
  return reply;
}

}  // namespace ws::mock
