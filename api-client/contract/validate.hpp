/// Validates values against the operation table and reports all violations at once, in the published form of a 422.
///
/// The messages are those of pydantic v2 (`decisions.md`, "Validation"). Pure: a function of the values. Bodies are
/// strict (`"5"`, `true` and `1.5` are not integers), query values are lax (`05`, `yes`). `null` is accepted only if
/// the table says `Null::yes`; a PATCH takes null as unchanged where the document says "or null". Lengths count Unicode
/// code points.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::contract {

/// A step of `loc`: a member's name or an array index.
using Step = std::variant<std::string, std::size_t>;

struct Violation {
  std::vector<Step> loc = {};        ///< starts with "body", "path", "query" or "header"
  std::string type = {};             ///< "string_too_long"
  std::string message = {};          ///< "String should have at most 12000 characters"
  JsonBox input = {};                ///< the value given, truncated to a sensible size
  JsonBox context = {};              ///< the limit that was broken: {"max_length": 12000}; null: none
  Source limit = Source::published;  ///< source of the broken limit: the client rejects only published ones
};

/// Bounds the report, so that a hostile body does not produce one many times its size.
inline constexpr std::size_t max_findings = 1000;

/// Each list ends at `max_findings`. The items of an array over its limit are not checked.
struct Findings {
  std::vector<Violation> violations = {};
  /// Members and query parameters that are not in the table (for `X-Mock-Warning`, and `extra_forbidden` with
  /// `--strict`).
  std::vector<std::vector<Step>> unknown = {};
};

/// Validates a body against the operation's request schema; a null pointer means that no body was sent.
Findings validate_body(const Operation& operation, const Json* body);
/// Validates a JSON value against a schema; `loc` is the prefix for the reported locations.
Findings validate_value(const Json& value, const Schema& schema, std::vector<Step> loc);
/// Validates a response body against a schema: published fields must be present, assumed ones may be missing or null.
/// The value of an assumed field is checked too; its violations are marked in `limit`.
Findings validate_response(const Json& value, const Schema& schema);

using TextPairs = std::span<const std::pair<std::string, std::string>>;
/// Validates path, query and header values as text, already percent-decoded. `path` and `header` hold only the
/// operation's parameters; `query` holds everything sent, with duplicates: a name given twice is a violation. Unknown
/// query names are listed in `unknown`. Header names are compared without regard to case.
Findings validate_parameters(const Operation& operation, TextPairs path, TextPairs query, TextPairs headers);

/// Converts a valid lax text: "05" to 5, "yes" to true. Null if it is no such number or boolean.
Json parse_lax(const Type& type, std::string_view text);

/// The violation for a body that is not JSON: `reason` says why, `position` is the offset of the error if it is known.
Violation json_invalid(std::string_view reason, std::size_t position = 0);
/// The violation for a member that `--strict` forbids; `input` is its value.
Violation extra_forbidden(std::vector<Step> loc, const Json& input);

/// `{"detail": [...], "code": "validation_error"}`.
Json to_json(std::span<const Violation> violations);
/// "body.scopes[3]".
std::string render(std::span<const Step> loc);
/// One line for people: "body.scopes[3]: Input should be ...".
std::string render(const Violation& violation);

}  // namespace ws::contract
