/// PUT of bytes to an upload URL: the only API call outside `/v1`, and the only one that streams its request body.
#pragma once

#include <memory>
#include <string_view>

#include "server-mock/http/body.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox/sandbox.hpp"
#include "server-mock/services/files/uploads.hpp"

namespace ws::mock {

/// The name in the journal and in fault rules; not an operation of the API.
inline constexpr std::string_view upload_operation = "upload.put";

/// Receives the body of a PUT to an upload URL, as long as `is_open` exists; null for every other request.
std::unique_ptr<http::BodySink> open_upload(Sandbox& sandbox,
                                            const http::Request& head,
                                            std::weak_ptr<const bool> is_open);
/// The response, once the sink has received the body.
Reply put_upload(Sandbox& sandbox, const http::Request& request, std::string_view request_id);

}  // namespace ws::mock
