/// Decides conflicts about where a document stands: both renamed, two documents at one place, a file and a folder.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sync-engine/conflicts/decided_block.hpp"
#include "sync-engine/conflicts/known_places.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// For conflicts about a place. Nothing is sent but the service's own records of the conflicts, which are closed. Files
/// here change their names or go (their texts to the history first) and the base says what is wanted; the next run
/// carries it out.
///
/// `local`: the name that the file has here is kept, the service's document gives way. `remote`: the reverse. `both`:
/// as `remote` where there are two texts, for then both stay.
class PlaceDecisions {
 public:
  /// Both outlive it. Fails with `disk`.
  static Result<PlaceDecisions> open(Session& session, SafeWriter& writer);

  /// Renames files at once; the rest waits for `finish`. Fails with `usage` (`merged`, or `both` of one document) or
  /// `conflict` (something else stands in the way; the conflict stays open).
  Result<void> add(std::size_t choice, const Conflict& conflict, Keep keep);
  /// Whether the block is full, or `next` is about a place of one that waits in it.
  bool must_finish_before(const Conflict& next) const;
  /// One result for each choice that was added.
  std::vector<std::pair<std::size_t, Result<void>>> finish();

 private:
  PlaceDecisions(Session& session, SafeWriter& writer) : session_(&session), writer_(&writer) {}

  Session* session_;
  SafeWriter* writer_;
  KnownPlaces places_;
  std::vector<DecidedConflict> block_;
  std::vector<std::size_t> choices_;  ///< that the block is of
  std::size_t bytes_ = 0;
};

}  // namespace ws::sync
