#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include <zlib.h>

#include "server-mock/http/packing.hpp"
#include "server-mock/http/server/delivery.hpp"

namespace ws::mock::http {
namespace {

constexpr int gzip_window = 15 + 16;  // zlib.h, deflateInit2: a window of 32 KiB, with a gzip header
constexpr int memory_level = 8;       // zlib's default

/// Removes the text up to the separator from the front and returns it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// 500 for "gzip;q=0.5". A malformed weight counts as 1.
int weight_of(std::string_view parameters) {
  constexpr int whole = 1000;
  while (!parameters.empty()) {
    const std::string_view parameter = take(parameters, ';');
    if (parameter.size() < 3 || (parameter[0] != 'q' && parameter[0] != 'Q') || parameter[1] != '=') continue;
    const std::string digits(parameter.substr(2));
    if (digits.find_first_not_of("0123456789.") != std::string::npos) continue;
    return std::clamp(static_cast<int>(std::strtod(digits.c_str(), nullptr) * whole), 0, whole);
  }
  return whole;
}

bool is_text_field(std::string_view headers) {
  constexpr std::string_view name = "Content-Type: ";
  const std::size_t start = headers.find(name);
  if (start == std::string_view::npos) return false;
  const std::string_view type = headers.substr(start + name.size());
  return type.starts_with("application/json") || type.starts_with("application/problem+json") ||
         type.starts_with("text/");
}

std::optional<std::string> pack(const std::string& text) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  // zlib takes a pointer to non-const but does not write through it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return packed;
}

/// RFC 9110, 8.8.3.3: other bytes, another tag. `entity_tags.hpp` of the services knows the ending.
std::string with_gzip_ending(std::string_view etag) {
  if (!etag.ends_with('"')) return std::string(etag);
  return std::string(etag.substr(0, etag.size() - 1)).append("-gzip\"");
}

}  // namespace

bool wants_gzip(std::string_view accept_encoding) {
  std::optional<int> gzip;
  std::optional<int> any;
  int identity = 0;
  while (!accept_encoding.empty()) {
    std::string_view item = take(accept_encoding, ',');
    const std::string_view coding = take(item, ';');
    if (equal_ignoring_case(coding, "gzip") || equal_ignoring_case(coding, "x-gzip")) gzip = weight_of(item);
    if (equal_ignoring_case(coding, "identity")) identity = weight_of(item);
    if (coding == "*") any = weight_of(item);
  }
  const int weight = gzip.value_or(any.value_or(0));
  return weight > 0 && weight >= identity;
}

void pack_for(const Request& request, Response& response) {
  if (response.text().size() < packed_from_bytes || response.wire_fault() || response.is_bodiless()) return;
  if (!is_text_field(response.headers())) return;
  response.header("Vary", "Accept-Encoding");
  const auto accepted = request.find("Accept-Encoding");
  if (!accepted || !wants_gzip(*accepted)) return;
  if (auto packed = pack(response.text())) {
    response.text(std::move(*packed));
    response.header("Content-Encoding", "gzip").rewrite_header("ETag", with_gzip_ending);
  }
}

}  // namespace ws::mock::http
