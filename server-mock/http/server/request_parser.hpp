/// Beast's request parser, which reads heads and chunks; `Connection` makes further checks before and after it.
///
/// Only for `connection.cpp`: including this compiles Beast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "server-mock/http/message.hpp"

namespace ws::mock::http {

/// Collects what Beast's parser finds; points into the parser's buffer.
class Parser final : public boost::beast::http::basic_parser<true> {
 public:
  /// `headers` is only reused for its memory.
  Parser(std::size_t head_limit, std::vector<Header>&& headers) : head_limit_(head_limit) {
    request.headers = std::move(headers);
    request.headers.clear();
    request.headers.reserve(6);
    header_limit(static_cast<std::uint32_t>(head_limit));
    body_limit(boost::none);
  }

  Request request;
  std::string chunks;
  int version = 11;
  int hosts = 0;
  int lengths = 0;
  int codings = 0;
  bool coding_is_chunked = true;
  bool expects_continue = false;
  bool expects_more = false;  // an `Expect` other than 100-continue

  /// Call when the buffer has moved.
  void rebase(const char* from, const char* to) {
    const auto move = [&](std::string_view& text) {
      if (text.data() != nullptr) text = {to + (text.data() - from), text.size()};
    };
    for (std::string_view* text : {&request.method, &request.target, &request.path, &request.query, &request.head}) {
      move(*text);
    }
    if (!chunked()) move(request.body);
    for (Header& field : request.headers) {
      move(field.name);
      move(field.value);
    }
  }

 private:
  static std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

  void on_request_impl(boost::beast::http::verb,
                       boost::beast::string_view method,
                       boost::beast::string_view target,
                       int http,
                       boost::system::error_code&) override {
    request.method = view(method);
    request.target = view(target);
    version = http;
  }
  void on_response_impl(int, boost::beast::string_view, int, boost::system::error_code&) override {}
  void on_field_impl(boost::beast::http::field field,
                     boost::beast::string_view name,
                     boost::beast::string_view value,
                     boost::system::error_code&) override {
    if (in_trailer_) return;  // trailers are ignored
    request.headers.push_back({view(name), view(value)});
    switch (field) {
      case boost::beast::http::field::host: ++hosts; break;
      case boost::beast::http::field::content_length: lengths += value.find(',') == value.npos ? 1 : 2; break;
      case boost::beast::http::field::transfer_encoding:
        ++codings;
        coding_is_chunked = equal_ignoring_case(view(value), "chunked");
        break;
      case boost::beast::http::field::expect:
        expects_continue = equal_ignoring_case(view(value), "100-continue");
        expects_more = !expects_continue;
        break;
      default: break;  // Beast's enum has 350 fields
    }
  }
  void on_header_impl(boost::system::error_code&) override { in_trailer_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, boost::system::error_code&) override {}
  std::size_t on_body_impl(boost::beast::string_view text, boost::system::error_code&) override { return text.size(); }
  /// The extensions of all chunks together are bounded as the head is.
  void on_chunk_header_impl(std::uint64_t,
                            boost::beast::string_view extensions,
                            boost::system::error_code& error) override {
    extension_bytes_ += extensions.size();
    if (extension_bytes_ > head_limit_) error = boost::beast::http::error::header_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view text, boost::system::error_code&) override {
    if (request.sink == nullptr) {
      chunks.append(text.data(), text.size());
    } else if (request.sink->wants_more()) {
      request.sink->take(view(text));
    }
    return text.size();
  }
  void on_finish_impl(boost::system::error_code&) override {}

  std::size_t head_limit_;
  std::size_t extension_bytes_ = 0;
  bool in_trailer_ = false;
};

}  // namespace ws::mock::http
