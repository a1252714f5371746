/// Changes of files that a command recorded in its operation before it made them, and was cut off.
#pragma once

#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Of the operation in hand: asks the disk which of its changes here were made, and the list on the service which of
/// those there; the rows of the others go, and what both sides have is agreed on. `finished` gets a row for each that
/// was sent. Without an answer of the service its rows stay as they are, and the next command asks again. Fails with
/// `disk` or `cancelled`.
Result<void> settle_interrupted_files(Session& session, const Clock& clock, std::vector<Row>& finished);

}  // namespace ws::sync
