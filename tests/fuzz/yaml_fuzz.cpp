// YAML from anybody: refused or read within bounds, never a crash, never more values than asked for.
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api-client/base/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto value = ws::parse_yaml(text, {.max_bytes = 4096, .max_values = 200, .max_depth = 16})) {
    static_cast<void>(ws::dump(*value));
  }
  return 0;
}
