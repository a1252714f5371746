/// Answers in gzip, for who asks for it (zlib's one home).
#pragma once

#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::http {

/// Whether `Accept-Encoding` wants gzip (RFC 9110, 12.5.3): by its weight, which an explicit `identity` must not
/// exceed.
bool wants_gzip(std::string_view accept_encoding);

/// Packs a text of 1 KiB and more, JSON or another text, where the request wants it; such an answer says `Vary` either
/// way. A source and a disturbed answer go as they are. `ETag` stays: it names the revision that the text is made of,
/// and is compared with nothing else.
void pack_for(const Request& request, Response& response);

}  // namespace ws::mock::http
