#include "server-mock/compare/probes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/journal/redactor.hpp"
#include "server-mock/pipeline/assumption_effects.hpp"

namespace ws::mock::compare {
namespace {

using contract::Field;
using contract::Kind;
using contract::Operation;
using contract::Schema;

// device_pending: the 400 whose whole `detail` is the code of RFC 8628 is checked before any other 400.
constexpr std::string_view pending_words = "authorization_pending slow_down";

/// A pattern of the answers of one operation; status 0: any.
constexpr Pattern when(std::string_view operation,
                       int status,
                       std::string_view value,
                       Condition condition = Condition::status,
                       std::string_view member = {},
                       std::string_view text = {}) {
  return {
      .value = value, .operation = operation, .status = status, .condition = condition, .member = member, .text = text};
}
/// A pattern of the answers of every operation that match `applies_to`.
constexpr Pattern among(AppliesTo applies_to,
                        std::string_view value,
                        Condition condition,
                        std::string_view member = {},
                        std::string_view text = {}) {
  return {.value = value, .applies_to = applies_to, .condition = condition, .member = member, .text = text};
}

constexpr Pattern error_style[] = {
    among(AppliesTo::refusals, "problem", Condition::media_type, "", "application/problem+json"),
    among(AppliesTo::refusals, "html", Condition::media_type, "", "text/html"),
    among(AppliesTo::refusals, "detail_object", Condition::member_is_object, "detail"),
    among(AppliesTo::refusals, "plain", Condition::member_is_text, "detail"),
};
constexpr Pattern device_pending[] = {
    when("auth.token", 400, "detail_400", Condition::member_is, "detail", pending_words),
    when("auth.token", 400, "error_400"),
    when("auth.token", 428, "status_428"),
    when("auth.token", 202, "status_202"),
    when("auth.token", 200, "ok_without_secret", Condition::member_missing, "secret"),
};
constexpr Pattern revision_mismatch[] = {when("docs.update", 409, "409"), when("docs.update", 412, "412")};
constexpr Pattern question_created[] = {when("questions.create", 200, "200"), when("questions.create", 201, "201")};
constexpr Pattern question_async[] = {
    when("questions.create", 0, "no", Condition::member_is, "status", "completed"),
    when("questions.create", 0, "yes", Condition::member_is_not, "status", "completed failed"),
};
constexpr Pattern pull_filter[] = {
    when("sync.pull", 200, "honoured", Condition::page_is_cut),
    when("sync.pull", 200, "ignored", Condition::page_is_whole),
};
constexpr Pattern auth_order[] = {
    {.value = "auth_first", .applies_to = AppliesTo::unauthenticated, .status = 401},
    {.value = "auth_first", .applies_to = AppliesTo::unauthenticated, .status = 403},
    {.value = "validation_first", .applies_to = AppliesTo::unauthenticated, .status = 422},
};
constexpr Pattern list_extra[] = {
    among(AppliesTo::successes, "unknown_fields", Condition::unknown_members),
    among(AppliesTo::successes, "none", Condition::known_members),
};
constexpr Pattern assumed_fields[] = {
    among(AppliesTo::successes, "missing", Condition::assumed_missing),
    among(AppliesTo::successes, "null", Condition::assumed_null),
    among(AppliesTo::successes, "full", Condition::assumed_present),
};
constexpr Pattern sync_conflict_status[] = {
    when("sync.commit", 409, "409"),
    when("sync.commit", 200, "in_body", Condition::member_is, "status", "partly_conflicted"),
};
constexpr Pattern renew_from[] = {
    when("events.renew", 200, "end", Condition::lease_grows_whole),
    when("events.renew", 200, "now", Condition::lease_grows_less),
};
constexpr Pattern workspace_create[] = {
    when("workspaces.create", 403, "403"),
    when("workspaces.create", 201, "visible"),
};
// A run that has not ended when it is launched may still fail: its end is read from the list.
constexpr Pattern test_runs[] = {
    when("tests.run_launch", 0, "finished", Condition::member_is, "status", "passed"),
    when("tests.runs_list", 200, "failing", Condition::holds_run, "", "failed"),
    when("tests.runs_list", 200, "timed", Condition::holds_run, "", "queued"),
    when("tests.runs_list", 200, "timed", Condition::holds_run, "", "running"),
    when("tests.runs_list", 200, "finished", Condition::holds_run, "", "passed"),
};

constexpr Probe table[] = {
    {"error_style", "any refusal", error_style},
    {"device_pending", "a device login that nobody approved yet", device_pending},
    {"revision_mismatch", "an update from an old revision", revision_mismatch},
    {"question_created", "a question", question_created},
    {"question_async", "a question", question_async},
    {"pull_filter", "a pull with a limit below the number of documents", pull_filter},
    {"auth_order", "an invalid request without a key", auth_order},
    {"list_extra", "any answer with a resource", list_extra},
    {"assumed_fields", "any answer with a resource", assumed_fields},
    {"sync_conflict_status", "a commit of a text that changed meanwhile", sync_conflict_status},
    {"renew_from", "a claim, and a renewal of its lease", renew_from},
    {"workspace_create", "a Workspace made with a key of one Workspace", workspace_create},
    {"test_runs", "a test run", test_runs},
};

bool is_word_of(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = split(words, ' ');
  return std::ranges::find(all, word) != all.end();
}

struct MemberCounts {
  std::size_t unknown = 0;
  std::size_t assumed_null = 0;
  std::size_t assumed_missing = 0;
  std::size_t assumed_present = 0;
};

void count_members(const Json& value, const Schema& schema, MemberCounts& counts) {
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    if (contract::find_field(schema, name) == nullptr) ++counts.unknown;
  }
  for (const Field& field : schema.fields) {
    const Json* member = find(value, field.name);
    const bool tells =
        !is_kept(field) && field.presence == contract::Presence::required && field.null == contract::Null::no;
    if (tells)
      ++(member == nullptr ? counts.assumed_missing : member->is_null() ? counts.assumed_null : counts.assumed_present);
    if (member == nullptr) continue;
    const bool is_array = field.type.kind == Kind::array;
    const contract::Type& type = is_array ? *field.type.items : field.type;
    if (type.kind != Kind::object) continue;
    if (is_array && member->is_array()) {
      for (const Json& item : *member) count_members(item, *type.object, counts);
    } else if (!is_array) {
      count_members(*member, *type.object, counts);
    }
  }
}

const Operation* operation_of(const Exchange& parts) { return contract::find_operation(parts.operation); }

MemberCounts counts_of(const Exchange& parts) {
  MemberCounts counts;
  const Operation* operation = operation_of(parts);
  const Schema* schema = operation == nullptr ? nullptr : response_schema(*operation, parts.status);
  if (schema != nullptr) count_members(*parts.response_body, *schema, counts);
  return counts;
}

/// Whether the request's path or query is invalid by the table.
bool is_invalid(const Exchange& parts, const Operation& operation) {
  const auto findings = contract::validate_parameters(operation, {}, http::parse_query(parts.query), {});
  return std::ranges::any_of(findings.violations,
                             [](const contract::Violation& one) { return one.loc.front() == contract::Step("query"); });
}

bool applies(const Pattern& pattern, const Exchange& parts) {
  const Operation* operation = operation_of(parts);
  switch (pattern.applies_to) {
    case AppliesTo::operation: return parts.operation == pattern.operation;
    case AppliesTo::refusals:
      return parts.status >= 400 && parts.status != 422 && operation != nullptr &&
             operation->auth == contract::Auth::key && parts.operation != "sync.commit";
    case AppliesTo::unauthenticated:
      return operation != nullptr && operation->auth == contract::Auth::key &&
             parts.request_header("authorization").empty() && is_invalid(parts, *operation);
    case AppliesTo::successes:
      return parts.status < 300 && operation != nullptr && response_schema(*operation, parts.status) != nullptr &&
             parts.response_body->is_object() && !parts.operation.starts_with("sync.") &&
             parts.operation != "auth.token";
  }
  return false;
}

std::int64_t limit_of(const Exchange& parts) {
  const http::Pairs query = http::parse_query(parts.query);
  const auto limit = parse_bounded(http::value_of(query, "limit"));
  return limit && limit->is_number_unsigned() ? limit->get<std::int64_t>() : 0;
}

std::int64_t items_of(const Exchange& parts) {
  const Json* data = find(*parts.response_body, "data");
  return data == nullptr || !data->is_array() ? -1 : static_cast<std::int64_t>(data->size());
}

bool holds_run(const Exchange& parts, std::string_view status, const std::set<std::string>& runs) {
  const Json* data = find(*parts.response_body, "data");
  const http::Pairs query = http::parse_query(parts.query);
  if (data == nullptr || !data->is_array() || http::value_of(query, "status") != status) return false;
  return std::ranges::any_of(*data, [&](const Json& run) { return runs.contains(find_text(run, "id").value_or("")); });
}

/// What the exchanges before tell about one.
struct Earlier {
  std::set<std::string> runs = {};  ///< that were launched
  /// By the number of a renewal: how much later the lease ends than before, less its `lease_seconds`; in milliseconds.
  std::map<std::uint64_t, std::int64_t> growth = {};
};

bool shows(const Pattern& pattern, const Exchange& parts, const Earlier& earlier) {
  if (pattern.status != 0 && parts.status != pattern.status) return false;
  const Json* member = find(*parts.response_body, pattern.member);
  const auto text = find_text(*parts.response_body, pattern.member);
  const auto counts = [&] { return counts_of(parts); };
  switch (pattern.condition) {
    case Condition::status: return true;
    case Condition::media_type: return find_text(*parts.response_headers, "content-type") == std::string(pattern.text);
    case Condition::member_is_object: return member != nullptr && member->is_object();
    case Condition::member_is_text: return text.has_value();
    case Condition::member_is: return parts.status < 500 && text && is_word_of(pattern.text, *text);
    case Condition::member_is_not: return parts.status < 300 && text && !is_word_of(pattern.text, *text);
    case Condition::member_missing: return parts.response_body->is_object() && member == nullptr;
    case Condition::page_is_cut: {
      const Json* cursor = find(*parts.response_body, "next_cursor");
      return limit_of(parts) > 0 && items_of(parts) == limit_of(parts) && cursor != nullptr && cursor->is_string();
    }
    case Condition::page_is_whole: return limit_of(parts) > 0 && items_of(parts) > limit_of(parts);
    case Condition::holds_run: return holds_run(parts, pattern.text, earlier.runs);
    case Condition::lease_grows_whole:
    case Condition::lease_grows_less: {
      const auto grown = earlier.growth.find(parts.seq);
      return grown != earlier.growth.end() && (grown->second < 0) == (pattern.condition == Condition::lease_grows_less);
    }
    case Condition::unknown_members: return counts().unknown > 0;
    case Condition::known_members: return counts().unknown == 0;
    case Condition::assumed_null: return counts().assumed_null > counts().assumed_present + counts().assumed_missing;
    case Condition::assumed_missing: return counts().assumed_missing > counts().assumed_present + counts().assumed_null;
    case Condition::assumed_present: return counts().assumed_present > counts().assumed_null + counts().assumed_missing;
  }
  return false;
}

std::set<std::string> launched_runs(const Exchanges& exchanges) {
  std::set<std::string> runs;
  for (const Exchange& exchange : exchanges) {
    if (exchange.operation != "tests.run_launch" || exchange.status >= 300) continue;
    runs.insert(find_text(*exchange.response_body, "id").value_or("none"));
  }
  return runs;
}

/// Renewals of leases that no service would have to cut at 900 seconds from now.
std::map<std::uint64_t, std::int64_t> growth_of_leases(const Exchanges& exchanges) {
  struct Lease {
    std::int64_t ends_at = 0;
    std::int64_t seconds = 0;  // in all, since the claim
  };
  constexpr std::int64_t longest = 900;
  std::map<std::string, Lease> leases;
  std::map<std::uint64_t, std::int64_t> growth;
  for (const Exchange& parts : exchanges) {
    const bool is_claim = parts.operation == "events.claim";
    if (parts.status != 200 || (!is_claim && parts.operation != "events.renew")) continue;
    const Json* event = is_claim ? find(*parts.response_body, "event") : &*parts.response_body;
    if (event == nullptr || !event->is_object()) continue;
    const auto id = find_text(*event, "id");
    const auto ends = parse_rfc3339(find_text(*event, "lease_expires_at").value_or(""));
    if (!id || !ends) continue;
    const std::int64_t seconds = find_integer(*parts.request_body, "lease_seconds").value_or(300);
    const std::int64_t ends_at = ends->time_since_epoch().count();
    const auto before = leases.find(*id);
    const bool is_known = !is_claim && before != leases.end();
    const std::int64_t all = seconds + (is_known ? before->second.seconds : 0);
    if (is_known && all <= longest) growth[parts.seq] = ends_at - before->second.ends_at - seconds * 1000;
    leases[*id] = {.ends_at = ends_at, .seconds = all};
  }
  return growth;
}

struct Votes {
  std::size_t count = 0;
  const Exchange* first = nullptr;
};

/// Whether one exchange proves the value. The default value needs all exchanges; the rarer value only one.
bool is_decisive(std::string_view key, std::string_view value) {
  return (key == "list_extra" && value == "unknown_fields") || (key == "test_runs" && value == "failing") ||
         (key == "revision_mismatch" && value == "412");  // an update of an archived document is 409 too
}

SwitchValue judge(const Probe& probe, const Exchanges& exchanges, const Earlier& earlier) {
  std::map<std::string_view, Votes> votes;
  std::size_t all = 0;
  for (const Exchange& exchange : exchanges) {
    for (const Pattern& pattern : probe.patterns) {
      if (!applies(pattern, exchange) || !shows(pattern, exchange, earlier)) continue;
      Votes& cast = votes[pattern.value];
      if (cast.count++ == 0) cast.first = &exchange;
      ++all;
      break;
    }
  }
  SwitchValue judged = {.key = probe.key, .needs = std::string(probe.needs)};
  if (all == 0) return judged;
  // A run that was running and then passed is timed, however often the list was requested in between.
  if (probe.key == "test_runs" && votes.contains("timed") && !votes.contains("failing")) votes.erase("finished");
  auto best = votes.begin();
  for (auto at = votes.begin(); at != votes.end(); ++at) {
    if (at->second.count > best->second.count) best = at;
  }
  for (auto at = votes.begin(); at != votes.end(); ++at) {
    if (is_decisive(probe.key, at->first)) best = at;
  }
  const bool is_shown = votes.size() == 1 || is_decisive(probe.key, best->first);
  judged.value = best->first;
  judged.certainty = is_shown ? Certainty::shown : Certainty::likely;
  judged.exchange = best->second.first->seq;
  judged.shown_by = render_exchange(*best->second.first);
  return judged;
}

}  // namespace

std::span<const Probe> probes() { return table; }

std::string_view name(Certainty certainty) {
  switch (certainty) {
    case Certainty::not_seen: return "not seen";
    case Certainty::likely: return "likely";
    case Certainty::shown: return "shown";
  }
  return "";
}

std::vector<SwitchValue> judge_switches(const Exchanges& exchanges) {
  const Earlier earlier = {.runs = launched_runs(exchanges), .growth = growth_of_leases(exchanges)};
  std::vector<SwitchValue> values;
  for (const Probe& probe : table) values.push_back(judge(probe, exchanges, earlier));
  return values;
}

Assumptions assumptions_of(const std::vector<SwitchValue>& values) {
  Assumptions assumptions;
  for (const SwitchValue& one : values) {
    // The mock does not support this value: keep the default.
    if (!one.value.empty()) static_cast<void>(assumptions.set(one.key, one.value));
  }
  return assumptions;
}

std::string render_exchange(const Exchange& parts) {
  const Operation* operation = operation_of(parts);
  const std::string path = operation == nullptr ? parts.path : std::string(operation->path);
  return fmt::format("{} {}{}{} -> {}", parts.method, path, parts.query.empty() ? "" : "?", parts.query, parts.status);
}

}  // namespace ws::mock::compare
