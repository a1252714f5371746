/// From which size on the text of an answer is compressed for a client that accepts it, so that its `Vary` says so.
#pragma once

#include <cstddef>

namespace ws::mock::http {

inline constexpr std::size_t packed_from_bytes = 1024;

}  // namespace ws::mock::http
