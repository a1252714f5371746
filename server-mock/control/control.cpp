#include "server-mock/control/control.hpp"

#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "server-mock/control/calls.hpp"
#include "server-mock/pages/inspector_page.hpp"
#include "server-mock/pipeline/errors.hpp"
#include "server-mock/services/refuse.hpp"

namespace ws::mock {
namespace {

using Outcome = http::Routed::Outcome;

/// The transport is told by `Control::handle`, once the answer is made.
ServiceResult shut_down(control::Call& call) {
  if (call.worlds == nullptr) return mock::refuse(Refusal{.message = "A sandbox cannot stop the server: DELETE it"});
  return Answer{.status = 202, .body = Json{{"status", "stopping"}}};
}

struct Entry {
  std::string_view method = {};
  std::string_view path = {};
  control::Handler handler = nullptr;
};

constexpr std::string_view shutdown_path = "/_mock/shutdown";
constexpr Entry table[] = {
    {"GET", "/_mock/health", control::get_health},
    {"POST", "/_mock/reset", control::reset},
    {"GET", "/_mock/inspect", control::inspect},
    {"GET", "/_mock/inspect/documents/{id}", control::inspect_document},
    {"GET", "/_mock/snapshots", control::get_snapshots},
    {"POST", "/_mock/snapshots", control::take_snapshot},
    {"DELETE", "/_mock/snapshots", control::delete_snapshots},
    {"GET", "/_mock/snapshots/{name}", control::get_snapshot},
    {"POST", "/_mock/snapshots/{name}", control::take_named_snapshot},
    {"PUT", "/_mock/snapshots/{name}", control::take_named_snapshot},
    {"DELETE", "/_mock/snapshots/{name}", control::delete_snapshot},
    {"POST", "/_mock/snapshots/{name}:restore", control::restore_snapshot},
    {"GET", "/_mock/state", control::get_state},
    {"PUT", "/_mock/state", control::put_state},
    {"GET", "/_mock/clock", control::get_clock},
    {"PUT", "/_mock/clock", control::put_clock},
    {"POST", "/_mock/clock:advance", control::advance_clock},
    {"GET", "/_mock/faults", control::get_faults},
    {"POST", "/_mock/faults", control::add_faults},
    {"POST", "/_mock/faults/{id}:on", control::turn_fault_on},
    {"POST", "/_mock/faults/{id}:off", control::turn_fault_off},
    {"DELETE", "/_mock/faults", control::delete_faults},
    {"GET", "/_mock/faults/{id}", control::get_fault},
    {"POST", "/_mock/faults/{id}", control::put_fault},
    {"PUT", "/_mock/faults/{id}", control::put_fault},
    {"DELETE", "/_mock/faults/{id}", control::delete_fault},
    {"GET", "/_mock/requests", control::get_requests},
    {"DELETE", "/_mock/requests", control::delete_requests},
    {"GET", "/_mock/requests/unmatched", control::get_unmatched},
    {"POST", "/_mock/requests:verify", control::verify_requests},
    {"POST", "/_mock/keys", control::create_key},
    {"POST", "/_mock/keys/{id}:revoke", control::revoke_key},
    {"POST", "/_mock/keys/{id}:expire", control::expire_key},
    {"POST", "/_mock/events", control::create_event},
    {"GET", "/_mock/devices", control::get_devices},
    {"POST", "/_mock/devices/{code}:approve", control::approve_device},
    {"POST", "/_mock/devices/{code}:deny", control::deny_device},
    {"POST", "/_mock/devices/{code}:expire", control::expire_device},
    {"GET", "/_mock/sandboxes", control::get_sandboxes},
    {"POST", "/_mock/sandboxes", control::open_sandbox},
    {"DELETE", "/_mock/sandboxes/{id}", control::close_sandbox},
    {"GET", "/_mock/assumptions", control::get_assumptions},
    {"PATCH", "/_mock/assumptions", control::patch_assumptions},
    {"POST", shutdown_path, shut_down},
};

Refusal json_invalid(std::string_view reason) {
  const Json entry = {{"loc", Json::array({"body", 0})},
                      {"msg", "JSON decode error"},
                      {"type", "json_invalid"},
                      {"input", Json::object()},
                      {"ctx", {{"error", reason}}}};
  return Refusal{.status = 422, .code = "validation_error", .members = Json{{"detail", Json::array({entry})}}};
}

ServiceResult run(
    const Entry& entry, Sandbox& sandbox, Worlds* worlds, const http::Request& request, const http::Routed& routed) {
  Json body;
  if (!request.body.empty()) {
    auto parsed = parse_bounded(request.body);
    if (!parsed) return tl::unexpected(json_invalid(parsed.error().what));
    body = std::move(*parsed);
  }
  const http::Pairs query = http::parse_query(request.query);
  control::Call call = {.sandbox = sandbox, .path = routed.values, .query = query, .body = body, .worlds = worlds};
  try {
    return entry.handler(call);
  } catch (const std::exception& bug) {
    return tl::unexpected(Refusal{.status = 500, .code = "internal_error", .message = bug.what()});
  }
}

/// The control surface always speaks plainly, whatever the switches say.
http::Response refused(const Refusal& refusal, std::string_view request_id) {
  return render(refusal, request_id, Assumptions());
}

http::Response respond(const ServiceResult& result, std::string_view request_id) {
  if (!result) return refused(result.error(), request_id);
  http::Response response(result->status);
  if (result->status != 204) response.body("application/json", dump(*result->body));
  return response;
}

}  // namespace

Control::Control(const ControlOptions& options) : options_(options) {
  for (std::size_t i = 0; i < std::size(table); ++i) router_.add(table[i].method, table[i].path, i);
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
  const Entry& entry = table[routed.id];
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
  return request.find("Authorization").value_or("") == "Bearer " + options_.token;
}

}  // namespace ws::mock
