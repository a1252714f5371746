#include "sync-engine/state/state_format.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace ws::sync {
namespace {

constexpr std::int64_t format = 7;

// WAL: readers (`status`) and the one writer do not wait for each other. FULL: a transaction that returned is on disk.
// The journal of a large pull is not copied into the database again and again while it grows (40 MB; gone at the end).
constexpr const char* settings =
    "pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full; "
    "pragma wal_autocheckpoint = 10000";

constexpr const char* schema = R"(
  create table numbers (key text primary key, value integer not null) without rowid;
  create table base (document text primary key, path text not null, hash blob not null, revision integer not null,
                     blob blob not null, placed text, stays integer not null default 0) without rowid;
  create table files (document text primary key, inode integer not null, device integer not null,
                     born integer not null default 0) without rowid;
  create table pending (document text primary key, path text, hash blob, revision integer not null, blob blob not null)
                     without rowid;
  create table conflicts (id text primary key, value text not null) without rowid;
  create table steps (place integer primary key, value text not null);
  create table staged (place integer primary key check (place = 1), value text not null);
  create table refused (document text primary key, mark text not null) without rowid;
  create table misnamed (document text primary key, path text not null) without rowid;
  create index base_by_file on base (coalesce(placed, path));
  pragma user_version = 7;
)";

// Format 1 knew no file that lies elsewhere than its document, and no numbers of files.
constexpr const char* from_format_1 = R"(
  alter table base add column placed text;
  create table files (document text primary key, inode integer not null, device integer not null) without rowid;
)";

// Format 2 knew no document that goes where its file lies.
constexpr const char* from_format_2 = R"(
  alter table base add column stays integer not null default 0;
)";

// Format 3 knew no document that the service refuses to take.
constexpr const char* from_format_3 = R"(
  create table refused (document text primary key, mark text not null) without rowid;
)";

// Format 4 had no way from a file to its document but to read the whole base.
constexpr const char* from_format_4 = R"(
  create index base_by_file on base (coalesce(placed, path));
)";

// Format 5 forgot the documents whose names are refused.
constexpr const char* from_format_5 = R"(
  create table misnamed (document text primary key, path text not null) without rowid;
)";

// Format 6 knew a file by its inode number alone. 0: the birth time is not known, until a run looks at the file again.
constexpr const char* from_format_6 = R"(
  alter table files add column born integer not null default 0;
  pragma user_version = 7;
)";

}  // namespace

Result<sqlite::Database> open_state(const std::filesystem::path& file) {
  WS_LET(sqlite::Database database, sqlite::Database::open(file.string()));
  WS_TRY(database.execute(settings));
  std::int64_t found = 0;
  {
    WS_LET(sqlite::Statement version, database.prepare("pragma user_version"));
    WS_TRY(version.step());
    found = version.integer(0);
  }
  if (found > format) {
    Failure newer{.kind = Failure::Kind::disk,
                  .what = fmt::format("{} has format {}, this version knows {}", file.string(), found, format),
                  .hint = "use the version of ws that wrote it"};
    newer.code = "newer_format";
    return fail(std::move(newer));
  }
  if (found < format) {
    WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    if (found == 0) WS_TRY(database.execute(schema));
    if (found == 1) WS_TRY(database.execute(from_format_1));
    if (found == 1 || found == 2) WS_TRY(database.execute(from_format_2));
    if (found != 0 && found <= 3) WS_TRY(database.execute(from_format_3));
    if (found != 0 && found <= 4) WS_TRY(database.execute(from_format_4));
    if (found != 0 && found <= 5) WS_TRY(database.execute(from_format_5));
    if (found != 0) WS_TRY(database.execute(from_format_6));
    WS_TRY(transaction.commit());
  }
  return database;
}

}  // namespace ws::sync
