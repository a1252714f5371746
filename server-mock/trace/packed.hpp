/// Compressed text as base64, for the snapshots in a trace.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ws::mock::trace {

/// Empty if there is no memory for it.
std::optional<std::string> pack(std::string_view text);
/// Empty if it is not what `pack` wrote, or longer than `most_bytes`.
std::optional<std::string> unpack(std::string_view packed, std::size_t most_bytes);

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ws::mock::trace
