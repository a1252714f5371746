/// A set of bytes to look for. `find` and `find_first_of` of the standard library call `memchr` for each byte.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ws {

class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view members) {
    for (const char each : members) has_[static_cast<unsigned char>(each)] = true;
  }

  constexpr bool has(char byte) const { return has_[static_cast<unsigned char>(byte)]; }

  /// The first place of a member at or after `at`; `npos`: none.
  constexpr std::size_t find_in(std::string_view text, std::size_t at = 0) const {
    while (at < text.size() && !has(text[at])) ++at;
    return at < text.size() ? at : std::string_view::npos;
  }

 private:
  std::array<bool, 256> has_ = {};
};

}  // namespace ws
