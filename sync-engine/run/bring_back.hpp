/// Brings files back, many at once: what is gone here, what was after an earlier run or in a state of the history, or
/// what the service has. One operation, which `undo` takes back; every text that is replaced goes to the history first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/model/plan.hpp"
#include "sync-engine/run/begin.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

struct BringBack {
  enum class To {
    agreed,   ///< what both sides last agreed on: without the network, but for files whose bytes are not here
    run,      ///< as `run` left it
    state,    ///< a state of the history: notes alone
    service,  ///< what the service has; what it archived goes here
  };
  To to = To::agreed;
  std::uint64_t run = 0;
  std::string state = {};
  WantedPath wanted = {};  ///< empty: all
  /// Of those, with `agreed`: files that get their newest text that is not the present one, as each does alone.
  std::vector<RelativePath> to_newest = {};
  bool only_missing = false;
  bool dry_run = false;
};

struct BroughtBack {
  std::vector<FileStep> steps = {};         ///< what was changed here, or would be; in order of path
  std::vector<LeftAlone> left = {};         ///< what was not, and why
  std::vector<DecidedText> discarded = {};  ///< of the steps: where the service has more than was agreed on
  std::vector<Attachment> there = {};       ///< whose bytes the service has, and perhaps nobody here had yet
  std::optional<std::uint64_t> operation = {};
  bool matches_none = false;  ///< nothing that is, or was, synced here is among the wanted
};

/// The place that a step is about: where its file comes, else where it was.
const RelativePath& place_of(const FileStep& step);

/// Files that no run has sent stay. Fails with `not_found` where no such run or state is known; with code
/// `needs_service` where bytes have to be fetched and the service is not at hand; with `conflict` where the service
/// went back or lists nothing; or as `survey` does.
Result<BroughtBack> bring_back(RunContext& context, const BringBack& wish);

/// What a command says whose patterns match nothing.
Failure no_match();

/// Carries the steps out, of notes and files, as rows of the open operation; what could not be done moves to `left`.
Result<void> make_changes(Session& session, BroughtBack& found);

}  // namespace ws::sync
