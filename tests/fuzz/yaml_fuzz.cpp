// YAML from anybody: refused or read within bounds, never a crash, never more values than asked for.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api-client/base/yaml.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view text) {
  if (const auto value = ws::parse_yaml(text, {.max_bytes = 4096, .max_values = 200, .max_depth = 16})) {
    static_cast<void>(ws::dump(*value));
  }
  // As `.ws.yaml` and `.ws/config.yaml` are read.
  if (const auto placed = ws::parse_yaml_with_positions(text)) {
    const auto again = ws::parse_yaml(ws::to_yaml(*placed->value));
    if (!again || *again != *placed->value) std::abort();  // what is written is read back as it was
  }
}
