#include "sync-engine/watch/quiet_changes.hpp"

#include <algorithm>

namespace ws::sync {

void QuietChanges::note(const std::string& path, Instant now, Deed deed) {
  Change& change = changes_.try_emplace(path, Change{.first = now, .last = now}).first->second;
  change.last = now;
  change.is_removed = deed == Deed::removed;
  if (deed != Deed::changed) change.is_open = deed == Deed::written;
}

Instant QuietChanges::ready_at(const Change& change) const {
  if (change.is_removed) return change.last + times_.deleted;
  return std::min(change.last + (change.is_open ? times_.open : times_.quiet), change.first + times_.longest);
}

std::optional<Instant> QuietChanges::due() const {
  const std::optional<Instant> removed = due(true);
  const std::optional<Instant> others = due(false);
  return removed && others ? std::min(removed, others) : std::max(removed, others);
}

std::optional<Instant> QuietChanges::due(bool removed) const {
  Instant first = Instant::max();
  Instant last = Instant::min();
  for (const auto& [path, change] : changes_) {
    if (change.is_removed != removed) continue;
    const Instant ready = ready_at(change);
    first = std::min(first, ready);
    last = std::max(last, ready);
  }
  if (first == Instant::max()) return std::nullopt;
  return std::min(last, first + times_.patience);
}

std::set<std::string> QuietChanges::take(Instant now) {
  std::set<std::string> changing;
  std::erase_if(changes_, [&](const auto& entry) {
    if (ready_at(entry.second) <= now) return true;
    if (!entry.first.empty()) changing.insert(entry.first);
    return false;
  });
  return changing;
}

bool is_changing(const std::set<std::string>& changing, const std::string& path) {
  if (changing.empty()) return false;
  if (changing.contains(path)) return true;
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    if (changing.contains(path.substr(0, slash))) return true;
  }
  return false;
}

}  // namespace ws::sync
