/// The synced folders of this user: a file each under `$XDG_STATE_HOME/ws/trees/`.
///
/// For people and for `ws sync roots`; nothing depends on it. A tree that was moved is registered again by its next
/// run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::cli {

struct TiedTree {
  std::filesystem::path folder = {};  ///< absolute
  std::string name = {};
  std::string source_id = {};
  std::string base_url = {};
  bool operator==(const TiedTree&) const = default;
};

class TreeRegister {
 public:
  /// `state`: `Paths::state`.
  explicit TreeRegister(const std::filesystem::path& state) : folder_(state / "trees") {}

  /// Writes only what is not there yet. Fails with `disk`.
  Result<void> add(const TiedTree& tree) const;
  Result<void> remove(const std::filesystem::path& folder) const;
  /// By folder. A file that cannot be read is left out.
  Result<std::vector<TiedTree>> all() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
