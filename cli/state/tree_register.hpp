/// The synced folders of this user: one file for each under `$XDG_STATE_HOME/ws/trees/`.
///
/// For `ws sync roots`, and for which sources an export lays out. A tree that was moved is registered again by its next
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
  /// `state` is `Paths::state`.
  explicit TreeRegister(const std::filesystem::path& state) : folder_(state / "trees") {}

  /// Does nothing if the tree is already registered. Fails with `disk`.
  Result<void> add(const TiedTree& tree) const;
  Result<void> remove(const std::filesystem::path& folder) const;
  /// A mark of what a run there said last about files that are left alone; empty: nothing. `set_told` may fail unseen:
  /// then it is said again.
  std::string told(const std::filesystem::path& folder) const;
  void set_told(const std::filesystem::path& folder, const std::string& mark) const;
  /// Sorted by folder. Files that cannot be read are skipped.
  Result<std::vector<TiedTree>> all() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
