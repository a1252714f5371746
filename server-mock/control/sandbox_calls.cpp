// Control calls about sandboxes.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/shared/refuse.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock::control {
namespace {

using contract::nullable;
using contract::optional;

constexpr contract::Field sandbox_fields[] = {nullable(optional("fixtures", contract::Type{}))};
constexpr contract::Schema sandbox_body = {.name = "NewSandbox", .fields = sandbox_fields};

Refused not_here() {
  return refuse(Refusal{.message = "A sandbox has no sandboxes: ask the control surface of the base URL for one"});
}

/// There are enough of them, or each line that a failure has about fixtures as a violation of the body.
Refused refused(const Failure& failure) {
  if (failure.kind == Failure::Kind::conflict) return conflict("too_many_sandboxes", failure.what);
  if (failure.kind != Failure::Kind::invalid) return refuse(failure);
  Complaints complaints;
  std::string_view rest = failure.what;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    complaints.add({std::string("body"), std::string("fixtures")}, rest.substr(0, end), nullptr);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return refuse(complaints.refusal());
}

/// Of `fixtures`: an object as a file of fixtures has it, the text of such a file, "seed" or "empty".
Served<Worlds::Wishes> wishes_of(const Json& body) {
  Worlds::Wishes wishes;
  const Json* given = find(body, "fixtures");
  if (given == nullptr || given->is_null() || *given == "seed") return wishes;
  wishes.has_fixtures = true;
  if (*given == "empty") {
    wishes.start = StartWith::empty;
    wishes.name = "empty";
    return wishes;
  }
  wishes.name = Sha256::of(dump(*given)).hex();
  auto read = given->is_string() ? Fixtures::parse(given->get<std::string>()) : Fixtures::of(*given);
  if (!read) return refused(read.error());
  wishes.fixtures = std::move(*read);
  return wishes;
}

/// Within a sandbox these three are 404. POST takes `{fixtures?}`: an object, the text of a file, "seed" or "empty".
ServiceResult get_sandboxes(Call& call) {
  if (call.worlds == nullptr) return not_here();
  return Answer{.body = Json{{"data", call.worlds->list()}, {"at_most", most_sandboxes}}};
}

ServiceResult open_sandbox(Call& call) {
  if (call.worlds == nullptr) return not_here();
  if (!call.body.is_null() && !call.body.is_object()) {
    return invalid("body", "fixtures", "dict_type", "Say {} or {\"fixtures\": {...}}", call.body);
  }
  WS_SERVE_LET(const Worlds::Wishes wishes, wishes_of(call.body));
  auto opened = call.worlds->open(wishes);
  if (!opened) return refused(opened.error());
  return Answer{.status = 201, .body = std::move(*opened)};
}

ServiceResult close_sandbox(Call& call) {
  if (call.worlds == nullptr) return not_here();
  if (!call.worlds->close(http::value_of(call.path, "id"))) return not_found("sandbox");
  return Answer{.status = 204};
}

}  // namespace

CallTable sandbox_calls() {
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/sandboxes", get_sandboxes, nothing},
      {"POST", "/_mock/sandboxes", open_sandbox, members(sandbox_body)},
      {"DELETE", "/_mock/sandboxes/{id}", close_sandbox, nothing},
  };
  return entries;
}

}  // namespace ws::mock::control
