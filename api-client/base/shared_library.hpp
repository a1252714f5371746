/// A library that is opened when it is first needed, so that a program which does not need it pays nothing.
///
/// A library once opened stays open for the life of the process: code of it may still be running somewhere.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws {

class SharedLibrary {
 public:
  /// Fails with `internal`, naming the file, the system's reason and `advice` ("apt install libjq1").
  static Result<SharedLibrary> open(const std::string& file_name, std::string_view advice);

  /// Sets `target` to the function `name`, of this library or of one that it brings along. The first that is missing
  /// is remembered for `complete`.
  template <class Function>
  void find(Function*& target, const char* name) {
    target = reinterpret_cast<Function*>(look_up(name));  // NOLINT: dlsym has no other type
  }
  /// Fails with `internal` where a function was missing.
  Result<void> complete() const;

 private:
  SharedLibrary(void* handle, std::string file_name) : handle_(handle), file_name_(std::move(file_name)) {}
  void* look_up(const char* name);

  void* handle_;
  std::string file_name_;
  std::string missing_ = {};
};

}  // namespace ws
