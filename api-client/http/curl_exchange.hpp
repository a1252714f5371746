/// One exchange with libcurl: its options, its callbacks, and the interpretation of its outcome.
///
/// Private to `http/curl*.cpp`, since it exposes libcurl's types.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include <curl/curl.h>

#include "api-client/http/curl.hpp"
#include "api-client/http/transport.hpp"

namespace ws::http {

/// The functions of libcurl, resolved from the shared library at run time. Typed as in libcurl's header. The variadic
/// functions take exactly `long`, `curl_off_t`, pointers.
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

/// Must not be moved from `prepare` to its end: libcurl holds pointers to it.
class CurlExchange {
 public:
  using Steady = std::chrono::steady_clock;

  CurlExchange(const CurlLibrary& curl, const CurlOptions& options, Request request, std::function<void(Outcome)> done);
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  /// Takes a handle in its initial state and sets every option. Fails with `usage` (a header that would break the
  /// framing) or `internal`.
  Result<void> prepare(CurlLibrary::Easy easy);
  CURL* easy() const { return easy_.get(); }
  CurlLibrary::Easy give_back() { return std::move(easy_); }

  /// The time at which the idle timeout expires; empty: no limit.
  std::optional<Steady::time_point> idle_deadline() const;

  Outcome outcome(CURLcode code);
  Outcome ended_idle() const;
  Outcome ended_early() const;
  std::function<void(Outcome)>& done() { return done_; }

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_write(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_read(char* buffer, std::size_t size, std::size_t count, void* self) noexcept;
  static int on_socket(void* self, curl_socket_t socket, curlsocktype purpose) noexcept;
  static int on_send(void* self, char* remote_ip, char* local_ip, int remote_port, int local_port) noexcept;

  template <class Value>
  void set(CURLoption option, Value value);
  void set_common();
  void set_method();
  Result<void> set_headers();
  void note_progress(std::size_t bytes);
  bool take_header(std::string_view line);
  bool take_body(std::string_view piece);
  TransportError transport_error(TransportError::Stage stage, Failure::Kind kind, std::string_view reason) const;
  TransportError too_many_headers() const;

  const CurlLibrary& curl_;
  const CurlOptions& options_;
  Request request_;
  std::function<void(Outcome)> done_;
  CurlLibrary::Easy easy_;
  CurlLibrary::List headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  CURLcode first_failure_ = CURLE_OK;

  int times_sent_ = 0;
  std::size_t body_offset_ = 0;
  std::size_t header_bytes_ = 0;
  std::uint64_t body_bytes_ = 0;
  bool head_complete_ = false;
  bool head_shown_ = false;  // `request.head` has been called
  Response response_;
  std::optional<TransportError> own_;  // set if one of our callbacks ended the transfer
  Steady::time_point last_activity_;
  std::uint64_t bytes_since_ = 0;  // received since `last_activity_`
};

}  // namespace ws::http
