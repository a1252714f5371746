/// Response compression with gzip. The only user of zlib.
#pragma once

#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::http {

/// Whether `Accept-Encoding` accepts gzip (RFC 9110, 12.5.3), with a weight not below that of `identity`.
bool wants_gzip(std::string_view accept_encoding);

/// Compresses JSON and other text of at least 1 KiB if the request accepts gzip; sets `Vary` in either case. Responses
/// with a source or a wire fault are not compressed. `ETag` stays the same: it names the revision, and clients do not
/// compare bytes by it.
void pack_for(const Request& request, Response& response);

}  // namespace ws::mock::http
