/// Golden files: expected texts beside the tests. With `WS_ACCEPT=1` the actual text is written instead of compared.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/build_paths.hpp"

namespace ws::test {

/// The text of `tests/<file>`; with WS_ACCEPT it is overwritten first.
inline std::string golden(const std::string& file, const std::string& came) {
  const std::string path = source_path("/tests/") + file;
  if (std::getenv("WS_ACCEPT") != nullptr) std::ofstream(path, std::ios::binary | std::ios::trunc) << came;
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace ws::test
