#include "api-client/base/sqlite.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/sqlite_pages.hpp"

namespace ws::sqlite {
namespace {

Failure failure(sqlite3* database, int code, std::string_view doing) {
  const int primary = code & 0xFF;
  // Another process holds a lock for longer than the busy timeout, or is creating the files that all processes share.
  const bool busy = primary == SQLITE_BUSY || primary == SQLITE_LOCKED || primary == SQLITE_PROTOCOL;
  const bool disk = busy || primary == SQLITE_IOERR || primary == SQLITE_FULL || primary == SQLITE_CORRUPT ||
                    primary == SQLITE_NOTADB || primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY ||
                    primary == SQLITE_PERM;
  std::string text = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  if (!disk) return Failure{.kind = Failure::Kind::internal, .what = fmt::format("database: {}: {}", doing, text)};
  const char* file = database != nullptr ? sqlite3_db_filename(database, "main") : nullptr;
  const std::string name = file == nullptr || *file == '\0' ? "the database" : shown_path(file);
  // "disk I/O error" alone would not tell a full disk from a broken one.
  const bool has_cause = database != nullptr && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN);
  const int cause = has_cause ? sqlite3_system_errno(database) : 0;
  if (cause != 0) text += fmt::format(" ({})", std::strerror(cause));
  Failure failed{.kind = Failure::Kind::disk, .what = fmt::format("cannot use {}: {}", name, text)};
  if (primary == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT) {
    failed.hint = "make room on the disk and run the same command again";
  }
  if (primary == SQLITE_READONLY) failed.hint = "make its folder, and all files in it, writable for you";
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {
    failed.hint = "restore a copy of it, or move it away to start with a new one";
    failed.code = "damaged_database";
  }
  if (busy) failed.code = "database_busy";
  failed.call.retryable = busy;
  return failed;
}

constexpr const char* in_place_name = "ws-in-place";

/// Stops SQLite from resolving the links in a path before it opens it; with O_NOFOLLOW it does not follow a link at the
/// end.
int skip_link_resolution(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

/// A hot journal may name a super-journal anywhere on the disk, which SQLite reads, and deletes after playing the
/// journal back. Our databases never attach a second one, so our journals never name a super-journal.
int open_no_super_journal(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) {
    file->pMethods = nullptr;
    return SQLITE_CANTOPEN;
  }
  auto* const system = static_cast<sqlite3_vfs*>(sqlite3_vfs_find(nullptr));
  static_cast<void>(vfs);
  return system->xOpen(system, name, file, flags, out_flags);
}

/// The default VFS with these two functions replaced. Created once; null if SQLite is out of memory.
const char* in_place_vfs() {
  static const char* const made = []() -> const char* {
    const sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
    if (system == nullptr) return nullptr;
    static sqlite3_vfs vfs = *system;
    vfs.zName = in_place_name;
    vfs.pNext = nullptr;
    vfs.xFullPathname = skip_link_resolution;
    vfs.xOpen = open_no_super_journal;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? in_place_name : nullptr;
  }();
  return made;
}

/// Creates the file for its owner alone; SQLite itself would use 0644. Its other files take the mode of this one.
void make_database_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);  // if it could not be created, SQLite reports the failure
}

/// On a read-only file system there are no writers, and SQLite cannot create the files that readers of a WAL database
/// share; opening it as immutable avoids them. Not if there is a WAL that has not been checkpointed: the database file
/// alone would be out of date.
bool may_be_immutable(const std::string& path) {
  struct stat wal {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return ::access(folder.c_str(), W_OK) != 0 && errno == EROFS &&
         (::lstat((path + "-wal").c_str(), &wal) != 0 || wal.st_size == 0);
}

/// Escapes the path for a URI, in which SQLite decodes %HH.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

void distrust_schema(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

}  // namespace

int close(sqlite3* database) noexcept { return sqlite3_close_v2(database); }
int finalize(sqlite3_stmt* statement) noexcept { return sqlite3_finalize(statement); }

void Statement::bind(int place, std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  const sqlite3_destructor_type lifetime = borrows_ ? SQLITE_STATIC : SQLITE_TRANSIENT;
  bind_failure_ |= sqlite3_bind_text64(raw_.get(), place, data, text.size(), lifetime, SQLITE_UTF8);
}
void Statement::bind(int place, std::int64_t value) { bind_failure_ |= sqlite3_bind_int64(raw_.get(), place, value); }
void Statement::bind(int place, std::nullptr_t) { bind_failure_ |= sqlite3_bind_null(raw_.get(), place); }
void Statement::bind_blob(int place, std::string_view bytes) {
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  bind_failure_ |= sqlite3_bind_blob64(raw_.get(), place, data, bytes.size(), SQLITE_TRANSIENT);
}

Result<bool> Statement::step() {
  if (bind_failure_ != 0) return fail(failure(database_, bind_failure_, "binding a value"));
  const std::int64_t changes = sqlite3_total_changes64(database_);
  const int code = sqlite3_step(raw_.get());
  // With `returning` the changes are counted after the last row.
  if (writes_ != nullptr && (code != SQLITE_DONE || sqlite3_total_changes64(database_) != changes)) ++*writes_;
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(failure(database_, code, sqlite3_sql(raw_.get())));
}

Result<void> Statement::run() {
  while (true) {
    auto row = step();
    if (!row || !*row) {
      reset();
      if (!row) return fail(std::move(row).error());
      return {};
    }
  }
}

void Statement::reset() {
  sqlite3_reset(raw_.get());
  sqlite3_clear_bindings(raw_.get());
  bind_failure_ = 0;
}

bool Statement::is_null(int column) const { return sqlite3_column_type(raw_.get(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(raw_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(raw_.get(), column); }
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(raw_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column))};
}
std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(raw_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column))};
}
std::optional<std::string> Statement::optional_string(int column) const {
  if (is_null(column)) return std::nullopt;
  return string(column);
}
std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

struct Database::Cache {
  // Keyed by the literal's address, so that no text is compared. Several statements of one literal may be in use at
  // once.
  std::unordered_map<const char*, std::vector<std::unique_ptr<Statement>>> statements;
  std::span<const std::string_view> watched = {};
  bool is_watched = false;  // what was prepared last writes into one of them
  std::uint64_t writes = 0;

  /// SQLite calls it for each thing that a statement will do, those of its triggers among them.
  static int authorize(void* cache, int action, const char* table, const char*, const char*, const char*) {
    auto& self = *static_cast<Cache*>(cache);
    const bool writes = action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE;
    if (writes && std::ranges::find(self.watched, std::string_view(table)) != self.watched.end())
      self.is_watched = true;
    return SQLITE_OK;
  }
};

Database::Database(sqlite3* raw) : raw_(raw), cache_(std::make_unique<Cache>()) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&& other) noexcept {
  cache_ = std::move(other.cache_);
  raw_ = std::move(other.raw_);
  return *this;
}
Database::~Database() { cache_.reset(); }

Result<Database> Database::open(const std::string& path, OpenMode mode) {
  // SQLite's memory statistics take a lock at every allocation, and we do not use them. (Has no effect if SQLite is
  // already initialised.)
  static const bool is_configured = [] {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    use_memory_pages();
    return true;
  }();
  static_cast<void>(is_configured);
  sqlite3* raw = nullptr;
  int flags = mode == OpenMode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const bool immutable = mode == OpenMode::in_place && may_be_immutable(path);
  if (immutable) flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  const std::string name = immutable ? immutable_uri(path) : path;
  const char* const files = mode == OpenMode::in_place ? in_place_vfs() : nullptr;
  if (mode == OpenMode::in_place) make_database_file(path);
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, files);
  Database database(raw);
  if (code != SQLITE_OK) return fail(failure(raw, code, fmt::format("opening {}", shown_path(path))));
  if (mode == OpenMode::in_place) distrust_schema(raw);
  // Debian builds SQLite with SECURE_DELETE: it would read, journal and overwrite each page that a deleted row frees.
  WS_TRY(database.execute("pragma secure_delete = off"));
  return database;
}

Result<void> Database::execute(std::string_view sql) {
  const std::string text(sql);
  cache_->is_watched = false;
  const int code = sqlite3_exec(raw_.get(), text.c_str(), nullptr, nullptr, nullptr);
  if (cache_->is_watched) ++cache_->writes;
  if (code != SQLITE_OK) return fail(failure(raw_.get(), code, text));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  cache_->is_watched = false;
  const int code = sqlite3_prepare_v3(
      raw_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return fail(failure(raw_.get(), code, sql));
  return Statement(raw, raw_.get(), cache_->is_watched ? &cache_->writes : nullptr);
}

Result<CachedStatement> Database::cached(const char* sql) {
  auto& pool = cache_->statements[sql];
  for (const auto& statement : pool) {
    if (statement->try_acquire()) return CachedStatement(*statement);
  }
  WS_LET(Statement made, prepare(sql));
  pool.push_back(std::make_unique<Statement>(std::move(made)));
  static_cast<void>(pool.back()->try_acquire());
  return CachedStatement(*pool.back());
}

void Database::watch(std::span<const std::string_view> tables) {
  cache_->watched = tables;
  sqlite3_set_authorizer(raw_.get(), Cache::authorize, cache_.get());
}
std::uint64_t Database::watched_writes() const { return cache_->writes; }
std::int64_t Database::last_insert_rowid() const { return sqlite3_last_insert_rowid(raw_.get()); }
std::int64_t Database::changes() const { return sqlite3_changes64(raw_.get()); }

bool Database::is_in_transaction() const { return sqlite3_get_autocommit(raw_.get()) == 0; }

Result<void> Database::copy_to(Database& target) const {
  sqlite3_backup* backup = sqlite3_backup_init(target.raw_.get(), "main", raw_.get(), "main");
  if (backup != nullptr) {
    constexpr int all_pages = -1;
    sqlite3_backup_step(backup, all_pages);
    sqlite3_backup_finish(backup);
  }
  const int code = sqlite3_errcode(target.raw_.get());
  if (code != SQLITE_OK) return fail(failure(target.raw_.get(), code, "copying a database"));
  return {};
}

Result<Transaction> Transaction::begin(Database& database) {
  WS_LET(const CachedStatement begin, database.cached("begin immediate"));
  WS_TRY(begin->run());
  return Transaction(database);
}

Result<void> Transaction::commit() {
  WS_LET(const CachedStatement commit, database_->cached("commit"));
  WS_TRY(commit->run());
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // If the rollback fails, the next `begin` reports it.
  if (auto rollback = database_->cached("rollback")) static_cast<void>((*rollback)->run());
}

}  // namespace ws::sqlite
