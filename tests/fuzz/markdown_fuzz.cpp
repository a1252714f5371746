// The sections of any text, joined, are the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api-client/base/markdown.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view text) {
  std::string joined;
  for (const auto& section : ws::markdown::sections(text)) joined += section.text;
  if (joined != text) std::abort();
  static_cast<void>(ws::markdown::first_heading(text));
}
