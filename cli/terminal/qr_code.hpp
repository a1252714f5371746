/// A text as a QR code (ISO/IEC 18004), to be scanned off a terminal. Encoded by libqrencode, which is opened when a
/// code is asked for: a login on a machine that lacks the library works, without the code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

class QrCode {
 public:
  /// In byte mode, with error correction L. Fails with `invalid` for more than 230 bytes (53 modules: what fits on a
  /// terminal), with `internal` where there is no libqrencode.
  static Result<QrCode> of(std::string_view text, const std::string& library = "libqrencode.so.4");

  std::size_t size() const { return size_; }  ///< modules a side
  bool is_dark(std::size_t x, std::size_t y) const { return dark_[y * size_ + x]; }

 private:
  QrCode(std::size_t size, std::vector<bool> dark) : size_(size), dark_(std::move(dark)) {}

  std::size_t size_;
  std::vector<bool> dark_;
};

/// In half-block characters, two modules a character, with its quiet zone. In colour it is black on white whatever the
/// terminal's own colours are; without, light modules are blocks, for a terminal that writes light on dark.
std::string render_qr_code(const QrCode& code, const Terminal& terminal, Stream stream);

}  // namespace ws::cli
