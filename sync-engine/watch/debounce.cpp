#include "sync-engine/watch/debounce.hpp"

#include <algorithm>
#include <iterator>

namespace ws::sync {

namespace {

/// So many saves show how a program saves, and so many times its longest pause it has to be quiet.
constexpr int saves_to_know = 2;
constexpr int pauses_to_wait = 4;
/// The longest pause of earlier saves loses so much with each save.
constexpr int forgotten_part = 16;

}  // namespace

void ChangeDebouncer::note(const std::string& path, Instant now, FileEventKind kind) {
  const auto [place, is_new] = changes_.try_emplace(path, Change{.first = now, .last = now});
  Change& change = place->second;
  if (is_new) {
    note_split_save(path, now);
  } else if (change.kind == FileEventKind::closed) {
    change.longest_pause = std::max(change.longest_pause, now - change.last);
  }
  change.last = now;
  if (kind != FileEventKind::changed || change.kind == FileEventKind::removed) change.kind = kind;
}

void ChangeDebouncer::note_split_save(const std::string& path, Instant now) {
  const auto taken = taken_.find(path);
  if (taken == taken_.end()) return;
  if (now - taken->second < 2 * times_.quiet) learn(now - taken->second);
  taken_.erase(taken);
}

void ChangeDebouncer::learn(std::chrono::milliseconds pause) {
  usual_pause_ = std::max(pause, usual_pause_ - usual_pause_ / forgotten_part);
  ++saves_;
}

std::chrono::milliseconds ChangeDebouncer::wait_for(const Change& change) const {
  if (change.kind == FileEventKind::written) return times_.open;
  if (change.kind == FileEventKind::replaced) return times_.least;
  if (change.kind != FileEventKind::closed || saves_ < saves_to_know) return times_.quiet;
  const auto pause = std::max(usual_pause_, change.longest_pause);
  return std::clamp(pauses_to_wait * pause, std::min(times_.least, times_.quiet), times_.quiet);
}

std::optional<Instant> ChangeDebouncer::deletes_at_rest() const {
  Instant first = Instant::max();
  Instant last = Instant::min();
  for (const auto& [path, change] : changes_) {
    if (change.kind != FileEventKind::removed) continue;
    first = std::min(first, change.last);
    last = std::max(last, change.last);
  }
  if (first == Instant::max()) return std::nullopt;
  return std::min(last + times_.deleted, first + std::max(times_.longest, times_.deleted));
}

Instant ChangeDebouncer::ready_at(const Change& change, std::optional<Instant> deletes) const {
  if (change.kind == FileEventKind::removed) return std::max(change.last + times_.deleted, *deletes);
  return std::min(change.last + wait_for(change), change.first + times_.longest);
}

std::optional<Instant> ChangeDebouncer::due() const {
  const std::optional<Instant> removed = deletes_at_rest();
  const std::optional<Instant> others = others_due();
  return removed && others ? std::min(removed, others) : std::max(removed, others);
}

std::optional<Instant> ChangeDebouncer::others_due() const {
  Instant first = Instant::max();
  Instant last = Instant::min();
  for (const auto& [path, change] : changes_) {
    if (change.kind == FileEventKind::removed) continue;
    const Instant ready = ready_at(change, std::nullopt);
    first = std::min(first, ready);
    last = std::max(last, ready);
  }
  if (first == Instant::max()) return std::nullopt;
  return std::min(last, first + times_.patience);
}

std::set<std::string> ChangeDebouncer::take(Instant now) {
  const std::optional<Instant> deletes = deletes_at_rest();
  std::set<std::string> changing;
  std::map<std::string, Change> ready;
  for (auto entry = changes_.begin(); entry != changes_.end();) {
    const auto next = std::next(entry);
    if (ready_at(entry->second, deletes) <= now) {
      ready.insert(changes_.extract(entry));
    } else if (!entry->first.empty()) {
      changing.insert(entry->first);
    }
    entry = next;
  }
  // Afterwards: what is learned from one says nothing of those that were under way with it.
  std::erase_if(taken_, [&](const auto& entry) { return now - entry.second >= 2 * times_.quiet; });
  for (const auto& [path, change] : ready) {
    if (change.kind != FileEventKind::closed) continue;
    learn(change.longest_pause);
    taken_[path] = change.last;
  }
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
