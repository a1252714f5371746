/// What differs on a service that was restored from a backup: from which revision to which, and which documents.
#pragma once

#include <optional>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

struct RewoundDocument {
  RelativePath path;                            ///< of the file here, or where the service has it
  std::optional<DocumentRevision> before = {};  ///< that both sides agreed on; empty: not known here
  std::optional<DocumentRevision> now = {};     ///< of the service; empty: it has none
  bool operator==(const RewoundDocument&) const = default;
};

struct Rewound {
  SourceRevision before = {};  ///< of the source, that both sides agreed on
  SourceRevision now = {};
  std::vector<RewoundDocument> documents = {};  ///< those that differ, in order of path
};

/// Lists all that the service has, and writes nothing. A document that cannot be read now is left out: it is unknown.
/// Fails as the service does, with `conflict` where it answers for another source.
Result<Rewound> find_rewound(Session& session);

}  // namespace ws::sync
