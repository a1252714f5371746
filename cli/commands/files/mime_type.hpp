/// What kind of file something is, by its first bytes and its name.
#pragma once

#include <string>
#include <string_view>

namespace ws::cli {

/// Bytes that say it themselves (PNG, PDF, ...) win, unless the name says more (a DOCX is a ZIP); then the name's
/// ending; then plain text where it is UTF-8 without NUL; else `application/octet-stream`.
std::string mime_type_of(std::string_view file_name, std::string_view first_bytes);

/// How much of the front is worth reading.
inline constexpr std::size_t mime_sample_bytes = 4096;

}  // namespace ws::cli
