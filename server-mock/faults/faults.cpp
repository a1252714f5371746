#include "server-mock/faults/faults.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "server-mock/faults/operation_names.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock {
namespace {

bool fits(const std::string& pattern, std::string_view text) { return pattern.empty() || glob_matches(pattern, text); }

/// Whether the rule fires for the request that was counted last. `seed` and `place` make random outcomes reproducible.
bool fires_now(const FaultRule& rule, const FaultCounts& tally, std::uint64_t seed, std::uint64_t place) {
  const std::uint64_t most = rule.times == 0 && rule.nth != 0 && !rule.for_ms ? 1 : rule.times;
  if (most != 0 && tally.fired >= most) return false;
  if (rule.nth != 0 && tally.matched < rule.nth) return false;
  if (rule.every != 0 && tally.matched % rule.every != 0) return false;
  if (rule.after && tally.matched <= *rule.after) return false;
  if (!rule.probability) return true;
  // A generator for each rule and request: the outcome does not depend on other rules or earlier requests.
  const std::uint64_t start = SeededRandom(SeededRandom(seed).next() ^ place).next();
  return SeededRandom(start + tally.matched).unit() < *rule.probability;
}

}  // namespace

std::optional<int> offset_minutes(std::string_view offset) {
  constexpr std::string_view form = "+00:00";
  if (offset.size() != form.size() || (offset[0] != '+' && offset[0] != '-') || offset[3] != ':') return std::nullopt;
  const auto two_digits = [&offset](std::size_t at) {
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : 100; };
    return digit(offset[at]) * 10 + digit(offset[at + 1]);
  };
  const int hours = two_digits(1);
  const int minutes = two_digits(4);
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (offset[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

bool matches_rule(const FaultRule& rule, const FaultSubject& subject) {
  if (!rule.method.empty() && !equal_ignoring_case(rule.method, subject.method)) return false;
  return fits(rule.operation, subject.operation) && fits(rule.path, subject.path);
}

std::shared_ptr<const FaultRule> FaultRules::take(const FaultSubject& subject, std::int64_t now_ms) {
  std::shared_ptr<const FaultRule> firing;
  for (Entry& entry : entries_) {
    if (entry.is_on && entry.down && entry.tally.fired > 0) {
      if (!firing) firing = entry.down;
      continue;
    }
    if (!entry.is_on || !matches_rule(*entry.rule, subject)) continue;
    ++entry.tally.matched;
    if (firing || !fires_now(*entry.rule, entry.tally, seed_, entry.place)) continue;
    if (entry.tally.fired == 0) entry.fired_first_ms = now_ms;
    if (entry.rule->for_ms && now_ms - entry.fired_first_ms > *entry.rule->for_ms) continue;
    ++entry.tally.fired;
    firing = entry.rule;
  }
  return firing;
}

bool FaultRules::add(FaultRule rule) {
  const auto same = [](const std::string& id) { return [&id](const Entry& entry) { return entry.rule->id == id; }; };
  if (rule.id.empty()) {
    do {
      rule.id = fmt::format("fault_{}", next_place_++);
    } while (std::ranges::any_of(entries_, same(rule.id)));
  } else if (std::ranges::any_of(entries_, same(rule.id))) {
    return false;
  }
  const std::uint64_t place = entries_.empty() ? 0 : entries_.back().place + 1;
  std::shared_ptr<const FaultRule> down;
  if (rule.effect.then_down) {
    down = std::make_shared<const FaultRule>(FaultRule{.id = rule.id, .effect = {.end = http::WireFault::End::reset}});
  }
  entries_.push_back(
      {.rule = std::make_shared<const FaultRule>(std::move(rule)), .down = std::move(down), .place = place});
  return true;
}

bool FaultRules::remove(std::string_view id) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.rule->id == id; }) > 0;
}

bool FaultRules::turn(std::string_view id, bool on) {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.rule->id == id; });
  if (found == entries_.end()) return false;
  found->is_on = on;
  return true;
}

Json FaultRules::to_json(const Entry& entry) {
  Json rule = {{"id", entry.rule->id}};
  rule.update(*entry.rule->text);
  rule["id"] = entry.rule->id;
  rule["matched"] = entry.tally.matched;
  rule["fired"] = entry.tally.fired;
  rule["on"] = entry.is_on;
  return rule;
}

Json FaultRules::read(std::string_view id) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.rule->id == id; });
  return found == entries_.end() ? Json(nullptr) : to_json(*found);
}

Json FaultRules::read() const {
  Json data = Json::array();
  for (const Entry& entry : entries_) data.push_back(to_json(entry));
  return data;
}

}  // namespace ws::mock
