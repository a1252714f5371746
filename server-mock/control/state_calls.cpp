// Control calls about the state as a whole: reset, snapshots, all of it as JSON.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/control/calls.hpp"
#include "server-mock/control/state.hpp"
#include "server-mock/services/refuse.hpp"

namespace ws::mock::control {
namespace {

constexpr std::size_t longest_name = 100;

/// "seed" and "empty" mean something else.
bool is_name(std::string_view text) {
  const auto fits = [](char c) { return c > ' ' && c != '/' && c != ':' && c != 0x7F; };
  return !text.empty() && text.size() <= longest_name && text != "seed" && text != "empty" &&
         std::ranges::all_of(text, fits);
}

Refused no_name(std::string_view text) {
  return invalid("body",
                 "name",
                 "value_error",
                 "A name of 1 to 100 characters without blanks, slashes and colons; not seed, not empty",
                 text);
}

ServiceResult take(Call& call, const std::string& name) {
  Sandbox& sandbox = call.sandbox;
  if (!is_name(name)) return no_name(name);
  WS_SERVE(sandbox.snapshots.take(*sandbox.world, sandbox.clock, sandbox.built_in, name));
  return Answer{.status = 201, .body = sandbox.snapshots.read(name)};
}

Answer restored(const Sandbox& sandbox, std::string_view name) {
  Json body = clock_of(sandbox);
  body["name"] = name;
  body["token"] = sandbox.built_in.token;
  return Answer{.body = std::move(body)};
}

}  // namespace

ServiceResult reset(Call& call) {
  const std::string to = find_text(call.body, "to").value_or("seed");
  if (to == "seed" || to == "empty") {
    WS_SERVE(call.sandbox.reset(to == "seed" ? StartWith::seed : StartWith::empty));
  } else {
    WS_SERVE_LET(const bool found, call.sandbox.reset(to));
    if (!found) {
      return invalid("body", "to", "value_error", "to is seed, empty or the name of a snapshot", to);
    }
  }
  return Answer{.body = Json{{"to", to}, {"token", call.sandbox.built_in.token}}};
}

ServiceResult get_snapshots(Call& call) { return Answer{.body = Json{{"data", call.sandbox.snapshots.read()}}}; }

ServiceResult get_snapshot(Call& call) {
  Json snapshot = call.sandbox.snapshots.read(http::value_of(call.path, "name"));
  if (snapshot.is_null()) return not_found("snapshot");
  return Answer{.body = std::move(snapshot)};
}

ServiceResult take_snapshot(Call& call) { return take(call, find_text(call.body, "name").value_or("")); }

ServiceResult take_named_snapshot(Call& call) { return take(call, std::string(http::value_of(call.path, "name"))); }

ServiceResult restore_snapshot(Call& call) {
  const std::string_view name = http::value_of(call.path, "name");
  WS_SERVE_LET(const bool found, call.sandbox.restore(name));
  if (!found) return not_found("snapshot");
  return restored(call.sandbox, name);
}

ServiceResult delete_snapshots(Call& call) {
  call.sandbox.snapshots.clear(*call.sandbox.world);
  return Answer{.status = 204};
}

ServiceResult delete_snapshot(Call& call) {
  if (!call.sandbox.snapshots.remove(*call.sandbox.world, http::value_of(call.path, "name"))) {
    return not_found("snapshot");
  }
  return Answer{.status = 204};
}

ServiceResult get_state(Call& call) {
  WS_SERVE_LET(Json state, read_state(*call.sandbox.world));
  std::map<std::string, std::string> sorted;
  for (const AssumptionSwitch& one : assumption_switches()) {
    sorted.emplace(one.key, call.sandbox.world->assumptions.value(one.key));
  }
  Json switches = sorted;
  return Answer{.body = Json{{"assumptions", std::move(switches)},
                             {"clock", call.sandbox.clock.text()},
                             {"tables", std::move(state["tables"])},
                             {"v", 1}}};
}

ServiceResult put_state(Call& call) {
  Complaints complaints;
  Assumptions assumptions = call.sandbox.world->assumptions;
  MockClock clock = call.sandbox.clock;
  if (const auto text = find_text(call.body, "clock")) {
    const auto parsed = MockClock::parse(*text);
    if (!parsed) return invalid("body", "clock", "value_error", parsed.error().what, *text);
    clock = *parsed;
  }
  if (const Json* switches = find(call.body, "assumptions"); switches != nullptr && switches->is_object()) {
    for (const auto& [key, value] : switches->items()) {
      const auto set = assumptions.set(key, value.is_string() ? value.get<std::string>() : dump(value));
      if (!set) complaints.add({std::string("body"), std::string("assumptions"), key}, set.error().what, value);
    }
  }
  WS_SERVE(write_state(*call.sandbox.world, call.body, complaints));
  if (!complaints.empty()) return tl::unexpected(complaints.refusal());
  call.sandbox.world->assumptions = std::move(assumptions);
  call.sandbox.clock = clock;
  call.sandbox.waiting_room.end_all();
  if (auto built_in = find_built_in(*call.sandbox.world)) call.sandbox.built_in = std::move(*built_in);
  return get_state(call);
}

}  // namespace ws::mock::control
