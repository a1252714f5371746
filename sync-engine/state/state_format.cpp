#include "sync-engine/state/state_format.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api-client/base/files.hpp"
#include "sync-engine/state/codec.hpp"

namespace ws::sync {
namespace {

constexpr std::int64_t format = 12;

/// "WSst", in the header of the file: what `file` and a reader of a hex dump see. Databases of earlier versions have 0.
constexpr std::int64_t application = 0x57537374;

constexpr const char* patience = "pragma busy_timeout = 5000";

// WAL: readers (`status`) and the one writer do not wait for each other. FULL: a transaction that returned is on disk.
// The journal of a large pull is not copied into the database again and again while it grows (40 MB; gone at the end).
constexpr const char* settings =
    "pragma journal_mode = wal; pragma synchronous = full; "
    "pragma wal_autocheckpoint = 10000";

// With what formats 3 to 9 and 11 added, below: a new database gets that too.
constexpr const char* schema = R"(
  create table numbers (key text primary key, value integer not null) without rowid;
  create table base (document text primary key, path text not null, hash blob not null, revision integer not null,
                     blob blob not null, placed text, stays integer not null default 0) without rowid;
  create table files (document text primary key, inode integer not null, device integer not null,
                     born integer not null default 0) without rowid;
  create table pending (document text primary key, path text, hash blob, revision integer not null, blob blob not null,
                     author text not null default '', author_id text not null default '',
                     changed_at integer not null default 0) without rowid;
  create table conflicts (id text primary key, value text not null) without rowid;
  create table steps (place integer primary key, value text not null);
  create table staged (place integer primary key check (place = 1), value text not null);
  pragma application_id = 1465086836;
)";
static_assert(application == 1465086836);

// Format 1 had no displaced files and no inode numbers.
constexpr const char* from_format_1 = R"(
  alter table base add column placed text;
  create table files (document text primary key, inode integer not null, device integer not null) without rowid;
)";

// Format 2 did not record that a document follows its displaced file.
constexpr const char* from_format_2 = R"(
  alter table base add column stays integer not null default 0;
)";

// Format 3 did not record refused documents.
constexpr const char* from_format_3 = R"(
  create table refused (document text primary key, mark text not null) without rowid;
)";

// Format 4 had no index from a path to its document.
constexpr const char* from_format_4 = R"(
  create index base_by_file on base (coalesce(placed, path));
)";

// Format 5 did not record documents with invalid paths.
constexpr const char* from_format_5 = R"(
  create table misnamed (document text primary key, path text not null) without rowid;
)";

// Format 6 had inode numbers without birth times. 0: not known, until a run sees the file again.
constexpr const char* from_format_6 = R"(
  alter table files add column born integer not null default 0;
)";

// Format 7 had no operations.
constexpr const char* from_format_7 = R"(
  create table operations (id integer primary key, time integer not null, kind text not null, command text not null,
                     undoes integer not null, flags integer not null, stage integer not null,
                     revision_before integer not null, revision_after integer not null);
  create table operation_rows (operation integer not null, place integer not null, document text not null,
                     way integer not null, before_path text, before_hash blob, before_revision integer,
                     before_blob blob, after_path text, after_hash blob, after_revision integer, after_blob blob,
                     primary key (operation, place)) without rowid;
  create table undo_steps (place integer primary key, operation integer not null, from_path text, to_path text,
                     seen blob, seen_blob blob not null, result blob, result_blob blob not null);
)";

// Format 8 did not record the authors of remote changes.
constexpr const char* from_format_8 = R"(
  alter table pending add column author text not null default '';
  alter table pending add column author_id text not null default '';
  alter table pending add column changed_at integer not null default 0;
)";

// Format 9 did not record what an interrupted undo had left out.
constexpr const char* from_format_9 = R"(
  create table undo_left (operation integer not null, path text not null, why text not null);
)";

// Format 11 did not record that a document was out of sight, nor which documents the files are of that ws itself wrote.
constexpr const char* from_format_11 = R"(
  alter table base add column left_out integer not null default 0;
  create table written (document text primary key, path text not null, inode integer not null, device integer not null,
                     born integer not null, text blob not null) without rowid;
  alter table undo_steps add column document text not null default '';
  pragma user_version = 12;
)";

/// Decodes each value of a table and encodes it in the present format. A value that cannot be decoded is left as it is:
/// its next reader fails with `integrity`.
template <class Decode>
Result<void> rewrite_values(sqlite::Database& database,
                            const std::string& table,
                            const std::string& key,
                            Decode decode) {
  std::vector<std::pair<std::string, std::string>> rewritten;
  WS_LET(sqlite::Statement all, database.prepare("select " + key + ", value from " + table));
  for (;;) {
    WS_LET(const bool found, all.step());
    if (!found) break;
    if (const auto value = decode(all.text(1))) rewritten.emplace_back(all.string(0), encode(*value));
  }
  WS_LET(sqlite::Statement put, database.prepare("update " + table + " set value = ? where " + key + " = ?"));
  for (const auto& [place, value] : rewritten) WS_TRY(put.bind_all(value, place).run());
  return {};
}

/// Format 10 stored kind and flags of a conflict, from which its case was derived at each use.
Result<void> from_format_10(sqlite::Database& database) {
  WS_TRY(rewrite_values(database, "conflicts", "id", decode_conflict));
  return rewrite_values(database, "staged", "place", decode_staged);
}

/// Format 11 held names that are refused by now.
Result<void> drop_refused_paths(sqlite::Database& database) {
  // What the service has at such a path is listed as misnamed.
  constexpr std::pair<const char*, const char*> documents[] = {
      {"base", "path"}, {"base", "placed"}, {"pending", "path"}};
  for (const auto& [table, column] : documents) {
    WS_LET(const std::vector<std::string> refused, refused_paths(database, table, column));
    for (const std::string& path : refused) {
      WS_LET(sqlite::Statement note,
             database.prepare(fmt::format(
                 "insert or replace into misnamed select document, {0} from {1} where {0} = ?", column, table)));
      WS_TRY(note.bind_all(path).run());
    }
    WS_TRY(drop_paths(database, table, column, refused));
  }
  constexpr std::pair<const char*, const char*> others[] = {
      {"operation_rows", "before_path"}, {"operation_rows", "after_path"}, {"undo_left", "path"}};
  for (const auto& [table, column] : others) {
    WS_LET(const std::vector<std::string> refused, refused_paths(database, table, column));
    WS_TRY(drop_paths(database, table, column, refused));
  }
  return {};
}

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

}  // namespace

Result<std::vector<std::string>> refused_paths(sqlite::Database& database, const char* table, const char* column) {
  std::vector<std::string> refused;
  WS_LET(sqlite::Statement all,
         database.prepare(fmt::format("select distinct {0} from {1} where {0} is not null", column, table)));
  while (true) {
    WS_LET(const bool found, all.step());
    if (!found) return refused;
    if (!RelativePath::parse(all.text(0))) refused.push_back(all.string(0));
  }
}

Result<void> drop_paths(sqlite::Database& database,
                        const char* table,
                        const char* column,
                        const std::vector<std::string>& paths) {
  WS_LET(sqlite::Statement drop, database.prepare(fmt::format("delete from {} where {} = ?", table, column)));
  for (const std::string& path : paths) WS_TRY(drop.bind_all(path).run());
  return {};
}

Failure newer_format(const std::filesystem::path& file, std::int64_t found, std::int64_t known) {
  return {.kind = Failure::Kind::disk,
          .what = fmt::format("{} has format {}, this version knows {}", shown_path(file), found, known),
          .hint = "use the version of ws that wrote it",
          .code = "newer_format"};
}

Result<sqlite::Database> open_state(const std::filesystem::path& file) {
  WS_LET(sqlite::Database database, sqlite::Database::open(file.string(), sqlite::OpenMode::in_place));
  WS_TRY(database.execute(patience));
  WS_LET(const std::int64_t found, read_format(database, file));
  if (found > format) return fail(newer_format(file, found, format));
  WS_TRY(database.execute(settings));
  if (found < format) {
    WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    if (found == 0) WS_TRY(database.execute(schema));
    if (found == 1) WS_TRY(database.execute(from_format_1));
    if (found == 1 || found == 2) WS_TRY(database.execute(from_format_2));
    if (found <= 3) WS_TRY(database.execute(from_format_3));
    if (found <= 4) WS_TRY(database.execute(from_format_4));
    if (found <= 5) WS_TRY(database.execute(from_format_5));
    if (found != 0 && found <= 6) WS_TRY(database.execute(from_format_6));
    if (found <= 7) WS_TRY(database.execute(from_format_7));
    if (found != 0 && found <= 8) WS_TRY(database.execute(from_format_8));
    if (found <= 9) WS_TRY(database.execute(from_format_9));
    if (found != 0 && found <= 10) WS_TRY(from_format_10(database));
    WS_TRY(database.execute(from_format_11));
    if (found != 0) WS_TRY(drop_refused_paths(database));
    WS_TRY(transaction.commit());
  }
  return database;
}

}  // namespace ws::sync
