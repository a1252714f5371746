/// What the service will not take from this tree: a key without permission, a document out of its reach.
#pragma once

#include <string>

#include "sync-engine/steps/session.hpp"

namespace ws::sync {

/// Item paths go out, and come back, in NFC.
std::string path_on_wire(std::string_view path);

/// Whether a refusal's code is that of 403, 404 or 410 on one document: nothing is deleted for it.
bool is_out_of_reach(const std::string& code);

/// The failure of a row that this key may not push.
Failure cannot_push(const Failure& why);

/// Keeps what a document was like, here and there, when the service would not take it: as long as it stays so it is not
/// sent again. Of one that was moved and edited the edit tells. A new file has no document: it is tried each time.
Result<void> note_refused(StateStore& state, const StagedItem& staged);

/// Takes the documents that were refused, and are as they were then, out of the plan: they become `detached`.
Result<void> hold_refused(Session& session, const BaseTree& base, const RemoteTree& remote, LocalTree& local);

}  // namespace ws::sync
