/// Finds the value of each assumption switch from exchanges with a service, by one table. Pure.
///
/// A row is a switch with a pattern for each of its values. The exchanges may come from the script of `ws-mock diff
/// --against` or from a recording.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/journal/exchange.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock::compare {

using Exchanges = std::vector<Exchange>;

/// The condition that a pattern tests.
enum class Condition {
  status,             ///< only `status`
  media_type,         ///< the response's media type is `text`
  member_is_object,   ///< the member `member` of the response is an object
  member_is_text,     ///< ... is a string
  member_is,          ///< ... is one of the words in `text`
  member_missing,     ///< the response is an object without the member `member`
  member_is_not,      ///< ... is a string, and none of the words in `text`
  page_is_cut,        ///< `data` has at most the request's `limit` items, and there are more
  page_is_whole,      ///< `data` has more items than that
  holds_run,          ///< `data` has a test run that was launched, and the request asked for the status `text`
  lease_grows_whole,  ///< the lease ends the renewal's `lease_seconds` later than before
  lease_grows_less,   ///< ... later than before, but not by as much
  unknown_members,    ///< an object has a member that is not in the table
  known_members,      ///< no object has one
  assumed_null,       ///< most members that are only assumed are null
  assumed_missing,    ///< ... are missing
  assumed_present,    ///< ... are present
};

/// The exchanges that a pattern applies to.
enum class AppliesTo {
  operation,        ///< successes and errors of `operation`
  refusals,         ///< 4xx and 5xx, except 422 and errors of the device login, which have switches of their own
  unauthenticated,  ///< invalid requests without a key
  successes,        ///< with a schema, except Local Markdown sync
};

struct Pattern {
  std::string_view value = {};
  AppliesTo applies_to = AppliesTo::operation;
  std::string_view operation = {};
  int status = 0;  ///< 0: any
  Condition condition = Condition::status;
  std::string_view member = {};
  std::string_view text = {};
};

/// The first pattern that matches an exchange determines the value that it shows.
struct Probe {
  std::string_view key = {};
  std::string_view needs = {};  ///< half a sentence: what has to be done to observe the value
  std::span<const Pattern> patterns = {};
};

std::span<const Probe> probes();

enum class Certainty { not_seen, likely, shown };
std::string_view name(Certainty certainty);  ///< "shown"

struct SwitchValue {
  std::string_view key = {};
  std::string value = {};  ///< empty: not observed
  Certainty certainty = Certainty::not_seen;
  std::uint64_t exchange = 0;  ///< number of the exchange that showed it
  std::string shown_by = {};   ///< "GET /v1/documents/{document_id} -> 404"
  std::string needs = {};      ///< if not observed: what would show it
};

/// One value for each row, in the table's order.
std::vector<SwitchValue> judge_switches(const Exchanges& exchanges);
/// Sets the switches that were observed; the others keep their default.
Assumptions assumptions_of(const std::vector<SwitchValue>& values);

/// "PUT /v1/documents/{document_id} -> 409"
std::string render_exchange(const Exchange& parts);

}  // namespace ws::mock::compare
