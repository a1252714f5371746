#include "sync-engine/state/state_format.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "api-client/base/files.hpp"

namespace ws::sync {
namespace {

/// Before the first release a tree of an older format is refused: what its folder holds is read by plain git, and the
/// tree is tied anew.
constexpr std::int64_t format = 23;

/// "WSst", in the header of the file: what `file` and a reader of a hex dump see.
constexpr std::int64_t application = 0x57537374;

constexpr const char* patience = "pragma busy_timeout = 5000";

// WAL: readers (`status`) and the one writer do not wait for each other. FULL: a transaction that returned is on disk.
// The journal of a large pull is not copied into the database again and again while it grows (40 MB; gone at the end).
constexpr const char* settings =
    "pragma journal_mode = wal; pragma synchronous = full; "
    "pragma wal_autocheckpoint = 10000";

// `entry` is this tree's own number of a note or file, never given again. A note has a document; a file has none, and
// is known by its path. `placed`: where it lies on disk, if not at `path`. `inode` and so on: which file on disk it
// was, when that was last looked at; `born` 0: not known.
constexpr const char* schema = R"(
  create table numbers (key text primary key, value integer not null) without rowid;
  create table words (key text primary key, value text not null) without rowid;
  create table base (entry integer primary key autoincrement, kind integer not null, document text unique,
                     path text not null, placed text, hash blob not null, bytes integer, revision integer, blob blob,
                     media text, asset text, inode integer, device integer, born integer,
                     stays integer not null default 0, left_out integer not null default 0);
  create index base_by_place on base (coalesce(placed, path));
  create unique index base_files on base (path) where kind = 1;
  create table written (document text primary key, path text not null, inode integer not null, device integer not null,
                     born integer not null, text blob not null) without rowid;
  create table pending (document text primary key, path text, hash blob, revision integer not null, blob blob not null,
                     author text not null, author_id text not null, changed_at integer not null) without rowid;
  create table refused (document text primary key, mark text not null) without rowid;
  create table misnamed (document text primary key, path text not null) without rowid;
  create table conflicts (id text primary key, value text not null) without rowid;
  create table file_conflicts (path text not null, decided_by integer not null, value text not null,
                     primary key (path, decided_by)) without rowid;
  create table steps (place integer primary key, kind integer not null, document text not null, path text not null,
                     previous_path text, seen blob, result blob, revision integer not null, base_path text,
                     base_hash blob, base_revision integer, base_blob blob, base_placed text,
                     base_stays integer not null, applies_remote integer not null, replaces text not null,
                     author text not null, author_id text not null, changed_at integer not null);
  create table staged (place integer primary key check (place = 1), value text not null);

  create table operations (id integer primary key, time integer not null, kind text not null, command text not null,
                     device text not null, undoes integer not null, flags integer not null, stage integer not null,
                     revision_before integer not null, revision_after integer not null);
  create table operation_rows (operation integer not null, place integer not null, document text not null,
                     way integer not null, before_path text, before_hash blob, before_revision integer,
                     before_blob blob, after_path text, after_hash blob, after_revision integer, after_blob blob,
                     primary key (operation, place)) without rowid;
  create table decided_texts (operation integer not null, document text not null, text blob not null,
                     conflict text not null, local_blob blob not null, archived_at integer not null, base_path text,
                     base_hash blob, base_revision integer, base_blob blob, base_placed text,
                     base_stays integer not null);
  create index decided_texts_by_operation on decided_texts (operation);
  create table file_steps (place integer primary key, operation integer not null, from_path text, to_path text,
                     seen blob, seen_blob blob not null, result blob, result_blob blob not null,
                     document text not null, side integer not null);
  create table undo_left (operation integer not null, path text not null, why text not null);

  create table list_parts (document text primary key, path text not null, revision integer not null,
                     hash blob not null, gone integer not null, due integer not null, rows text not null) without rowid;
  create table assets (hash blob primary key, bytes integer not null, media text not null, asset text not null)
                     without rowid;
  create table uploads (hash blob primary key, upload text not null, blob text not null) without rowid;
  create table failed (hash blob primary key, asset text not null, times integer not null, until integer not null,
                     kind integer not null, code text not null, what text not null, hint text not null) without rowid;
  create table wanted (path text primary key) without rowid;
  create table marks (target text primary key, is_foreign integer not null, note text not null, by text not null,
                     hash blob, told integer not null) without rowid;
  create table decisions (path text not null, hash blob not null, accepted integer not null,
                     primary key (path, hash)) without rowid;
  create table moments (place integer primary key, seconds integer not null, path text not null, how text not null,
                     bytes integer, hash blob, media text, asset text);
  create index moments_by_path on moments (path, place);
  pragma application_id = 1465086836;
)";
static_assert(application == 1465086836);

Failure not_ours(const std::filesystem::path& file) {
  return {.kind = Failure::Kind::disk,
          .what = fmt::format("{} is a database, but not one of ws", shown_path(file)),
          .hint = "move it away: a new one is made",
          .code = "foreign_database"};
}

Result<std::int64_t> read_integer(sqlite::Database& database, const char* sql) {
  WS_LET(sqlite::Statement read, database.prepare(sql));
  WS_TRY(read.step());
  return read.integer(0);
}

/// Checks before anything is written: a database of another program is not touched.
Result<std::int64_t> read_format(sqlite::Database& database, const std::filesystem::path& file) {
  WS_LET(const std::int64_t found, read_integer(database, "pragma user_version"));
  WS_LET(const std::int64_t whose, read_integer(database, "pragma application_id"));
  WS_LET(const std::int64_t objects, read_integer(database, "select count(*) from sqlite_schema"));
  WS_LET(const std::int64_t ours,
         read_integer(database,
                      "select count(*) from sqlite_schema where type = 'table' and "
                      "name in ('numbers', 'base')"));
  constexpr std::int64_t tables_of_every_format = 2;
  const bool is_new = found == 0 && objects == 0 && whose == 0;
  const bool is_ours = found > 0 && ours == tables_of_every_format && (whose == 0 || whose == application);
  const bool is_later = found > format && (whose == 0 || whose == application);  // refused by its number
  if (!is_new && !is_ours && !is_later) return fail(not_ours(file));
  return found;
}

Failure other_format(const std::filesystem::path& file, std::int64_t found) {
  if (found > format) {
    return {.kind = Failure::Kind::disk,
            .what = fmt::format("{} has format {}; this ws reads format {}", shown_path(file), found, format),
            .hint = "use the version of ws that wrote it",
            .code = "newer_format"};
  }
  return {
      .kind = Failure::Kind::disk,
      .what = fmt::format("{} was made by a version of ws before the first release", shown_path(file)),
      .hint = "run `ws sync init` there: it joins the same source again, every file stays, and the present .ws is kept",
      .code = "older_format"};
}

}  // namespace

Result<sqlite::Database> open_state(const std::filesystem::path& file) {
  WS_LET(sqlite::Database database, sqlite::Database::open(file.string(), sqlite::OpenMode::in_place));
  WS_TRY(database.execute(patience));
  WS_LET(const std::int64_t found, read_format(database, file));
  if (found != 0 && found != format) return fail(other_format(file, found));
  WS_TRY(database.execute(settings));
  if (found == 0) {
    WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    WS_TRY(database.execute(schema));
    WS_TRY(database.execute(fmt::format("pragma user_version = {}", format)));
    WS_TRY(transaction.commit());
  }
  return database;
}

}  // namespace ws::sync
