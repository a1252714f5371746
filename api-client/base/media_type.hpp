/// Detects the media type of a file from its first bytes and its name.
#pragma once

#include <string>
#include <string_view>

namespace ws {

/// Checks in this order: signatures (PNG, PDF, ...), except of container formats whose extension is more precise (a
/// DOCX is a ZIP); the extension, by Debian's table (package media-types), unless the bytes cannot be that type; UTF-8
/// without NUL is `text/plain`; otherwise `application/octet-stream`. The table is compiled in, so that a program gives
/// the same answer on every machine.
std::string media_type_of(std::string_view file_name, std::string_view first_bytes);

/// How many bytes from the start of the file the signatures need.
inline constexpr std::size_t mime_sample_bytes = 4096;

}  // namespace ws
