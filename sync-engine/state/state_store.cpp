#include "sync-engine/state/state_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "api-client/base/files.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/state/codec.hpp"
#include "sync-engine/state/columns.hpp"
#include "sync-engine/state/state_format.hpp"

namespace ws::sync {
namespace {

/// The columns document, path, hash, revision, blob, placed, stays, left_out.
Result<KnownDocument> known_document(const sqlite::Statement& row) {
  WS_LET(RelativePath path, RelativePath::parse(row.text(1)));
  KnownDocument known{
      .document = DocumentId(row.text(0)),
      .row = {.entry = {.path = std::move(path), .hash = hash_of(row.blob(2)), .revision = {number_at(row, 3)}},
              .blob = object_of(row.blob(4)),
              .document_follows_file = row.integer(6) != 0,
              .left_out = row.integer(7) != 0}};
  if (!row.is_null(5)) {
    WS_LET(known.row.displaced_to, RelativePath::parse(row.text(5)));
  }
  return known;
}

/// The columns inode, device, born.
Result<FileId> read_file_id(const sqlite::Statement& row) {
  return FileId{.inode = number_at(row, 0), .device = number_at(row, 1), .born_ns = row.integer(2)};
}

Result<Conflict> read_stored_conflict(const sqlite::Statement& row) { return decode_conflict(row.text(0)); }

Result<std::optional<RelativePath>> path_at(const sqlite::Statement& row, int column) {
  if (row.is_null(column)) return std::optional<RelativePath>{};
  WS_LET(RelativePath path, RelativePath::parse(row.text(column)));
  return std::optional(std::move(path));
}

std::optional<Sha256> hash_at(const sqlite::Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(hash_of(row.blob(column)));
}

/// The columns of `steps`, from kind on.
Result<JournalStep> read_journal_step(const sqlite::Statement& row) {
  WS_LET(RelativePath path, RelativePath::parse(row.text(2)));
  JournalStep step{.action = {.kind = static_cast<ActionKind>(row.integer(0)), .path = std::move(path)},
                   .applies_remote = row.integer(13) != 0,
                   .replaces = DocumentId(row.text(14)),
                   .author = {.name = row.string(15), .id = row.string(16), .time = time_at(row, 17)}};
  step.action.document = DocumentId(row.text(1));
  WS_LET(step.action.previous_path, path_at(row, 3));
  step.action.seen = hash_at(row, 4);
  step.action.result = hash_at(row, 5);
  step.action.revision = {number_at(row, 6)};
  if (row.is_null(7)) return step;
  WS_LET(RelativePath at, RelativePath::parse(row.text(7)));
  step.base = BaseRow{.entry = {.path = std::move(at), .hash = hash_of(row.blob(8)), .revision = {number_at(row, 9)}},
                      .blob = object_of(row.blob(10)),
                      .document_follows_file = row.integer(12) != 0};
  WS_LET(step.base->displaced_to, path_at(row, 11));
  return step;
}

Result<StagedCommit> read_staged(const sqlite::Statement& row) { return decode_staged(row.text(0)); }

/// Two columns: a key and a text about it.
template <class Key>
Result<std::map<Key, std::string>> texts_by(sqlite::Database& database, const char* sql) {
  std::map<Key, std::string> texts;
  WS_TRY(each_row(database, sql, [&](const sqlite::Statement& row) -> Result<void> {
    texts.emplace_hint(texts.end(), Key(row.text(0)), row.string(1));
    return {};
  }));
  return texts;
}

}  // namespace

void BaseRow::set_disk_path(const RelativePath& file) {
  const bool at_home = same_name(file, entry.path);
  if (at_home) entry.path = file;
  displaced_to = at_home ? std::nullopt : std::optional(file);
}

Result<StateStore> StateStore::open(const std::filesystem::path& file) {
  auto database = open_state(file);
  if (database) return StateStore(std::move(*database));
  Failure failure = std::move(database).error();
  // SQLite locks the files exclusively for a moment when a process opens or closes them, outside the tree's lock. A
  // process that was stopped in that moment keeps the lock.
  if (failure.code == "database_busy") {
    failure.code = "tree_locked";
    failure.what = fmt::format("another ws is running in {}",
                               std::filesystem::path(shown_path(file)).parent_path().parent_path().string());
    failure.hint = "run the same command again";
  }
  return fail(std::move(failure));
}

Result<std::uint64_t> StateStore::number(const char* key) {
  WS_LET(const std::int64_t found, integer_of(database_, "select value from numbers where key = ?", key));
  return static_cast<std::uint64_t>(found);
}

Result<void> StateStore::set_number(const char* key, std::uint64_t value) {
  // Writes only another value: a run without changes does not touch the file.
  return run_sql(database_,
                 "insert into numbers values (?, ?) on conflict do update set value = excluded.value where "
                 "value <> excluded.value",
                 key,
                 value);
}

Result<void> StateStore::bump_generation() {
  if (database_.is_in_transaction() && std::exchange(is_risen_, true)) return {};
  return run_sql(database_, "insert into numbers values ('generation', 1) on conflict do update set value = value + 1");
}

Result<std::uint64_t> StateStore::generation() { return number("generation"); }
Result<SourceRevision> StateStore::source_revision() {
  WS_LET(const std::uint64_t known, number("source_revision"));
  return SourceRevision{known};
}
Result<void> StateStore::set_source_revision(SourceRevision revision) {
  return set_number("source_revision", revision.number);
}

Result<std::size_t> StateStore::base_count() {
  WS_LET(const std::int64_t count, integer_of(database_, "select count(*) from base where kind = 0 and left_out = 0"));
  return static_cast<std::size_t>(count);
}

Result<bool> StateStore::is_base_empty() {
  WS_LET(const std::int64_t any, integer_of(database_, "select exists (select 1 from base)"));
  return any == 0;
}

Result<bool> StateStore::is_remade() {
  WS_LET(const std::uint64_t remade, number("remade"));
  return remade != 0;
}
Result<void> StateStore::set_remade(bool remade) { return set_number("remade", remade ? 1 : 0); }

Result<std::map<DocumentId, BaseRow>> StateStore::base() {
  std::map<DocumentId, BaseRow> rows;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(KnownDocument known, known_document(row));
    rows.emplace_hint(rows.end(), known.document, std::move(known.row));
    return {};
  };
  WS_TRY(each_row(
      database_,
      "select document, path, hash, revision, blob, placed, stays, left_out from base where kind = 0 order by document",
      add));
  return rows;
}

Result<std::optional<KnownDocument>> StateStore::find_base(const RelativePath& file) {
  return find_row(database_,
                  "select document, path, hash, revision, blob, placed, stays, left_out from base "
                  "where coalesce(placed, path) = ? and kind = 0",
                  known_document,
                  file);
}

Result<std::optional<BaseRow>> StateStore::find_base(const DocumentId& document) {
  WS_LET(auto known,
         find_row(database_,
                  "select document, path, hash, revision, blob, placed, stays, left_out from base "
                  "where document = ? and kind = 0",
                  known_document,
                  document));
  return known ? std::optional(std::move(known->row)) : std::nullopt;
}

Result<std::optional<std::unordered_map<std::string, BaseFile>>> StateStore::base_files() {
  using Files = std::unordered_map<std::string, BaseFile>;
  WS_LET(const sqlite::CachedStatement all,
         database_.cached(
             "select document, path, hash, placed is null and stays = 0 and left_out = 0 from base where kind = 0"));
  std::optional<Files> files{std::in_place};
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return files;
    BaseFile file{.document = DocumentId(all->text(0)), .hash = hash_of(all->blob(2))};
    const bool in_place = all->integer(3) != 0 && files->emplace(all->string(1), file).second;
    if (!in_place) return std::optional<Files>{};
  }
}

Result<sqlite::Transaction> StateStore::begin() {
  operation_.is_noted = false;
  is_risen_ = false;
  return sqlite::Transaction::begin(database_);
}

Result<void> StateStore::put_base(const DocumentId& document,
                                  const BaseRow& row,
                                  ChangeOrigin origin,
                                  const std::optional<FileId>& file) {
  WS_TRY(operations().record_base(document, &row, origin));
  WS_TRY(run_sql(
      database_,
      "insert into base (kind, document, path, hash, revision, blob, placed, stays, inode, device, born) "
      "values (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "on conflict (document) do update set path = excluded.path, hash = excluded.hash, revision = excluded.revision, "
      "blob = excluded.blob, placed = excluded.placed, stays = excluded.stays, left_out = 0, "
      "inode = coalesce(excluded.inode, inode), device = coalesce(excluded.device, device), "
      "born = coalesce(excluded.born, born)",
      document,
      row.entry.path,
      row.entry.hash,
      row.entry.revision,
      row.blob,
      row.displaced_to,
      row.document_follows_file,
      file));
  if (file) WS_TRY(run_sql(database_, "delete from written where document = ?", document));
  return bump_generation();
}

Result<void> StateStore::forget_base(const DocumentId& document, ChangeOrigin origin) {
  WS_TRY(operations().record_base(document, nullptr, origin));
  WS_TRY(run_sql(database_, "delete from base where document = ?", document));
  WS_TRY(run_sql(database_, "delete from written where document = ?", document));
  return bump_generation();
}

Result<void> StateStore::set_left_out(const DocumentId& document, bool left_out) {
  return run_sql(database_, "update base set left_out = ? where document = ?", left_out, document);
}

Result<std::map<DocumentId, FileId>> StateStore::files() {
  std::map<DocumentId, FileId> files;
  WS_TRY(
      each_file([&](const DocumentId& document, const FileId& id) { files.emplace_hint(files.end(), document, id); }));
  return files;
}

Result<void> StateStore::each_file(const std::function<void(const DocumentId&, const FileId&)>& visit) {
  return each_row(
      database_,
      "select inode, device, born, document from base where kind = 0 and inode is not null order by document",
      [&](const sqlite::Statement& row) -> Result<void> {
        WS_LET(const FileId id, read_file_id(row));
        visit(DocumentId(row.text(3)), id);
        return {};
      });
}

Result<std::optional<FileId>> StateStore::find_file(const DocumentId& document) {
  return find_row(database_,
                  "select inode, device, born from base where document = ? and inode is not null",
                  read_file_id,
                  document);
}

Result<void> StateStore::put_files(const std::map<DocumentId, FileId>& files) {
  WS_LET(sqlite::Transaction transaction, begin());
  for (const auto& [document, id] : files) WS_TRY(put_file(document, id));
  return transaction.commit();
}

Result<void> StateStore::put_file(const DocumentId& document, const FileId& id) {
  WS_TRY(run_sql(database_, "update base set inode = ?, device = ?, born = ? where document = ?", id, document));
  return run_sql(database_, "delete from written where document = ?", document);
}

Result<std::map<DocumentId, WrittenFile>> StateStore::written() {
  std::map<DocumentId, WrittenFile> files;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(const FileId id, read_file_id(row));
    WS_LET(RelativePath path, RelativePath::parse(row.text(4)));
    files.emplace_hint(files.end(),
                       DocumentId(row.text(3)),
                       WrittenFile{.path = std::move(path), .id = id, .text = hash_of(row.blob(5))});
    return {};
  };
  WS_TRY(each_row(database_, "select inode, device, born, document, path, text from written order by document", add));
  return files;
}

Result<void> StateStore::put_written(const DocumentId& document, const WrittenFile& file) {
  return run_sql(
      database_, "insert or replace into written values (?, ?, ?, ?, ?, ?)", document, file.path, file.id, file.text);
}

namespace {

struct KnownPending {
  DocumentId document;
  PendingRow row = {};
};

Result<KnownPending> known_pending(const sqlite::Statement& row) {
  KnownPending known{.document = DocumentId(row.text(0)),
                     .row = {.revision = {number_at(row, 3)},
                             .blob = object_of(row.blob(4)),
                             .author = {.name = row.string(5), .id = row.string(6), .time = time_at(row, 7)}}};
  if (row.is_null(1)) return known;
  WS_LET(RelativePath path, RelativePath::parse(row.text(1)));
  known.row.entry = Entry{.path = std::move(path), .hash = hash_of(row.blob(2)), .revision = known.row.revision};
  return known;
}

}  // namespace

Result<std::map<DocumentId, PendingRow>> StateStore::pending() {
  std::map<DocumentId, PendingRow> rows;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(KnownPending known, known_pending(row));
    rows.emplace_hint(rows.end(), known.document, std::move(known.row));
    return {};
  };
  WS_TRY(each_row(
      database_, "select document, path, hash, revision, blob, author, author_id, changed_at from pending", add));
  return rows;
}

Result<std::optional<PendingRow>> StateStore::find_pending(const DocumentId& document) {
  WS_LET(auto known,
         find_row(database_,
                  "select document, path, hash, revision, blob, author, author_id, changed_at from pending "
                  "where document = ?",
                  known_pending,
                  document));
  return known ? std::optional(std::move(known->row)) : std::nullopt;
}

Result<void> StateStore::put_pending(const DocumentId& document, const PendingRow& row) {
  return run_sql(database_,
                 "insert or replace into pending values (?, ?, ?, ?, ?, ?, ?, ?)",
                 document,
                 row.entry ? &row.entry->path : nullptr,
                 row.entry ? &row.entry->hash : nullptr,
                 row.revision,
                 row.blob,
                 row.author.name,
                 row.author.id,
                 row.author.time);
}

Result<void> StateStore::drop_pending(const DocumentId& document) {
  return run_sql(database_, "delete from pending where document = ?", document);
}

Result<bool> StateStore::has_pending_or_conflicts() {
  WS_LET(const std::int64_t any,
         integer_of(database_,
                    "select exists (select 1 from pending) or exists (select 1 from conflicts) or "
                    "exists (select 1 from steps) or exists (select 1 from staged)"));
  return any != 0;
}

Result<std::map<std::string, std::string>> StateStore::refused() {
  return texts_by<std::string>(database_, "select document, mark from refused");
}

Result<void> StateStore::put_refused(const std::string& key, const std::string& mark) {
  return run_sql(database_, "insert or replace into refused values (?, ?)", key, mark);
}

Result<void> StateStore::drop_refused(const std::string& key) {
  return run_sql(database_, "delete from refused where document = ?", key);
}

Result<InvalidPaths> StateStore::invalid_paths() {
  return texts_by<DocumentId>(database_, "select document, path from misnamed order by document");
}

Result<void> StateStore::put_invalid_path(const DocumentId& document, const std::string& path) {
  return run_sql(database_, "insert or replace into misnamed values (?, ?)", document, path);
}

Result<void> StateStore::drop_invalid_path(const DocumentId& document) {
  return run_sql(database_, "delete from misnamed where document = ?", document);
}

Result<std::vector<Conflict>> StateStore::conflicts() {
  return all_rows(database_, "select value from conflicts order by id", read_stored_conflict);
}

Result<std::optional<Conflict>> StateStore::find_conflict(const std::string& id) {
  if (id.empty()) return std::nullopt;
  return find_row(database_, "select value from conflicts where id = ?", read_stored_conflict, id);
}

Result<void> StateStore::put_conflict(const Conflict& conflict) {
  return run_sql(database_, "insert or replace into conflicts values (?, ?)", conflict.id, encode(conflict));
}

Result<void> StateStore::drop_conflict(const std::string& id) {
  return run_sql(database_, "delete from conflicts where id = ?", id);
}

Result<void> StateStore::put_step(const JournalStep& step) {
  // Whichever command ends it, it is this operation's.
  WS_TRY(operations().begin_record());
  const Action& action = step.action;
  const auto base = step.base ? std::optional(Version{.path = step.base->entry.path,
                                                      .hash = step.base->entry.hash,
                                                      .revision = step.base->entry.revision,
                                                      .blob = step.base->blob})
                              : std::nullopt;
  return run_sql(
      database_,
      "insert into steps (kind, document, path, previous_path, seen, result, revision, base_path, base_hash, "
      "base_revision, base_blob, base_placed, base_stays, applies_remote, replaces, author, author_id, "
      "changed_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      action.kind,
      action.document,
      action.path,
      action.previous_path,
      action.seen,
      action.result,
      action.revision,
      base,
      step.base ? step.base->displaced_to : std::nullopt,
      step.base && step.base->document_follows_file,
      step.applies_remote,
      step.replaces,
      step.author.name,
      step.author.id,
      step.author.time);
}

Result<std::vector<JournalStep>> StateStore::steps() {
  return all_rows(database_,
                  "select kind, document, path, previous_path, seen, result, revision, base_path, base_hash, "
                  "base_revision, base_blob, base_placed, base_stays, applies_remote, replaces, author, author_id, "
                  "changed_at from steps order by place",
                  read_journal_step);
}

// With a condition: without one SQLite writes the root page of an empty table, and a run that does nothing would write.
Result<void> StateStore::clear_steps() { return database_.execute("delete from steps where place is not null"); }

Result<void> StateStore::put_staged(const StagedCommit& staged) {
  return run_sql(database_, "insert or replace into staged values (1, ?)", encode(staged));
}

Result<std::optional<StagedCommit>> StateStore::staged() {
  return find_row(database_, "select value from staged", read_staged);
}

Result<void> StateStore::clear_staged() { return database_.execute("delete from staged where place is not null"); }

}  // namespace ws::sync
