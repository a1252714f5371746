#include "server-mock/control/control.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/pages/inspector_page.hpp"
#include "server-mock/pipeline/errors.hpp"
#include "server-mock/services/shared/refuse.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock {
namespace {

using Outcome = http::Routed::Outcome;

/// The transport is told by `Control::handle`, once the answer is made.
ServiceResult shut_down(control::Call& call) {
  if (call.worlds == nullptr) return mock::refuse(Refusal{.message = "A sandbox cannot stop the server: DELETE it"});
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

Refusal json_invalid(std::string_view reason) {
  const Json entry = {{"loc", Json::array({"body", 0})},
                      {"msg", "JSON decode error"},
                      {"type", "json_invalid"},
                      {"input", Json::object()},
                      {"ctx", {{"error", reason}}}};
  return Refusal{.status = 422, .code = "validation_error", .members = Json{{"detail", Json::array({entry})}}};
}

/// Members and parameters that the call does not know, and those of a wrong type: all at once.
std::optional<Refusal> complaints_of(const control::CallEntry& entry, const Json& body, const http::Pairs& query) {
  Complaints complaints;
  const bool is_text = entry.body.text == control::BodyRule::Text::taken && body.is_string();
  if (entry.body.by == control::BodyRule::By::table && !body.is_null() && !is_text) {
    complaints.check(body, entry.body.schema, {std::string("body")});
    if (entry.body.more != nullptr) entry.body.more(body, complaints);
  }
  for (const auto& [name, value] : query) {
    if (std::ranges::find(entry.query, name) != entry.query.end()) continue;
    complaints.add({std::string("query"), name}, "extra_forbidden", unknown_among(name, entry.query), value);
  }
  if (complaints.empty()) return std::nullopt;
  return complaints.refusal();
}

ServiceResult run(const control::CallEntry& entry,
                  Sandbox& sandbox,
                  Worlds* worlds,
                  const http::Request& request,
                  const http::Routed& routed) {
  Json body;
  if (!request.body.empty()) {
    auto parsed = parse_bounded(request.body);
    if (!parsed) return tl::unexpected(json_invalid(parsed.error().what));
    body = std::move(*parsed);
  }
  const http::Pairs query = http::parse_query(request.query);
  if (auto refusal = complaints_of(entry, body, query)) return tl::unexpected(std::move(*refusal));
  control::Call call = {.sandbox = sandbox, .path = routed.values, .query = query, .body = body, .worlds = worlds};
  try {
    return entry.handler(call);
  } catch (const std::exception& bug) {
    return tl::unexpected(internal_error(bug.what()));
  }
}

/// The control surface always speaks plainly, whatever the switches say.
http::Response refused(const Refusal& refusal, std::string_view request_id) {
  return render(refusal, request_id, Assumptions());
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
                               Worlds* worlds,
                               const http::Request& request,
                               std::string_view request_id) {
  const auto refuse = [&](const Refusal& refusal) { return refused(refusal, request_id); };
  // The page itself holds nothing that is worth hiding; it asks for the token.
  if (auto page = pages::inspector(request)) return std::move(*page);
  if (!options_.token.empty() && !is_authorized(request)) {
    return refuse(Refusal{.status = 401, .code = "invalid_credential", .message = "The control token is needed"});
  }
  const http::Routed routed = router_.find(request.method, request.path);
  if (routed.outcome == Outcome::no_method) {
    http::Response response =
        request.method == "OPTIONS"
            ? http::Response(204)
            : refuse(Refusal{.status = 405, .code = "method_not_allowed", .message = "Not with this method"});
    response.header("Allow", routed.allow);
    return response;
  }
  if (routed.outcome != Outcome::found) return refuse(Refusal{.message = "There is no such control call"});
  const control::CallEntry& entry = *entries_[routed.id];
  const ServiceResult result = run(entry, sandbox, worlds, request, routed);
  http::Response response = respond(result, request_id);
  if (result && entry.path == shutdown_path) {
    response.close();
    if (stop_) stop_();
  }
  return response;
}

std::optional<http::Response> Control::advance_on(Sandbox& sandbox, Steps steps, std::string_view request_id) {
  // A reset on the way has ended it.
  if (!sandbox.advance) return respond(Answer{.body = control::clock_of(sandbox)}, request_id);
  while (true) {
    const Result<bool> goes_on = sandbox.advance->step();
    if (goes_on && *goes_on && steps == Steps::one) return std::nullopt;
    if (goes_on && *goes_on) continue;
    const Advance advance = *std::exchange(sandbox.advance, std::nullopt);
    if (!goes_on) return respond(mock::refuse(goes_on.error()), request_id);
    return respond(Answer{.body = advance.answer()}, request_id);
  }
}

bool Control::is_authorized(const http::Request& request) const {
  // Hashed, so that the time it takes tells nothing of how much of it was right.
  return Sha256::of(request.find("Authorization").value_or("")) == Sha256::of("Bearer " + options_.token);
}

}  // namespace ws::mock
