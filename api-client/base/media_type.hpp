/// The media type of a file, by its first bytes and its name.
#pragma once

#include <string>
#include <string_view>

namespace ws {

/// Signatures (PNG, PDF, ...) win, except of container formats whose extension is more precise (a DOCX is a ZIP); then
/// the extension; then plain text where it is UTF-8 without NUL; else `application/octet-stream`.
std::string media_type_of(std::string_view file_name, std::string_view first_bytes);

/// How many first bytes the signatures need.
inline constexpr std::size_t mime_sample_bytes = 4096;

}  // namespace ws
