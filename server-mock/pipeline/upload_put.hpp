/// PUT of bytes to the address of an upload: the one call of the API that stands outside `/v1` and takes a stream.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server-mock/http/body.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox/sandbox.hpp"
#include "server-mock/services/files/uploads.hpp"

namespace ws::mock {

/// The operation's name in journal and fault rules; it is none of the table.
inline constexpr std::string_view upload_operation = "upload.put";

/// Takes the body of a PUT to such an address, while `is_open` is there; null for every other request.
std::unique_ptr<http::BodySink> open_upload(Sandbox& sandbox,
                                            const http::Request& head,
                                            std::weak_ptr<const bool> is_open);
/// The answer to a request with such a path, once its sink has the body.
Reply put_upload(Sandbox& sandbox, const http::Request& request, std::string_view request_id);

}  // namespace ws::mock
