/// Stages texts on the service while their files are still being written locally.
///
/// Staged texts are invisible until a commit. The run that follows plans as usual: if its commit holds exactly these
/// new documents, they are not sent again; otherwise they are.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

struct CommitPart;

/// Stages `texts` as new documents and calls `take` with each text and its index, in order, so that it need not be read
/// twice. After a failure the rest is not passed to `take`, and nothing counts as staged; the failure itself is
/// dropped, as the run will meet it again.
void push_ahead(Session& session,
                const std::vector<NewText>& texts,
                const std::function<void(std::size_t place, const std::string& text)>& take);

/// Returns whether the part holds exactly what was staged ahead, and then fills it in as `send_part` does. What was
/// staged ahead can be used once.
bool use_pushed_ahead(Session& session, CommitPart& part, SourceRevision revision);

}  // namespace ws::sync
