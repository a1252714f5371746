/// The texts of an open conflict, where people and programs find them: `.ws/conflicts/ID/{base,local,remote}.md`; and
/// how a conflict ends in the state, whoever decided it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

struct ThreeTexts {
  std::optional<std::string> base = {};
  std::optional<std::string> local = {};
  std::optional<std::string> remote = {};
};

/// Writes the files, and the texts to the history.
Result<void> write_conflict_texts(Session& session, const std::string& id, const ThreeTexts& texts);
/// The same for many conflicts, by id: data, one barrier, renames, one barrier, whatever their number.
Result<void> write_conflict_texts(Session& session, const std::map<std::string, ThreeTexts>& by_id);
ThreeTexts read_conflict_texts(const RootFolder& root, const std::string& id);
/// A marker file: the working file, which was `local`, holds both texts for the user to merge. It is removed with the
/// conflict's files.
Result<void> mark_merging_by_hand(const RootFolder& root, const std::string& id, const Sha256& local);
bool is_merging_by_hand(const RootFolder& root, const std::string& id);
/// Whether `text` is what the user made of both, and not what the file was before.
bool is_merged_by_hand(const RootFolder& root, const std::string& id, const std::string& text);
/// Whether `text`, which the working file has, still holds markers that this program put there. A note about git may
/// have others of its own.
bool is_being_merged(const RootFolder& root, const std::string& id, const std::string& text);
/// The branch of the history that holds them: "conflicts/ID".
std::string conflict_branch(const std::string& id);
/// The files alone; the history keeps the texts.
void remove_conflict_files(const RootFolder& root, const std::string& id);

/// A file that a decision has written or renamed, and whose it is.
struct DecidedFile {
  DocumentId document = {};
  RelativePath path;
  Sha256 text = {};
};

/// The changes of the state that a decision makes.
struct ConflictEnd {
  std::map<DocumentId, std::optional<BaseRow>> base = {};        ///< empty: forgotten
  std::map<DocumentId, std::optional<PendingRow>> pending = {};  ///< empty: nothing is pending any more
  std::optional<SourceRevision> source_revision = {};
  std::vector<OperationRow> recorded = {};  ///< what the decision changed, for who takes it back
  std::optional<DecidedText> decided = {};  ///< what an undo of that opens again
  std::vector<DecidedFile> files = {};
  bool drops_staged = false;  ///< what was staged was planned from a state that holds no longer
};

struct EndedConflict {
  std::string id = {};
  ConflictEnd end = {};
};

/// One transaction with the conflict records. Invariant: the history is on disk before it, and the files under
/// `.ws/conflicts/` are removed after it. Fails with `disk`; then all conflicts are still open.
Result<void> end_conflicts(Session& session, const std::vector<EndedConflict>& ended);
Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end = {});

}  // namespace ws::sync
