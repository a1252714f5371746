/// A file without a name yet (O_TMPFILE): if the process is killed, nothing of it is left.
#pragma once

#include <utility>

#include "api-client/base/descriptor.hpp"

namespace ws::sync {

class UnnamedFile {
 public:
  UnnamedFile() = default;
  UnnamedFile(UnnamedFile&&) noexcept = default;
  UnnamedFile& operator=(UnnamedFile&&) noexcept = default;
  ~UnnamedFile();

  /// On the file system of `folder`. Empty if that does not support them, or if half of the descriptors that the
  /// process may open are unnamed files.
  static UnnamedFile make(int folder);
  int get() const noexcept { return file_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }
  /// Names it `to`, which must not exist. -1 and errno on failure, as linkat(2).
  int link(int folder, const char* to) const;

 private:
  explicit UnnamedFile(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace ws::sync
