/// A trace: a text file with one JSON object per line.
///
/// The first line is the start: `{"ws_trace": 1, "started_at", "base_url", "command", "flags"}`. Then come, in the
/// order in which the server did them:
///
///     {"n": 1, "t", "head", "body", "status", "operation", "state"}    a request; `t` in milliseconds since 1970
///     {"resume": 1, "t", "may_wait", "status", "state"}                a pending request is served again
///     {"ready": true, "t"}, {"cancel": 1, "t", "state"}                a wait has ended; a client has disconnected
///     {"refused": {"status", "code", "reason"}, "t"}                   a malformed message
///     {"snapshot": {...}, "after": 1, "requests", "state"}             all rows after a request, compressed
///     {"end": 0}                                                       the exit code of the command
///
/// `state` is the hash of the state afterwards (`Changes`). A body that is not text is `body64`; of one that is too
/// long only the beginning is kept, and `cut` is its size. Without `status` the request is pending, or was not
/// answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock::trace {

/// The maximum size of a body in a trace.
inline constexpr std::size_t kept_body_bytes = std::size_t{1} << 20U;

struct Event {
  enum class Kind { request, resume, ready, cancel, refused } kind = Kind::request;
  std::size_t n = 0;  ///< number of the request, from 1
  std::int64_t time = 0;
  std::string head = {};
  std::string body = {};
  std::optional<std::uint64_t> cut = {};  ///< full size of a body that was truncated
  bool may_wait = true;
  int status = 0;  ///< 0: no response
  std::string operation = {};
  std::string code = {};  ///< with `refused`; the reason is in `body`
  std::string state = {};
};

struct Snapshot {
  std::size_t after = 0;
  std::uint64_t requests = 0;
  std::string state = {};
  std::string packed = {};  ///< a compressed body of `PUT /_mock/state` (see `pack`), without secrets
};

struct Trace {
  /// Fails with `disk`, or with `invalid` and "run.trace:12: ..." with what is wrong.
  static Result<Trace> read(const std::string& path);

  JsonBox start = {};
  std::int64_t started_at = 0;
  std::string base_url = {};
  std::vector<Event> events = {};
  std::vector<std::size_t> requests = {};  ///< index in `events` of request n, at n - 1
  std::vector<Snapshot> snapshots = {};
  std::optional<std::int64_t> exit = {};  ///< exit code of the command; empty: the recording ended before the command
};

/// The line of an event, without a newline.
std::string line_of(const Event& event);
std::string line_of(const Snapshot& snapshot);

// Compressed text as base64, for the snapshots in a trace.

/// Empty if memory is insufficient.
std::optional<std::string> pack(std::string_view text);
/// Empty if the text was not made by `pack`, or is longer than `max_bytes` when decompressed.
std::optional<std::string> unpack(std::string_view packed, std::size_t max_bytes);

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ws::mock::trace
