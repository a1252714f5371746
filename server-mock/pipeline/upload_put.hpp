/// PUT of bytes to the address of an upload: the one call of the API that stands outside `/v1` and takes a stream.
///
/// Its secret is in the path, so no log and no journal may show that: `shown_path`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server-mock/http/body.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox.hpp"

namespace ws::mock {

/// The operation's name in journal and fault rules; it is none of the table.
inline constexpr std::string_view upload_operation = "upload.put";

bool is_upload(std::string_view path);
/// "/uploads/[redacted]"; every other path as it is.
std::string_view shown_path(std::string_view path);

/// Takes the body of a PUT to such an address, while `is_open` is there; null for every other request.
std::unique_ptr<http::BodySink> open_upload(Sandbox& sandbox,
                                            const http::Request& head,
                                            std::weak_ptr<const bool> is_open);
/// The answer to a request with such a path, once its sink has the body.
Reply put_upload(Sandbox& sandbox, const http::Request& request, std::string_view request_id);

}  // namespace ws::mock
