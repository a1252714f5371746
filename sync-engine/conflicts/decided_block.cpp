#include "sync-engine/conflicts/decided_block.hpp"

#include <utility>

namespace ws::sync {
namespace {

class Block {
 public:
  Block(Session& session, SafeWriter& writer, std::vector<DecidedConflict>& block)
      : session_(session), writer_(writer), block_(block), results_(block.size()) {}

  std::vector<Result<void>> carry_out() {
    if (auto done = do_all(); !done) {
      for (Result<void>& result : results_) {
        if (result) result = fail(Failure(done.error()));
      }
    }
    return std::move(results_);
  }

 private:
  Result<void> do_all() {
    WS_TRY(record_before());
    const std::vector<std::vector<std::optional<Staged>>> staged = stage();
    WS_TRY(writer_.flush_texts());
    for (std::size_t i = 0; i < block_.size(); ++i) {
      for (std::size_t each = 0; each < block_[i].files.size(); ++each) {
        if (results_[i]) {
          results_[i] = put(block_[i].files[each], staged[i][each]);
        } else if (staged[i][each]) {
          static_cast<void>(writer_.remove_leftover(staged[i][each]->name));
        }
      }
    }
    WS_TRY(writer_.flush_folders());
    return end();
  }

  /// Promise 1: what is about to be replaced is in the history first.
  Result<void> record_before() {
    TextChanges ours;
    TextChanges theirs;
    for (const DecidedConflict& decided : block_) {
      for (const FileChange& file : decided.files) {
        if (!file.now || file.now == file.text) continue;
        WS_LET(const git::ObjectId blob, session_.history.keep(*file.now));
        ours.push_back({.path = file.path.string(), .blob = blob});
      }
      theirs.insert(theirs.end(), decided.theirs.begin(), decided.theirs.end());
    }
    return ours.empty() && theirs.empty() ? Result<void>() : session_.history.record_before(ours, theirs);
  }

  std::vector<std::vector<std::optional<Staged>>> stage() {
    std::vector<std::vector<std::optional<Staged>>> staged(block_.size());
    for (std::size_t i = 0; i < block_.size(); ++i) {
      for (const FileChange& file : block_[i].files) {
        staged[i].emplace_back();
        if (!results_[i] || !file.text || file.now == file.text) continue;
        auto done = writer_.stage(*file.text);
        if (done) {
          staged[i].back() = std::move(*done);
        } else {
          results_[i] = fail(std::move(done).error());
        }
      }
    }
    return staged;
  }

  Result<void> put(const FileChange& file, const std::optional<Staged>& staged) {
    if (file.now == file.text) return {};
    const auto seen = file.now ? std::optional(Sha256::of(*file.now)) : std::nullopt;
    return file.text ? writer_.place(*staged, file.path, seen) : writer_.remove(file.path, *seen);
  }

  /// Whose files those are that were written.
  static void add_written_files(DecidedConflict& decided) {
    for (const FileChange& file : decided.files) {
      if (!file.text || file.now == file.text) continue;
      for (const auto& [document, row] : decided.end.base) {
        if (!row || row->disk_path() != file.path) continue;
        decided.end.files.push_back({.document = document, .path = file.path, .text = Sha256::of(*file.text)});
      }
    }
  }

  Result<void> end() {
    TextChanges agreed;
    std::vector<EndedConflict> ended;
    for (std::size_t i = 0; i < block_.size(); ++i) {
      if (!results_[i]) continue;
      agreed.insert(agreed.end(), block_[i].agreed.begin(), block_[i].agreed.end());
      add_written_files(block_[i]);
      ended.push_back({.id = block_[i].conflict.id, .end = std::move(block_[i].end)});
    }
    if (ended.empty()) return {};
    if (!agreed.empty()) {
      WS_TRY(session_.history.record_after(agreed, ended.size() == 1 ? "Resolved a conflict" : "Resolved conflicts"));
    }
    return end_conflicts(session_, ended);
  }

  Session& session_;
  SafeWriter& writer_;
  std::vector<DecidedConflict>& block_;
  std::vector<Result<void>> results_;
};

}  // namespace

std::size_t DecidedConflict::bytes() const {
  std::size_t bytes = 0;
  for (const FileChange& file : files) {
    bytes += (file.now ? file.now->size() : 0) + (file.text ? file.text->size() : 0);
  }
  return bytes;
}

std::vector<Result<void>> carry_out(Session& session, SafeWriter& writer, std::vector<DecidedConflict>& block) {
  return Block(session, writer, block).carry_out();
}

Result<KnownPlaces> KnownPlaces::load(StateStore& state) {
  WS_LET(const auto base, state.base());
  WS_LET(auto pending, state.pending());
  return KnownPlaces(base, std::move(pending));
}

KnownPlaces::KnownPlaces(const std::map<DocumentId, BaseRow>& base, std::map<DocumentId, PendingRow> pending)
    : pending_(std::move(pending)) {
  for (const auto& [document, row] : base) put(document, row);
  for (const auto& [document, row] : pending_) {
    if (row.entry) taken_.insert(row.entry->path.twin_key());
  }
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
