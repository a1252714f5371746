/// The local part of decisions that the service has accepted, carried out together with a constant number of fsync
/// barriers; and the paths of all documents in the state while such a block changes them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// One file on disk gets another text.
struct FileChange {
  RelativePath path;
  std::optional<std::string> now = {};   ///< what stands there; empty: no file
  std::optional<std::string> text = {};  ///< empty: the file goes
};

struct DecidedConflict {
  Conflict conflict;
  std::vector<FileChange> files = {};  ///< in this order; where one cannot be done the rest is left
  TextChanges theirs = {};             ///< texts of the service that lose
  TextChanges agreed = {};             ///< what both sides agree on from now on
  ConflictEnd end = {};

  std::size_t bytes() const;  ///< of the texts
};

/// Invariant, each step durable before the next: every text that is replaced or removed is in the history; the new
/// texts and their names are on disk; the state ends the conflicts. If it is killed in between, the conflicts stay open
/// here and the next run asks the service about them. No two of the conflicts may share a path.
///
/// One result for each. A conflict whose file could not be changed stays open.
std::vector<Result<void>> carry_out(Session& session, SafeWriter& writer, std::vector<DecidedConflict>& block);

class KnownPlaces {
 public:
  KnownPlaces() = default;
  KnownPlaces(const std::map<DocumentId, BaseRow>& base, std::map<DocumentId, PendingRow> pending);
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
