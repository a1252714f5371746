/// What the service will not take from this tree: a key without permission, a document out of its reach.
#pragma once

#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Whether a refusal's code is that of 403, 404 or 410 on one document: nothing is deleted for it.
bool is_out_of_reach(const std::string& code);

/// The failure of a row that this key may not push.
Failure cannot_push(const Failure& why);

/// Whether the same text would be refused again: it is out of reach, too large, or breaks a rule of the service.
bool is_refused_as_it_is(const std::string& code);

/// Keeps what a document was like, here and there, when the service would not take it: as long as it stays so it is not
/// sent again. Of one that was moved and edited the edit tells. A new file is known by its path and text.
Result<void> record_refused(Session& session, const StagedItem& staged);

/// Whether the service refused to record a conflict of this new file with this text.
bool was_refused(const Session& session,
                 const std::map<DocumentId, std::string>& refused,
                 const RelativePath& file,
                 const Sha256& hash);

/// Takes what was refused, and is as it was then, out of the plan: documents become `detached`, new files are skipped.
Result<void> hold_refused(Session& session, const BaseTree& base, const RemoteTree& remote, LocalTree& local);

}  // namespace ws::sync
