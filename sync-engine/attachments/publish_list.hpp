/// Writes the list of attachments to the service.
///
/// It is committed like any document, with the revision that it was made from. Where somebody was quicker the rows are
/// merged anew on what is there now, path by path, and sent again: it is never a conflict for a person. A row that was
/// changed there meanwhile is left as it is, and the next plan meets it.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

struct RowChange {
  std::optional<Attachment> seen = {};    ///< the row that the plan saw; empty: none
  std::optional<Attachment> now = {};     ///< empty: the row goes
  std::optional<RelativePath> from = {};  ///< of a rename: where these bytes were
};
using RowChanges = std::map<RelativePath, RowChange>;

/// Ends a commit that an earlier run did not see the end of. Where the files are not what it tells any more it is not
/// sent again: what the service has of it comes with the next pull. Needs the service.
Result<void> finish_list_commit(Session& session, AttachmentStore& store);

/// Sends it no more. What the service has of it comes with the next pull.
Result<void> drop_list_commit(AttachmentStore& store);

/// Sets the titles of new parts where an earlier run failed to. Needs the service. Fails with `auth`.
Result<void> give_missing_titles(Session& session, AttachmentStore& store, KnownList& list);
/// Whether one of these two has something to do.
Result<bool> is_list_unfinished(AttachmentStore& store);
/// Whether a commit of it is under way, or was when a run ended.
Result<bool> has_list_commit(AttachmentStore& store);
/// The paths whose change is on the service when it returns; `list` is as it is there. Nothing to write: nothing is
/// sent. Fails as `Remote::commit` does.
Result<std::set<RelativePath>> publish_list(Session& session,
                                            AttachmentStore& store,
                                            KnownList& list,
                                            const RowChanges& changes);

}  // namespace ws::sync
