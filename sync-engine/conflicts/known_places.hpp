/// The paths of all documents in the state, updated in memory while a block of decisions changes them.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "sync-engine/conflict_store/end_conflict.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

class KnownPlaces {
 public:
  KnownPlaces() = default;
  static Result<KnownPlaces> load(StateStore& state);

  const BaseRow* row(const DocumentId& document) const;         ///< null: the base has no such document
  const PendingRow* pending(const DocumentId& document) const;  ///< null: nothing is pending for it
  /// The documents whose file has this path.
  std::vector<DocumentId> documents_at(const RelativePath& file) const;
  /// Whether a document has this path or a twin of it, now or after the pending changes, on either side.
  bool is_taken(const RelativePath& place) const { return taken_.contains(place.twin_key()); }

  void put(const DocumentId& document, const BaseRow& row);
  void forget(const DocumentId& document);
  void settle(const DocumentId& document);  ///< nothing is pending for it any more
  void apply(const ConflictEnd& end);

 private:
  void release(const std::string& key);

  std::map<DocumentId, BaseRow> base_;
  std::map<DocumentId, PendingRow> pending_;
  std::multimap<RelativePath, DocumentId> files_;  ///< by the place on disk
  std::unordered_multiset<std::string> taken_;     ///< twin keys
};

}  // namespace ws::sync
