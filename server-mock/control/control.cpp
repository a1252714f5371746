#include "server-mock/control/control.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/pages/inspector_page.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock {
namespace {

using Outcome = http::Routed::Outcome;

/// Only answers; `Control::handle` stops the server after this.
ServiceResult shut_down(control::Call& call) {
  if (call.sandboxes == nullptr)
    return mock::refuse(ApiError{.message = "A sandbox cannot stop the server: DELETE it"});
  return Answer{.status = 202, .body = Json{{"status", "stopping"}}};
}

constexpr std::string_view shutdown_path = "/_mock/shutdown";

control::CallTable server_calls() {
  static constexpr control::CallEntry entries[] = {{"POST", shutdown_path, shut_down, control::nothing}};
  return entries;
}

constexpr control::CallTable (*tables[])() = {
    control::general_calls,
    control::state_calls,
    control::inspect_calls,
    control::clock_calls,
    control::fault_calls,
    control::journal_calls,
    control::key_calls,
    control::event_calls,
    control::device_calls,
    control::sandbox_calls,
    server_calls,
};

ApiError json_invalid(std::string_view reason) {
  const Json entry = {{"loc", Json::array({"body", 0})},
                      {"msg", "JSON decode error"},
                      {"type", "json_invalid"},
                      {"input", Json::object()},
                      {"ctx", {{"error", reason}}}};
  return ApiError{.status = 422, .code = "validation_error", .members = Json{{"detail", Json::array({entry})}}};
}

/// All unknown members and parameters, and members of a wrong type.
std::optional<ApiError> validation_errors_of(const control::CallEntry& entry,
                                             const Json& body,
                                             const http::Pairs& query) {
  ValidationErrors errors;
  const bool is_text = entry.body.text == control::BodyRule::Text::taken && body.is_string();
  if (entry.body.by == control::BodyRule::By::table && !body.is_null() && !is_text) {
    errors.check(body, entry.body.schema, {std::string("body")});
    if (entry.body.more != nullptr) entry.body.more(body, errors);
  }
  for (const auto& [name, value] : query) {
    if (std::ranges::find(entry.query, name) != entry.query.end()) continue;
    errors.add({std::string("query"), name}, "extra_forbidden", unknown_among(name, entry.query), value);
  }
  if (errors.empty()) return std::nullopt;
  return errors.api_error();
}

ServiceResult run(const control::CallEntry& entry,
                  Sandbox& sandbox,
                  Sandboxes* sandboxes,
                  const http::Request& request,
                  const http::Routed& routed) {
  Json body;
  if (!request.body.empty()) {
    auto parsed = parse_bounded(request.body);
    if (!parsed) return tl::unexpected(json_invalid(parsed.error().what));
    body = std::move(*parsed);
  }
  const http::Pairs query = http::parse_query(request.query);
  if (auto api_error = validation_errors_of(entry, body, query)) return tl::unexpected(std::move(*api_error));
  control::Call call = {
      .sandbox = sandbox, .path = routed.values, .query = query, .body = body, .sandboxes = sandboxes};
  try {
    return entry.handler(call);
  } catch (const std::exception& bug) {
    return tl::unexpected(internal_error(bug.what()));
  }
}

/// Control calls ignore the assumption switches.
http::Response refused(const ApiError& api_error, std::string_view request_id) {
  return render(api_error, request_id, Assumptions());
}

http::Response respond(const ServiceResult& result, std::string_view request_id) {
  if (!result) return refused(result.error(), request_id);
  http::Response response(result->status);
  response.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
  if (result->status != 204) response.body("application/json", dump(*result->body));
  return response;
}

}  // namespace

std::vector<ControlCall> control_calls() {
  std::vector<ControlCall> calls;
  for (const auto table : tables) {
    for (const control::CallEntry& entry : table()) calls.push_back({.method = entry.method, .path = entry.path});
  }
  return calls;
}

Control::Control(const ControlOptions& options) : options_(options) {
  for (const auto table : tables) {
    for (const control::CallEntry& entry : table()) {
      router_.add(entry.method, entry.path, entries_.size());
      entries_.push_back(&entry);
    }
  }
}

http::Response Control::handle(Sandbox& sandbox,
                               Sandboxes* sandboxes,
                               const http::Request& request,
                               std::string_view request_id) {
  const auto refuse = [&](const ApiError& api_error) { return refused(api_error, request_id); };
  // The inspector page itself holds no data and needs no token; its script asks for the token.
  if (auto page = pages::inspector(request)) return std::move(*page);
  if (!options_.token.empty() && !is_authorized(request)) {
    return refuse(ApiError{.status = 401, .code = "invalid_credential", .message = "The control token is needed"});
  }
  const http::Routed routed = router_.find(request.method, request.path);
  if (routed.outcome == Outcome::no_method) {
    http::Response response =
        request.method == "OPTIONS"
            ? http::Response(204)
            : refuse(ApiError{.status = 405, .code = "method_not_allowed", .message = "Not with this method"});
    response.header("Allow", routed.allow);
    return response;
  }
  if (routed.outcome != Outcome::found) return refuse(ApiError{.message = "There is no such control call"});
  const control::CallEntry& entry = *entries_[routed.id];
  const ServiceResult result = run(entry, sandbox, sandboxes, request, routed);
  http::Response response = respond(result, request_id);
  if (result && entry.path == shutdown_path) {
    response.close();
    if (stop_) stop_();
  }
  return response;
}

std::optional<http::Response> Control::continue_advance(Sandbox& sandbox, Steps steps, std::string_view request_id) {
  // A reset has ended the advance.
  if (!sandbox.advance) return respond(Answer{.body = control::clock_of(sandbox)}, request_id);
  while (true) {
    const Result<bool> more = sandbox.advance->step();
    if (more && *more && steps == Steps::one) return std::nullopt;
    if (more && *more) continue;
    const Advance advance = *std::exchange(sandbox.advance, std::nullopt);
    if (!more) return respond(mock::refuse(more.error()), request_id);
    return respond(Answer{.body = advance.answer()}, request_id);
  }
}

bool Control::is_authorized(const http::Request& request) const {
  // Comparing hashes hides how much of the token was right from timing attacks.
  return Sha256::of(request.find("Authorization").value_or("")) == Sha256::of("Bearer " + options_.token);
}

}  // namespace ws::mock
