#include "api-client/http/curl_library.hpp"

#include <fmt/format.h>

#include "api-client/base/shared_library.hpp"

namespace ws::http {
Result<CurlLibrary> load_curl(const std::string& file_name) {
  WS_LET(SharedLibrary opened, SharedLibrary::open(file_name, "install libcurl (Debian: apt install libcurl4)"));
  CurlLibrary curl;
  opened.find(curl.global_init, "curl_global_init");
  opened.find(curl.easy_init, "curl_easy_init");
  opened.find(curl.easy_reset, "curl_easy_reset");
  opened.find(curl.easy_cleanup, "curl_easy_cleanup");
  opened.find(curl.easy_setopt, "curl_easy_setopt");
  opened.find(curl.easy_getinfo, "curl_easy_getinfo");
  opened.find(curl.easy_strerror, "curl_easy_strerror");
  opened.find(curl.slist_append, "curl_slist_append");
  opened.find(curl.slist_free_all, "curl_slist_free_all");
  opened.find(curl.multi_init, "curl_multi_init");
  opened.find(curl.multi_cleanup, "curl_multi_cleanup");
  opened.find(curl.multi_setopt, "curl_multi_setopt");
  opened.find(curl.multi_add_handle, "curl_multi_add_handle");
  opened.find(curl.multi_remove_handle, "curl_multi_remove_handle");
  opened.find(curl.multi_perform, "curl_multi_perform");
  opened.find(curl.multi_poll, "curl_multi_poll");
  opened.find(curl.multi_info_read, "curl_multi_info_read");
  WS_TRY(opened.complete());
  // Reference-counted by libcurl; never released, since other users in the process may still need it.
  if (const CURLcode code = curl.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Failure::Kind::internal, fmt::format("{} does not start: {}", file_name, curl.easy_strerror(code)));
  }
  return curl;
}

}  // namespace ws::http
