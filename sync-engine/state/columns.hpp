/// Values as columns of the state's databases. Hashes are blobs of their bytes, times milliseconds since 1970.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/sqlite.hpp"
#include "sync-engine/git/object.hpp"
#include "sync-engine/model/attachment.hpp"
#include "sync-engine/model/found_files.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

inline std::string_view bytes_of(const git::ObjectId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}
inline std::string_view bytes_of(const Sha256& hash) {
  return {reinterpret_cast<const char*>(hash.bytes().data()), hash.bytes().size()};
}

inline git::ObjectId object_of(std::string_view bytes) {
  git::ObjectId id;
  if (bytes.size() == id.bytes.size()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}
inline Sha256 hash_of(std::string_view bytes) {
  Sha256::Bytes hash{};
  if (bytes.size() == hash.size()) std::memcpy(hash.data(), bytes.data(), bytes.size());
  return Sha256(hash);
}

/// A value as it lies in memory, for caches of this machine.
template <class T>
void put_bytes(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
/// Takes one off the front; false where too little is left.
template <class T>
bool take_bytes(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return true;
}

inline std::uint64_t number_at(const sqlite::Statement& row, int column) {
  return static_cast<std::uint64_t>(row.integer(column));
}
inline Time time_at(const sqlite::Statement& row, int column) {
  return Time(std::chrono::milliseconds(row.integer(column)));
}

/// Binds one value after the other. An empty one, and a null pointer to one, is null.
class Columns {
 public:
  explicit Columns(sqlite::Statement& statement) : statement_(statement) {}

  template <class... Values>
  void bind(const Values&... values) {
    (bind_next(values), ...);
  }

 private:
  template <class Value>
  void bind_next(const Value& value) {
    if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      statement_.bind(++place_, static_cast<std::int64_t>(value));
    } else {
      statement_.bind(++place_, value);
    }
  }
  template <class Value>
  void bind_next(const std::optional<Value>& value) {
    bind_next(value ? &*value : nullptr);
  }
  template <class Value>
  requires std::is_class_v<Value>
  void bind_next(const Value* value) {
    if (value != nullptr) return bind_next(*value);
    for (int i = 0; i < columns_of<Value>; ++i) statement_.bind(++place_, nullptr);
  }
  void bind_next(const Sha256& hash) { statement_.bind_blob(++place_, bytes_of(hash)); }
  void bind_next(const git::ObjectId& id) { statement_.bind_blob(++place_, bytes_of(id)); }
  void bind_next(const DocumentId& document) { bind_next(document.text()); }
  void bind_next(const RelativePath& path) { bind_next(path.string()); }
  void bind_next(const DocumentRevision& revision) { bind_next(revision.number); }
  void bind_next(const SourceRevision& revision) { bind_next(revision.number); }
  void bind_next(const Time& time) { bind_next(time.time_since_epoch().count()); }
  void bind_next(const Version& version) { bind(version.path, version.hash, version.revision, version.blob); }
  void bind_next(const FileId& file) { bind(file.inode, file.device, file.born_ns); }
  void bind_next(const Attachment& file) { bind(file.size_bytes, file.hash, file.media_type, file.asset); }

  template <class Value>
  static constexpr int columns_of = std::is_same_v<Value, Version> || std::is_same_v<Value, Attachment> ? 4
                                    : std::is_same_v<Value, FileId>                                     ? 3
                                                                                                        : 1;

  sqlite::Statement& statement_;
  int place_ = 0;
};

/// A statement with these values, run to its end.
template <class... Values>
Result<void> run_sql(sqlite::Database& database, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement statement, database.cached(sql));
  Columns(*statement).bind(values...);
  return statement->run();
}

/// A write that a power cut may take away again, but no kill: one flush less. Part of the transaction that is open, if
/// one is.
template <class Write>
Result<void> write_unflushed(sqlite::Database& database, Write write) {
  if (database.is_in_transaction()) return write();
  WS_TRY(database.execute("pragma synchronous = normal"));
  auto written = [&]() -> Result<void> {
    WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    WS_TRY(write());
    return transaction.commit();
  }();
  WS_TRY(database.execute("pragma synchronous = full"));
  return written;
}

/// Calls `visit` with each row, until the last or a failure of it.
template <class Visit, class... Values>
Result<void> each_row(sqlite::Database& database, const char* sql, Visit visit, const Values&... values) {
  WS_LET(const sqlite::CachedStatement rows, database.cached(sql));
  Columns(*rows).bind(values...);
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return {};
    WS_TRY(visit(std::as_const(*rows)));
  }
}

/// What `read` makes of the first row; empty: there is none.
template <class Value, class... Values>
Result<std::optional<Value>> find_row(sqlite::Database& database,
                                      const char* sql,
                                      Result<Value> (*read)(const sqlite::Statement& row),
                                      const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, database.cached(sql));
  Columns(*row).bind(values...);
  WS_LET(const bool found, row->step());
  if (!found) return std::optional<Value>{};
  WS_LET(Value value, read(*row));
  return std::optional<Value>(std::move(value));
}

/// What `read` makes of each row.
template <class Value, class... Values>
Result<std::vector<Value>> all_rows(sqlite::Database& database,
                                    const char* sql,
                                    Result<Value> (*read)(const sqlite::Statement& row),
                                    const Values&... values) {
  std::vector<Value> all;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(Value value, read(row));
    all.push_back(std::move(value));
    return {};
  };
  WS_TRY(each_row(database, sql, add, values...));
  return all;
}

/// The number in a row's first column; 0: there is no row.
template <class... Values>
Result<std::int64_t> integer_of(sqlite::Database& database, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, database.cached(sql));
  Columns(*row).bind(values...);
  WS_LET(const bool found, row->step());
  return found ? row->integer(0) : 0;
}

}  // namespace ws::sync
