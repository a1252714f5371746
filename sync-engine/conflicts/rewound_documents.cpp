#include "sync-engine/conflicts/rewound_documents.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sync-engine/survey/incoming.hpp"

namespace ws::sync {

Result<Rewound> find_rewound(Session& session) {
  if (session.remote == nullptr) return fail(service_needed());
  WS_LET(const auto base, session.state.base());
  WS_LET(const auto pending, session.state.pending());
  Rewound rewound;
  WS_LET(rewound.before, session.state.source_revision());
  WS_LET(const Incoming incoming, pull_incoming(session, base, pending, {}));
  if (incoming.foreign) {
    return fail(
        Failure::Kind::conflict, "the service answered for another source", "`ws sync status` shows the difference");
  }
  rewound.now = incoming.end.revision.value_or(SourceRevision{});
  const std::set<DocumentId> unknown(incoming.out_of_reach.begin(), incoming.out_of_reach.end());
  for (const auto& [document, row] : base) {
    const auto there = incoming.rows.find(document);
    // It exists on the service, with an invalid path or no access.
    if (unknown.contains(document) || (there == incoming.rows.end() && incoming.listed.contains(document))) continue;
    const bool is_there = there != incoming.rows.end() && there->second.entry;
    const bool is_same = is_there && there->second.entry->revision == row.entry.revision &&
                         there->second.entry->hash == row.entry.hash && there->second.entry->path == row.entry.path;
    if (is_same) continue;
    rewound.documents.push_back({.path = row.disk_path(), .before = row.entry.revision});
    if (is_there) rewound.documents.back().now = there->second.entry->revision;
  }
  for (const auto& [document, row] : incoming.rows) {
    if (base.contains(document) || !row.entry) continue;
    rewound.documents.push_back({.path = row.entry->path, .now = row.entry->revision});
  }
  std::ranges::stable_sort(rewound.documents, {}, &RewoundDocument::path);
  return rewound;
}

}  // namespace ws::sync
