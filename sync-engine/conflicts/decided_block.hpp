/// The local part of decisions that the service has accepted, carried out together with a constant number of fsync
/// barriers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/conflict_store/end_conflict.hpp"
#include "sync-engine/disk/safe_write.hpp"

namespace ws::sync {

/// One file on disk gets another text.
struct FileChange {
  RelativePath path;
  std::optional<std::string> now = {};   ///< what stands there; empty: no file
  std::optional<std::string> text = {};  ///< empty: the file goes
};

struct DecidedConflict {
  Conflict conflict;
  std::vector<FileChange> files = {};  ///< in this order; where one cannot be done the rest is left
  TextChanges theirs = {};             ///< texts of the service that lose
  TextChanges agreed = {};             ///< what both sides agree on from now on
  ConflictEnd end = {};

  std::size_t bytes() const;  ///< of the texts
};

/// Invariant, each step durable before the next: every text that is replaced or removed is in the history; the new
/// texts and their names are on disk; the state ends the conflicts. If it is killed in between, the conflicts stay open
/// here and the next run asks the service about them. No two of the conflicts may share a path.
///
/// One result for each. A conflict whose file could not be changed stays open.
std::vector<Result<void>> carry_out(Session& session, SafeWriter& writer, std::vector<DecidedConflict>& block);

}  // namespace ws::sync
