// Control calls for sandboxes.

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock::control {
namespace {

using contract::nullable;
using contract::optional;

constexpr contract::Field sandbox_fields[] = {nullable(optional("fixtures", contract::Type{}))};
constexpr contract::Schema sandbox_body = {.name = "NewSandbox", .fields = sandbox_fields};

Unexpected not_here() {
  return refuse(ApiError{.message = "A sandbox has no sandboxes: ask the control surface of the base URL for one"});
}

/// 409 if there are too many sandboxes; 422 with one violation for each line of an error in the fixtures.
Unexpected refused(const Failure& failure) {
  if (failure.kind == Failure::Kind::conflict) return conflict("too_many_sandboxes", failure.what);
  if (failure.kind != Failure::Kind::invalid) return refuse(failure);
  ValidationErrors errors;
  for (const std::string_view line : split_lines(failure.what)) {
    errors.add({std::string("body"), std::string("fixtures")}, line, nullptr);
  }
  return refuse(errors.api_error());
}

/// `fixtures` is an object as in a fixtures file, the text of such a file, "seed" or "empty".
ApiResult<Sandboxes::SandboxRequest> sandbox_request_of(const Json& body) {
  Sandboxes::SandboxRequest wanted;
  const Json* given = find(body, "fixtures");
  if (given == nullptr || given->is_null() || *given == "seed") return wanted;
  wanted.has_fixtures = true;
  if (*given == "empty") {
    wanted.start = StartWith::empty;
    wanted.name = "empty";
    return wanted;
  }
  wanted.name = Sha256::of(dump(*given)).hex();
  auto read = given->is_string() ? Fixtures::parse(given->get<std::string>()) : Fixtures::of(*given);
  if (!read) return refused(read.error());
  wanted.fixtures = std::move(*read);
  return wanted;
}

/// Inside a sandbox these three calls return 404. POST takes `{fixtures?}`.
ServiceResult get_sandboxes(Call& call) {
  if (call.sandboxes == nullptr) return not_here();
  return Answer{.body = Json{{"data", call.sandboxes->list()}, {"at_most", max_sandboxes}}};
}

ServiceResult open_sandbox(Call& call) {
  if (call.sandboxes == nullptr) return not_here();
  if (!call.body.is_null() && !call.body.is_object()) {
    return invalid("body", "fixtures", "dict_type", "Send {} or {\"fixtures\": {...}}", call.body);
  }
  WS_API_LET(const Sandboxes::SandboxRequest wanted, sandbox_request_of(call.body));
  auto opened = call.sandboxes->open(wanted);
  if (!opened) return refused(opened.error());
  return Answer{.status = 201, .body = std::move(*opened)};
}

ServiceResult close_sandbox(Call& call) {
  if (call.sandboxes == nullptr) return not_here();
  if (!call.sandboxes->close(http::value_of(call.path, "id"))) return not_found("sandbox");
  return Answer{.status = 204};
}

}  // namespace

CallTable sandbox_calls() {
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/sandboxes", "the open sandboxes", get_sandboxes, nothing},
      {"POST",
       "/_mock/sandboxes",
       "open a sandbox: a separate world under base_url + /_s/ID",
       open_sandbox,
       members(sandbox_body)},
      {"DELETE", "/_mock/sandboxes/{id}", "close a sandbox", close_sandbox, nothing},
  };
  return entries;
}

}  // namespace ws::mock::control
