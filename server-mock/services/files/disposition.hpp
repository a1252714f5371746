/// The `Content-Disposition` and `Content-Type` of a download (RFC 6266, RFC 8187). Pure.
#pragma once

#include <string>
#include <string_view>

namespace ws::mock {

/// `attachment; filename="..."`, and also `filename*=UTF-8''...` if the name is not plain ASCII. The value is one line
/// of printable ASCII for every name.
std::string content_disposition(std::string_view file_name);

/// The given media type if it is well-formed ("text/plain; charset=utf-8"), else `application/octet-stream`.
std::string safe_media_type(std::string_view mime_type);

}  // namespace ws::mock
