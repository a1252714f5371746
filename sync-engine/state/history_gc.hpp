/// Drops old states from the local history.
///
/// Kept are: every state of the time that is wanted, and the one that was in force when it began; the states that a
/// reference of an open conflict or of both sides' agreement names; the texts that the state of the tree still needs;
/// and texts that no state holds, where their file is younger. What is kept is packed anew.
///
/// Killed at any point, the history is whole: the new pack is on disk before anything goes; then the states whose
/// parents go are noted in `shallow`, as a shallow clone of git does; then references, then the old files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync {

struct GcOptions {
  Time keep_from = {};  ///< states of this time and later stay
  bool dry_run = false;
};

struct GcReport {
  std::size_t states_dropped = 0;
  std::size_t states_kept = 0;
  std::size_t texts_dropped = 0;
  std::size_t files_dropped = 0;   ///< kept bytes of attachments
  std::uint64_t bytes_before = 0;  ///< of all objects and kept files, on disk
  std::uint64_t bytes_after = 0;   ///< a dry run does not know: as before
  bool operator==(const GcReport&) const = default;
};

/// What is kept regardless of its age.
struct GcNeeds {
  std::set<git::ObjectId> texts = {};
  std::set<std::string> references = {};  ///< "refs/heads/main"
};

/// A tree without a history: an empty report. `check_cancelled` is asked between the steps; its failure ends it, and so
/// may `disk` or `integrity`: the history is whole then too, and a later call does the rest.
Result<GcReport> collect_history(const std::filesystem::path& history,
                                 const GcNeeds& needs,
                                 const GcOptions& options,
                                 const std::function<Result<void>()>& check_cancelled);

}  // namespace ws::sync
