#include "server-mock/control/calls.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/complaints.hpp"

namespace ws::mock::control {
ServiceResult get_health(Call& call) {
  return Answer{.body = Json{{"status", "ok"}, {"now", to_rfc3339(call.sandbox.clock.now())}}};
}

ServiceResult get_assumptions(Call& call) {
  Json data = Json::array();
  for (const AssumptionSwitch& one : assumption_switches()) {
    data.push_back({{"key", one.key},
                    {"value", call.sandbox.world->assumptions.value(one.key)},
                    {"default", one.values.front()},
                    {"values", Json(std::vector<std::string_view>(one.values.begin(), one.values.end()))}});
  }
  return Answer{.body = Json{{"data", std::move(data)}}};
}

ServiceResult patch_assumptions(Call& call) {
  Complaints complaints;
  const Loc in_body = {std::string("body")};
  if (!call.body.is_object()) complaints.add(in_body, "dict_type", "Say {key: value, ...}", call.body);
  Assumptions changed = call.sandbox.world->assumptions;
  for (const auto& [key, value] : call.body.items()) {
    const auto set = changed.set(key, value.is_string() ? value.get<std::string>() : dump(value));
    if (!set) complaints.add(within(in_body, key), set.error().what, value);
  }
  if (!complaints.empty()) return tl::unexpected(complaints.refusal());
  call.sandbox.world->assumptions = std::move(changed);
  return get_assumptions(call);
}

}  // namespace ws::mock::control
