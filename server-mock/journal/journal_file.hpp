/// Where the journal is written to while it happens: a file of JSON lines.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock {

class JournalFile {
 public:
  /// Writes nothing.
  JournalFile() = default;
  /// Behind what is in the file already; for the owner alone. Fails with `disk`.
  static Result<JournalFile> open(const std::string& path);
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  bool is_open() const { return file_ >= 0; }
  /// One line, handed to the system before this returns. A file that can no longer be written is told of once, on
  /// standard error, and left alone.
  void write(const Json& entry);

 private:
  int file_ = -1;
};

}  // namespace ws::mock
