#include "sync-engine/state/state_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "api-client/base/files.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/state/codec.hpp"
#include "sync-engine/state/columns.hpp"
#include "sync-engine/state/state_format.hpp"

namespace ws::sync {
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
    failure.hint = "run the command again";
  }
  return fail(std::move(failure));
}

Result<std::uint64_t> StateStore::number(const char* key) {
  WS_LET(const sqlite::CachedStatement find, database_.cached("select value from numbers where key = ?"));
  find->bind(1, key);
  WS_LET(const bool found, find->step());
  return found ? static_cast<std::uint64_t>(find->integer(0)) : 0;
}

Result<void> StateStore::set_number(const char* key, std::uint64_t value) {
  // Writes only another value: a run without changes does not touch the file.
  WS_LET(const sqlite::CachedStatement put,
         database_.cached("insert into numbers values (?, ?) on conflict do update set value = excluded.value where "
                          "value <> excluded.value"));
  put->bind_all(key, static_cast<std::int64_t>(value));
  return put->run();
}

Result<void> StateStore::bump_generation() {
  WS_LET(const sqlite::CachedStatement bump,
         database_.cached("insert into numbers values ('generation', 1) on conflict do update set value = value + 1"));
  return bump->run();
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
  WS_LET(const sqlite::CachedStatement count, database_.cached("select count(*) from base"));
  WS_TRY(count->step());
  return static_cast<std::size_t>(count->integer(0));
}

Result<bool> StateStore::is_remade() {
  WS_LET(const std::uint64_t remade, number("remade"));
  return remade != 0;
}
Result<void> StateStore::set_remade(bool remade) { return set_number("remade", remade ? 1 : 0); }

namespace {

/// The columns document, path, hash, revision, blob, placed, stays of a statement that stands on a row.
Result<KnownDocument> known_document(const sqlite::Statement& row) {
  WS_LET(RelativePath path, RelativePath::parse(row.text(1)));
  KnownDocument known{.document = {row.string(0)},
                      .row = {.entry = {.path = std::move(path),
                                        .hash = hash_of(row.blob(2)),
                                        .revision = {static_cast<std::uint64_t>(row.integer(3))}},
                              .blob = object_of(row.blob(4)),
                              .document_follows_file = row.integer(6) != 0}};
  if (!row.is_null(5)) {
    WS_LET(known.row.displaced_to, RelativePath::parse(row.text(5)));
  }
  return known;
}

}  // namespace

Result<std::map<DocumentId, BaseRow>> StateStore::base() {
  WS_LET(const sqlite::CachedStatement all,
         database_.cached("select document, path, hash, revision, blob, placed, stays from base"));
  std::map<DocumentId, BaseRow> rows;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return rows;
    WS_LET(KnownDocument known, known_document(*all));
    rows.emplace_hint(rows.end(), std::move(known.document), std::move(known.row));
  }
}

Result<std::optional<KnownDocument>> StateStore::find_base(const RelativePath& file) {
  WS_LET(const sqlite::CachedStatement find,
         database_.cached("select document, path, hash, revision, blob, placed, stays from base "
                          "where coalesce(placed, path) = ?"));
  find->bind(1, file.string());
  WS_LET(const bool found, find->step());
  if (!found) return std::optional<KnownDocument>{};
  WS_LET(KnownDocument known, known_document(*find));
  return std::optional<KnownDocument>(std::move(known));
}

Result<std::optional<std::unordered_map<std::string, BaseFile>>> StateStore::base_files() {
  using Files = std::unordered_map<std::string, BaseFile>;
  WS_LET(const sqlite::CachedStatement all,
         database_.cached("select document, path, hash, placed is null and stays = 0 from base"));
  std::optional<Files> files{std::in_place};
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return files;
    BaseFile file{.document = {all->string(0)}, .hash = hash_of(all->blob(2))};
    const bool in_place = all->integer(3) != 0 && files->emplace(all->string(1), std::move(file)).second;
    if (!in_place) return std::optional<Files>{};
  }
}

Result<sqlite::Transaction> StateStore::begin() {
  operation_.is_noted = false;
  return sqlite::Transaction::begin(database_);
}

Result<void> StateStore::put_base(const DocumentId& document, const BaseRow& row, ChangeOrigin origin) {
  WS_TRY(operations().record_base(document, &row, origin));
  WS_LET(const sqlite::CachedStatement put,
         database_.cached("insert or replace into base values (?, ?, ?, ?, ?, ?, ?)"));
  put->bind(1, document.text);
  put->bind(2, row.entry.path.string());
  put->bind_blob(3, bytes_of(row.entry.hash));
  put->bind(4, static_cast<std::int64_t>(row.entry.revision.number));
  put->bind_blob(5, bytes_of(row.blob));
  put->bind(6, row.displaced_to ? std::optional<std::string>(row.displaced_to->string()) : std::nullopt);
  put->bind(7, static_cast<std::int64_t>(row.document_follows_file ? 1 : 0));
  WS_TRY(put->run());
  return bump_generation();
}

Result<void> StateStore::forget_base(const DocumentId& document, ChangeOrigin origin) {
  WS_TRY(operations().record_base(document, nullptr, origin));
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from base where document = ?"));
  drop->bind(1, document.text);
  WS_TRY(drop->run());
  WS_LET(const sqlite::CachedStatement drop_file, database_.cached("delete from files where document = ?"));
  drop_file->bind(1, document.text);
  WS_TRY(drop_file->run());
  return bump_generation();
}

Result<std::map<DocumentId, FileId>> StateStore::files() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select document, inode, device, born from files"));
  std::map<DocumentId, FileId> files;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return files;
    files.emplace_hint(files.end(),
                       DocumentId{all->string(0)},
                       FileId{.inode = static_cast<std::uint64_t>(all->integer(1)),
                              .device = static_cast<std::uint64_t>(all->integer(2)),
                              .born_ns = all->integer(3)});
  }
}

Result<std::optional<FileId>> StateStore::find_file(const DocumentId& document) {
  WS_LET(const sqlite::CachedStatement find,
         database_.cached("select inode, device, born from files where document = ?"));
  find->bind(1, document.text);
  WS_LET(const bool found, find->step());
  if (!found) return std::optional<FileId>{};
  return std::optional(FileId{.inode = static_cast<std::uint64_t>(find->integer(0)),
                              .device = static_cast<std::uint64_t>(find->integer(1)),
                              .born_ns = find->integer(2)});
}

Result<void> StateStore::put_files(const std::map<DocumentId, FileId>& files) {
  WS_LET(const auto known, this->files());
  WS_LET(sqlite::Transaction transaction, begin());
  for (const auto& [document, id] : files) {
    const auto old = known.find(document);
    if (old != known.end() && old->second == id) continue;
    WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into files values (?, ?, ?, ?)"));
    put->bind_all(document.text, static_cast<std::int64_t>(id.inode), static_cast<std::int64_t>(id.device), id.born_ns);
    WS_TRY(put->run());
  }
  return transaction.commit();
}

Result<std::map<DocumentId, PendingRow>> StateStore::pending() {
  WS_LET(const sqlite::CachedStatement all,
         database_.cached("select document, path, hash, revision, blob, author, author_id, changed_at from pending"));
  std::map<DocumentId, PendingRow> rows;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return rows;
    PendingRow row{
        .revision = {static_cast<std::uint64_t>(all->integer(3))},
        .blob = object_of(all->blob(4)),
        .author = {
            .name = all->string(5), .id = all->string(6), .time = Time(std::chrono::milliseconds(all->integer(7)))}};
    if (!all->is_null(1)) {
      WS_LET(RelativePath path, RelativePath::parse(all->text(1)));
      row.entry = Entry{.path = std::move(path), .hash = hash_of(all->blob(2)), .revision = row.revision};
    }
    rows.emplace_hint(rows.end(), DocumentId{all->string(0)}, std::move(row));
  }
}

Result<void> StateStore::put_pending(const DocumentId& document, const PendingRow& row) {
  WS_LET(const sqlite::CachedStatement put,
         database_.cached("insert or replace into pending values (?, ?, ?, ?, ?, ?, ?, ?)"));
  put->bind(1, document.text);
  put->bind(2, row.entry ? std::optional<std::string>(row.entry->path.string()) : std::nullopt);
  if (row.entry) {
    put->bind_blob(3, bytes_of(row.entry->hash));
  } else {
    put->bind(3, nullptr);
  }
  put->bind(4, static_cast<std::int64_t>(row.revision.number));
  put->bind_blob(5, bytes_of(row.blob));
  put->bind(6, row.author.name);
  put->bind(7, row.author.id);
  put->bind(8, static_cast<std::int64_t>(row.author.time.time_since_epoch().count()));
  return put->run();
}

Result<void> StateStore::drop_pending(const DocumentId& document) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from pending where document = ?"));
  drop->bind(1, document.text);
  return drop->run();
}

Result<bool> StateStore::has_pending_or_conflicts() {
  WS_LET(const sqlite::CachedStatement any,
         database_.cached("select exists (select 1 from pending) or exists (select 1 from conflicts) or "
                          "exists (select 1 from steps) or exists (select 1 from staged)"));
  WS_TRY(any->step());
  return any->integer(0) != 0;
}

Result<std::map<DocumentId, std::string>> StateStore::refused() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select document, mark from refused"));
  std::map<DocumentId, std::string> marks;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return marks;
    marks.emplace_hint(marks.end(), DocumentId{all->string(0)}, all->string(1));
  }
}

Result<void> StateStore::put_refused(const DocumentId& document, const std::string& mark) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into refused values (?, ?)"));
  put->bind_all(document.text, mark);
  return put->run();
}

Result<void> StateStore::drop_refused(const DocumentId& document) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from refused where document = ?"));
  drop->bind(1, document.text);
  return drop->run();
}

Result<InvalidPaths> StateStore::invalid_paths() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select document, path from misnamed order by document"));
  InvalidPaths invalid_paths;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return invalid_paths;
    invalid_paths.emplace_hint(invalid_paths.end(), DocumentId{all->string(0)}, all->string(1));
  }
}

Result<void> StateStore::put_invalid_path(const DocumentId& document, const std::string& path) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into misnamed values (?, ?)"));
  put->bind_all(document.text, path);
  return put->run();
}

Result<void> StateStore::drop_invalid_path(const DocumentId& document) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from misnamed where document = ?"));
  drop->bind(1, document.text);
  return drop->run();
}

Result<std::vector<Conflict>> StateStore::conflicts() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select value from conflicts order by id"));
  std::vector<Conflict> conflicts;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return conflicts;
    WS_LET(Conflict conflict, decode_conflict(all->text(0)));
    conflicts.push_back(std::move(conflict));
  }
}

Result<std::optional<Conflict>> StateStore::find_conflict(const std::string& id) {
  WS_LET(const sqlite::CachedStatement one, database_.cached("select value from conflicts where id = ?"));
  one->bind(1, id);
  WS_LET(const bool found, one->step());
  if (!found || id.empty()) return std::nullopt;
  WS_LET(Conflict conflict, decode_conflict(one->text(0)));
  return conflict;
}

Result<void> StateStore::put_conflict(const Conflict& conflict) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into conflicts values (?, ?)"));
  put->bind_all(conflict.id, encode(conflict));
  return put->run();
}

Result<void> StateStore::drop_conflict(const std::string& id) {
  WS_LET(const sqlite::CachedStatement drop, database_.cached("delete from conflicts where id = ?"));
  drop->bind(1, id);
  return drop->run();
}

Result<void> StateStore::put_step(const JournalStep& step) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert into steps (value) values (?)"));
  put->bind(1, encode(step));
  return put->run();
}

Result<std::vector<JournalStep>> StateStore::steps() {
  WS_LET(const sqlite::CachedStatement all, database_.cached("select value from steps order by place"));
  std::vector<JournalStep> steps;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return steps;
    WS_LET(JournalStep step, decode_step(all->text(0)));
    steps.push_back(std::move(step));
  }
}

// With a condition: without one SQLite writes the root page of an empty table, and a run that does nothing would write.
Result<void> StateStore::clear_steps() { return database_.execute("delete from steps where place is not null"); }

Result<void> StateStore::put_staged(const StagedCommit& staged) {
  WS_LET(const sqlite::CachedStatement put, database_.cached("insert or replace into staged values (1, ?)"));
  put->bind(1, encode(staged));
  return put->run();
}

Result<std::optional<StagedCommit>> StateStore::staged() {
  WS_LET(const sqlite::CachedStatement find, database_.cached("select value from staged"));
  WS_LET(const bool found, find->step());
  if (!found) return std::optional<StagedCommit>{};
  WS_LET(StagedCommit staged, decode_staged(find->text(0)));
  return std::optional<StagedCommit>(std::move(staged));
}

Result<void> StateStore::clear_staged() { return database_.execute("delete from staged where place is not null"); }

}  // namespace ws::sync
