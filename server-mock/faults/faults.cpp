#include "server-mock/faults/faults.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "server-mock/faults/glob.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock {
namespace {

bool fits(const std::string& pattern, std::string_view text) { return pattern.empty() || glob_matches(pattern, text); }

}  // namespace

bool is_meant(const FaultRule& rule, const FaultSubject& subject) {
  if (!rule.method.empty() && !http::equal_without_case(rule.method, subject.method)) return false;
  return fits(rule.operation, subject.operation) && fits(rule.path, subject.path);
}

bool is_turn(const FaultRule& rule, const FaultTally& tally, std::uint64_t seed, std::uint64_t place) {
  const std::uint64_t most = rule.times == 0 && rule.nth != 0 ? 1 : rule.times;
  if (most != 0 && tally.fired >= most) return false;
  if (rule.nth != 0 && tally.matched < rule.nth) return false;
  if (rule.every != 0 && tally.matched % rule.every != 0) return false;
  if (rule.after && tally.matched <= *rule.after) return false;
  if (!rule.probability) return true;
  // Of its own for each rule and each request: another rule, or another request before, changes nothing here.
  const std::uint64_t start = SeededRandom(SeededRandom(seed).next() ^ place).next();
  return SeededRandom(start + tally.matched).unit() < *rule.probability;
}

std::shared_ptr<const FaultRule> FaultBook::take(const FaultSubject& subject) {
  std::shared_ptr<const FaultRule> firing;
  for (Entry& entry : entries_) {
    if (!entry.is_on || !is_meant(*entry.rule, subject)) continue;
    ++entry.tally.matched;
    if (firing || !is_turn(*entry.rule, entry.tally, seed_, entry.place)) continue;
    ++entry.tally.fired;
    firing = entry.rule;
  }
  return firing;
}

bool FaultBook::add(FaultRule rule) {
  const auto same = [](const std::string& id) { return [&id](const Entry& entry) { return entry.rule->id == id; }; };
  if (rule.id.empty()) {
    do {
      rule.id = fmt::format("fault_{}", next_place_++);
    } while (std::ranges::any_of(entries_, same(rule.id)));
  } else if (std::ranges::any_of(entries_, same(rule.id))) {
    return false;
  }
  const std::uint64_t place = entries_.empty() ? 0 : entries_.back().place + 1;
  entries_.push_back({.rule = std::make_shared<const FaultRule>(std::move(rule)), .place = place});
  return true;
}

bool FaultBook::remove(std::string_view id) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.rule->id == id; }) > 0;
}

bool FaultBook::turn(std::string_view id, bool on) {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.rule->id == id; });
  if (found == entries_.end()) return false;
  found->is_on = on;
  return true;
}

Json FaultBook::to_json(const Entry& entry) {
  Json rule = {{"id", entry.rule->id}};
  rule.update(*entry.rule->text);
  rule["id"] = entry.rule->id;
  rule["matched"] = entry.tally.matched;
  rule["fired"] = entry.tally.fired;
  rule["on"] = entry.is_on;
  return rule;
}

Json FaultBook::read(std::string_view id) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.rule->id == id; });
  return found == entries_.end() ? Json(nullptr) : to_json(*found);
}

Json FaultBook::read() const {
  Json data = Json::array();
  for (const Entry& entry : entries_) data.push_back(to_json(entry));
  return data;
}

}  // namespace ws::mock
