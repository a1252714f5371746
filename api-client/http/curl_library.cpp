#include "api-client/http/curl_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ws::http {
namespace {

/// Looks up one function after the other and remembers the first that is missing.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class Function>
  void find(Function*& target, const char* name) {
    target = reinterpret_cast<Function*>(::dlsym(library_, name));  // NOLINT: dlsym has no other type
    if (target == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace

Result<CurlLibrary> load_curl(const std::string& file_name) {
  void* const opened = ::dlopen(file_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* const reason = ::dlerror();
    return fail(Failure::Kind::internal,
                fmt::format("cannot open {}: {}", file_name, reason == nullptr ? "unknown reason" : reason),
                "install libcurl (Debian: apt install libcurl4)");
  }
  CurlLibrary curl;
  Symbols symbols(opened);
  symbols.find(curl.global_init, "curl_global_init");
  symbols.find(curl.easy_init, "curl_easy_init");
  symbols.find(curl.easy_reset, "curl_easy_reset");
  symbols.find(curl.easy_cleanup, "curl_easy_cleanup");
  symbols.find(curl.easy_setopt, "curl_easy_setopt");
  symbols.find(curl.easy_getinfo, "curl_easy_getinfo");
  symbols.find(curl.easy_strerror, "curl_easy_strerror");
  symbols.find(curl.slist_append, "curl_slist_append");
  symbols.find(curl.slist_free_all, "curl_slist_free_all");
  symbols.find(curl.multi_init, "curl_multi_init");
  symbols.find(curl.multi_cleanup, "curl_multi_cleanup");
  symbols.find(curl.multi_setopt, "curl_multi_setopt");
  symbols.find(curl.multi_add_handle, "curl_multi_add_handle");
  symbols.find(curl.multi_remove_handle, "curl_multi_remove_handle");
  symbols.find(curl.multi_perform, "curl_multi_perform");
  symbols.find(curl.multi_poll, "curl_multi_poll");
  symbols.find(curl.multi_info_read, "curl_multi_info_read");
  if (!symbols.missing().empty()) {
    return fail(Failure::Kind::internal, fmt::format("{} has no function {}", file_name, symbols.missing()));
  }
  // Counted inside libcurl; never undone, as other users in the process may still need it.
  if (const CURLcode code = curl.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Failure::Kind::internal, fmt::format("{} does not start: {}", file_name, curl.easy_strerror(code)));
  }
  return curl;
}

}  // namespace ws::http
