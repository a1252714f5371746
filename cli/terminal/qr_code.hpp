/// A text as a QR code (ISO/IEC 18004), to be scanned off a terminal.
///
/// Our own encoder rather than libqrencode: a login on a fresh machine must not depend on a library that it lacks.
/// Byte mode, error correction L, versions 1 to 9: up to 230 bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

class QrCode {
 public:
  /// Empty where the text is longer than 230 bytes.
  static std::optional<QrCode> of(std::string_view text);

  std::size_t size() const { return size_; }  ///< modules a side
  bool is_dark(std::size_t x, std::size_t y) const { return dark_[y * size_ + x] != 0; }

 private:
  QrCode(std::size_t size, std::vector<char> dark) : size_(size), dark_(std::move(dark)) {}

  std::size_t size_;
  std::vector<char> dark_;
};

/// In half-block characters, two modules a character, with its quiet zone. In colour it is black on white whatever the
/// terminal's own colours are; without, light modules are blocks, for a terminal that writes light on dark.
std::string render_qr_code(const QrCode& code, const Terminal& terminal, Stream stream);

}  // namespace ws::cli
