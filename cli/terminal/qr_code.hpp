/// A QR code (ISO/IEC 18004) to be scanned from a terminal. Encoded by libqrencode, which is loaded on first use: if it
/// is not installed, the login works without a QR code.
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
  /// In byte mode with error correction level L. Fails with `invalid` for more than 230 bytes (53 modules, the most
  /// that fits on a terminal), with `internal` if libqrencode is missing.
  static Result<QrCode> of(std::string_view text, const std::string& library = "libqrencode.so.4");

  std::size_t size() const { return size_; }  ///< modules per side
  bool is_dark(std::size_t x, std::size_t y) const { return dark_[y * size_ + x]; }

 private:
  QrCode(std::size_t size, std::vector<bool> dark) : size_(size), dark_(std::move(dark)) {}

  std::size_t size_;
  std::vector<bool> dark_;
};

/// Rendered in half-block characters, two modules each, with a quiet zone. With colour it is always black on white;
/// without, light modules are drawn as blocks, for a terminal with light text on dark.
std::string render_qr_code(const QrCode& code, const Terminal& terminal, Stream stream);

}  // namespace ws::cli
