/// `/skill/...`: the operating skill, a file for agents to read, and its manifest with hashes.
///
/// `.../service-operate-workspace` and `.../manifest.json` are the manifest: `{name, version, files: [{path, sha256,
/// size_bytes}]}`, with paths relative to the skill's URL. No key is needed (API document, "Concepts", 6).
#pragma once

#include <optional>
#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::pages {

inline constexpr std::string_view skill_path = "/skill/service-operate-workspace";

/// Empty if the path is not one of the skill's.
std::optional<http::Response> skill(const http::Request& request);

}  // namespace ws::mock::pages
