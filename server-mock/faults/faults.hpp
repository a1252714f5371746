/// What goes wrong on purpose: rules, which requests they mean, and when their turn comes (`mock.md`, "Control").
///
/// Pure: whether a rule fires is a function of the rule, of how many requests it has counted, and of the seed. A rule
/// counts every request that it means. Of the rules whose turn it is, the first fires, and only its `times` is used up.
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
#include "server-mock/http/disturbance.hpp"

namespace ws::mock {

enum class Phase {
  before,  ///< nothing is changed: the handler does not run, or is undone where its answer is needed
  after,   ///< what the handler did stays; its answer is lost or altered
};

/// What stands in place of the handler's answer.
struct Substitute {
  int status = 503;
  std::vector<std::pair<std::string, std::string>> headers = {};
  JsonBox body = {};  ///< null: an error body of the usual form; text is sent as it is
};

/// A content length that is a lie.
struct WrongLength {
  std::optional<std::uint64_t> told = {};
  std::int64_t by = 0;  ///< with no `told`: so many bytes more (fewer) than there are
};

struct Effect {
  std::optional<Substitute> answer = {};
  std::string retry_after = {};  ///< the field's value; empty: none
  http::Disturbance::End end = http::Disturbance::End::as_usual;
  std::chrono::milliseconds delay{0};
  std::optional<std::uint64_t> truncate_at = {};
  std::uint64_t dribble_bytes = 0;  ///< 0: no dribbling
  std::chrono::milliseconds dribble_every{0};
  std::optional<WrongLength> wrong_length = {};
  bool bad_json = false;
  bool bad_hash = false;
  bool expire_key = false;
  bool lose_lease = false;
  bool bump_revision = false;

  /// There is an answer, but not the handler's, or none at all.
  bool replaces_answer() const { return answer || end != http::Disturbance::End::as_usual; }
  /// The handler's answer arrives, but not as it was.
  bool spoils_answer() const { return truncate_at || wrong_length || bad_json || bad_hash; }
};

struct FaultRule {
  std::string id = {};
  std::string operation = {};  ///< "docs.create", "docs.*"; empty: any
  std::string method = {};     ///< empty: any
  std::string path = {};       ///< "/v1/documents/{document_id}", "/v1/files/*"; empty: any
  std::uint64_t nth = 0;       ///< fires from the nth on, `times` (1) times; 0: no such condition, as below
  std::uint64_t every = 0;
  std::optional<std::uint64_t> after = {};  ///< fires once so many have passed
  std::uint64_t times = 0;                  ///< at most; 0: no bound
  std::optional<double> probability = {};
  Phase phase = Phase::before;
  Effect effect = {};
  JsonBox text = {};  ///< as it was given, with its id
};

/// A request as rules see it.
struct FaultSubject {
  std::string_view operation = {};  ///< empty: no route
  std::string_view method = {};
  std::string_view path = {};
};

struct FaultTally {
  std::uint64_t matched = 0;  ///< requests that the rule meant, this one too
  std::uint64_t fired = 0;    ///< before this one
};

bool is_meant(const FaultRule& rule, const FaultSubject& subject);
/// Whether the rule's turn comes with the request that was counted last. `seed` and `place` decide on chance.
bool is_turn(const FaultRule& rule, const FaultTally& tally, std::uint64_t seed, std::uint64_t place);

/// The rules of one world, in the order in which they came.
class FaultBook {
 public:
  explicit FaultBook(std::uint64_t seed) : seed_(seed) {}

  bool empty() const { return entries_.empty(); }
  /// Counts the request; the rule that fires, or null. Shared, since a rule may be taken out while a request that it
  /// delays is still waiting.
  std::shared_ptr<const FaultRule> take(const FaultSubject& subject);

  /// Gives it an id where it has none. False: there is a rule of that id.
  bool add(FaultRule rule);
  bool remove(std::string_view id);
  /// A rule that is off counts nothing and does nothing, until it is on again. False: there is none of that id.
  bool turn(std::string_view id, bool on);
  void clear() { entries_.clear(); }

  /// A rule with its counts: `{id, ..., matched, fired, on}`; null where there is none.
  Json read(std::string_view id) const;
  Json read() const;  ///< all of them, as an array
  std::string last_id() const { return entries_.empty() ? std::string() : entries_.back().rule->id; }

 private:
  struct Entry {
    std::shared_ptr<const FaultRule> rule = {};
    std::uint64_t place = 0;
    FaultTally tally = {};
    bool is_on = true;
  };
  static Json to_json(const Entry& entry);

  std::uint64_t seed_;
  std::uint64_t next_place_ = 1;
  std::vector<Entry> entries_ = {};
};

}  // namespace ws::mock
