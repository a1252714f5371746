/// The file of `--data`: whose it is, and that nobody else uses it.
///
/// Held for the life of the process by a lock on `FILE.lock` (flock(2); SQLite's own locks are on the file itself),
/// which the system drops when the process ends, however it ends. What is in the file is looked at before SQLite opens
/// it, so that a file of somebody else stays as it is.
#pragma once

#include <cstdint>
#include <string>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::mock {

/// "WSMK" in the header of our files (`pragma application_id`).
inline constexpr std::int32_t data_application_id = 0x57534D4B;

class DataFile {
 public:
  /// Locks it; makes an empty one, for its owner alone, where there is none. Fails with `disk`: it cannot be used, is
  /// no regular file, no database, another program's, a newer version's, or another process has it, which is named.
  static Result<DataFile> open(const std::string& path);
  DataFile() = default;  ///< of nothing: a world in memory
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&& other) noexcept;
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile();

  /// Neither locks nor SQLite's shared memory hold between machines there.
  bool is_on_network() const { return is_on_network_; }

 private:
  int lock_ = -1;
  bool is_on_network_ = false;
};

/// Marks the database as ours, before anything else is in it.
Result<void> sign(sqlite::Database& database);

}  // namespace ws::mock
