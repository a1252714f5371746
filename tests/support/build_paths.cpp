#include "tests/support/build_paths.hpp"

#include <cstdlib>

namespace ws::test {

std::string source_path(std::string_view below) { return WS_SOURCE_DIR + std::string(below); }

std::string program_folder() {
  const char* folder = std::getenv("WS_BIN_DIR");
  return folder != nullptr ? folder : WS_BIN_DIR;
}

}  // namespace ws::test
