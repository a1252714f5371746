/// What happened to one document on one side since the base, and who changed a text.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "api-client/base/clock.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

enum class Change {
  unchanged,
  edited,
  deleted,
  moved,    ///< perhaps edited too: `text_too`
  created,  ///< not in the base
  unknown,  ///< present but not readable now: unsyncable here, or missing from a listing. Never a delete
  rewound,  ///< the service's revision is below the base's
};

struct SideChange {
  Change change = Change::unchanged;
  bool text_too = false;            ///< of a move: the text changed as well
  std::optional<Entry> entry = {};  ///< as this side has it; empty: deleted or unknown
  bool edited() const { return change == Change::edited || text_too; }
  bool operator==(const SideChange&) const = default;
};

/// Equal after Unicode normalization (NFC).
bool same_name(const RelativePath& a, const RelativePath& b);

SideChange local_change(const DocumentId& document, const BaseTree& base, const LocalTree& local);
SideChange remote_change(const DocumentId& document, const Entry& base, const RemoteTree& remote);

struct Author {
  std::string name = {};  ///< of a person or an agent; empty: not known
  std::string id = {};    ///< its id on the service; empty: not known
  Time time = {};         ///< 1970: not known
  auto operator<=>(const Author&) const = default;
};

}  // namespace ws::sync
