/// `ws sync status`: what a run would do, found by a survey, or told by a running watch that knows there is nothing.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Asks the watch first, where what it knows would answer.
Result<Report> status_of(Session& session, const RunOptions& options);

/// A status without anything to do, for `StatusSocket` to hand out.
struct CleanStatus {
  std::string text = {};
  std::string state = {};  ///< `state_stamp` when it was made
};

/// Surveys. Empty: there is something to do or to tell, or a part of the tree is not watched. Fails as `status_of`.
Result<std::optional<CleanStatus>> make_clean_status(Session& session);

/// Changes with every write to the tree's state, settings and binding. Empty: one of them was written so lately that
/// another write might leave it the same.
std::string state_stamp(const WsFolder& ws);

}  // namespace ws::sync
