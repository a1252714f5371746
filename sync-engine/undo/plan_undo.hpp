/// Plans an undo: the local changes that take an operation back, given the present state of both sides. Pure.
///
/// A document that was not changed since returns to its state before the operation. Later edits are kept: they are
/// merged with it, with the state after the operation as base; where that fails the document is left as it is and
/// listed. The plan of the run that follows has the changes on the service.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "sync-engine/model/plan.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

struct UndoText {
  Sha256 hash = {};
  git::ObjectId blob = {};
};

/// Why a file is left that is hidden now, or would come to such a place.
inline constexpr std::string_view left_out_now = "it is left out here: `ws sync take` brings it back";
inline constexpr std::string_view ignored_now = "its path is ignored now, so it would not be synced";
inline constexpr std::string_view too_large_now = "it is larger than `max_file_bytes` now, so it would not be synced";

struct UndoWorld {
  const BaseTree& base;
  const LocalTree& local;
  const RemoteTree& remote;
  std::set<DocumentId> in_conflict = {};  ///< documents with an open conflict
  std::set<DocumentId> refused = {};      ///< documents whose undo the planner would make a conflict
  std::set<RelativePath> refused_paths = {};
  /// The file's text without the row's change; empty: later edits overlap it.
  std::function<std::optional<UndoText>(const OperationRow& row, const RelativePath& file)> take_out = {};
  /// Documents of a decided conflict that is opened again: the file gets its text back in the end (`run/run_undo.cpp`).
  std::set<DocumentId> opened_again = {};
  /// The same where the service keeps what it has: this text.
  std::map<DocumentId, Sha256> opened_here = {};
  /// Keeps the file's text in the history; empty: it cannot.
  std::function<git::ObjectId(const RelativePath& file)> keep_text = {};
  /// Why a file with this text would not be synced at this path; empty, or not given: it would.
  std::function<std::string_view(const RelativePath& path, const git::ObjectId& text)> why_not_synced = {};
  /// Whether the new text of a document and the service's, which is not here yet, merge.
  std::function<bool(const DocumentId& document, const UndoText& text)> merges_there = {};
  /// What documents were before later operations that are taken back: one that is so again has nothing left of the row.
  std::multimap<DocumentId, Version> taken_back = {};
  WantedPath only = {};   ///< empty: all
  bool is_first = false;  ///< of an operation before which nothing was agreed, see `StepSide`
};

/// Where the undo takes away what the row brought. Empty: both sides had it before, and keep it.
std::optional<StepSide> side_of_first(const OperationRow& row);

/// Those that a run has to tell the service of: all but what is done here alone.
std::vector<FileStep> steps_to_send(std::vector<FileStep> steps);

/// The files that go from the service alone.
std::set<RelativePath> files_that_stay(const std::vector<FileStep>& steps);

/// The reason in the report's row of such a step.
std::string_view reason_of(StepSide side);

struct UndoPlan {
  std::vector<FileStep> steps = {};
  std::vector<LeftAlone> left = {};
  std::vector<OperationRow> anew = {};  ///< documents that are archived and return as new ones
  LocalTree local = {};                 ///< the disk as the steps would leave it
  bool is_partial = false;              ///< `only` left rows out
};

/// The files that the steps are about.
std::set<RelativePath> paths_of(const std::vector<FileStep>& steps);

UndoPlan plan_undo(const std::vector<OperationRow>& rows, const UndoWorld& world);

}  // namespace ws::sync
