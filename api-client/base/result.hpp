/// The return type of everything that can fail: a `Result` holds the value or a `Failure`.
///
/// A `Failure` says what was attempted, on what, what the result was and what to do next. It never contains a secret or
/// the text of a document. Its `kind` decides the exit code (`cli/base/exit_code.hpp`); callers never parse its texts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace ws {

/// Whether the change requested by a call took effect on the service (`cli.md`, "Output").
enum class Applied { no, yes, unknown };

/// What is known about the call that failed; all fields are empty if no call was made.
struct CallTrace {
  std::string operation = {};  ///< id in the operation table: `docs.update`
  int http_status = 0;         ///< 0: no answer
  Applied applied = Applied::no;
  bool retryable = false;  ///< the same call can be sent again unchanged
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::string idempotency_key = {};
  std::string details = {};  ///< the members of the error body, as JSON text; empty: none

  bool operator==(const CallTrace&) const = default;
};

/// Why an operation failed. `kind` decides exit code and retry; the texts are for people and are never parsed.
struct Failure {
  enum class Kind {
    internal,
    usage,
    invalid,
    auth,
    forbidden,
    not_found,
    conflict,
    pending,
    rate_limited,
    service,
    unreachable,
    unknown_outcome,
    partial,
    disk,
    integrity,
    cancelled,
  };
  Kind kind = Kind::internal;
  std::string what = {};        ///< one sentence, no full stop: "notes/a.md changed while it was read"
  std::string hint = {};        ///< the next thing to try, or empty: "run `ws login`"
  std::string request_id = {};  ///< of the response, or empty
  std::string code = {};        ///< a machine-readable word: the service's `code`, or ours (`tree_locked`); or empty
  CallTrace call = {};

  bool operator==(const Failure&) const = default;
};

/// The kind as it is written in JSON: "not_found".
std::string_view name(Failure::Kind kind);
/// "no", "yes", "unknown".
std::string_view name(Applied applied);

/// A `T`, or the `Failure` that explains why there is none. (tl::expected 1.0.0 is not [[nodiscard]]; this is.)
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Failure> {
  using Base = tl::expected<T, Failure>;

 public:
  using Base::Base;
  Result(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor): a Result is its Base
};

/// `return fail(Failure::Kind::disk, "cannot open x");`
inline tl::unexpected<Failure> fail(Failure::Kind kind, std::string what, std::string hint = {}) {
  return tl::unexpected<Failure>(Failure{.kind = kind, .what = std::move(what), .hint = std::move(hint)});
}
inline tl::unexpected<Failure> fail(Failure failure) { return tl::unexpected<Failure>(std::move(failure)); }

}  // namespace ws

#define WS_JOIN_(a, b) a##b
#define WS_JOIN(a, b) WS_JOIN_(a, b)
/// Passes a failure of `expression` up: `WS_TRY(store.save(state));`
#define WS_TRY(expression)                                                                       \
  do {                                                                                           \
    if (auto ws_tried = (expression); !ws_tried) return ::ws::fail(std::move(ws_tried).error()); \
  } while (false)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot be parenthesised
/// Binds the value or passes the failure up: `WS_LET(const Tree local, scan(root));` Not for coroutines.
#define WS_LET(declaration, expression) WS_LET_(declaration, expression, WS_JOIN(ws_result_, __LINE__))
#define WS_LET_(declaration, expression, name)           \
  auto name = (expression);                              \
  if (!name) return ::ws::fail(std::move(name).error()); \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)
