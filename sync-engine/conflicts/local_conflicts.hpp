/// Conflicts that no commit can record: the service has no two texts to compare, so this tree keeps them alone.
#pragma once

#include <string>
#include <vector>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Whether a commit is sure to refuse it, so that the service records both texts. All others are `here_only`.
bool is_for_service(const Conflict& conflict);

/// One document that got another name on each side.
bool renamed_on_both(const Conflict& conflict);

/// The same for the same two sides in every run: a UUID (version 8) made of what the conflict is about.
std::string local_conflict_id(const Conflict& conflict);

/// Keeps those of the plan that are for nobody else, or that this key could not send, with their texts under
/// `.ws/conflicts/ID/`; their rows are done. One that is kept already is not written again. Fails with `disk`.
Result<void> keep_local_conflicts(Session& session, const Survey& survey, std::vector<Row>& rows);

/// The conflict that stands for a service as a whole that went back to an older state. It has no document; its path is
/// the word that resolves it.
Conflict rewound_service();
bool is_rewound_service(const Conflict& conflict);

}  // namespace ws::sync
