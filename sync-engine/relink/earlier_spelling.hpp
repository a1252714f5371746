/// The spelling that links had before a rename which is now taken back.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api-client/base/result.hpp"
#include "sync-engine/links/rewrite_links.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

/// The operation that these renames take back, if one does: a note that is as it left it gets its earlier bytes, and
/// with them the spelling of its links, which the present text does not tell.
class EarlierSpelling {
 public:
  static Result<EarlierSpelling> find(Session& session, const links::Renames& renames);

  bool knows(const std::string& place) const { return rows_.contains(place); }
  /// The earlier text of the note that lay at `place` after that operation; empty: it was edited since.
  std::optional<std::string> text(Session& session, const std::string& place, const std::string& now) const;

 private:
  std::map<std::string, OperationRow> rows_ = {};
};

}  // namespace ws::sync
