/// The rows of `.ws/state.db`, as values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/git/object.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// A document of the base and where its text lies in the history.
struct BaseRow {
  Entry entry;
  git::ObjectId blob = {};
  std::optional<RelativePath> displaced_to = {};  ///< the disk path, where it is not the entry's
  bool document_follows_file = false;             ///< it was decided that the service renames it to its disk path
  /// A run saw that a rule or its name keeps the file out of sight. As long as this holds, that it is missing on either
  /// side is no proof of a deletion.
  bool left_out = false;

  const RelativePath& disk_path() const { return displaced_to ? *displaced_to : entry.path; }
  /// The file lies at `file`. Where that is the document's own name in another Unicode form, the entry takes over the
  /// form that the disk has: two forms of one name are not two places.
  void set_disk_path(const RelativePath& file);
  bool operator==(const BaseRow&) const = default;
};

struct KnownDocument {
  DocumentId document = {};
  BaseRow row;
};

/// The document and text at a path in the base.
struct BaseFile {
  DocumentId document = {};
  Sha256 hash = {};
};

/// A change of the service that is not applied yet: an entry, or a deletion.
struct PendingRow {
  std::optional<Entry> entry = {};  ///< empty: gone
  DocumentRevision revision = {};
  git::ObjectId blob = {};  ///< empty: the text did not come
  Author author = {};       ///< of the change on the service
  bool operator==(const PendingRow&) const = default;
};

/// Documents whose path on the service breaks a rule, and that path as the service has it.
using InvalidPaths = std::map<DocumentId, std::string>;

/// A step on disk. Once `action` is done there, `base` is the new base row of its document.
struct JournalStep {
  Action action;
  std::optional<BaseRow> base = {};  ///< empty: forgotten
  bool applies_remote = true;        ///< the pending row of the document is done with
  DocumentId replaces = {};          ///< whose file this was: forgotten with the same stroke; empty: nobody's
  Author author = {};                ///< of the change on the service that the step brings here
};

/// A commit that is staged, or under way and perhaps done.
struct StagedItem {
  PushItem item;
  RelativePath disk_path;  ///< where its text is read, and what reports name
  git::ObjectId blob = {};
  std::unique_ptr<Conflict> conflict = {};  ///< pushed so that the service records it; few are, and it is large
};
struct StagedCommit {
  CommitRequest request = {};
  std::vector<StagedItem> items = {};
  bool under_way = false;
};

}  // namespace ws::sync
