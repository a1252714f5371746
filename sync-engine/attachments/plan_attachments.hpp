/// What brings the attachments of both sides together, by the planner of documents (`reconcile`). Pure.
///
/// Here a file is known as a document's is (`identify`), in the list by its path, else by its bytes. A missing file is
/// a deletion only where the base knew it and its folder could be looked at: whoever fills in `LocalAttachments` puts
/// what is out of sight among the hidden. A missing row of the list is one only where the list is whole.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sync-engine/model/attachment.hpp"
#include "sync-engine/model/found_files.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// A file here. Those out of sight (a link, unreadable, ignored, excluded, too large) have a reason and no hash.
struct LocalAttachment {
  std::uint64_t size_bytes = 0;
  Sha256 hash = {};
  std::optional<SkipReason> hidden = {};
  FileId file = {};
  bool operator==(const LocalAttachment&) const = default;
};
using LocalAttachments = std::map<RelativePath, LocalAttachment>;

struct AttachmentSides {
  AttachmentTree base = {};  ///< what both sides last agreed on
  LocalAttachments local = {};
  AttachmentTree remote = {};
  /// Of the base: out of sight here when they were last looked for. Missing on either side is no proof of a deletion.
  std::set<RelativePath> left_out = {};
  bool remote_is_whole = true;               ///< false: a row that is missing there says nothing
  std::set<RelativePath> others_here = {};   ///< above the other paths: what is no folder, and is not synced
  std::set<RelativePath> folders_here = {};  ///< of the other paths, those at which a folder with something in it lies
  std::map<RelativePath, FileId> files_known = {};  ///< of the base: which file each was when both sides agreed
};

/// Other bytes on both sides, bytes against a deletion, or two names for one file.
struct AttachmentCollision {
  RelativePath path;
  std::optional<Attachment> base = {};
  std::optional<LocalAttachment> local = {};  ///< empty: deleted here
  std::optional<Attachment> remote = {};      ///< empty: deleted there
  std::optional<RelativePath> from = {};      ///< renamed here: what both sides knew it as
  std::optional<RelativePath> there = {};     ///< renamed there too, to another name: that
  bool operator==(const AttachmentCollision&) const = default;
};

struct AttachmentPlan {
  std::vector<Action> actions = {};  ///< in order of path
  std::vector<AttachmentCollision> collisions = {};
  /// The base moves though neither side changes. Empty: forgotten.
  std::map<RelativePath, std::optional<Attachment>> settled = {};
  std::vector<Skipped> skipped = {};
  /// Renamed on one side and deleted on the other: new path to the one that both knew.
  std::map<RelativePath, RelativePath> known_as = {};
  bool operator==(const AttachmentPlan&) const = default;
};

struct AttachmentChoices {
  bool accept_deletes = false;  ///< a local delete wins over a remote edit or move
};

AttachmentPlan plan_attachments(const AttachmentSides& sides, const AttachmentChoices& choices = {});

/// The sides once all that comes by the plan is here.
AttachmentSides sides_after_pulls(AttachmentSides sides, const AttachmentPlan& plan);

}  // namespace ws::sync
