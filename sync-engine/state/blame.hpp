/// Who wrote each line of a text last, by the local history.
///
/// A line belongs to the newest commit that brought it. Renames are followed: to the same text, or to the file that
/// went in the same commit and shares most lines. As `git blame` does, but over a history that was shortened by `gc`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/git/repository.hpp"
#include "sync-engine/model/revision.hpp"

namespace ws::sync {

struct BlamedLine {
  std::string text = {};                          ///< without the line end
  std::optional<git::ObjectId> commit = {};       ///< empty: the line is in no state of the history yet
  git::Signature author = {};                     ///< of the commit
  git::ObjectId blob = {};                        ///< the whole text in that commit
  std::optional<DocumentRevision> revision = {};  ///< of the document with that text; empty: not known
};

/// The lines of `text`, which lies at `path` now. `tip`: the newest commit; empty: there is none. Time grows with the
/// commits that changed the file times its length. Fails with `disk` or `integrity`.
Result<std::vector<BlamedLine>> blame(git::Repository& repository,
                                      const std::optional<git::ObjectId>& tip,
                                      std::string_view path,
                                      std::string_view text);

}  // namespace ws::sync
