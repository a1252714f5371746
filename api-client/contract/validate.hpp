/// Checks values against the table and reports every violation at once, in the published 422 form.
///
/// The words are those of pydantic v2 (`decisions.md`, "Validation"). Pure: a function of the values. Bodies are strict
/// (`"5"`, `true` and `1.5` are no integers), query values are lax (`05`, `yes`). `null` stands only where the table
/// says `Null::yes`; a PATCH takes null as unchanged where the document says "or null". Lengths count Unicode code
/// points.
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

/// A step of `loc`: a member's name or a place in an array.
using Step = std::variant<std::string, std::size_t>;

struct Violation {
  std::vector<Step> loc = {};        ///< starts with "body", "path", "query" or "header"
  std::string type = {};             ///< "string_too_long"
  std::string message = {};          ///< "String should have at most 12000 characters"
  JsonBox input = {};                ///< what was given, cut to a sensible size
  JsonBox context = {};              ///< the limit that was broken: {"max_length": 12000}; null: none
  Source limit = Source::published;  ///< whose limit it breaks: the client refuses only what breaks a published one
};

/// A hostile body must not become a report many times its size.
inline constexpr std::size_t max_findings = 1000;

/// Each list ends at `max_findings`. An array over its limit is reported as such, and its items are not looked at.
struct Findings {
  std::vector<Violation> violations = {};
  /// Members and query values that the table does not know (for `X-Mock-Warning`, and `extra_forbidden` with
  /// `--strict`).
  std::vector<std::vector<Step>> unknown = {};
};

/// `body` against the operation's request schema; a null pointer: no body was sent.
Findings validate_body(const Operation& operation, const Json* body);
/// One JSON value against a schema, with `loc` before it.
Findings validate_value(const Json& value, const Schema& schema, std::vector<Step> loc);
/// A response body against a schema: published fields must stand, assumed ones may be missing or null. What an assumed
/// field holds is looked at too; such a violation says so in `limit`.
Findings validate_response(const Json& value, const Schema& schema);

using TextPairs = std::span<const std::pair<std::string, std::string>>;
/// Path, query and header values as text, already percent-decoded. `path` and `header` hold what the operation names;
/// `query` everything that came, doubles too: a name given twice is a violation. Unknown query names are `unknown`.
/// Names of headers are compared without regard to case.
Findings validate_parameters(const Operation& operation, TextPairs path, TextPairs query, TextPairs headers);

/// The value that a lax text stands for, once it is valid: 5 for "05", true for "yes". Null where it is not valid.
Json parse_lax(const Type& type, std::string_view text);

/// The body that is no JSON: `reason` says why, `position` is the byte at fault where that is known.
Violation json_invalid(std::string_view reason, std::size_t position = 0);
/// A member that `--strict` forbids; `input` is its value.
Violation extra_forbidden(std::vector<Step> loc, const Json& input);

/// `{"detail": [...], "code": "validation_error"}`.
Json to_json(std::span<const Violation> violations);
/// "body.scopes[3]".
std::string render(std::span<const Step> loc);
/// "body.scopes[3]: Input should be ...": one line for people.
std::string render(const Violation& violation);

}  // namespace ws::contract
