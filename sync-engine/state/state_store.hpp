/// What a tree remembers between runs: `.ws/state.db`.
///
/// The base, the changes of the service that are not applied yet, open conflicts, the steps under way on disk, and the
/// commit that is staged or under way. Every write is durable when its transaction has returned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "sync-engine/git/object.hpp"
#include "sync-engine/model/found_files.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// A document of the base and where its text lies in the history.
struct BaseRow {
  Entry entry;
  git::ObjectId blob = {};
  std::optional<RelativePath> placed = {};  ///< where the file lies, if not at the entry's path
  bool stays = false;                       ///< it was decided that the document goes where its file lies

  const RelativePath& disk_path() const { return placed ? *placed : entry.path; }
  /// The file lies at `file`. Where that is the document's own name in another Unicode form, the entry takes over the
  /// form that the disk has: two forms of one name are not two places.
  void lie_at(const RelativePath& file);
  bool operator==(const BaseRow&) const = default;
};

struct KnownDocument {
  DocumentId document = {};
  BaseRow row;
};

/// What lies at a path by the base's account.
struct BaseFile {
  DocumentId document = {};
  Sha256 hash = {};
};

/// What the service has and the base does not: an entry, or `gone`.
struct PendingRow {
  std::optional<Entry> entry = {};  ///< empty: gone
  std::uint64_t revision = 0;
  git::ObjectId blob = {};  ///< empty: the text did not come
  bool operator==(const PendingRow&) const = default;
};

/// Documents whose path on the service breaks a rule, and that path as the service has it.
using Misnamed = std::map<DocumentId, std::string>;

/// A step on disk: once `action` can be seen there, the base of its document is `base`.
struct JournalStep {
  Action action;
  std::optional<BaseRow> base = {};  ///< empty: forgotten
  bool applies_remote = true;        ///< the pending row of the document is done with
  DocumentId replaces = {};          ///< whose file this was: forgotten with the same stroke; empty: nobody's
  git::ObjectId text = {};           ///< of a move in a circle: begun, it can only be finished
};

/// A commit that is staged, or under way and perhaps done.
struct StagedItem {
  PushItem item;
  RelativePath file;  ///< on disk: where its text is read, and what people are told
  git::ObjectId blob = {};
  std::unique_ptr<Conflict> conflict = {};  ///< pushed so that the service records it; few are, and it is large
};
struct StagedCommit {
  CommitRequest request = {};
  std::vector<StagedItem> items = {};
  bool under_way = false;
};

class StateStore {
 public:
  /// Fails with `disk`; code `newer_format` for one that a later version wrote, `tree_locked` for one that another
  /// process, which just comes or goes, keeps to itself for seconds.
  static Result<StateStore> open(const std::filesystem::path& file);

  /// Rises with every change of the base: what the stat cache compares.
  Result<std::uint64_t> generation();
  Result<std::uint64_t> source_revision();
  Result<void> set_source_revision(std::uint64_t revision);

  Result<std::map<DocumentId, BaseRow>> base();
  /// The document whose file lies there; empty: none. Reads no more than that row.
  Result<std::optional<KnownDocument>> find_base(const RelativePath& file);
  /// The base by path. Empty where a file does not lie in its document's place.
  Result<std::optional<std::unordered_map<std::string, BaseFile>>> base_files();
  Result<void> put_base(const DocumentId& document, const BaseRow& row);
  Result<void> forget_base(const DocumentId& document);

  /// The state was made while a history was there already: an earlier one is lost, and with it what was deleted since.
  Result<bool> is_remade();
  Result<void> set_remade(bool remade);

  /// The files of the base's documents when both sides last agreed; known only for some.
  Result<std::map<DocumentId, FileId>> files();
  Result<std::optional<FileId>> find_file(const DocumentId& document);  ///< reads no more than that row
  /// Adds to them and changes what differs. No change of the base: the generation stays.
  Result<void> put_files(const std::map<DocumentId, FileId>& files);

  Result<std::map<DocumentId, PendingRow>> pending();
  Result<void> put_pending(const DocumentId& document, const PendingRow& row);
  Result<void> drop_pending(const DocumentId& document);
  Result<bool> has_pending_or_conflicts();

  /// Documents that the service would not take from here, and what each was like then (`survey/refused_documents.hpp`).
  Result<std::map<DocumentId, std::string>> refused();
  Result<void> put_refused(const DocumentId& document, const std::string& mark);
  Result<void> drop_refused(const DocumentId& document);

  Result<Misnamed> misnamed();
  Result<void> put_misnamed(const DocumentId& document, const std::string& path);
  Result<void> drop_misnamed(const DocumentId& document);

  Result<std::vector<Conflict>> conflicts();
  Result<std::optional<Conflict>> find_conflict(const std::string& id);
  Result<void> put_conflict(const Conflict& conflict);
  Result<void> drop_conflict(const std::string& id);

  Result<void> put_step(const JournalStep& step);
  Result<std::vector<JournalStep>> steps();
  Result<void> clear_steps();

  Result<void> put_staged(const StagedCommit& staged);
  Result<std::optional<StagedCommit>> staged();
  Result<void> clear_staged();

  Result<sqlite::Transaction> begin() { return sqlite::Transaction::begin(database_); }

 private:
  explicit StateStore(sqlite::Database database) : database_(std::move(database)) {}
  Result<std::uint64_t> number(const char* key);
  Result<void> set_number(const char* key, std::uint64_t value);
  Result<void> bump_generation();

  sqlite::Database database_;
};

}  // namespace ws::sync
