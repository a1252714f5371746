#include "sync-engine/model/document_id.hpp"

#include <algorithm>

#include "api-client/base/ascii.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::sync {
namespace {

constexpr std::size_t uuid_size = 36;

}  // namespace

DocumentId::DocumentId(std::string_view text) {
  if (!is_uuid(text)) {
    if (text.size() > bytes_.size() || text.find('\0') != std::string_view::npos) return;
    std::ranges::copy(text, bytes_.begin());
    size_ = static_cast<std::uint8_t>(text.size());
    return;
  }
  std::size_t digit = 0;
  for (const char c : text) {
    if (c == '-') continue;
    auto& byte = bytes_[digit / 2];
    byte = static_cast<std::uint8_t>((byte << 4U) | static_cast<unsigned>(hex_digit(c)));
    if (c >= 'A' && c <= 'F') capitals_ |= std::uint32_t{1} << digit;
    ++digit;
  }
  size_ = uuid_size;
}

std::string DocumentId::text() const {
  if (size_ != uuid_size) return {bytes_.begin(), bytes_.begin() + size_};
  std::string text;
  text.reserve(uuid_size);
  for (std::size_t digit = 0; digit < 2 * bytes_.size(); ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text += '-';
    const unsigned value = digit % 2 == 0 ? bytes_[digit / 2] >> 4U : bytes_[digit / 2] & 0x0FU;
    const bool is_capital = ((capitals_ >> digit) & 1U) != 0;
    text += (is_capital ? "0123456789ABCDEF" : "0123456789abcdef")[value];
  }
  return text;
}

}  // namespace ws::sync
