/// The file of `--data`: checks that it is ours, and locks it.
///
/// The lock is on the file itself, whatever its names, beside SQLite's own, and held for the life of the process. The
/// content is checked before SQLite opens the file, so that a file of another program is not changed.
#pragma once

#include <cstdint>
#include <string>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::mock {

/// "WSMK": the `pragma application_id` of data files.
inline constexpr std::int32_t data_application_id = 0x57534D4B;

class DataFile {
 public:
  /// Locks the file; creates it with mode 0600 if there is none. Fails with `disk` if it is no regular file, no
  /// database, of another program, of a newer version, or locked by another process, which is named.
  static Result<DataFile> open(const std::string& path);
  DataFile() = default;  ///< for a world in memory

  /// On a network file system neither locks nor SQLite's shared memory protect against other machines.
  bool is_on_network() const { return is_on_network_; }

 private:
  Descriptor file_ = {};  // closed after SQLite's: closing it earlier would give up SQLite's locks
  bool is_on_network_ = false;
};

/// Sets the application id; call it on an empty database.
Result<void> sign(sqlite::Database& database);

}  // namespace ws::mock
