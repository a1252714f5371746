#include "server-mock/control/control.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/complaints.hpp"
#include "server-mock/control/bodies.hpp"
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

/// Who says what the body may hold. There is no default: a call that names no rule does not compile.
struct BodyRule {
  enum class By { table, handler } by;
  const contract::Schema& schema;                                    ///< with `table`
  enum class Text { refused, taken } text = Text::refused;           ///< in place of an object
  void (*more)(const Json& body, Complaints& complaints) = nullptr;  ///< what a schema cannot say
};

constexpr contract::Schema no_members = {};
constexpr BodyRule nothing = {.by = BodyRule::By::table, .schema = no_members};
/// The handler reads a list, or members that depend on the world: `Complaints::check`, or one by one.
constexpr BodyRule by_handler = {.by = BodyRule::By::handler, .schema = no_members};
constexpr BodyRule members(const contract::Schema& schema) { return {.by = BodyRule::By::table, .schema = schema}; }
constexpr BodyRule members_and(const contract::Schema& schema, void (*more)(const Json&, Complaints&)) {
  return {.by = BodyRule::By::table, .schema = schema, .more = more};
}
constexpr BodyRule members_or_text(const contract::Schema& schema) {
  return {.by = BodyRule::By::table, .schema = schema, .text = BodyRule::Text::taken};
}

struct Entry {
  std::string_view method;
  std::string_view path;
  control::Handler handler;
  BodyRule body;
  std::span<const std::string_view> query = {};  ///< the parameters that it knows
};

constexpr std::string_view journal_query[] = {"operation", "since", "wait"};

constexpr std::string_view shutdown_path = "/_mock/shutdown";
constexpr Entry table[] = {
    {"GET", "/_mock/health", control::get_health, nothing},
    {"POST", "/_mock/reset", control::reset, members(control::reset_body)},
    {"GET", "/_mock/inspect", control::inspect, nothing},
    {"GET", "/_mock/inspect/documents/{id}", control::inspect_document, nothing},
    {"GET", "/_mock/snapshots", control::get_snapshots, nothing},
    {"POST", "/_mock/snapshots", control::take_snapshot, members(control::snapshot_body)},
    {"DELETE", "/_mock/snapshots", control::delete_snapshots, nothing},
    {"GET", "/_mock/snapshots/{name}", control::get_snapshot, nothing},
    {"POST", "/_mock/snapshots/{name}", control::take_named_snapshot, nothing},
    {"PUT", "/_mock/snapshots/{name}", control::take_named_snapshot, nothing},
    {"DELETE", "/_mock/snapshots/{name}", control::delete_snapshot, nothing},
    {"POST", "/_mock/snapshots/{name}:restore", control::restore_snapshot, nothing},
    {"GET", "/_mock/state", control::get_state, nothing},
    {"PUT", "/_mock/state", control::put_state, members(control::state_body)},
    {"GET", "/_mock/clock", control::get_clock, nothing},
    {"PUT", "/_mock/clock", control::put_clock, members_or_text(control::clock_body)},
    {"POST", "/_mock/clock:advance", control::advance_clock, members(control::advance_body)},
    {"GET", "/_mock/faults", control::get_faults, nothing},
    {"POST", "/_mock/faults", control::add_faults, by_handler},
    {"POST", "/_mock/faults/{id}:on", control::turn_fault_on, nothing},
    {"POST", "/_mock/faults/{id}:off", control::turn_fault_off, nothing},
    {"DELETE", "/_mock/faults", control::delete_faults, nothing},
    {"GET", "/_mock/faults/{id}", control::get_fault, nothing},
    {"POST", "/_mock/faults/{id}", control::put_fault, by_handler},
    {"PUT", "/_mock/faults/{id}", control::put_fault, by_handler},
    {"DELETE", "/_mock/faults/{id}", control::delete_fault, nothing},
    {"GET", "/_mock/requests", control::get_requests, nothing, journal_query},
    {"DELETE", "/_mock/requests", control::delete_requests, nothing},
    {"GET", "/_mock/requests/unmatched", control::get_unmatched, nothing},
    {"POST", "/_mock/requests:verify", control::verify_requests, by_handler},
    {"POST", "/_mock/keys", control::create_key, members_and(control::key_body, control::check_scopes)},
    {"POST", "/_mock/keys/{id}:revoke", control::revoke_key, nothing},
    {"POST", "/_mock/keys/{id}:expire", control::expire_key, nothing},
    {"POST", "/_mock/events", control::create_event, members(control::event_body)},
    {"GET", "/_mock/devices", control::get_devices, nothing},
    {"POST", "/_mock/devices/{code}:approve", control::approve_device, members(control::approval_body)},
    {"POST", "/_mock/devices/{code}:deny", control::deny_device, nothing},
    {"POST", "/_mock/devices/{code}:expire", control::expire_device, nothing},
    {"GET", "/_mock/sandboxes", control::get_sandboxes, nothing},
    {"POST", "/_mock/sandboxes", control::open_sandbox, members(control::sandbox_body)},
    {"DELETE", "/_mock/sandboxes/{id}", control::close_sandbox, nothing},
    {"GET", "/_mock/assumptions", control::get_assumptions, nothing},
    {"PATCH", "/_mock/assumptions", control::patch_assumptions, by_handler},
    {"POST", shutdown_path, shut_down, nothing},
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
std::optional<Refusal> complaints_of(const Entry& entry, const Json& body, const http::Pairs& query) {
  Complaints complaints;
  const bool is_text = entry.body.text == BodyRule::Text::taken && body.is_string();
  if (entry.body.by == BodyRule::By::table && !body.is_null() && !is_text) {
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

ServiceResult run(
    const Entry& entry, Sandbox& sandbox, Worlds* worlds, const http::Request& request, const http::Routed& routed) {
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
  for (const Entry& entry : table) calls.push_back({.method = entry.method, .path = entry.path});
  return calls;
}

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
  // Hashed, so that the time it takes tells nothing of how much of it was right.
  return Sha256::of(request.find("Authorization").value_or("")) == Sha256::of("Bearer " + options_.token);
}

}  // namespace ws::mock
