#include "cli/terminal/qr_code.hpp"

#include <memory>

#include <qrencode.h>

#include "api-client/base/shared_library.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t max_address_bytes = 230;
constexpr unsigned char dark_bit = 1;

}  // namespace

Result<QrCode> QrCode::of(std::string_view text, const std::string& library) {
  if (text.size() > max_address_bytes) return fail(Failure::Kind::invalid, "the address is too long for a QR code");
  WS_LET(SharedLibrary opened,
         SharedLibrary::open(library, "--qr needs libqrencode (Debian: apt install libqrencode4)"));
  decltype(&::QRcode_encodeData) encode = nullptr;
  decltype(&::QRcode_free) free = nullptr;
  opened.find(encode, "QRcode_encodeData");
  opened.find(free, "QRcode_free");
  WS_TRY(opened.complete());
  const std::string bytes(text);
  const std::unique_ptr<QRcode, decltype(free)> code(encode(static_cast<int>(bytes.size()),
                                                            reinterpret_cast<const unsigned char*>(bytes.data()),
                                                            0,  // the smallest version that fits the text
                                                            QR_ECLEVEL_L),
                                                     free);
  if (code == nullptr) return fail(Failure::Kind::internal, "libqrencode cannot encode the address");
  const auto size = static_cast<std::size_t>(code->width);
  std::vector<bool> dark(size * size);
  for (std::size_t i = 0; i < dark.size(); ++i) dark[i] = (code->data[i] & dark_bit) != 0;
  return QrCode(size, std::move(dark));
}

std::string render_qr_code(const QrCode& code, const Terminal& terminal, Stream stream) {
  constexpr std::size_t quiet = 4;
  const bool color = terminal.has_color(stream);
  const std::size_t whole = code.size() + 2 * quiet;
  // With colour, dark modules are drawn; otherwise light ones.
  const auto is_drawn = [&](std::size_t x, std::size_t y) {
    const bool inside = x >= quiet && y >= quiet && x - quiet < code.size() && y - quiet < code.size();
    return (inside && code.is_dark(x - quiet, y - quiet)) == color;
  };
  std::string text;
  for (std::size_t y = 0; y < whole; y += 2) {
    if (color) text += terminal.marked("\033[38;5;16;48;5;231m");
    for (std::size_t x = 0; x < whole; ++x) {
      const bool upper = is_drawn(x, y);
      const bool lower = y + 1 < whole ? is_drawn(x, y + 1) : !color;
      text += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ");
    }
    if (color) text += terminal.marked("\033[0m");
    text += '\n';
  }
  return text;
}

}  // namespace ws::cli
