/// The service's rules for paths (`safety.md`, "Path rules"; `decisions.md`, "Local Markdown sync").
///
/// Deliberately separate from the client's rules, so that tests find differences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::mock {

/// The reason why a path is invalid, in one sentence; empty if it is valid.
std::optional<std::string> path_problem(std::string_view path);

/// "a/b/c.md" -> "a/b"; "c.md" -> "".
std::string_view folder_of(std::string_view path);
std::string_view file_name_of(std::string_view path);
/// "c.md" -> "c"; ".x" -> ".x".
std::string_view stem_of(std::string_view file_name);
std::string joined(std::string_view folder, std::string_view file_name);
/// "a/c.md", " (2)" -> "a/c (2).md".
std::string with_suffix(std::string_view path, std::string_view suffix);
/// Every folder of the path, from the top: "a", "a/b".
std::vector<std::string_view> folders_above(std::string_view path);

/// The path segment for a title: control characters and `/` become `-`, more than 200 bytes are cut off, and a name
/// that is still invalid gets the prefix `-`.
std::string segment_of(std::string_view title);

}  // namespace ws::mock
