/// The state of one engine, shared by its calls.
#pragma once

#include <optional>
#include <vector>

#include "api-client/base/clock.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

struct RunContext {
  Session session;
  const Clock* clock;
  bool is_cache_old = false;                     ///< since conflicts were decided: refreshed once, at the end
  AttachmentSurvey attachments = {};             ///< as the last survey of both sides found them
  std::vector<Row> finished = {};                ///< of a commit that an earlier command did not see the end of
  std::optional<UndoReport> finished_undo = {};  ///< the same of an undo
};

}  // namespace ws::sync
