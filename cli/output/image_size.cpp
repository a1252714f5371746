#include "cli/output/image_size.hpp"

namespace ws::cli {
namespace {

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
  return value;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = (value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::optional<ImageSize> jpeg_size(std::string_view bytes) {
  for (std::size_t at = 2; at + 9 <= bytes.size();) {
    if (static_cast<unsigned char>(bytes[at]) != 0xff) return std::nullopt;
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    if (marker == 0xff) {  // fill bytes
      ++at;
      continue;
    }
    // Start of frame, for any coding; 0xc4, 0xc8 and 0xcc are other markers.
    const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame)
      return ImageSize{.width = big_endian(bytes.substr(at + 7, 2)), .height = big_endian(bytes.substr(at + 5, 2))};
    at += 2 + big_endian(bytes.substr(at + 2, 2));
  }
  return std::nullopt;
}

std::optional<ImageSize> webp_size(std::string_view bytes) {
  const std::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8X")
    return ImageSize{.width = little_endian(bytes.substr(24, 3)) + 1, .height = little_endian(bytes.substr(27, 3)) + 1};
  if (kind == "VP8 ")
    return ImageSize{.width = little_endian(bytes.substr(26, 2)) & 0x3fffU,
                     .height = little_endian(bytes.substr(28, 2)) & 0x3fffU};
  if (kind != "VP8L") return std::nullopt;
  const std::uint32_t packed = little_endian(bytes.substr(21, 4));
  return ImageSize{.width = (packed & 0x3fffU) + 1, .height = ((packed >> 14U) & 0x3fffU) + 1};
}

}  // namespace

std::optional<ImageSize> image_size_of(std::string_view bytes) {
  if (bytes.size() < 30) return std::nullopt;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    return ImageSize{.width = big_endian(bytes.substr(16, 4)), .height = big_endian(bytes.substr(20, 4))};
  if (bytes.starts_with("GIF8"))
    return ImageSize{.width = little_endian(bytes.substr(6, 2)), .height = little_endian(bytes.substr(8, 2))};
  if (bytes.starts_with("BM"))
    return ImageSize{.width = little_endian(bytes.substr(18, 4)), .height = little_endian(bytes.substr(22, 4))};
  if (bytes.starts_with("\xff\xd8")) return jpeg_size(bytes);
  if (bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return webp_size(bytes);
  return std::nullopt;
}

}  // namespace ws::cli
