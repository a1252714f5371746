#include "server-mock/control/control.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/contract/json_schema.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/pages/pages.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {
namespace {

using Outcome = http::Routed::Outcome;

/// Only answers; `Control::handle` stops the server after this.
ServiceResult shut_down(control::Call& call) {
  if (call.sandboxes == nullptr)
    return mock::refuse(ApiError{.message = "A sandbox cannot stop the server: DELETE it"});
  return Answer{.status = 202, .body = Json{{"status", "stopping"}}};
}

constexpr std::string_view control_openapi_path = "/_mock/openapi.json";
constexpr std::string_view shutdown_path = "/_mock/shutdown";

control::CallTable server_calls() {
  static constexpr control::CallEntry entries[] = {
      {"POST", shutdown_path, "stop the server", shut_down, control::nothing}};
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
    errors.add({std::string("query"), name}, "extra_forbidden", unknown_member_message(name, entry.query), value);
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
    if (!parsed) return tl::unexpected(invalid_request({contract::json_invalid(parsed.error().what, 0)}));
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

/// 404 that names the control calls, those first that begin like the request's path.
ApiError no_such_call(const http::Request& request) {
  const std::string_view asked = request.path;
  const auto noun_of = [](std::string_view path) {
    const std::string_view rest = path.substr(std::min(path.size(), std::string_view("/_mock/").size()));
    return rest.substr(0, rest.find_first_of("/:"));
  };
  std::vector<std::string> near;
  std::vector<std::string> all;
  for (const ControlCall& call : control_calls()) {
    std::string line = std::string(call.method) + " " + std::string(call.path);
    const std::string_view noun = noun_of(call.path);
    const bool is_near = noun_of(asked).starts_with(noun.substr(0, 3));
    (is_near ? near : all).push_back(std::move(line));
  }
  near.insert(near.end(), all.begin(), all.end());
  return {.message = "There is no such control call; `calls` lists them, and /_mock/openapi.json describes them",
          .members = Json{{"calls", near}}};
}

/// `{name}` of a path, in order.
std::vector<std::string_view> names_in(std::string_view path) {
  std::vector<std::string_view> names;
  for (std::size_t open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1)) {
    names.push_back(path.substr(open + 1, path.find('}', open) - open - 1));
  }
  return names;
}

constexpr std::string_view refs = "#/components/schemas/";

Json call_openapi(const control::CallEntry& entry) {
  Json parameters = Json::array();
  const auto add = [&](const char* in, std::string_view name) {
    parameters.push_back({{"name", name}, {"in", in}, {"schema", {{"type", "string"}}}});
    if (std::string_view(in) == "path") parameters.back()["required"] = true;
  };
  for (const std::string_view name : names_in(entry.path)) add("path", name);
  for (const std::string_view name : entry.query) add("query", name);
  Json call = {{"summary", entry.summary}};
  if (!parameters.empty()) call["parameters"] = std::move(parameters);
  const bool by_handler = entry.body.by == control::BodyRule::By::handler;
  if (by_handler || !entry.body.schema.fields.empty()) {
    Json schema = by_handler ? Json::object() : contract::reference(refs, entry.body.schema.name);
    call["requestBody"]["content"]["application/json"]["schema"] = std::move(schema);
  }
  call["responses"]["default"] = {{"description", "JSON, or an error as in the API"}};
  return call;
}

}  // namespace

Json control_openapi(std::string_view server_url) {
  Json document = {{"openapi", "3.1.0"},
                   {"info", {{"title", "Control of ws-mock"}, {"version", contract::api_version}}},
                   {"servers", Json::array({{{"url", server_url.empty() ? "/" : server_url}}})},
                   {"paths", Json::object()}};
  Json schemas = Json::object();
  for (const auto table : tables) {
    for (const control::CallEntry& entry : table()) {
      document["paths"][std::string(entry.path)][to_lower(entry.method)] = call_openapi(entry);
      if (entry.body.schema.name.empty()) continue;
      for (const contract::Schema* schema : contract::reached_from(entry.body.schema)) {
        schemas[std::string(schema->name)] = contract::json_schema(*schema, contract::Use::request, refs);
      }
    }
  }
  document["components"]["schemas"] = std::move(schemas);
  return document;
}

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
  router_.add("GET", control_openapi_path, entries_.size());
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
    http::Response response = request.method == "OPTIONS"
                                  ? http::Response(204)
                                  : refuse(ApiError{.status = 405,
                                                    .code = "method_not_allowed",
                                                    .message = "This control call does not take this method"});
    response.header("Allow", routed.allow);
    return response;
  }
  if (routed.outcome != Outcome::found) return refuse(no_such_call(request));
  if (routed.id == entries_.size()) {
    http::Response response;
    response.body("application/json", dump(control_openapi(sandbox.base_url), 2));
    return response;
  }
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
