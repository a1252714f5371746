/// Compares the three trees: `ws sync diff`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

enum class Side { here, there };

/// Of a file whose bytes are shown to nobody.
struct FileSizes {
  std::optional<std::uint64_t> before_bytes = {};
  std::optional<std::uint64_t> after_bytes = {};
  bool is_same = false;  ///< both have the same bytes
};

/// `before` and `after` differ: the document moved. No hunks: its text is the same.
struct Difference {
  Side side = Side::here;
  std::optional<RelativePath> before = {};  ///< empty: created
  std::optional<RelativePath> after = {};   ///< empty: deleted
  std::string hunks = {};                   ///< a unified diff without the lines that name the files
  std::optional<FileSizes> file = {};       ///< a file that notes show, no document
};

/// In order of path, here before there.
void sort_by_path(std::vector<Difference>& differences);

/// Of the documents, in that order. `wanted` says which paths. Asks the service for texts that it changed.
Result<std::vector<Difference>> differences(Session& session, const Survey& survey, const WantedPath& wanted);

}  // namespace ws::sync
