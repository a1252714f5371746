/// What one side changed in one document since both agreed, as text.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

enum class Side { here, there };

/// `before` and `after` differ: the document moved. No hunks: its text is the same.
struct Difference {
  Side side = Side::here;
  std::optional<RelativePath> before = {};  ///< empty: created
  std::optional<RelativePath> after = {};   ///< empty: deleted
  std::string hunks = {};                   ///< a unified diff without the lines that name the files
};

}  // namespace ws::sync
