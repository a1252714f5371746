/// Pushes that the service refuses: a key without permission, a document that it cannot access.
#pragma once

#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Whether the code is one of 403, 404 or 410 about one document. Nothing is deleted for it.
bool is_out_of_reach(const std::string& code);

/// The failure of a row that this key may not push.
Failure cannot_push(const Failure& why);

/// Whether the same text would be refused again: no access, too large, or against a rule of the service.
bool is_refused_as_it_is(const std::string& code);

/// Records the state of a document on both sides when the service refused it: until that changes it is not pushed
/// again. For a moved and edited document the edit counts. A new file is identified by path and text.
Result<void> record_refused(Session& session, const StagedItem& staged);

/// Whether the service refused to record a conflict of this new file with this text.
bool was_refused(const Session& session,
                 const std::map<DocumentId, std::string>& refused,
                 const RelativePath& file,
                 const Sha256& hash);

/// Removes refused and unchanged documents from the plan: they become `detached`; new files are skipped.
Result<void> hold_refused(Session& session, const BaseTree& base, const RemoteTree& remote, LocalTree& local);

}  // namespace ws::sync
