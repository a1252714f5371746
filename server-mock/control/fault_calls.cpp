// Control calls for fault rules.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/control/calls.hpp"
#include "server-mock/faults/faults.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock::control {
namespace {

const Loc in_body = {std::string("body")};

bool is_one_rule(const Json& body) {
  return body.is_object() && find(body, "faults") == nullptr && find(body, "rules") == nullptr;
}

Unexpected no_such_fault(const Call& call) {
  std::vector<std::string> ids;
  for (const Json& rule : call.sandbox.faults.read()) ids.push_back(rule.at("id"));
  return refuse(
      ApiError{.status = 404, .code = "not_found", .message = no_such("fault", http::value_of(call.path, "id"), ids)});
}

ServiceResult get_faults(Call& call) { return Answer{.body = Json{{"data", call.sandbox.faults.read()}}}; }

ServiceResult get_fault(Call& call) {
  Json rule = call.sandbox.faults.read(http::value_of(call.path, "id"));
  if (rule.is_null()) return no_such_fault(call);
  return Answer{.body = std::move(rule)};
}

/// One rule, a list of rules, or `{faults: [...]}`. Adds all of them or none.
ServiceResult add_faults(Call& call) {
  ValidationErrors errors;
  std::vector<FaultRule> rules = read_fault_rules(call.body, in_body, errors);
  if (!errors.empty()) return tl::unexpected(errors.api_error());
  FaultRules book = call.sandbox.faults;
  Json data = Json::array();
  for (FaultRule& rule : rules) {
    const std::string id = rule.id;
    if (!book.add(std::move(rule))) return conflict("id_taken", fmt::format("There is a fault {} already", id));
    data.push_back(book.read(book.last_id()));
  }
  call.sandbox.faults = std::move(book);
  if (is_one_rule(call.body)) return Answer{.status = 201, .body = data.at(0)};
  return Answer{.status = 201, .body = Json{{"data", std::move(data)}}};
}

/// Replaces the rule with that id, or adds it.
ServiceResult put_fault(Call& call) {
  ValidationErrors errors;
  auto rule = read_fault_rule(call.body, in_body, errors);
  if (!rule) return tl::unexpected(errors.api_error());
  rule->id = std::string(http::value_of(call.path, "id"));
  const bool replaced = call.sandbox.faults.remove(rule->id);
  call.sandbox.faults.add(std::move(*rule));
  return Answer{.status = replaced ? 200 : 201, .body = call.sandbox.faults.read(http::value_of(call.path, "id"))};
}

ServiceResult turn(Call& call, bool on) {
  const std::string_view id = http::value_of(call.path, "id");
  if (!call.sandbox.faults.turn(id, on)) return no_such_fault(call);
  return Answer{.body = call.sandbox.faults.read(id)};
}

ServiceResult turn_fault_on(Call& call) { return turn(call, true); }

ServiceResult turn_fault_off(Call& call) { return turn(call, false); }

ServiceResult delete_faults(Call& call) {
  call.sandbox.faults.clear();
  return Answer{.status = 204};
}

ServiceResult delete_fault(Call& call) {
  if (!call.sandbox.faults.remove(http::value_of(call.path, "id"))) return no_such_fault(call);
  return Answer{.status = 204};
}

}  // namespace

CallTable fault_calls() {
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/faults", "the fault rules, each with how often it matched and fired", get_faults, nothing},
      {"POST", "/_mock/faults", "add a fault rule, or a list of them", add_faults, by_handler},
      {"POST", "/_mock/faults/{id}:on", "enable a fault rule", turn_fault_on, nothing},
      {"POST", "/_mock/faults/{id}:off", "disable a fault rule", turn_fault_off, nothing},
      {"DELETE", "/_mock/faults", "delete all fault rules", delete_faults, nothing},
      {"GET", "/_mock/faults/{id}", "one fault rule", get_fault, nothing},
      {"POST", "/_mock/faults/{id}", "add or replace the fault rule of this id", put_fault, by_handler},
      {"PUT", "/_mock/faults/{id}", "add or replace the fault rule of this id", put_fault, by_handler},
      {"DELETE", "/_mock/faults/{id}", "delete a fault rule", delete_fault, nothing},
  };
  return entries;
}

}  // namespace ws::mock::control
