#include "server-mock/control/calls.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/services/refuse.hpp"

namespace ws::mock::control {
namespace {

Refused unfit(std::string_view member, std::string_view message, const Json& input) {
  return invalid("body", member, "value_error", message, input);
}

Json clock_of(const Sandbox& sandbox) {
  return {{"clock", sandbox.clock.text()}, {"now", to_rfc3339(sandbox.clock.now())}};
}

}  // namespace

ServiceResult get_health(Call& call) {
  return Answer{.body = Json{{"status", "ok"}, {"now", to_rfc3339(call.sandbox.clock.now())}}};
}

ServiceResult reset(Call& call) {
  const std::string to = find_text(call.body, "to").value_or("seed");
  if (to != "seed" && to != "empty") return unfit("to", "to is seed or empty", to);
  WS_SERVE(call.sandbox.reset(to == "seed" ? StartWith::seed : StartWith::empty));
  return Answer{.body = Json{{"to", to}, {"token", call.sandbox.built_in.token}}};
}

ServiceResult get_clock(Call& call) { return Answer{.body = clock_of(call.sandbox)}; }

ServiceResult put_clock(Call& call) {
  const std::string text = find_text(call.body, "clock").value_or("");
  const auto parsed = MockClock::parse(text);
  if (!parsed) return unfit("clock", parsed.error().what, text);
  call.sandbox.clock = *parsed;
  return Answer{.body = clock_of(call.sandbox)};
}

ServiceResult advance_clock(Call& call) {
  constexpr std::int64_t hundred_years = std::int64_t{100} * 366 * 86400;
  const auto seconds = find_integer(call.body, "seconds");
  if (!seconds || *seconds < 0 || *seconds > hundred_years) {
    return unfit("seconds", "seconds is an integer, 0 or more", seconds ? Json(*seconds) : Json(nullptr));
  }
  call.sandbox.clock.advance(std::chrono::seconds(*seconds));
  return Answer{.body = clock_of(call.sandbox)};
}

ServiceResult get_requests(Call& call) {
  Journal::Filter filter = {.operation = http::value_of(call.query, "operation")};
  if (const std::string_view since = http::value_of(call.query, "since"); !since.empty()) {
    const auto parsed = parse_bounded(since);
    if (!parsed || !parsed->is_number_unsigned()) {
      return invalid("query", "since", "int_parsing", "since is the seq of an entry", since);
    }
    filter.since = parsed->get<std::uint64_t>();
  }
  return Answer{.body = call.sandbox.journal.read(filter)};
}

ServiceResult delete_requests(Call& call) {
  call.sandbox.journal.clear();
  return Answer{.status = 204};
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
  if (!call.body.is_object()) return unfit("assumptions", "say {key: value, ...}", call.body);
  Assumptions changed = call.sandbox.world->assumptions;
  for (const auto& [key, value] : call.body.items()) {
    if (!value.is_string()) return unfit(key, "a switch stands at a text", value);
    const auto set = changed.set(key, value.get_ref<const std::string&>());
    if (!set) return unfit(key, set.error().what, value);
  }
  call.sandbox.world->assumptions = std::move(changed);
  return get_assumptions(call);
}

}  // namespace ws::mock::control
