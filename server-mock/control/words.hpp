/// Words that more than one control call takes.
#pragma once

#include <string_view>

namespace ws::mock::control {

/// Of a key; `platform_admin` is what the admin operations ask for.
inline constexpr std::string_view audiences[] = {"user", "workspace", "platform_admin"};
/// Of a person in a Workspace, the highest first.
inline constexpr std::string_view roles[] = {"owner", "admin", "editor", "commenter", "viewer"};

}  // namespace ws::mock::control
