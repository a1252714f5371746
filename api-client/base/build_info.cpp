#include "api-client/base/build_info.hpp"

namespace ws {

std::string_view build_commit() {
  return
#include "build_commit.inc"
      ;
}

std::string_view build_compiler() { return WS_COMPILER; }

}  // namespace ws
