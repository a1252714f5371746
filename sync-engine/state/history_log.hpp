/// The states that the history holds, the texts of one path in them, and who wrote each line last. Reads; `History`
/// writes.
///
/// Looked at are `main` (what was agreed on, and what was here before it was replaced), the service's sides of merges,
/// and what an interrupted run had in hand. A line belongs to the newest commit that brought it. Renames are followed:
/// to the same text, or to the file that went in the same commit and shares most lines. As `git blame` does, but over a
/// history that was shortened by `gc`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/git/repository.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

struct HistoryChange {
  std::string path = {};
  std::optional<git::ObjectId> blob = {};  ///< empty: the file went
};

/// One commit and what it changed.
struct HistoryState {
  std::string id = {};  ///< 40 hexadecimal digits; the first few name it too
  Time time = {};       ///< when it was recorded here
  std::string author = {};
  Time changed = {};  ///< when its author made it
  std::string message = {};
  std::vector<HistoryChange> changes = {};  ///< in order of path
};

/// A text that was brought back.
struct Restored {
  RelativePath path;
  std::string state = {};  ///< the id of the state that it was taken from
  bool changed = false;    ///< false: the file held that text already
};

struct LogOptions {
  std::optional<RelativePath> path = {};  ///< only states that changed this file
  std::size_t limit = 0;                  ///< 0: all
};

struct BlamedLine {
  std::string text = {};                          ///< without the line end
  std::optional<git::ObjectId> commit = {};       ///< empty: the line is in no state of the history yet
  git::Signature author = {};                     ///< of the commit
  git::ObjectId blob = {};                        ///< the whole text in that commit
  std::optional<DocumentRevision> revision = {};  ///< of the document with that text; empty: not known
};

class HistoryLog {
 public:
  /// A tree that never synced has an empty one. Fails with `disk`.
  static Result<HistoryLog> open(const std::filesystem::path& history);

  /// Newest first.
  Result<std::vector<HistoryState>> states(const LogOptions& options);
  /// The text of a file in the state `id` (a prefix will do). Fails with `not_found` or `usage`.
  Result<std::string> text_in(std::string_view id, const RelativePath& path);
  /// All files of the state `id`, in order of path. Fails as `text_in`.
  Result<std::vector<HistoryChange>> files_in(std::string_view id);
  Result<std::string> text(const git::ObjectId& blob);
  /// As `blame` below; without revisions.
  Result<std::vector<BlamedLine>> blame(const RelativePath& path, std::string_view text);

 private:
  explicit HistoryLog(std::optional<git::Repository> repository) : repository_(std::move(repository)) {}
  std::optional<git::Repository> repository_;
};

/// The lines of `text`, which lies at `path` now. `tip`: the newest commit; empty: there is none. Time grows with the
/// commits that changed the file times its length. Fails with `disk` or `integrity`.
Result<std::vector<BlamedLine>> blame(git::Repository& repository,
                                      const std::optional<git::ObjectId>& tip,
                                      std::string_view path,
                                      std::string_view text);

}  // namespace ws::sync
