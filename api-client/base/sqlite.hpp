/// The only users of SQLite's C API: owning types for a database, its statements and its transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api-client/base/handle.hpp"
#include "api-client/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ws::sqlite {

int close(sqlite3* database) noexcept;
int finalize(sqlite3_stmt* statement) noexcept;

/// A prepared statement and its current row. Made by `Database::prepare` or taken from the cache by `Database::cached`.
///
///     WS_LET(Statement find, database.prepare("select title from documents where id = ?"));
///     find.bind(1, id);
///     WS_LET(const bool found, find.step());
///     if (found) use(find.text(0));
///
/// Parameters of `bind` count from 1, columns from 0. A failure of `bind` is returned by the next `step`.
class Statement {
 public:
  /// `writes`: counts the steps that change something; null: nobody asks.
  Statement(sqlite3_stmt* raw, sqlite3* database, std::uint64_t* writes)
      : raw_(raw), database_(database), writes_(writes) {}

  void bind(int place, std::string_view text);
  void bind(int place, const char* text) { bind(place, std::string_view(text)); }
  void bind(int place, const std::string& text) { bind(place, std::string_view(text)); }
  void bind(int place, std::int64_t value);
  void bind(int place, int value) { bind(place, std::int64_t{value}); }
  void bind(int place, bool value) { bind(place, std::int64_t{value}); }
  void bind(int place, std::nullptr_t);
  void bind_blob(int place, std::string_view bytes);
  template <class T>
  void bind(int place, const std::optional<T>& value) {
    if (value) {
      bind(place, *value);
    } else {
      bind(place, nullptr);
    }
  }
  /// Binds 1, 2, 3, ...: `insert.bind_all(id, title, revision)`.
  template <class... Values>
  Statement& bind_all(const Values&... values) {
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  /// The same without copies: the values outlive the next `reset`.
  template <class... Values>
  Statement& borrow_all(const Values&... values) {
    borrows_ = true;
    bind_all(values...);
    borrows_ = false;
    return *this;
  }

  /// Moves to the next row; false after the last. Fails with `disk` (I/O, full, corrupt, `database_busy`), `internal`.
  Result<bool> step();
  /// Steps to the end and resets the statement.
  Result<void> run();
  /// Makes the statement ready for new values and clears all bindings.
  void reset();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  /// Valid until the next `step` or `reset`.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  std::string string(int column) const { return std::string(text(column)); }
  std::optional<std::string> optional_string(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;

  /// Marks it as in use; false if it is in use already. Only for `Database::cached` and `CachedStatement`.
  bool try_acquire() { return !std::exchange(in_use_, true); }
  void release() {
    reset();
    in_use_ = false;
  }

 private:
  Handle<sqlite3_stmt, finalize> raw_;
  sqlite3* database_;
  std::uint64_t* writes_;
  int bind_failure_ = 0;
  bool borrows_ = false;
  bool in_use_ = false;
};

/// A prepared statement taken from the database's cache. Reset and returned to the cache when it goes out of scope.
class CachedStatement {
 public:
  explicit CachedStatement(Statement& statement) : statement_(&statement) {}
  CachedStatement(CachedStatement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  CachedStatement& operator=(CachedStatement&&) = delete;
  CachedStatement(const CachedStatement&) = delete;
  CachedStatement& operator=(const CachedStatement&) = delete;
  ~CachedStatement() {
    if (statement_ != nullptr) statement_->release();
  }
  Statement* operator->() const { return statement_; }
  Statement& operator*() const { return *statement_; }

 private:
  Statement* statement_;
};

/// `in_place`: as `read_write_create`, for a file from an untrusted source. Links in its path are not followed; a
/// journal that names another file is not played back; triggers and views of its schema are disabled.
enum class OpenMode { read_write_create, read_only, in_place };

class Database {
 public:
  /// ":memory:" makes a database in memory. Fails with `disk`, naming the file.
  static Result<Database> open(const std::string& path, OpenMode mode = OpenMode::read_write_create);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Runs one or more statements without parameters.
  Result<void> execute(std::string_view sql);
  Result<Statement> prepare(std::string_view sql) const;
  /// Prepares once for the life of the database. The cache is keyed by the address of `sql`: pass a string literal. If
  /// the cached statement is still in use, another one is prepared for the same literal.
  Result<CachedStatement> cached(const char* sql);
  /// Counts from now on the writes into these tables, for caches of what is in them. Of static lifetime; call it before
  /// a statement is cached.
  void watch(std::span<const std::string_view> tables);
  std::uint64_t watched_writes() const;
  std::int64_t last_insert_rowid() const;
  std::int64_t changes() const;
  bool is_in_transaction() const;
  /// Replaces the content of `target` with all tables and rows of this database. Statements and caches of `target` may
  /// be stale afterwards: open a new connection to it. Not within a transaction. Fails with `disk`.
  Result<void> copy_to(Database& target) const;

 private:
  struct Cache;
  explicit Database(sqlite3* raw);
  // Statements must be destroyed before the connection: keep this order.
  Handle<sqlite3, close> raw_;
  std::unique_ptr<Cache> cache_;
};

/// Begins at construction; rolls back at destruction unless `commit` was called. Transactions do not nest.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace ws::sqlite
