#include "sync-engine/conflicts/known_places.hpp"

#include <utility>

namespace ws::sync {

Result<KnownPlaces> KnownPlaces::load(StateStore& state) {
  KnownPlaces places;
  WS_LET(const auto base, state.base());
  for (const auto& [document, row] : base) places.put(document, row);
  WS_LET(places.pending_, state.pending());
  for (const auto& [document, row] : places.pending_) {
    if (row.entry) places.taken_.insert(row.entry->path.twin_key());
  }
  return places;
}

const BaseRow* KnownPlaces::row(const DocumentId& document) const {
  const auto found = base_.find(document);
  return found == base_.end() ? nullptr : &found->second;
}

const PendingRow* KnownPlaces::pending(const DocumentId& document) const {
  const auto found = pending_.find(document);
  return found == pending_.end() ? nullptr : &found->second;
}

std::vector<DocumentId> KnownPlaces::documents_at(const RelativePath& file) const {
  std::vector<DocumentId> documents;
  const auto [first, last] = files_.equal_range(file);
  for (auto each = first; each != last; ++each) documents.push_back(each->second);
  return documents;
}

void KnownPlaces::put(const DocumentId& document, const BaseRow& row) {
  forget(document);
  base_.emplace(document, row);
  files_.emplace(row.disk_path(), document);
  taken_.insert(row.entry.path.twin_key());
  taken_.insert(row.disk_path().twin_key());
}

void KnownPlaces::forget(const DocumentId& document) {
  const auto old = base_.find(document);
  if (old == base_.end()) return;
  const auto [first, last] = files_.equal_range(old->second.disk_path());
  for (auto each = first; each != last; ++each) {
    if (each->second != document) continue;
    files_.erase(each);
    break;
  }
  release(old->second.entry.path.twin_key());
  release(old->second.disk_path().twin_key());
  base_.erase(old);
}

void KnownPlaces::settle(const DocumentId& document) {
  const auto old = pending_.find(document);
  if (old == pending_.end()) return;
  if (old->second.entry) release(old->second.entry->path.twin_key());
  pending_.erase(old);
}

void KnownPlaces::apply(const ConflictEnd& end) {
  for (const auto& [document, row] : end.base) {
    if (row) {
      put(document, *row);
    } else {
      forget(document);
    }
  }
  for (const auto& [document, row] : end.pending) {
    if (!row) settle(document);
  }
}

void KnownPlaces::release(const std::string& key) {
  const auto found = taken_.find(key);
  if (found != taken_.end()) taken_.erase(found);
}

}  // namespace ws::sync
