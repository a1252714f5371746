// Any Markdown is shown on a terminal without a control character, in time.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/output/markdown_page.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view bytes) {
  static const ws::cli::Terminal terminal({.columns = 60}, ws::cli::Environment());
  for (const char c : ws::cli::render_markdown(bytes, terminal)) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) std::abort();
  }
}
