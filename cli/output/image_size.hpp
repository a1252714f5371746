/// The size of an image in pixels, from its first bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ws::cli {

struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const ImageSize&) const = default;
};

/// How many bytes nearly every image needs: a JPEG has its thumbnail before its size.
inline constexpr std::size_t image_sample_bytes = std::size_t{256} << 10U;

/// Reads PNG, GIF, JPEG, WebP, BMP; empty for other formats and if the bytes end too early.
std::optional<ImageSize> image_size_of(std::string_view bytes);

}  // namespace ws::cli
