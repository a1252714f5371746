#include "server-mock/trace/state.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "server-mock/trace/changes.hpp"

namespace ws::mock::trace {

Result<Json> state_body(Sandbox& sandbox) {
  WS_LET(Json tables, read_tables(*sandbox.world));
  Json switches = Json::object();
  for (const AssumptionSwitch& one : assumption_switches()) {
    switches[std::string(one.key)] = sandbox.world->assumptions.value(one.key);
  }
  return Json{{"assumptions", std::move(switches)}, {"clock", sandbox.clock.text()}, {"tables", std::move(tables)}};
}

bool is_rows_only(Sandbox& sandbox) {
  if (!sandbox.faults.empty() || sandbox.rate_limit.is_on() || sandbox.pending_claims.size() > 0 ||
      !sandbox.in_flight.empty() || !sandbox.snapshots.read().empty()) {
    return false;
  }
  auto blob = sandbox.world->database.prepare(
      "select 1 from uploads where blob <> '' union all select 1 from assets where blob <> '' limit 1");
  if (!blob) return false;
  const auto found = blob->step();
  return found && !*found;
}

}  // namespace ws::mock::trace
