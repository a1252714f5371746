/// The functions of libcurl, resolved from the shared library at run time.
///
/// Only `http/curl*.cpp` may include this, since it exposes libcurl's types.
#pragma once

#include <memory>
#include <string>

#include <curl/curl.h>

#include "api-client/base/result.hpp"

namespace ws::http {

/// Typed as in libcurl's header. The variadic functions take exactly `long`, `curl_off_t`, pointers.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;

  using Easy = std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)>;
  using Multi = std::unique_ptr<CURLM, decltype(&::curl_multi_cleanup)>;
  using List = std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)>;
  Easy make_easy() const { return {easy_init(), easy_cleanup}; }
  Multi make_multi() const { return {multi_init(), multi_cleanup}; }
  List make_list() const { return {nullptr, slist_free_all}; }
};

/// Loads and initialises the library, which is never closed. Fails with `internal`, naming what is missing.
Result<CurlLibrary> load_curl(const std::string& file_name);

}  // namespace ws::http
