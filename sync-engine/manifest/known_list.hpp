/// The list of attachments as the service was last heard to have it, all parts together.
///
/// Nothing is lost by what comes from outside: a part that a person edited, that is older than what was known, or that
/// was archived takes no row away. What it says beyond that holds, and it is written anew by the next run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sync-engine/manifest/manifest.hpp"
#include "sync-engine/state/attachment_store.hpp"

namespace ws::sync {

/// A document at a reserved place, as a pull brought it.
struct PulledPart {
  DocumentId document = {};
  std::string path = {};
  DocumentRevision revision = {};
  std::optional<std::string> text = {};  ///< empty: it was archived
};

struct KnownList {
  std::map<DocumentId, StoredPart> parts = {};
  std::map<DocumentId, AttachmentTree> rows_by_part = {};
  std::uint64_t edition = 0;          ///< the highest of all parts
  std::set<DocumentId> changed = {};  ///< the parts that `store_parts` has to store

  /// Of all parts; where two say something of one path, the one that was written later holds.
  AttachmentTree rows() const;
  /// A part has to be written though no row of it changes.
  bool is_due() const;
};

Result<KnownList> load_list(AttachmentStore& store);
/// Takes over what came, in memory. False: it says nothing new. A part that was archived says nothing any more once a
/// newer one has its place.
bool take_part(KnownList& list, const PulledPart& part);
/// As `take_part`, where the service went back: what the part says now is all that it has. The next write of it is
/// newer than all that others may know.
void put_back_part(KnownList& list, const PulledPart& part);
/// What changed since it was loaded, within the caller's transaction, or as one write a part.
Result<void> store_parts(AttachmentStore& store, KnownList& list);

}  // namespace ws::sync
