/// The directories of `ws` outside a synced tree (XDG base directory specification).
#pragma once

#include <filesystem>

#include "cli/base/environment.hpp"

namespace ws::cli {

struct Paths {
  std::filesystem::path config = {};  ///< `config.yaml`; WS_CONFIG_DIR moves it
  std::filesystem::path data = {};    ///< `credentials`
  std::filesystem::path state = {};   ///< pending logins, uploads, the idempotency journal
  std::filesystem::path cache = {};

  static Paths of(const Environment& environment);
};

}  // namespace ws::cli
