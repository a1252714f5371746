/// Compares the three trees as text: `ws sync diff`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

enum class Side { here, there };

/// `before` and `after` differ: the document moved. No hunks: its text is the same.
struct Difference {
  Side side = Side::here;
  std::optional<RelativePath> before = {};  ///< empty: created
  std::optional<RelativePath> after = {};   ///< empty: deleted
  std::string hunks = {};                   ///< a unified diff without the lines that name the files
};

/// In order of path, here before there. `wanted` says which paths. Asks the service for texts that it changed.
Result<std::vector<Difference>> differences(Session& session, const Survey& survey, const WantedPath& wanted);

}  // namespace ws::sync
