#include "cli/state/idempotency_journal.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/own_file.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::cli {
namespace {

constexpr std::chrono::days open_rows_stay{90};
constexpr std::chrono::minutes told_rows_stay{1};

// Wait for other processes that write; flush every write, so that a power cut does not lose what was sent.
// What is deleted is overwritten, for answers may hold secrets.
constexpr std::string_view opening =
    "pragma busy_timeout = 10000; pragma synchronous = full; pragma secure_delete = on;";
constexpr int format = 4;
constexpr std::string_view tables = R"(
  create table if not exists creates(
    key text primary key, fingerprint text not null, operation text not null, origin text not null,
    begun_at integer not null, settled_at integer, stable integer not null default 0) without rowid;
  create index if not exists creates_by_fingerprint on creates(fingerprint);
)";
constexpr std::string_view second_format = R"(
  alter table creates add column owner text not null default '';
  alter table creates add column status integer not null default 0;
  alter table creates add column answer text not null default '';
  pragma user_version = 2;
)";
constexpr std::string_view third_format = R"(
  alter table creates add column account text not null default '';
  create index if not exists creates_by_account on creates(account);
  pragma user_version = 3;
)";
constexpr std::string_view fourth_format = R"(
  alter table creates add column taken integer not null default 0;
  alter table creates add column told_at integer;
  pragma user_version = 4;
)";

/// ?1 and ?2 are the fingerprints of `KeyedCreate`. Two people of one Workspace have the first one in common.
constexpr std::string_view is_the_same =
    "(account = ?2 and ?2 <> '' or fingerprint = ?1 and (account = '' or ?2 = ''))";

/// "PID START": the process, told apart from a later one of the same number. Without START where /proc does not tell
/// it, or the process is a zombie: it has ended, and its parent has not waited for it yet.
std::string owner_of(pid_t process) {
  const auto status = read_file(fmt::format("/proc/{}/stat", process), 4096);
  if (!status) return std::to_string(process);
  // The start is the 20th field after the name, which may hold blanks.
  std::string_view rest = *status;
  rest.remove_prefix(std::min(rest.rfind(')') + 1, rest.size()));
  if (rest.starts_with(" Z") || rest.starts_with(" X")) return std::to_string(process);
  constexpr int fields_before_start = 20;
  for (int i = 0; i < fields_before_start; ++i) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  return fmt::format("{} {}", process, rest.substr(0, rest.find(' ')));
}

bool is_running(const std::string& owner) {
  pid_t process = 0;
  const auto read = std::from_chars(owner.data(), owner.data() + owner.size(), process);
  if (read.ec != std::errc() || process <= 0) return false;
  return (::kill(process, 0) == 0 || errno == EPERM) && owner_of(process) == owner;
}

std::int64_t unix_milliseconds(Time time) { return time.time_since_epoch().count(); }

/// Creates the file with mode 0600, so that it is never readable by others.
Result<void> make_private(const std::filesystem::path& path) {
  WS_TRY(open_own_file(path, O_RDWR, 0600));
  return {};
}

Result<std::int64_t> format_of(sqlite::Database& database) {
  WS_LET(sqlite::Statement version, database.prepare("pragma user_version"));
  WS_TRY(version.step());
  return version.integer(0);
}

Result<void> make_tables(sqlite::Database& database, const std::filesystem::path& path) {
  WS_LET(const std::int64_t found, format_of(database));
  if (found == format) return {};
  if (found > format) {
    return fail(Failure::Kind::disk, path.string() + " was written by a newer ws", "use that one");
  }
  WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
  // Another process may have made them meanwhile.
  WS_LET(const std::int64_t before, format_of(database));
  if (before == format) return transaction.commit();
  if (before == 0) WS_TRY(database.execute(tables));
  if (before < 2) WS_TRY(database.execute(second_format));
  if (before < 3) WS_TRY(database.execute(third_format));
  WS_TRY(database.execute(fourth_format));
  return transaction.commit();
}

}  // namespace

IdempotencyJournal::IdempotencyJournal(std::unique_ptr<sqlite::Database> database) : database_(std::move(database)) {}
IdempotencyJournal::IdempotencyJournal(IdempotencyJournal&&) noexcept = default;
IdempotencyJournal& IdempotencyJournal::operator=(IdempotencyJournal&&) noexcept = default;
IdempotencyJournal::~IdempotencyJournal() = default;

Result<IdempotencyJournal> IdempotencyJournal::open(const std::filesystem::path& state_folder) {
  WS_TRY(make_folders(state_folder, 0700));
  const std::filesystem::path path = state_folder / "idempotency.db";
  WS_TRY(make_private(path));
  WS_LET(sqlite::Database database, sqlite::Database::open(path.string()));
  WS_TRY(database.execute(opening));
  WS_TRY(make_tables(database, path));
  return IdempotencyJournal(std::make_unique<sqlite::Database>(std::move(database)));
}

Result<std::optional<EarlierCreate>> IdempotencyJournal::find(const KeyedCreate& create) {
  WS_LET(sqlite::Statement row,
         database_->prepare(fmt::format("select key, begun_at, settled_at from creates where {} and (settled_at is "
                                        "null or stable = 1) order by settled_at is not null, begun_at limit 1",
                                        is_the_same)));
  row.bind_all(create.fingerprint, create.account_fingerprint);
  WS_LET(const bool found, row.step());
  if (!found) return std::optional<EarlierCreate>();
  return std::optional<EarlierCreate>(EarlierCreate{
      .key = row.string(0), .begun_at = Time(std::chrono::milliseconds(row.integer(1))), .settled = !row.is_null(2)});
}

Result<std::optional<EarlierCreate>> IdempotencyJournal::find_left(const KeyedCreate& create, Time began, Time now) {
  // Of several processes that find the same one takes it.
  WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  WS_LET(
      sqlite::Statement row,
      database_->prepare(fmt::format("select key, begun_at, status, answer, owner, taken from creates where {} and "
                                     "settled_at is null and begun_at > ?3 and (told_at is null or told_at > ?4) order "
                                     "by status = 0, begun_at",
                                     is_the_same)));
  row.bind_all(
      create.fingerprint, create.account_fingerprint, unix_milliseconds(now - key_lifetime), unix_milliseconds(began));
  const std::string own = owner_of(::getpid());
  std::optional<EarlierCreate> left;
  while (true) {
    WS_LET(const bool found, row.step());
    if (!found) break;
    const std::string owner = row.string(4);
    const bool is_taken = owner != own && is_running(owner) && row.integer(5) != 0;
    const bool is_under_way = owner == own || (is_running(owner) && !is_taken);
    if (is_under_way || (is_taken && left)) continue;
    left = EarlierCreate{.key = row.string(0),
                         .begun_at = Time(std::chrono::milliseconds(row.integer(1))),
                         .status = static_cast<int>(row.integer(2)),
                         .answer = row.string(3),
                         .is_taken = is_taken};
    if (!is_taken) break;
  }
  row.reset();
  if (left && !left->is_taken) {
    WS_LET(sqlite::Statement take,
           database_->prepare("update creates set owner = ?2, taken = 1, told_at = null where key = ?1"));
    WS_TRY(take.bind_all(left->key, own).run());
  }
  WS_TRY(transaction.commit());
  return left;
}

Result<Recorded> IdempotencyJournal::begin(const KeyedCreate& create, const std::string& key, bool stable, Time now) {
  WS_TRY(purge(now));
  WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  WS_LET(sqlite::Statement known,
         database_->prepare("update creates set stable = max(stable, ?2), owner = ?3, "
                            "account = iif(account = '', ?4, account) where key = ?1"));
  const std::string owner = owner_of(::getpid());
  WS_TRY(known.bind_all(key, stable, owner, create.account_fingerprint).run());
  const bool is_known = database_->changes() > 0;
  if (!is_known) {
    WS_LET(
        sqlite::Statement insert,
        database_->prepare("insert into creates(key, fingerprint, operation, origin, begun_at, stable, owner, account) "
                           "values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
    WS_TRY(insert
               .bind_all(key,
                         create.fingerprint,
                         create.operation,
                         create.origin,
                         unix_milliseconds(now),
                         stable,
                         owner,
                         create.account_fingerprint)
               .run());
  }
  WS_TRY(transaction.commit());
  return is_known ? Recorded::again : Recorded::first_time;
}

Result<void> IdempotencyJournal::keep_answer(const std::string& key, int status, const std::string& body) {
  WS_LET(sqlite::Statement answered, database_->prepare("update creates set status = ?2, answer = ?3 where key = ?1"));
  return answered.bind_all(key, status, body).run();
}

Result<void> IdempotencyJournal::settle(const std::string& key, Time now) {
  WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(*database_));
  WS_LET(sqlite::Statement gone, database_->prepare("delete from creates where key = ?1 and stable = 0 and taken = 0"));
  WS_TRY(gone.bind_all(key).run());
  WS_LET(sqlite::Statement told,
         database_->prepare("update creates set owner = '', told_at = ?2 where key = ?1 and stable = 0"));
  WS_TRY(told.bind_all(key, unix_milliseconds(now)).run());
  WS_LET(
      sqlite::Statement done,
      database_->prepare("update creates set settled_at = ?2, status = 0, answer = '' where key = ?1 and stable = 1"));
  WS_TRY(done.bind_all(key, unix_milliseconds(now)).run());
  return transaction.commit();
}

Result<void> IdempotencyJournal::forget(const std::string& key) {
  WS_LET(sqlite::Statement gone, database_->prepare("delete from creates where key = ?1"));
  return gone.bind_all(key).run();
}

Result<void> IdempotencyJournal::purge(Time now) {
  WS_LET(sqlite::Statement old,
         database_->prepare("delete from creates where settled_at < ?1 or (status <> 0 and stable = 0 and begun_at < "
                            "?1) or begun_at < ?2 or told_at < ?3"));
  return old
      .bind_all(unix_milliseconds(now - key_lifetime),
                unix_milliseconds(now - open_rows_stay),
                unix_milliseconds(now - told_rows_stay))
      .run();
}

}  // namespace ws::cli
