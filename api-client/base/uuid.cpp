#include "api-client/base/uuid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ws {

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (hyphen ? c != '-' : !digit) return false;
  }
  return true;
}

std::string make_uuid_v7(Time time, Random& random) {
  std::array<std::uint8_t, 16> bytes{};
  random.fill(bytes);
  const auto milliseconds = static_cast<std::uint64_t>(time.time_since_epoch().count());
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(milliseconds >> (40U - 8U * i));
  bytes[6] = static_cast<std::uint8_t>(0x70U | (bytes[6] & 0x0FU));
  bytes[8] = static_cast<std::uint8_t>(0x80U | (bytes[8] & 0x3FU));
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += "0123456789abcdef"[bytes[i] >> 4U];
    text += "0123456789abcdef"[bytes[i] & 0x0FU];
  }
  return text;
}

}  // namespace ws
