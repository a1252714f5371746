/// How a download says what its file is called (RFC 6266, RFC 8187). Pure.
#pragma once

#include <string>
#include <string_view>

namespace ws::mock {

/// `attachment; filename="..."`, and where the name is more than plain ASCII `filename*=UTF-8''...` with it whole.
/// Whatever the name holds - quotes, line ends, emoji - the value is one line of printable ASCII.
std::string content_disposition(std::string_view file_name);

/// A media type as it was given, where it is one ("text/plain; charset=utf-8"); else `application/octet-stream`.
std::string safe_media_type(std::string_view mime_type);

}  // namespace ws::mock
