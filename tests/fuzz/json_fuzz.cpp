// What parse_bounded takes is printed and read back as the same value, and its canonical form is stable.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = ws::parse_bounded(text);
  if (!value) return 0;
  const std::string printed = ws::dump(*value);
  const auto again = ws::parse_bounded(printed);
  if (!again || ws::dump(*again) != printed || ws::canonical(*again) != ws::canonical(*value)) std::abort();
  return 0;
}
