/// A file leaves a tree only by a wish that was made there, and arrives unasked only where nothing is at stake.
///
/// Whoever named a file first decides, and is written down before any text is sent: a note that was edited here, by a
/// link that the text both sides agreed on does not have (a wish), or a text that came from the service (then the file
/// is foreign in every note, until it is added). What this program writes itself makes no wish.
#pragma once

#include <functional>
#include <set>

#include "sync-engine/attachments/arriving_kinds.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/plan_attachments.hpp"
#include "sync-engine/attachments/shown_files.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// What decides whether a file may go or come.
struct Wishes {
  TargetMarks marks = {};
  std::set<RelativePath> taken = {};  ///< added, or renamed here after they were synced
  FileDecisions decisions = {};
  bool is_for_all = false;  ///< `attachments: all`

  bool has(const RelativePath& path) const;
  /// Empty: nothing was decided about these bytes.
  std::optional<bool> decided(const RelativePath& path, const Sha256& hash) const;
};

/// Marks what no mark names yet. `all_foreign`: whatever is new was written by this program.
void mark_targets(TargetMarks& marks,
                  const ShownFiles& shown,
                  const Session& session,
                  bool all_foreign,
                  const std::function<std::optional<Sha256>(const RelativePath&)>& hash_of_file);
/// The wishes that no note here names any more, and that nothing else keeps.
std::vector<std::string> spent_wishes(const TargetMarks& marks, const ShownFiles& shown, const AttachmentTree& base);

/// Whether bytes that are new at a path were renamed here after they were synced: they are on the service by this
/// tree's own doing.
bool was_synced(const AttachmentSides& sides, const Sha256& hash);

/// What the disk says about a file that something is to arrive at.
struct ArrivalPlace {
  ArrivingKinds kinds;
  std::function<bool(const RelativePath&)> is_executable = {};
  /// Another file here than `from` has the name in another case or Unicode form.
  std::function<bool(const RelativePath&, const std::optional<RelativePath>& from)> is_name_taken = {};
  std::function<bool(const RelativePath&)> is_open_conflict = {};
};

/// Takes out of the plan what nobody here wishes to send, and what may not arrive unasked: both are skipped rows.
void hold_unwished(AttachmentPlan& plan, const AttachmentSides& sides, const Wishes& wishes, const ArrivalPlace& place);

}  // namespace ws::sync
