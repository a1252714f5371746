/// The state of a tree between runs: `.ws/state.db`.
///
/// The base, the changes of the service that are not applied yet, open conflicts, the steps under way on disk, and the
/// commit that is staged or under way; and the operations, what each run changed. Every write is durable when its
/// transaction has returned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "sync-engine/model/found_files.hpp"
#include "sync-engine/state/attachment_store.hpp"
#include "sync-engine/state/operations.hpp"
#include "sync-engine/state/state_rows.hpp"

namespace ws::sync {

class StateStore {
 public:
  /// Fails with `disk`; code `newer_format` or `older_format` for one of another version, `tree_locked` for one that
  /// another process, which just comes or goes, keeps to itself for seconds.
  static Result<StateStore> open(const std::filesystem::path& file);

  /// Rises with every change of the base. The stat cache is valid for one generation.
  Result<std::uint64_t> generation();
  Result<SourceRevision> source_revision();
  Result<void> set_source_revision(SourceRevision revision);

  Result<std::map<DocumentId, BaseRow>> base();
  /// Of documents that are not out of sight.
  Result<std::size_t> base_count();
  /// Whether the two sides agree on no note and no file.
  Result<bool> is_base_empty();
  /// The document whose file lies there; empty: none. Reads no more than that row.
  Result<std::optional<KnownDocument>> find_base(const RelativePath& file);
  Result<std::optional<BaseRow>> find_base(const DocumentId& document);
  /// The base by path. Empty where a file does not lie in its document's place.
  Result<std::optional<std::unordered_map<std::string, BaseFile>>> base_files();
  /// The change is recorded in the open operation, in the same transaction; `agreed` records nothing. `file`: as
  /// `put_file`.
  Result<void> put_base(const DocumentId& document,
                        const BaseRow& row,
                        ChangeOrigin origin = ChangeOrigin::agreed,
                        const std::optional<FileId>& file = {});
  Result<void> forget_base(const DocumentId& document, ChangeOrigin origin = ChangeOrigin::agreed);
  /// Sets `BaseRow::left_out`, which `put_base` takes away.
  Result<void> set_left_out(const DocumentId& document, bool left_out);

  /// Whether the state was created while a history existed: the earlier state was lost, so deletions cannot be
  /// detected.
  Result<bool> is_remade();
  Result<void> set_remade(bool remade);

  /// The files of the base's documents when both sides last agreed; known only for some.
  Result<std::map<DocumentId, FileId>> files();
  Result<void> each_file(const std::function<void(const DocumentId&, const FileId&)>& visit);
  Result<std::optional<FileId>> find_file(const DocumentId& document);  ///< reads no more than that row
  /// Adds and updates. The base does not change, and neither does the generation.
  Result<void> put_files(const std::map<DocumentId, FileId>& files);
  /// The same of one, within the caller's transaction.
  Result<void> put_file(const DocumentId& document, const FileId& id);
  /// The files that this program wrote since: one a document, until `put_file` or `forget_base`.
  Result<std::map<DocumentId, WrittenFile>> written();
  Result<void> put_written(const DocumentId& document, const WrittenFile& file);

  Result<std::map<DocumentId, PendingRow>> pending();
  Result<std::optional<PendingRow>> find_pending(const DocumentId& document);  ///< reads no more than that row
  Result<void> put_pending(const DocumentId& document, const PendingRow& row);
  Result<void> drop_pending(const DocumentId& document);
  Result<bool> has_pending_or_conflicts();

  /// What the service refused, with its state at that time: documents by their ids, new files by a key of their path
  /// (`survey/held_documents.hpp`).
  Result<std::map<std::string, std::string>> refused();
  Result<void> put_refused(const std::string& key, const std::string& mark);
  Result<void> drop_refused(const std::string& key);

  Result<InvalidPaths> invalid_paths();
  Result<void> put_invalid_path(const DocumentId& document, const std::string& path);
  Result<void> drop_invalid_path(const DocumentId& document);

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

  Result<sqlite::Transaction> begin();

  Operations operations() { return Operations(database_, operation_); }
  AttachmentStore attachments() { return AttachmentStore(database_); }

 private:
  explicit StateStore(sqlite::Database database) : database_(std::move(database)) {}
  Result<std::uint64_t> number(const char* key);
  Result<void> set_number(const char* key, std::uint64_t value);
  Result<void> bump_generation();

  sqlite::Database database_;
  OpenOperation operation_ = {};
  bool is_risen_ = false;  ///< the generation, in this transaction
};

}  // namespace ws::sync
