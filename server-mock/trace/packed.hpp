/// Compressed text as base64, for the snapshots in a trace.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ws::mock::trace {

/// Empty if memory is insufficient.
std::optional<std::string> pack(std::string_view text);
/// Empty if the text was not made by `pack`, or is longer than `max_bytes` when decompressed.
std::optional<std::string> unpack(std::string_view packed, std::size_t max_bytes);

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ws::mock::trace
