// The sections of any text, joined, are the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api-client/base/markdown.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string joined;
  for (const auto& section : ws::markdown::sections(text)) joined += section.text;
  if (joined != text) std::abort();
  static_cast<void>(ws::markdown::first_heading(text));
  return 0;
}
