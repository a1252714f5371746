// Control calls for the clock.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock::control {
namespace {

using contract::optional;

constexpr contract::Field clock_fields[] = {
    optional("clock", contract::Type{}),
    optional("mode", contract::string(1, 100)),
    optional("real", contract::boolean()),
    optional("frozen", contract::Type{}),
    optional("time", contract::string(1, 100)),
    optional("offset", contract::Type{}),
};
constexpr contract::Schema clock_body = {.name = "Clock", .fields = clock_fields};

constexpr contract::Field advance_fields[] = {
    optional("seconds", contract::number()),
    optional("by", contract::string(1, 100)),
};
constexpr contract::Schema advance_body = {.name = "Advance", .fields = advance_fields};

constexpr std::string_view forms = "Send {\"clock\": \"real\"}, \"frozen:TIME\" or \"offset:+2h\"";

/// The text for `MockClock::parse`, from any accepted form of the body; empty if it has none of them.
std::optional<std::string> clock_text(const Json& body, const MockClock& now) {
  if (body.is_string()) return body.get<std::string>();
  if (auto text = find_text(body, "clock")) return text;
  if (const Json* inner = find(body, "clock"); inner != nullptr && inner->is_object()) return clock_text(*inner, now);
  const std::string mode = find_text(body, "mode").value_or("");
  if (mode == "real" || find_bool(body, "real").value_or(false)) return "real";
  const Json* frozen = find(body, "frozen");
  if (frozen == nullptr && mode == "frozen") frozen = find(body, "time");
  if (frozen != nullptr && frozen->is_string()) return "frozen:" + frozen->get<std::string>();
  if ((frozen != nullptr && *frozen == true) || (frozen == nullptr && mode == "frozen")) {
    return "frozen:" + to_rfc3339(now.now());
  }
  const Json* offset = find(body, "offset");
  if (offset != nullptr && offset->is_string()) return "offset:" + offset->get<std::string>();
  if (offset != nullptr && offset->is_number_integer()) return "offset:" + dump(*offset) + "s";
  return std::nullopt;
}

constexpr std::int64_t longest_advance_s = std::int64_t{100} * 366 * 86400;

/// From `seconds` (may have a fraction) or `by`, of which there is one.
std::optional<std::chrono::milliseconds> distance_of(const Json& body) {
  const Json* seconds = find(body, "seconds");
  if (seconds != nullptr && find(body, "by") != nullptr) return std::nullopt;
  if (seconds != nullptr) {
    if (!seconds->is_number()) return std::nullopt;
    const auto count = seconds->get<double>();
    if (!(count >= 0 && count <= static_cast<double>(longest_advance_s))) return std::nullopt;
    return std::chrono::milliseconds(std::llround(count * 1000));
  }
  const auto by = find_text(body, "by");
  if (!by) return std::nullopt;
  const auto parsed = parse_duration(by->starts_with('+') ? by->substr(1) : *by);
  if (!parsed || parsed->count() < 0 || *parsed > std::chrono::seconds(longest_advance_s)) return std::nullopt;
  return *parsed;
}

ServiceResult get_clock(Call& call) { return Answer{.body = clock_of(call.sandbox)}; }

/// `{clock: "real" | "frozen:TIME" | "offset:+2h"}`, or that text alone, or `{frozen: TIME}`, `{offset: "+2h"}`,
/// `{real: true}`. `{frozen: true}` freezes the clock at the current time.
ServiceResult put_clock(Call& call) {
  if (const Json* inner = find(call.body, "clock"); inner != nullptr && inner->is_object()) {
    ValidationErrors errors;
    errors.check(*inner, clock_body, {std::string("body"), std::string("clock")});
    if (!errors.empty()) return tl::unexpected(errors.api_error());
  }
  const auto text = clock_text(call.body, call.sandbox.clock);
  if (!text) return invalid("body", "clock", "value_error", forms, call.body);
  const auto parsed = MockClock::parse(*text);
  if (!parsed) return invalid("body", "clock", "value_error", parsed.error().what, *text);
  call.sandbox.clock = *parsed;
  return Answer{.body = clock_of(call.sandbox)};
}

/// `{seconds}`, or `{by: "2h"}`. If claims are pending, the clock advances in steps: `Sandbox::advance`.
ServiceResult advance_clock(Call& call) {
  const auto by = distance_of(call.body);
  if (!by) {
    const Json* given = find(call.body, "seconds");
    return invalid("body",
                   "seconds",
                   given == nullptr ? "missing" : "value_error",
                   fmt::format("Give seconds (0 to {}) or by (\"2h\"), not both", longest_advance_s),
                   given == nullptr ? call.body : *given);
  }
  if (!MockClock::has(call.sandbox.clock.now() + *by)) {
    return invalid("body", "seconds", "value_error", MockClock::years, call.body);
  }
  WS_API_LET(Advance advance, Advance::begin(call.sandbox, *by));
  if (call.sandbox.pending_claims.size() > 0) {
    call.sandbox.advance = std::move(advance);
    return Answer{};
  }
  while (true) {
    WS_API_LET(const bool more, advance.step());
    if (!more) return Answer{.body = advance.answer()};
  }
}

}  // namespace

Json clock_of(const Sandbox& sandbox) {
  return {{"clock", sandbox.clock.text()}, {"now", to_rfc3339(sandbox.clock.now())}};
}

CallTable clock_calls() {
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/clock", "the clock and its time", get_clock, nothing},
      {"PUT", "/_mock/clock", "set the clock: real, frozen:TIME or offset:+2h", put_clock, members_or_text(clock_body)},
      {"POST",
       "/_mock/clock:advance",
       "move the clock, firing what is due in order of time; answers with the list",
       advance_clock,
       members(advance_body)},
  };
  return entries;
}

}  // namespace ws::mock::control
