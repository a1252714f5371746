/// Documents that are held back while the others are synced: those that the service refuses (a key without permission,
/// a document that it cannot access), those whose text does not fit on the disk or does not match its hash, and those
/// whose path on the service breaks a rule (`safety.md`, "Path rules"). The last are never written, and reported by
/// every run until they are renamed there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/state_store.hpp"
#include "sync-engine/survey/incoming.hpp"
#include "sync-engine/survey/survey.hpp"

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
                 const std::map<std::string, std::string>& refused,
                 const RelativePath& file,
                 const Sha256& hash);

/// Removes refused and unchanged documents from the plan: they become `detached`; new files are skipped.
Result<void> hold_refused(Session& session, const BaseTree& base, const RemoteTree& remote, LocalTree& local);

/// Writes the pulled texts to the history, durably. Documents whose texts do not fit are moved from `incoming` to
/// `Survey::unavailable`.
Result<void> write_incoming(Session& session, Incoming& incoming, Survey& survey);

/// Adds the damaged ones to `Survey::unavailable`.
void leave_out_damaged(Incoming& incoming, Survey& survey);

/// Removes them from the plan until their text is available.
void hold_unavailable(const Survey& survey, LocalTree& local);

/// A failed row each.
std::vector<Row> rows_of_unavailable(const Survey& survey);

/// The set after a pull.
InvalidPaths invalid_paths_after(const InvalidPaths& before, const Incoming& incoming);

/// Stores the differences.
Result<void> store_invalid_paths(StateStore& state, const InvalidPaths& before, const InvalidPaths& now);

/// For the report: sorted, each name once. `without_id`: the paths of documents that came without an id.
std::vector<Skipped> skipped_invalid_paths(const InvalidPaths& invalid_paths,
                                           const std::set<std::string>& without_id = {});

}  // namespace ws::sync
