#include "server-mock/sweep/plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/faults/operation_names.hpp"
#include "server-mock/store/assumptions.hpp"
#include "server-mock/sweep/state_diff.hpp"

namespace ws::mock::sweep {
namespace {

using namespace std::chrono_literals;

// Members of a fault rule. STALL, ELSEWHERE (an origin), THERE and HERE (the request's address, at another origin and
// at its own) are replaced by values.
constexpr Fault all_faults[] = {
    {"reset-before", "the connection was reset before the call took effect", R"("effect": {"reset": true})"},
    {"close-before",
     "the connection was closed without an answer before the call took effect",
     R"("effect": {"close_without_answer": true})"},
    {"500-before", "500 came back, and the call did not take effect", R"("effect": {"status": 500})"},
    {"503-before",
     "503 with Retry-After came back",
     R"("effect": {"status": 503, "retry_after": 2})",
     Outcome::refused},
    {"429-before",
     "429 with Retry-After came back",
     R"("effect": {"status": 429, "retry_after": 2})",
     Outcome::refused},
    {"timeout-before",
     "no answer came for PATIENCE s, then the connection was closed",
     R"("effect": {"stall_ms": STALL, "close_without_answer": true})"},
    {"redirect-before",
     "a redirect to another origin came back",
     R"("effect": {"status": {"status": 307, "headers": {"Location": "THERE"}, "body": ""}})",
     Outcome::refused},
    {"see-other-before",
     "303 came back, and led to an address that can be read",
     R"("effect": {"status": {"status": 303, "headers": {"Location": "HERE"}, "body": ""}})",
     Outcome::refused,
     "follow no redirect of CALL: what a GET of another address answers does not say that the call took effect"},
    {"403-before", "403 came back for this call alone", R"("effect": {"status": 403})", Outcome::refused},
    {"404-before", "404 came back: the object had vanished", R"("effect": {"status": 404})", Outcome::refused},
    {"404-though-there",
     "404 came back for this call alone, and the object is still there",
     R"("effect": {"status": 404})",
     Outcome::refused,
     "read the object before a 404 to CALL is taken for success: it is also the answer to who may not see or change "
     "it"},
    {"member-removed",
     "the key's owner had been removed from the Workspace",
     R"("effect": {"remove_member": true})",
     Outcome::refused},
    {"bump-revision",
     "someone else had edited the document just before",
     R"("effect": {"bump_revision": true})",
     Outcome::refused,
     "after a 409 read the document again, make the change in its new text, and send that"},
    {"silence", "no answer came, and the connection stayed open", R"("effect": {"hang": true})"},
    {"outage",
     "503 came back for this call and all later ones",
     R"("times": 1000000, "effect": {"status": 503, "retry_after": null})",
     Outcome::refused},
    {"reset-after",
     "the connection was reset after the call took effect",
     R"("phase": "after", "effect": {"reset": true})"},
    {"close-after",
     "the connection was closed without an answer after the call took effect",
     R"("phase": "after", "effect": {"close_without_answer": true})"},
    {"500-after", "500 came back, though the call took effect", R"("phase": "after", "effect": {"status": 500})"},
    // Without `Retry-After`, which would ask the client to send the request again.
    {"503-after",
     "503 came back, though the call took effect",
     R"("phase": "after", "effect": {"status": 503, "retry_after": null})"},
    {"truncated-after",
     "the answer was cut in the middle after the call took effect",
     R"("phase": "after", "effect": {"truncate_at": 20})"},
    {"bad-json-after",
     "the answer was broken JSON after the call took effect",
     R"("phase": "after", "effect": {"bad_json": true})"},
    {"lost-and-down",
     "the connection was reset after the call took effect, and nothing answered from then on",
     R"("phase": "after", "effect": {"reset": true, "then_down": true})"},
    {"upload-elsewhere",
     "the upload address was at another origin",
     R"("phase": "after", "effect": {"other_origin": "ELSEWHERE"})",
     Outcome::refused},
    {"key-expired", "the key had expired", R"("effect": {"expire_key": true})", Outcome::refused},
    {"key-revoked", "the key had been revoked", R"("effect": {"revoke_key": true})", Outcome::refused},
    {"lease-lost",
     "the lease of the event was lost",
     R"("effect": {"lose_lease": true})",
     Outcome::refused,
     "check the answer of CALL: an event whose lease was lost belongs to another worker, and the work for it does not "
     "count"},
    {"put-cut",
     "half of the file arrived, then the connection was reset",
     R"("phase": "after", "effect": {"cut_upload": true, "reset": true})"},
    {"put-damaged",
     "the service stored other bytes than were sent, as their hash shows",
     R"("phase": "after", "effect": {"damage_upload": true})",
     Outcome::unknown,
     "compare the sha256 of the file with the one in the answer, or finalize with the file's"},
    {"empty-page",
     "a page without items came, with a cursor that leads on",
     R"("effect": {"empty_page": true})",
     Outcome::refused,
     "call CALL with next_cursor until that is null: a page without items need not be the last"},
    {"page-twice",
     "the first page came again in place of this one",
     R"("effect": {"repeat_page": true})",
     Outcome::refused,
     "remember the ids from CALL: a later page may repeat items of an earlier one"},
    {"small-pages",
     "each page of the list held two items",
     R"("times": 1000000, "effect": {"small_pages": true})",
     Outcome::refused,
     "call CALL with next_cursor until that is null"},
    {"other-offset",
     "the times in the answers were written with the offset -05:00, and named the same moments",
     R"("times": 1000000, "phase": "after", "effect": {"time_offset": "-05:00"})",
     Outcome::refused,
     "read the offset of each time in the answer of CALL, and compare moments, not texts"},
    {"queue-empty",
     "no event was there for 2 s, and the answer did not say when to ask again",
     R"("for_ms": 2000, "effect": {"status": {"status": 200, "body": {"event": null}}})",
     Outcome::refused,
     "wait retry_after_seconds before CALL is sent again, and 5 s if it is missing"},
    {"operation-slow",
     "what the call began took 3 s longer",
     R"("phase": "after", "effect": {"slow_operation_ms": 3000})",
     Outcome::refused,
     "202 is no end: read the operation that CALL names until it has succeeded or failed"},
    {"operation-fails",
     "what the call began failed after the answer",
     R"("phase": "after", "effect": {"fail_operation": true})",
     Outcome::refused,
     "202 is no end: read the operation that CALL names until it has succeeded or failed"},
};

/// How much longer a client may take that waits for the end of such a fault.
constexpr std::pair<std::string_view, std::chrono::milliseconds> own_waits[] = {{"queue-empty", 5000ms},
                                                                                {"operation-slow", 3000ms}};

bool matches_any(const std::vector<std::string>& globs, std::string_view text) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_matches(glob, text); });
}

/// Whether the request names the revision that it was made from.
bool checks_revision(const contract::Operation* operation) {
  if (operation == nullptr || operation->request == nullptr) return false;
  return contract::find_field(*operation->request, "expected_content_revision") != nullptr ||
         contract::find_field(*operation->request, "push_ids") != nullptr;
}

/// Calls under a lease may be repeated until the lease ends, which can take longer than the time limit of a run.
bool is_leased(const SentRequest& sent) {
  return sent.operation.starts_with("events.") && sent.operation != "events.claim";
}

bool has_time(const Json& value) {
  if (value.is_structured()) return std::ranges::any_of(value, [](const Json& one) { return has_time(one); });
  return value.is_string() && time_length(value.get_ref<const std::string&>()) != 0;
}

/// Whether the request comes between a read of a document and a change that is made from what was read.
bool is_between_read_and_change(const std::vector<SentRequest>& all, std::size_t at) {
  if (checks_revision(contract::find_operation(all[at].operation))) return false;
  const auto is_of_the_document = [&all, at](const std::string& document) {
    return all[at].path == document || all[at].path.starts_with(document + "/");
  };
  for (std::size_t i = 0; i < at; ++i) {
    const SentRequest& read = all[i];
    if (read.operation != "docs.get" || read.status != 200 || !is_of_the_document(read.path)) continue;
    for (std::size_t k = at + 1; k < all.size(); ++k) {
      if (all[k].path == read.path && checks_revision(contract::find_operation(all[k].operation))) return true;
    }
  }
  return false;
}

/// Whether the fault can apply to such a request, and differs there from all other faults.
bool applies(const Fault& fault,
             const std::vector<SentRequest>& all,
             std::size_t at,
             std::size_t ordinal,
             const contract::Operation* operation) {
  const SentRequest& sent = all[at];
  const bool is_put = sent.operation == "upload.put";
  const bool reads = sent.method == "GET" || sent.method == "HEAD";
  const bool has_auth = operation != nullptr && operation->auth == contract::Auth::key;
  if (fault.id.starts_with("key-") || fault.id == "403-before" || fault.id == "member-removed") return has_auth;
  // A delete of what is gone has reached its end.
  if (fault.id == "404-though-there") return has_auth && sent.path != operation->path && sent.method == "DELETE";
  if (fault.id == "404-before") return has_auth && sent.path != operation->path && sent.method != "DELETE";
  if (fault.id == "bump-revision") return checks_revision(operation) || is_between_read_and_change(all, at);
  if (fault.id == "upload-elsewhere") return sent.operation == "files.upload_start";
  if (fault.id == "redirect-before") return !is_put;
  if (fault.id == "see-other-before") return !is_put && !reads;
  if (fault.id == "other-offset") return operation != nullptr && ordinal == 1 && has_time(*sent.response_body);
  if (fault.id == "queue-empty") return sent.operation == "events.claim";
  if (fault.id.starts_with("operation-")) return sent.operation == "files.organize";
  if (fault.id.starts_with("put-")) return is_put;
  if (fault.id == "lease-lost") return sent.operation.starts_with("events.");
  const bool is_list = operation != nullptr && operation->paging == contract::Paging::cursor;
  if (fault.id == "empty-page") return is_list;
  if (fault.id == "page-twice") return is_list && sent.query.find("cursor=") != std::string::npos;
  if (fault.id == "small-pages") return is_list && sent.method == "GET" && ordinal == 1;
  if (fault.id == "lost-and-down") return !reads && !is_leased(sent);
  if (fault.id == "truncated-after" || fault.id == "bad-json-after") return !is_put && sent.status != 204;
  // A read has no effect, so a fault after it is the same as one before it.
  if (fault.id.ends_with("-after")) return !reads;
  return true;
}

/// Switches that affect only some operations.
constexpr std::pair<std::string_view, std::string_view> switched_operations[] = {
    {"device_pending", "auth.token"},
    {"revision_mismatch", "docs.update"},
    {"question_created", "questions.*"},
    {"question_async", "questions.*"},
    {"pull_filter", "sync.pull"},
    {"sync_conflict_status", "sync.commit"},
    {"renew_from", "events.renew"},
    {"workspace_create", "workspaces.*"},
    {"test_runs", "tests.run*"},
};

bool concerns(std::string_view key, const std::vector<SentRequest>& sent) {
  const auto* const found =
      std::ranges::find(switched_operations, key, &std::pair<std::string_view, std::string_view>::first);
  if (found == std::end(switched_operations)) return true;
  return std::ranges::any_of(sent, [&](const SentRequest& one) { return glob_matches(found->second, one.operation); });
}

Row row_of(const Fault& fault,
           const SentRequest& sent,
           std::size_t ordinal,
           std::string_view origin,
           const PlanOptions& options) {
  const std::string target = sent.path + (sent.query.empty() ? "" : "?" + sent.query);
  // The path in a Location is inside the sandbox, whose prefix is known only once it is open.
  std::string location = dump(Json("SANDBOX" + target));
  location = location.substr(1, location.size() - 2);
  std::string rule = replace_all(std::string(fault.effect), "STALL", std::to_string(options.patience.count()));
  rule = replace_all(rule, "ELSEWHERE", origin);
  rule = replace_all(rule, "\"THERE\"", "\"" + std::string(origin) + location + "\"");
  rule = replace_all(rule, "\"HERE\"", "\"" + location + "\"");
  if (is_leased(sent)) rule = replace_all(rule, R"("times": 1000000)", R"("times": 3)");
  std::chrono::milliseconds extra{0};
  if (fault.id == "timeout-before" || fault.id == "silence") extra = options.patience;
  if (fault.effect.find(retry_after_member) != std::string_view::npos) extra = retry_after;
  for (const auto& [id, wait] : own_waits) {
    if (fault.id == id) extra = wait;
  }
  return {.id = fmt::format("{}#{}:{}", sent.operation, ordinal, fault.id),
          .operation = sent.operation,
          .ordinal = ordinal,
          .fault = std::string(fault.id),
          .rule = fmt::format(R"({{"id": "sweep", "operation": "{}", "nth": {}, {}}})", sent.operation, ordinal, rule),
          .request = sent.method + " " + sent.path,
          .extra = extra};
}

std::map<std::string, std::size_t> counts_of(const std::vector<SentRequest>& sent) {
  std::map<std::string, std::size_t> counts;
  for (const SentRequest& one : sent) ++counts[one.operation];
  return counts;
}

void add_switches(const std::vector<SentRequest>& sent, Plan& plan) {
  for (const AssumptionSwitch& one : assumption_switches()) {
    if (!concerns(one.key, sent)) continue;
    for (const std::string_view value : one.values.subspan(1)) {
      const std::string assignment = fmt::format("{}={}", one.key, value);
      plan.rows.push_back({.id = "switch:" + assignment, .assumption = assignment, .request = "the whole run"});
    }
  }
}

std::vector<std::string> unique(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Patterns that no row has, which would leave an empty sweep that finds nothing. What is skipped may be a fault that
/// these requests cannot have.
std::vector<Plan::Unmatched> unmatched_patterns(const std::vector<Row>& rows, const PlanOptions& options) {
  std::vector<std::string> operations;
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (!row.operation.empty()) operations.push_back(row.operation);
    names.push_back(row.fault.empty() ? "switch" : row.fault);
    names.push_back(row.id);
    if (!row.assumption.empty()) names.push_back(row.assumption);
  }
  std::vector<std::string> skippable = names;
  skippable.emplace_back("switch");
  for (const Fault& fault : all_faults) skippable.emplace_back(fault.id);
  for (const AssumptionSwitch& one : assumption_switches()) {
    for (const std::string_view value : one.values) {
      skippable.push_back(fmt::format("{}={}", one.key, value));
      skippable.push_back("switch:" + skippable.back());
    }
  }
  for (const contract::Operation* operation : contract::operations()) {
    skippable.push_back(fmt::format("{}#1:outage", operation->id));
  }
  std::vector<Plan::Unmatched> unmatched;
  const auto look =
      [&](std::string_view flag, const std::vector<std::string>& patterns, std::vector<std::string> known) {
        known = unique(std::move(known));
        for (const std::string& pattern : patterns) {
          const auto fits = [&](const std::string& name) { return glob_matches(pattern, name); };
          if (std::ranges::none_of(known, fits)) unmatched.push_back({std::string(flag), pattern, known});
        }
      };
  look("--operations", options.operations, operations);
  look("--only", options.only, names);
  look("--skip", options.skip, skippable);
  return unmatched;
}

/// Keeps a random sample of `count` rows, chosen by the seed, in their original order.
void keep_sample(std::vector<Row>& rows, std::size_t count, std::uint64_t seed) {
  if (count == 0 || rows.size() <= count) return;
  std::vector<std::size_t> places(rows.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  SeededRandom random(seed);
  for (std::size_t i = 0; i < count; ++i) std::swap(places[i], places[i + random.below(places.size() - i)]);
  places.resize(count);
  std::ranges::sort(places);
  std::vector<Row> kept;
  kept.reserve(places.size());
  for (const std::size_t place : places) kept.push_back(std::move(rows[place]));
  rows = std::move(kept);
}

}  // namespace

std::span<const Fault> faults() { return all_faults; }

const Fault* find_fault(std::string_view id) {
  const auto* found = std::ranges::find(all_faults, id, &Fault::id);
  return found == std::end(all_faults) ? nullptr : found;
}

bool names_row(std::string_view id) {
  constexpr std::string_view switch_word = "switch:";
  if (id.starts_with(switch_word)) {
    id.remove_prefix(switch_word.size());
    return Assumptions().set(id).has_value();
  }
  const std::size_t mark = std::min(id.find('#'), id.size());
  const std::size_t colon = std::min(id.find(':', mark), id.size());
  const std::string_view number = id.substr(mark, colon - mark);
  const bool is_number = number.size() > 1 && number.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_number && names_operation(id.substr(0, mark)) && colon < id.size() && find_fault(id.substr(colon + 1));
}

Plan make_plan(const std::vector<SentRequest>& first,
               const std::vector<SentRequest>& second,
               std::string_view other_origin,
               const PlanOptions& options) {
  Plan plan;
  const std::map<std::string, std::size_t> again = counts_of(second);
  for (const auto& [operation, count] : counts_of(first)) {
    if (operation.empty()) {
      plan.notes.push_back(
          fmt::format("requests that belong to no operation of the API, and are not swept: {}", count));
      continue;
    }
    const auto found = again.find(operation);
    const std::size_t other = found == again.end() ? 0 : found->second;
    if (other == count) continue;
    plan.notes.push_back(
        fmt::format("the two clean runs differ: {} was sent {} times, then {} times; the first {} are swept",
                    operation,
                    count,
                    other,
                    std::min(count, other)));
  }
  std::map<std::string, std::size_t> ordinals;
  for (std::size_t at = 0; at < first.size(); ++at) {
    const SentRequest& sent = first[at];
    const std::size_t ordinal = ++ordinals[sent.operation];
    const auto found = again.find(sent.operation);
    if (sent.operation.empty() || found == again.end() || ordinal > found->second) continue;
    const contract::Operation* operation = contract::find_operation(sent.operation);
    if (operation == nullptr && sent.operation != "upload.put") continue;
    for (const Fault& fault : all_faults) {
      if (applies(fault, first, at, ordinal, operation))
        plan.rows.push_back(row_of(fault, sent, ordinal, other_origin, options));
    }
  }
  add_switches(first, plan);
  for (const Row& row : plan.rows) plan.known.push_back(row.id);
  plan.unmatched = unmatched_patterns(plan.rows, options);
  std::erase_if(plan.rows, [&](const Row& row) {
    const std::string_view kind = row.fault.empty() ? std::string_view("switch") : std::string_view(row.fault);
    const auto named = [&](const std::vector<std::string>& globs) {
      return matches_any(globs, kind) || matches_any(globs, row.id) || matches_any(globs, row.assumption);
    };
    if (!options.operations.empty() && !matches_any(options.operations, row.operation)) return true;
    return (!options.only.empty() && !named(options.only)) || named(options.skip);
  });
  const std::size_t all = plan.rows.size();
  keep_sample(plan.rows, options.sample, options.seed);
  if (options.max_rows != 0 && plan.rows.size() > options.max_rows) plan.rows.resize(options.max_rows);
  plan.left_out = all - plan.rows.size();
  return plan;
}

}  // namespace ws::mock::sweep
