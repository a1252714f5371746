#include "server-mock/pipeline/pipeline.hpp"

#include <algorithm>
#include <exception>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/http/packing.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/pipeline/assumption_effects.hpp"
#include "server-mock/pipeline/content.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/pipeline/input.hpp"
#include "server-mock/services/shared/entity_tags.hpp"

namespace ws::mock {
namespace {

using contract::Operation;
using Outcome = http::Routed::Outcome;

constexpr std::string_view answer_type = "application/json";

/// Whether a free-text path parameter is not UTF-8.
bool is_undecodable(const Operation& operation, const http::Pairs& values) {
  return std::ranges::any_of(values, [&](const auto& value) {
    const contract::Parameter* parameter = contract::find_parameter(operation, value.first);
    return parameter != nullptr && parameter->field.type.kind == contract::Kind::string &&
           !utf8::is_valid(value.second);
  });
}

bool is_undecodable(std::string_view path) {
  return path.starts_with("/v1/") && !utf8::is_valid(http::decoded_path(path));
}

ApiError undecodable_path(std::string_view path) {
  return invalid("path", "path", "value_error", "The path is no percent-encoded UTF-8", path).value();
}

/// Null if the answer has none.
std::string* find_etag(Answer& answer) {
  const auto found = std::ranges::find(answer.headers, "ETag", &std::pair<std::string, std::string>::first);
  return found == answer.headers.end() ? nullptr : &found->second;
}

/// Whether an answer of the operation shows a secret. The credential of a new agent is free-form: nothing in it is
/// declared.
bool shows_secret(const Operation& operation) {
  const auto is_secret = [](const contract::Field& field) {
    return !field.secret.empty() || (field.name == "credential" && field.type.kind == contract::Kind::free_object);
  };
  for (const contract::Response& response : operation.responses) {
    if (response.schema == nullptr) continue;
    for (const contract::Schema* schema : contract::reached_from(*response.schema)) {
      if (std::any_of(schema->fields.begin(), schema->fields.end(), is_secret)) return true;
    }
  }
  return false;
}

/// Errors that take precedence over a stored response: the caller may no longer see the object.
bool hides_object(const ApiError& api_error) { return api_error.status == 403 || api_error.status == 404; }

}  // namespace

struct Pipeline::Call {
  Sandbox& sandbox;
  const http::Request& request;
  std::string_view request_id;
  http::Routed routed = {};
  const Operation* operation = nullptr;
  Service service = nullptr;
  bool shows_secret = false;
  const Caller* caller = nullptr;
  Input input = {};
  std::optional<LongPoll> long_poll = {};
};

Pipeline::Pipeline() {
  for (const Operation* operation : contract::operations()) {
    router_.add(contract::name(operation->method), operation->path, routes_.size());
    routes_.push_back(
        {.operation = operation, .service = find_service(*operation), .shows_secret = shows_secret(*operation)});
  }
}

const Operation* Pipeline::find(const http::Request& request, http::Pairs& values) const {
  http::Routed routed = router_.find(request.method, request.path);
  if (routed.outcome != Outcome::found) return nullptr;
  values = std::move(routed.values);
  return routes_[routed.id].operation;
}

Reply Pipeline::handle(Sandbox& sandbox, const http::Request& request, std::string_view request_id) const {
  Call call = {.sandbox = sandbox, .request = request, .request_id = request_id};
  Reply reply;
  try {
    reply.response = run(call);
  } catch (const std::exception& bug) {
    // One of the two places that catch exceptions; the other is main.
    reply.response = finish(call, internal_error(bug.what()));
  }
  reply.long_poll = std::move(call.long_poll);
  reply.warning = std::move(call.input.warning);
  if (call.operation != nullptr) reply.operation = call.operation->id;
  return reply;
}

http::Response Pipeline::run(Call& call) const {
  call.routed = router_.find(call.request.method, call.request.path);
  if (call.routed.outcome != Outcome::found) {
    if (auto api_error = stranger_error(call)) return finish(call, *api_error);
  }
  if (call.routed.outcome != Outcome::found && is_undecodable(call.request.path)) {
    call.routed.outcome = Outcome::malformed;
  }
  switch (call.routed.outcome) {
    case Outcome::malformed: return finish(call, undecodable_path(call.request.path));
    case Outcome::no_path: return finish(call, ApiError{.message = "There is no such path"});
    case Outcome::no_method: {
      const bool asked = call.request.method == "OPTIONS";
      const ApiError api_error = {
          .status = 405, .code = "method_not_allowed", .message = "This path does not take this method"};
      http::Response response = asked ? http::Response(204) : finish(call, api_error);
      response.header("Allow", call.routed.allow);
      return response;
    }
    case Outcome::found: break;
  }
  const Route& route = routes_[call.routed.id];
  call.operation = route.operation;
  call.service = route.service;
  call.shows_secret = route.shows_secret;
  ServiceResult result = answer(call);
  return result ? finish(call, std::move(*result)) : finish(call, result.error());
}

/// A request without a valid key gets 401, also for a path or method that does not exist, and for OPTIONS.
std::optional<ApiError> Pipeline::stranger_error(Call& call) {
  const std::string_view path = call.request.path;
  const bool is_api = path == "/v1" || path.starts_with("/v1/");
  if (!is_api || !call.sandbox.world->assumptions.is("auth_order", "auth_first")) return std::nullopt;
  auto caller = call.sandbox.access->identify(call.request.find("Authorization"));
  return caller ? std::nullopt : std::optional(std::move(caller.error()));
}

ServiceResult Pipeline::answer(Call& call) {
  const bool credential_first = call.sandbox.world->assumptions.is("auth_order", "auth_first");
  if (auto api_error = credential_first ? authorize(call) : validate(call))
    return tl::unexpected(std::move(*api_error));
  if (auto api_error = credential_first ? validate(call) : authorize(call))
    return tl::unexpected(std::move(*api_error));
  if (call.service == nullptr) {
    return tl::unexpected(
        ApiError{.status = 501, .code = "not_implemented", .message = "This server does not have the operation yet"});
  }
  const auto key =
      call.operation->idempotency == contract::Idempotency::key ? call.request.find("Idempotency-Key") : std::nullopt;
  return key && !key->empty() ? serve_keyed(call, *key) : serve(call);
}

std::optional<ApiError> Pipeline::authorize(Call& call) {
  static const Caller nobody;
  call.caller = &nobody;
  if (call.operation->auth == contract::Auth::none) return std::nullopt;
  Access& access = *call.sandbox.access;
  auto caller = access.identify(call.request.find("Authorization"));
  if (!caller) return std::move(caller.error());
  call.caller = *caller;
  return access.authorization_error(*call.operation, *call.caller);
}

std::optional<ApiError> Pipeline::validate(Call& call) {
  if (is_undecodable(*call.operation, call.routed.values)) return undecodable_path(call.request.path);
  if (auto api_error = check_content_type(*call.operation, call.request)) return api_error;
  auto input =
      read_input(*call.operation, call.request, call.routed.values, call.sandbox.world->options.unknown_fields);
  if (!input) return std::move(input.error());
  call.input = std::move(*input);
  return std::nullopt;
}

ServiceCall Pipeline::service_call(const Call& call) {
  const bool is_get = call.operation->method == contract::Method::get;
  return {.operation = *call.operation,
          .caller = *call.caller,
          .parameters = *call.input.parameters,
          .body = *call.input.body,
          .base_url = call.sandbox.base_url,
          .if_match = is_get ? std::nullopt : call.request.find("If-Match")};
}

ServiceResult Pipeline::serve(Call& call) { return call.service(*call.sandbox.world, service_call(call)); }

/// The idempotency record is written in the transaction of the change, so that a crash keeps both or neither.
ServiceResult Pipeline::serve_keyed(Call& call, std::string_view key) {
  World& world = *call.sandbox.world;
  const IdempotencyKey wanted = make_idempotency_key(
      *call.caller, key, call.request.method, http::decoded_path(call.request.path), *call.input.body);
  auto kept = find_stored_response(world, wanted);
  if (!kept) return tl::unexpected(internal_error(kept.error().what));
  if (*kept) return replay(call, wanted, std::move(**kept));
  if (call.sandbox.in_flight.contains({wanted.owner, wanted.key})) return tl::unexpected(key_in_flight());
  auto work = UnitOfWork::begin(world);
  if (!work) return tl::unexpected(internal_error(work.error().what));
  ServiceResult result = serve(call);
  if (!result) return result;
  if (auto written = store_response(world, wanted, *result); !written) {
    return tl::unexpected(internal_error(written.error().what));
  }
  if (auto done = work->commit(); !done) return tl::unexpected(internal_error(done.error().what));
  return result;
}

/// Re-checks authorization before returning a stored response: runs the service in a transaction that is rolled back,
/// and looks for what the response shows. A key that may not see it (any more) gets 403 or 404.
ServiceResult Pipeline::replay(Call& call, const IdempotencyKey& key, StoredResponse&& kept) {
  World& world = *call.sandbox.world;
  const Ids ids = world.ids;
  {
    auto work = UnitOfWork::begin(world);
    if (!work) return tl::unexpected(internal_error(work.error().what));
    ServiceResult tried = serve(call);
    if (!tried && hides_object(tried.error())) return tried;
  }
  world.ids = ids;
  if (kept.fingerprint != key.fingerprint) return tl::unexpected(key_reused(key.key));
  auto body = parse_bounded(kept.answer.body.text());
  if (!body) return tl::unexpected(internal_error(body.error().what));
  if (auto shown = require_shown(world, service_call(call), *body); !shown) return tl::unexpected(shown.error());
  kept.answer.headers.emplace_back("Idempotent-Replayed", "true");
  return std::move(kept.answer);
}

http::Response Pipeline::finish(Call& call, Answer&& answer) {
  const Operation& operation = *call.operation;
  const Assumptions& assumptions = call.sandbox.world->assumptions;
  call.long_poll = std::move(answer.long_poll);
  apply_assumptions(operation, assumptions, answer);
  std::string* etag = find_etag(answer);
  if (operation.method == contract::Method::get && answer.status == 200 && etag != nullptr) {
    const auto listed = call.request.find("If-None-Match");
    if (const auto same = listed ? find_match(*listed, *etag) : std::nullopt) {
      answer.status = 304;
      *etag = std::string(*same);
    }
  }
  if (answer.blob && answer.status == 200) return finish_blob(call, std::move(answer));
  http::Response response = begin_response(call, answer);
  std::string text = std::move(answer.body).text();
  // As the 200 would have it (RFC 9110, 15.4.5).
  if (answer.status == 304 && text.size() >= http::packed_from_bytes) response.header("Vary", "Accept-Encoding");
  if (answer.status != 304) response.body(answer_type, std::move(text));
  return response;
}

http::Response Pipeline::finish_blob(Call& call, Answer&& answer) {
  const BlobBody& blob = *answer.blob;
  const std::string* etag = find_etag(answer);
  const Slice slice =
      wanted_slice(call.request, etag == nullptr ? std::string_view() : std::string_view(*etag), blob.size_bytes);
  const bool whole = slice.kind == Slice::Kind::whole;
  if (slice.kind == Slice::Kind::unsatisfiable) {
    http::Response response = finish(
        call, ApiError{.status = 416, .code = "range_not_satisfiable", .message = "The range is outside the file"});
    response.header("Content-Range", content_range(slice, blob.size_bytes));
    return response;
  }
  auto source = open_slice(*call.sandbox.world, blob, slice);
  if (!source) return finish(call, internal_error(source.error().what));
  answer.status = whole ? 200 : 206;
  http::Response response = begin_response(call, answer);
  response.header("Accept-Ranges", "bytes");
  if (!whole) response.header("Content-Range", content_range(slice, blob.size_bytes));
  response.body(blob.media_type, std::move(*source));
  return response;
}

/// Status and header fields, without a body.
http::Response Pipeline::begin_response(const Call& call, const Answer& answer) {
  http::Response response(answer.status);
  std::string assumed = assumptions_behind(*call.operation, call.sandbox.world->assumptions, answer.status, {});
  for (const auto& [name, value] : answer.headers) {
    if (name == assumed_header) {
      assumed += (assumed.empty() ? "" : ", ") + value;
    } else {
      response.header(name, value);
    }
  }
  if (!assumed.empty()) response.header(assumed_header, assumed);
  if (!call.input.warning.empty()) response.header("X-Mock-Warning", call.input.warning);
  if (call.shows_secret) response.header("Cache-Control", "no-store");
  return response;
}

http::Response Pipeline::finish(Call& call, const ApiError& api_error) {
  const Assumptions& assumptions = call.sandbox.world->assumptions;
  http::Response response = render(api_error, call.request_id, assumptions);
  static const Operation no_operation = {};
  const Operation& operation = call.operation != nullptr ? *call.operation : no_operation;
  if (const std::string assumed = assumptions_behind(operation, assumptions, api_error.status, api_error.code);
      !assumed.empty()) {
    response.header(assumed_header, assumed);
  }
  if (!call.input.warning.empty()) response.header("X-Mock-Warning", call.input.warning);
  return response;
}

}  // namespace ws::mock
