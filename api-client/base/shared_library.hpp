/// A library that is opened with dlopen(3) on first use, so that programs that do not need it do not load it.
///
/// It is never closed: its code may still be running in another thread.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws {

class SharedLibrary {
 public:
  /// Fails with `disk`, naming the file, the system's reason and `advice` ("apt install libjq1").
  static Result<SharedLibrary> open(const std::string& file_name, std::string_view advice);

  /// Sets `target` to the function `name` of this library or of its dependencies. The first missing function is
  /// recorded for `complete`.
  template <class Function>
  void find(Function*& target, const char* name) {
    target = reinterpret_cast<Function*>(look_up(name));  // NOLINT: dlsym has no other type
  }
  /// Fails with `disk` if a function was missing.
  Result<void> complete() const;

 private:
  SharedLibrary(void* handle, std::string file_name) : handle_(handle), file_name_(std::move(file_name)) {}
  void* look_up(const char* name);

  void* handle_;
  std::string file_name_;
  std::string missing_ = {};
};

}  // namespace ws
