#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api-client/base/text.hpp"
#include "server-mock/sweep/oracles.hpp"

namespace ws::mock::sweep {

bool is_final_refusal(int status) {
  return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 && status != 429;
}

namespace {

using Sent = std::vector<SentRequest>;
using Found = std::optional<Finding>;

// Tolerance for differences between the client's and the server's clock.
constexpr std::int64_t early_ms = 100;
constexpr std::size_t storm_factor = 5;

Finding finding(std::string word, std::string sentence, std::vector<std::string> lines, std::string advice) {
  return {
      .word = std::move(word), .sentence = std::move(sentence), .lines = std::move(lines), .advice = std::move(advice)};
}

/// Whether `sent[at]` repeats `first`: with the same body, or with another one where the clean run has no call of its
/// own that it could be. Files that are sent in parallel differ in their bodies alone.
bool is_repeat(const Reference& reference, const Sent& sent, const SentRequest& first, std::size_t at) {
  if (!sent[at].same_call(first)) return false;
  if (sent[at].operation != "upload.put" && sent[at].body == first.body) return true;
  const auto is_same = [&first](const SentRequest& one) { return one.same_call(first); };
  const auto so_far = std::count_if(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(at) + 1, is_same);
  return so_far > std::ranges::count_if(reference.clean.sent, is_same);
}

Found impatience(const Reference& reference, const Row& row, const Sent& sent, const std::string& cause) {
  if (!reference.has_real_clock || row.rule.find(retry_after_member) == std::string::npos) return {};
  const std::int64_t wait_ms = std::chrono::milliseconds(retry_after).count();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].fault.empty()) continue;
    for (std::size_t k = i + 1; k < sent.size(); ++k) {
      if (!is_repeat(reference, sent, sent[i], k)) continue;
      const std::int64_t gap = sent[k].time_ms - sent[i].time_ms;
      if (gap + early_ms >= wait_ms) return {};
      return finding(
          "impatient",
          fmt::format(
              "{}; the call was sent again after {} ms, not after the {} s of Retry-After", cause, gap, wait_ms / 1000),
          {line_of(sent[i]), line_of(sent[k])},
          "wait as long as Retry-After says before the next try");
    }
  }
  return {};
}

std::string call_of(const SentRequest& sent) {
  return sent.method + " " + sent.path + "?" + sent.query + "\n" + sent.body;
}

/// How often each call was sent with the same body.
std::map<std::string, std::size_t> sends_of(const Sent& sent) {
  std::map<std::string, std::size_t> counts;
  for (const SentRequest& one : sent) ++counts[call_of(one)];
  return counts;
}

Found storm_of_claims(const Reference& reference, const Row& row, const Sent& sent, const std::string& cause) {
  const Fault* const fault = find_fault(row.fault);
  if (fault == nullptr || row.fault != "queue-empty") return {};
  const auto claims = std::ranges::count_if(sent, [](const SentRequest& one) { return !one.fault.empty(); });
  if (static_cast<std::size_t>(claims) <= reference.max_sends) return {};
  return finding("storm",
                 fmt::format("{}; events.claim was sent {} times meanwhile", cause, claims),
                 lines_around(sent),
                 replace_all(std::string(fault->advice), "CALL", row.operation));
}

Found storm_of_one_call(const Reference& reference, const Sent& sent, const std::string& cause) {
  const std::map<std::string, std::size_t> usual = sends_of(reference.clean.sent);
  std::map<std::string, std::size_t> counts;
  for (const SentRequest& one : sent) {
    if (one.status != 0 && one.status < 400) continue;  // a usable response is no reason to repeat the call
    const std::string call = call_of(one);
    const auto found = usual.find(call);
    const std::size_t at_most = reference.max_sends + (found == usual.end() ? 0 : found->second);
    if (++counts[call] <= at_most) continue;
    return finding("storm",
                   fmt::format("{}; {} {} was sent {} times", cause, one.method, one.path, sends_of(sent)[call]),
                   lines_around(sent),
                   "stop after a few tries, and wait longer before each");
  }
  return {};
}

Found storm_of_all(const Reference& reference, const Row& row, const Sent& sent, const std::string& cause) {
  const std::size_t usual = reference.clean.sent.size();
  const std::size_t most = reference.max_requests != 0 ? reference.max_requests
                                                       : std::max(usual * storm_factor, usual + reference.max_sends);
  // Small pages need more requests.
  if (sent.size() <= most || row.fault == "small-pages") return {};
  return finding("storm",
                 fmt::format("{}; the command sent {} requests, {} without the fault", cause, sent.size(), usual),
                 lines_of_last(sent),
                 "bound the number of tries over all calls, and wait longer before each");
}

/// A create that was sent again without its key after an unknown outcome.
Found key_changed(const Reference& reference, const Row& row, const Sent& sent, const std::string& cause) {
  const Fault* const fault = find_fault(row.fault);
  if (fault == nullptr || fault->outcome != Outcome::unknown) return {};
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const SentRequest& lost = sent[i];
    if (lost.fault.empty() || !lost.is_create()) continue;
    const std::size_t usual = sends_of(reference.clean.sent)[call_of(lost)];
    if (sends_of(sent)[call_of(lost)] <= usual) continue;
    for (std::size_t k = i + 1; k < sent.size(); ++k) {
      const SentRequest& again = sent[k];
      if (call_of(again) != call_of(lost)) continue;
      if (!again.idempotency_key.empty() && again.idempotency_key == lost.idempotency_key) continue;
      return finding(
          "careless",
          fmt::format("{}; {} was sent again {}, though the first one may have taken effect",
                      cause,
                      lost.operation,
                      again.idempotency_key.empty() ? "without an Idempotency-Key" : "with another Idempotency-Key"),
          {line_of(lost), line_of(again)},
          fmt::format("send an Idempotency-Key with {}: the same one with each try", lost.operation));
    }
  }
  return {};
}

Found key_shared(const Sent& sent) {
  std::map<std::string, const SentRequest*> first;
  for (const SentRequest& one : sent) {
    if (one.idempotency_key.empty() || !one.is_create()) continue;
    const auto [found, is_new] = first.emplace(one.idempotency_key, &one);
    if (is_new || call_of(*found->second) == call_of(one)) continue;
    return finding("careless",
                   fmt::format("one Idempotency-Key was sent with two different bodies or paths ({} and {})",
                               found->second->operation,
                               one.operation),
                   {line_of(*found->second), line_of(one)},
                   "make a key for each object to be created, and keep key and body together over all tries");
  }
  return {};
}

/// Those that were sent again at once and unchanged, by their place.
std::vector<std::size_t> repeated_refusals(const Sent& sent) {
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    if (is_final_refusal(sent[i - 1].status) && call_of(sent[i]) == call_of(sent[i - 1])) places.push_back(i);
  }
  return places;
}

Found refusal_repeated(const Reference& reference, const Sent& sent, const std::string& cause) {
  const std::vector<std::size_t> places = repeated_refusals(sent);
  if (places.size() <= repeated_refusals(reference.clean.sent).size()) return {};
  const SentRequest& again = sent[places.front()];
  const SentRequest& before = sent[places.front() - 1];
  return finding(
      "careless",
      fmt::format("{}; {} was sent again unchanged after {}, although the answer would be the same",
                  cause,
                  again.operation.empty() ? again.path : again.operation,
                  before.status),
      {line_of(before), line_of(again)},
      "repeat a call only after 408, 409, 425, 429, 5xx or a broken connection; tell the person about any other 4xx");
}

}  // namespace

std::vector<Finding> judge_manners(const Reference& reference,
                                   const Row& row,
                                   const Run& run,
                                   const std::string& cause) {
  Found storm = storm_of_claims(reference, row, run.sent, cause);
  if (!storm) storm = storm_of_one_call(reference, run.sent, cause);
  if (!storm) storm = storm_of_all(reference, row, run.sent, cause);
  Found careless = key_changed(reference, row, run.sent, cause);
  if (!careless) careless = key_shared(run.sent);
  if (!careless) careless = refusal_repeated(reference, run.sent, cause);
  std::vector<Finding> all;
  if (Found early = impatience(reference, row, run.sent, cause)) all.push_back(std::move(*early));
  if (storm) all.push_back(std::move(*storm));
  if (careless) all.push_back(std::move(*careless));
  return all;
}

}  // namespace ws::mock::sweep
