#include "api-client/base/shared_library.hpp"

#include <dlfcn.h>

namespace ws {

Result<SharedLibrary> SharedLibrary::open(const std::string& file_name, std::string_view advice) {
  void* const handle = ::dlopen(file_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(handle, file_name);
  const char* const reason = ::dlerror();
  return fail(Failure::Kind::disk,
              "cannot open " + file_name + ": " + (reason == nullptr ? "unknown reason" : reason),
              std::string(advice));
}

void* SharedLibrary::look_up(const char* name) {
  void* const found = ::dlsym(handle_, name);
  if (found == nullptr && missing_.empty()) missing_ = name;
  return found;
}

Result<void> SharedLibrary::complete() const {
  if (missing_.empty()) return {};
  return fail(Failure::Kind::disk, file_name_ + " has no function " + missing_);
}

}  // namespace ws
