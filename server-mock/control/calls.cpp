#include "server-mock/control/calls.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/output/line_output.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock::control {
namespace {

ServiceResult get_health(Call& call) {
  Json lost = Json::object();
  for (const auto& [name, count] : lost_lines()) lost[name] = count;
  return Answer{
      .body = Json{{"status", "ok"}, {"now", to_rfc3339(call.sandbox.clock.now())}, {"lost_lines", std::move(lost)}}};
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

/// `{key: value, ...}`. Sets all of them or none.
ServiceResult patch_assumptions(Call& call) {
  ValidationErrors errors;
  const Loc in_body = {std::string("body")};
  if (!call.body.is_object()) errors.add(in_body, "dict_type", "Send {key: value, ...}", call.body);
  Assumptions changed = call.sandbox.world->assumptions;
  for (const auto& [key, value] : call.body.items()) {
    const auto set = changed.set(key, value.is_string() ? value.get<std::string>() : dump(value));
    if (!set) errors.add(within(in_body, key), set.error().what, value);
  }
  if (!errors.empty()) return tl::unexpected(errors.api_error());
  call.sandbox.world->assumptions = std::move(changed);
  return get_assumptions(call);
}

}  // namespace

Result<std::optional<FoundAgent>> find_agent(World& world, std::string_view word) {
  if (word.starts_with('@')) word.remove_prefix(1);
  return read_row(world,
                  read_as<FoundAgent>,
                  "select id, owner_user_id, workspace_id from agents where id = lower(?1) or handle = ?1 "
                  "order by status = 'revoked', id limit 1",
                  word);
}

CallTable general_calls() {
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/health", "whether the server answers, and its time", get_health, nothing},
      {"GET", "/_mock/assumptions", "the switches of --assume with their values", get_assumptions, nothing},
      {"PATCH",
       "/_mock/assumptions",
       "set switches: {KEY: VALUE, ...}; all of them or none",
       patch_assumptions,
       by_handler},
  };
  return entries;
}

}  // namespace ws::mock::control
