#include "server-mock/store/assumptions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api-client/base/suggestion.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view error_style[] = {"plain", "problem", "detail_object", "html"};
constexpr std::string_view device_pending[] = {
    "error_400", "detail_400", "status_428", "status_202", "ok_without_secret"};
constexpr std::string_view revision_mismatch[] = {"409", "412"};
constexpr std::string_view question_created[] = {"200", "201"};
constexpr std::string_view question_async[] = {"no", "yes"};
constexpr std::string_view pull_filter[] = {"honoured", "ignored"};
constexpr std::string_view auth_order[] = {"auth_first", "validation_first"};
constexpr std::string_view list_extra[] = {"none", "unknown_fields"};
constexpr std::string_view assumed_fields[] = {"full", "null", "missing"};
constexpr std::string_view sync_conflict_status[] = {"in_body", "409"};
constexpr std::string_view renew_from[] = {"end", "now"};
constexpr std::string_view workspace_create[] = {"403", "visible"};
constexpr std::string_view test_runs[] = {"timed", "finished", "failing"};

constexpr AssumptionSwitch switches[] = {
    {"error_style", error_style},
    {"device_pending", device_pending},
    {"revision_mismatch", revision_mismatch},
    {"question_created", question_created},
    {"question_async", question_async},
    {"pull_filter", pull_filter},
    {"auth_order", auth_order},
    {"list_extra", list_extra},
    {"assumed_fields", assumed_fields},
    {"sync_conflict_status", sync_conflict_status},
    {"renew_from", renew_from},
    {"workspace_create", workspace_create},
    {"test_runs", test_runs},
};

}  // namespace

std::span<const AssumptionSwitch> assumption_switches() { return switches; }

Assumptions::Assumptions() : chosen_(std::size(switches), 0) {}

std::string_view Assumptions::value(std::string_view key) const {
  const auto* found = std::ranges::find(switches, key, &AssumptionSwitch::key);
  if (found == std::end(switches)) return {};
  return found->values[chosen_[static_cast<std::size_t>(found - switches)]];
}

std::string Assumptions::assignment(std::string_view key) const { return fmt::format("{}={}", key, value(key)); }

Result<void> Assumptions::set(std::string_view key, std::string_view value) {
  const auto* found = std::ranges::find(switches, key, &AssumptionSwitch::key);
  if (found == std::end(switches)) {
    std::vector<std::string> keys;
    for (const AssumptionSwitch& one : switches) keys.emplace_back(one.key);
    return fail(Failure::Kind::invalid, fmt::format("there is no assumption \"{}\"", key), nearest_names(key, keys));
  }
  const auto choice = std::ranges::find(found->values, value);
  if (choice == found->values.end()) {
    return fail(Failure::Kind::invalid,
                fmt::format("{} is one of {}, not \"{}\"", key, fmt::join(found->values, ", "), value));
  }
  chosen_[static_cast<std::size_t>(found - switches)] = static_cast<std::size_t>(choice - found->values.begin());
  given_.emplace(key);
  return {};
}

Result<void> Assumptions::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return fail(Failure::Kind::invalid, fmt::format("\"{}\" is not KEY=VALUE", assignment));
  }
  return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

}  // namespace ws::mock
