/// What lies in the way of the files that an undo brings back.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

inline constexpr std::string_view place_is_taken = "another file is in its place";

class TakenPlaces {
 public:
  explicit TakenPlaces(const RootFolder& root) : root_(&root) {}

  /// Whether anything but what leaves is at the path, above it, or in a folder of its name. Empty folders do not count.
  bool is_taken(const RelativePath& path, const std::set<RelativePath>& leaving);

 private:
  const RootFolder* root_;
  std::string missing_folder_ = {};  ///< the last that was found missing, with its slash: nothing is in it
};

}  // namespace ws::sync
