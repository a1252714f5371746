/// The states that the history holds, and the texts of one path in them. Reads; `History` writes.
///
/// Looked at are `main` (what was agreed on, and what was here before it was replaced), the service's sides of merges,
/// and what an interrupted run had in hand.
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
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/state/blame.hpp"

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

class HistoryLog {
 public:
  /// A tree that never synced has an empty one. Fails with `disk`.
  static Result<HistoryLog> open(const std::filesystem::path& history);

  /// Newest first.
  Result<std::vector<HistoryState>> states(const LogOptions& options);
  /// The text of a file in the state `id` (a prefix will do). Fails with `not_found` or `usage`.
  Result<std::string> text_in(std::string_view id, const RelativePath& path);
  Result<std::string> text(const git::ObjectId& blob);
  /// See blame.hpp; without revisions.
  Result<std::vector<BlamedLine>> blame(const RelativePath& path, std::string_view text);

 private:
  explicit HistoryLog(std::optional<git::Repository> repository) : repository_(std::move(repository)) {}
  std::optional<git::Repository> repository_;
};

}  // namespace ws::sync
