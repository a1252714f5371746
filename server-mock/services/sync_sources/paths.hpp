/// The service's own rules for the paths of a source (`safety.md`, "Path rules"; `decisions.md`, "Local Markdown
/// sync").
///
/// The client has rules of its own; that the two can disagree is the point of a mock.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::mock {

/// Why a path is refused, in one sentence; empty where it is a good one.
std::optional<std::string> path_problem(std::string_view path);

/// "a/b/c.md" -> "a/b"; "c.md" -> "".
std::string_view folder_of(std::string_view path);
std::string_view file_name_of(std::string_view path);
/// "c.md" -> "c"; ".x" -> ".x".
std::string_view stem_of(std::string_view file_name);
std::string joined(std::string_view folder, std::string_view file_name);
/// "a/c.md", " (2)" -> "a/c (2).md".
std::string with_suffix(std::string_view path, std::string_view suffix);
/// Every folder that the path lies in, from the top: "a", "a/b".
std::vector<std::string_view> folders_above(std::string_view path);

/// What a title becomes as part of a path: control characters and `/` are `-`, over 200 bytes is cut, and what would
/// still be a dangerous name gets a `-` before it.
std::string segment_of(std::string_view title);

}  // namespace ws::mock
