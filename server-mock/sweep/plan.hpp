/// The plan of a sweep: a row for each request of the clean run and each fault that can apply to it, then one for each
/// other value of each assumption switch. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/sweep/journal_lines.hpp"

namespace ws::mock::sweep {

/// The `Retry-After` of the faults 429 and 503: long enough to distinguish clients that honour it from those that
/// always sleep one second.
inline constexpr std::chrono::seconds retry_after{2};
inline constexpr std::string_view retry_after_member =
    R"("retry_after": 2)";  ///< the same as a member of the fault rule

/// What the client knows about its call after the fault.
enum class Outcome {
  refused,  ///< it did not take effect, and the client knows
  unknown,  ///< it may have taken effect
};

/// One kind of fault.
struct Fault {
  std::string_view id = {};      ///< "reset-after", stable: part of row ids
  std::string_view what = {};    ///< half a sentence: "the connection was reset after the call took effect"
  std::string_view effect = {};  ///< members of a fault rule, as JSON text
  Outcome outcome = Outcome::unknown;
  /// Advice if the command exits with 0 and leaves a wrong state; empty: check the response. CALL is replaced by the
  /// operation.
  std::string_view advice = {};
};
std::span<const Fault> faults();
/// Returns null if the id is unknown.
const Fault* find_fault(std::string_view id);

/// Whether some command can have a row with this id: its operation and fault, or its switch and value, exist.
bool names_row(std::string_view id);

struct Row {
  std::string id = {};  ///< "docs.create#1:reset-after", "switch:error_style=html"; stable across sweeps of one command
  std::string operation = {};   ///< empty for a switch
  std::size_t ordinal = 0;      ///< the number of the request among those of this operation, from 1
  std::string fault = {};       ///< id of the fault; empty for a switch
  std::string rule = {};        ///< body of `POST /_mock/faults`; empty for a switch
  std::string assumption = {};  ///< KEY=VALUE
  std::string request = {};     ///< "POST /v1/documents", for people

  std::chrono::milliseconds extra{0};  ///< additional time that the fault itself may cost a client
};

struct PlanOptions {
  std::vector<std::string> only = {};  ///< globs of fault ids or row ids; empty: all
  std::vector<std::string> skip = {};
  std::vector<std::string> operations = {};  ///< globs of operation ids; empty: all
  std::size_t max_rows = 0;                  ///< 0: no limit
  std::size_t sample = 0;                    ///< 0: all; otherwise a random sample of this size, chosen by the seed
  std::uint64_t seed = 1;
  std::chrono::milliseconds patience{10'000};
};

struct Plan {
  std::vector<Row> rows = {};
  /// Requests that are not swept, each with its reason.
  std::vector<std::string> notes = {};
  std::vector<std::string> known = {};  ///< ids of all rows, before any was left out
  std::size_t left_out = 0;             ///< number of rows excluded by `max_rows` or `sample`
  /// A pattern of the options that selects nothing, and the names that it could have meant.
  struct Unmatched {
    std::string flag = {};  ///< "--only"
    std::string pattern = {};
    std::vector<std::string> known = {};
  };
  std::vector<Unmatched> unmatched = {};
};

/// `first` and `second` are the requests of two clean runs; `other_origin` is that of the server's second listener.
Plan make_plan(const std::vector<SentRequest>& first,
               const std::vector<SentRequest>& second,
               std::string_view other_origin,
               const PlanOptions& options);

}  // namespace ws::mock::sweep
