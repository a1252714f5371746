/// Fault rules: which requests they match, when they fire, and with which effects (`mock.md`, "Control").
///
/// Pure: whether a rule fires depends on the rule, on the number of requests that it has matched, on the time since it
/// fired first, and on the seed.
/// Every matching request is counted by every rule. Of the rules that would fire, the first does; only its `times`
/// decreases.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {

/// The line that `bump_revision` adds to a document: somebody else's edit.
inline constexpr std::string_view somebody_elses_line = "Somebody else was here.";

enum class Phase {
  before,  ///< state is unchanged: the handler does not run, or is rolled back if its response is needed
  after,   ///< the handler's changes are kept; its response is lost or changed
};

/// A response that replaces the handler's.
struct Substitute {
  int status = 503;
  std::vector<std::pair<std::string, std::string>> headers = {};
  JsonBox body = {};  ///< null: an error body of the usual form; a string is sent as it is
  bool operator==(const Substitute&) const = default;
};

/// A wrong `Content-Length`.
struct WrongLength {
  std::optional<std::uint64_t> declared = {};
  std::int64_t by = 0;  ///< if `declared` is empty: added to the real length
  bool operator==(const WrongLength&) const = default;
};

struct Effect {
  std::optional<Substitute> answer = {};
  /// Header value; empty: the field is left out; absent: as the service sends it (1 with 429 and 503).
  std::optional<std::string> retry_after = {};
  http::WireFault::End end = http::WireFault::End::as_usual;
  std::chrono::milliseconds delay{0};
  std::optional<std::uint64_t> truncate_at = {};
  std::uint64_t dribble_bytes = 0;  ///< 0: no dribbling
  std::chrono::milliseconds dribble_every{0};
  std::optional<WrongLength> wrong_length = {};
  bool bad_json = false;
  bool bad_hash = false;
  std::chrono::milliseconds stall{0};  ///< real time between the handler (or its place) and the first byte
  bool empty_page = false;             ///< of a list: no items, and a cursor that leads to the same page
  bool repeat_page = false;            ///< of a list: returns the first page again instead of a later one
  bool cut_upload = false;             ///< only half of the bytes are stored
  bool damage_upload = false;          ///< other bytes are stored, with their own hash
  bool expire_key = false;
  bool revoke_key = false;
  bool lose_lease = false;
  bool bump_revision = false;
  bool remove_member = false;  ///< the key's owner is no longer a member of the key's Workspace
  bool small_pages = false;    ///< of a list: two items a page, whatever the request asks for
  bool other_origin = false;   ///< the upload address in the response is at `origin`
  std::string origin = {};     ///< "http://localhost:4712"; empty: this server by another host name
  bool then_down = false;      ///< once it has fired, every request is reset until the rule is gone
  /// "-05:00": the times in the response are written with this offset, and name the same moments; empty: as they are.
  std::string time_offset = {};
  std::chrono::milliseconds slow_operation{0};  ///< what the call began stays as it is for so long
  bool fail_operation = false;                  ///< what the call began fails at once, after the response
  bool operator==(const Effect&) const = default;

  /// The client gets a response that the handler did not make, or none.
  bool replaces_response() const { return answer || end != http::WireFault::End::as_usual; }
  /// The client gets the handler's response in altered form.
  bool alters_response() const {
    return truncate_at || wrong_length || bad_json || bad_hash || empty_page || repeat_page || other_origin ||
           !time_offset.empty();
  }
};

/// "-05:00" as minutes; empty: it is none.
std::optional<int> offset_minutes(std::string_view offset);

struct FaultRule {
  std::string id = {};
  std::string operation = {};  ///< "docs.create", "docs.*"; empty: any
  std::string method = {};     ///< empty: any
  std::string path = {};       ///< "/v1/documents/{document_id}", "/v1/files/*"; empty: any
  std::uint64_t nth = 0;       ///< fires from the nth match on, `times` (1) times; 0: not set, as below
  std::uint64_t every = 0;
  std::optional<std::uint64_t> after = {};  ///< fires after this many matches
  std::uint64_t times = 0;                  ///< maximum number of times it fires; 0: no limit
  std::optional<std::int64_t> for_ms = {};  ///< it fires for so long after it fired first, by the sandbox's clock
  std::optional<double> probability = {};
  Phase phase = Phase::before;
  Effect effect = {};
  JsonBox text = {};  ///< as it was given, with its id
};

/// The properties of a request that rules match.
struct FaultSubject {
  std::string_view operation = {};  ///< empty: no route
  std::string_view method = {};
  std::string_view path = {};
};

struct FaultCounts {
  std::uint64_t matched = 0;  ///< matching requests, including this one
  std::uint64_t fired = 0;    ///< without this one
};

bool matches_rule(const FaultRule& rule, const FaultSubject& subject);

/// The rules of one sandbox, in order of creation.
class FaultRules {
 public:
  explicit FaultRules(std::uint64_t seed) : seed_(seed) {}

  bool empty() const { return entries_.empty(); }
  /// Counts the request, which came at `now_ms` by the sandbox's clock; returns the rule that fires, or null. Shared,
  /// since the rule may be deleted while it delays a request.
  std::shared_ptr<const FaultRule> take(const FaultSubject& subject, std::int64_t now_ms = 0);

  /// Assigns an id if the rule has none. False if the id is taken.
  bool add(FaultRule rule);
  bool remove(std::string_view id);
  /// A disabled rule counts nothing and never fires. False if there is no rule with that id.
  bool turn(std::string_view id, bool on);
  void clear() { entries_.clear(); }

  /// A rule with its counts: `{id, ..., matched, fired, on}`; null if the id is unknown.
  Json read(std::string_view id) const;
  Json read() const;  ///< all of them, as an array
  std::string last_id() const { return entries_.empty() ? std::string() : entries_.back().rule->id; }

 private:
  struct Entry {
    std::shared_ptr<const FaultRule> rule = {};
    std::shared_ptr<const FaultRule> down = {};  ///< what fires after the first time, with `then_down`
    std::uint64_t place = 0;
    FaultCounts tally = {};
    std::int64_t fired_first_ms = 0;  ///< of the sandbox's clock; meaningful once it has fired
    bool is_on = true;
  };
  static Json to_json(const Entry& entry);

  std::uint64_t seed_;
  std::uint64_t next_place_ = 1;
  std::vector<Entry> entries_ = {};
};

// Parses fault rules and reports all errors at once.
//
// Arguments have short and long forms: `{"delay_ms": 300}` or `{"delay_ms": {"ms": 300}}`, `{"reset": true}` or
// `{"reset": {}}`, `{"status": 503}` or `{"status": {"status": 503, "headers": {}, "body": {}}}`.

/// One rule; empty if there is an error. `loc` is the place of the value, for errors.
std::optional<FaultRule> read_fault_rule(const Json& value, const Loc& loc, ValidationErrors& errors);

/// A rule, a list of rules, or `{"faults": [...]}` (`{"rules": [...]}`).
std::vector<FaultRule> read_fault_rules(const Json& value, const Loc& loc, ValidationErrors& errors);

}  // namespace ws::mock
