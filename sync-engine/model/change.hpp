/// What happened to one document on one side since the base.
#pragma once

#include <optional>

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

enum class Change {
  unchanged,
  edited,
  deleted,
  moved,    ///< perhaps edited too: `text_too`
  created,  ///< not in the base
  unknown,  ///< there, but out of sight: hindered here, absent there. Never a delete
  rewound,  ///< the service's revision is below the base's
};

struct SideChange {
  Change change = Change::unchanged;
  bool text_too = false;            ///< of a move: the text changed as well
  std::optional<Entry> entry = {};  ///< as this side has it; empty: deleted or out of sight
  bool edited() const { return change == Change::edited || text_too; }
  bool operator==(const SideChange&) const = default;
};

/// The same name to a person, whatever form the file system keeps it in.
bool same_name(const RelativePath& a, const RelativePath& b);

SideChange local_change(const DocumentId& document, const BaseTree& base, const LocalTree& local);
SideChange remote_change(const DocumentId& document, const Entry& base, const RemoteTree& remote);

}  // namespace ws::sync
