// What parse_bounded takes is printed and read back as the same value, and its canonical form is stable.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view text) {
  const auto value = ws::parse_bounded(text);
  if (!value) return;
  const std::string printed = ws::dump(*value);
  const auto again = ws::parse_bounded(printed);
  if (!again || ws::dump(*again) != printed || ws::canonical(*again) != ws::canonical(*value)) std::abort();
}
