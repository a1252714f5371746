#include "tests/server-mock/services/checks/checked_world.hpp"

#include <catch2/catch.hpp>

#include "api-client/base/json.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"

namespace ws::mock::test {

std::string CheckedReply::text(std::string_view member) const { return find_text(body, member).value_or(""); }

std::int64_t CheckedReply::integer(std::string_view member) const { return find_integer(body, member).value_or(0); }

std::size_t CheckedReply::count(std::string_view member) const {
  const Json* found = find(body, member);
  return found != nullptr && found->is_array() ? found->size() : 0;
}

CheckedWorld::CheckedWorld() : viewer(add_person("Vera", "viewer")), stranger(tomas) {
  stranger.workspace_id = built_in.other_workspace_id;
  stranger.role = contract::Role::owner;
}

CheckedReply CheckedWorld::call(std::string_view id, const Caller& caller, Json body, Json parameters) {
  const contract::Operation* operation = contract::find_operation(id);
  REQUIRE(operation != nullptr);
  if (caller.role < operation->role) return {{.status = 403, .code = "insufficient_role", .body = Json::object()}};
  if (operation->request != nullptr && !contract::validate_body(*operation, &body).violations.empty()) {
    return {{.status = 422, .code = "validation_error", .body = Json::object()}};
  }
  return {ServiceWorld::call(id, caller, std::move(body), std::move(parameters))};
}

bool CheckedWorld::expect(bool is_so, std::string_view sentence) {
  if (!is_so) FAIL_CHECK(sentence);
  return is_so;
}

void run_all(std::span<const Check> checks) {
  for (const Check& check : checks) {
    CAPTURE(check.name);
    CheckedWorld world;
    check.run(world);
  }
}

}  // namespace ws::mock::test
