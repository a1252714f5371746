/// The names by which fault rules, the journal and its verification know requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ws::mock {

/// The operations of the API, "upload.put", "openapi" and the pages.
const std::vector<std::string>& operation_names();
/// Whether the name, or a pattern with `*`, is one of them.
bool names_operation(std::string_view pattern);
/// "There is no operation docs.delete; the nearest are ..."
std::string no_such_operation(std::string_view pattern);

/// Requests by their patterns; an empty one is any.
struct RequestPattern {
  std::string_view operation = {};
  std::string_view method = {};
  std::string_view path = {};
};
/// The operations of which a request can match.
std::vector<std::string> operations_that_match(const RequestPattern& pattern);
/// "docs.get is GET /v1/documents/{document_id}; no request of it matches": for conditions that exclude each other.
std::string never_matched(std::string_view pattern);

// Patterns for paths and operation ids, used in fault rules and verifications.

/// `{name}` and `*` match within a path segment, `**` matches across segments.
bool glob_matches(std::string_view pattern, std::string_view text);
/// Whether there is a text that both patterns match.
bool globs_meet(std::string_view one, std::string_view other);

}  // namespace ws::mock
