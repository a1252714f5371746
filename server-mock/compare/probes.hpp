/// What shows the value of each assumption switch: one table, read off the exchanges with a service. Pure.
///
/// A row is a switch with what each of its values looks like in an answer. The exchanges may come from the script of
/// `ws-mock diff --against` or from a recording.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/compare/exchange.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock::compare {

using Exchanges = std::vector<SealedExchange>;

/// What an exchange must be for a look to apply.
enum class Sign {
  status,            ///< `status`, nothing more
  media_type,        ///< the answer's content type is `text`
  member_is_object,  ///< the member `member` of the answer is an object
  member_is_text,    ///< ... is a text
  member_is,         ///< ... is one of the words in `text`
  member_missing,    ///< the answer is an object without the member `member`
  member_is_not,     ///< ... is a text, and none of the words in `text`
  page_is_cut,       ///< `data` has no more items than the request's `limit`, and there were more
  page_is_whole,     ///< `data` has more items than that
  holds_run,         ///< `data` has a test run that was launched, and the request asked for the status `text`
  unknown_members,   ///< an object has a member that the table does not know
  known_members,     ///< none has
  assumed_null,      ///< most members that only we assume are null
  assumed_missing,   ///< ... are missing
  assumed_present,   ///< ... are there
};

/// Which exchanges a look is for.
enum class Among {
  operation,        ///< successes and refusals of `operation`
  refusals,         ///< 4xx and 5xx, but for 422 and those of the device login, whose form has switches of its own
  unauthenticated,  ///< of requests that are invalid and carry no key
  successes,        ///< with a schema, but for Local Markdown sync
};

struct Look {
  std::string_view value = {};
  Among among = Among::operation;
  std::string_view operation = {};
  int status = 0;  ///< 0: any
  Sign sign = Sign::status;
  std::string_view member = {};
  std::string_view text = {};
};

/// The first look that fits an exchange names the value that the exchange shows.
struct Probe {
  std::string_view key = {};
  std::string_view needs = {};  ///< half a sentence: what has to be done to see it
  std::span<const Look> looks = {};
};

std::span<const Probe> probes();

enum class Certainty { not_seen, likely, shown };
std::string_view name(Certainty certainty);  ///< "shown"

struct SwitchValue {
  std::string_view key = {};
  std::string value = {};  ///< empty: not seen
  Certainty certainty = Certainty::not_seen;
  std::int64_t exchange = 0;  ///< number of the exchange that showed it
  std::string shown_by = {};  ///< "GET /v1/documents/{document_id} -> 404"
  std::string needs = {};     ///< where it was not seen: what would show it
};

/// One for each row, in the table's order.
std::vector<SwitchValue> judge_switches(const Exchanges& exchanges);
/// The switches as far as they were seen; the others keep their default.
Assumptions assumptions_of(const std::vector<SwitchValue>& values);

/// "PUT /v1/documents/{document_id} -> 409"
std::string render_exchange(const SealedExchange& exchange);

}  // namespace ws::mock::compare
