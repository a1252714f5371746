/// Decides conflicts about paths: renamed on both sides, two documents for one path, a file and a folder.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "sync-engine/conflicts/decided_block.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/documents_here.hpp"

namespace ws::sync {

/// Of conflicts whose subject is `place`. Only the conflict records are closed on the service. Local files are renamed
/// or removed (their texts go to the history first) and the base is set to the intended result, which the next run
/// carries out on the service.
///
/// `local`: the local file keeps its path, the service's document is renamed. `remote`: the reverse, except where what
/// has the path is not synced: nothing here renames that, so the user has to. `both`: as `remote` where there are two
/// documents, which both stay.
class PlaceDecisions {
 public:
  /// Both outlive it. Fails with `disk`.
  static Result<PlaceDecisions> open(Session& session, SafeWriter& writer);

  /// Renames files at once; the rest waits for `finish`. Fails with `usage` (`merged`, or `both` of one document) or
  /// `conflict` (a path is taken; the conflict stays open).
  Result<void> add(std::size_t choice, const Conflict& conflict, Keep keep);
  /// Whether the block is full, or already has a decision about a path of `next`.
  bool must_finish_before(const Conflict& next) const;
  /// One result for each choice that was added.
  std::vector<std::pair<std::size_t, Result<void>>> finish();

 private:
  PlaceDecisions(Session& session, SafeWriter& writer) : session_(&session), writer_(&writer) {}

  Session* session_;
  SafeWriter* writer_;
  KnownPlaces places_;
  DocumentsHere documents_;
  std::vector<DecidedConflict> block_;
  std::vector<std::size_t> choices_;  ///< that the block is of
  std::size_t bytes_ = 0;
};

/// A decision that is not carried out: the base and the files as it would leave them. The texts are left empty.
struct ForeseenPlace {
  DecidedConflict decided;
  std::optional<RelativePath> moved_to = {};  ///< where the file that is in question goes
};

/// Tells nobody and changes nothing. Fails as `PlaceDecisions::add` does.
Result<ForeseenPlace> foresee_place(Session& session,
                                    SafeWriter& writer,
                                    KnownPlaces places,
                                    DocumentsHere documents,
                                    const Conflict& conflict,
                                    Keep keep);

}  // namespace ws::sync
