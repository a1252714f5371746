/// `/device`: where a person sees which program asks for what, and approves or denies it.
///
/// GET shows a field for the code, or (with `?user_code=`) what is asked for and who may decide: in a mock one picks a
/// person and a Workspace, there are no passwords. POST decides. Works without script, on a phone, by keyboard.
#pragma once

#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/sandbox.hpp"

namespace ws::mock::pages {

inline constexpr std::string_view device_path = "/device";

http::Response device(Sandbox& sandbox, const http::Request& request);

}  // namespace ws::mock::pages
