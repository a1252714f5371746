#include "cli/terminal/qr_code.hpp"

#include <catch2/catch.hpp>

#include "tests/support/golden.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

const std::string address = "https://workspace.example/device?user_code=BCDF-GHJK";

std::string modules(const QrCode& code) {
  std::string text;
  for (std::size_t y = 0; y < code.size(); ++y) {
    for (std::size_t x = 0; x < code.size(); ++x) text += code.is_dark(x, y) ? '1' : '0';
  }
  return text;
}

}  // namespace

// The golden file was read back by an independent reader (zbar) when it was accepted, as was every size below.
TEST_CASE("qr code: an address as half blocks", "[cli]") {
  const auto code = QrCode::of(address);
  REQUIRE(code);
  const std::string text = render_qr_code(*code, Terminal({}, Environment()), Stream::err);
  CHECK(text == test::golden("cli/golden/qr_code.txt", text));
}

TEST_CASE("qr code: in colour it is dark on light, whatever the terminal's own colours are", "[cli]") {
  Terminal terminal({}, Environment());
  terminal.set_color(ColorChoice::always);
  const std::string text =
      terminal.rendered(render_qr_code(*QrCode::of(address), terminal, Stream::err), Controls::keep);
  CHECK(text.substr(0, 20) == "\033[38;5;16;48;5;231m ");
  CHECK(text.substr(text.size() - 5) == "\033[0m\n");
}

TEST_CASE("qr code: the smallest version that holds the text, up to 230 bytes", "[cli]") {
  CHECK(QrCode::of(std::string(17, 'x'))->size() == 21);
  CHECK(QrCode::of(std::string(18, 'x'))->size() == 25);
  CHECK(QrCode::of(std::string(134, 'x'))->size() == 41);
  CHECK(QrCode::of(std::string(230, 'x'))->size() == 53);
  CHECK_FALSE(QrCode::of(std::string(231, 'x')));
}

TEST_CASE("qr code: without the library it says what to install", "[cli]") {
  const auto code = QrCode::of(address, "libqrencode-absent.so.4");
  REQUIRE_FALSE(code);
  CHECK(code.error().hint.find("libqrencode4") != std::string::npos);
}

TEST_CASE("qr code: finders stand in three corners, the timing between them", "[cli]") {
  const auto code = QrCode::of(address);
  const std::size_t last = code->size() - 1;
  for (const auto& [x, y] : {std::pair{std::size_t{0}, std::size_t{0}}, {last - 6, std::size_t{0}}, {0, last - 6}}) {
    CHECK(code->is_dark(x, y));
    CHECK_FALSE(code->is_dark(x + 1, y + 1));
    CHECK(code->is_dark(x + 3, y + 3));
  }
  for (std::size_t i = 8; i + 8 <= last; ++i) CHECK(code->is_dark(i, 6) == (i % 2 == 0));
  CHECK(modules(*code).size() == code->size() * code->size());
}
