#include <cstdint>

#include <zlib.h>

#include "server-mock/trace/trace_file.hpp"

namespace ws::mock::trace {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t piece_bytes = std::size_t{64} << 10U;

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (const char byte : bytes) {
    buffer = (buffer << 8U) | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += base64_digits[(buffer >> (bits - 6)) & 63U];
  }
  if (bits > 0) text += base64_digits[(buffer << (6U - bits)) & 63U];
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::size_t digit = base64_digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    buffer = (buffer << 6U) | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((buffer >> bits) & 0xFFU);
  }
  return bytes;
}

std::optional<std::string> pack(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()),
                               &size,
                               reinterpret_cast<const Bytef*>(text.data()),
                               text.size(),
                               Z_DEFAULT_COMPRESSION);
  if (result != Z_OK) return std::nullopt;
  packed.resize(size);
  return to_base64(packed);
}

std::optional<std::string> unpack(std::string_view packed, std::size_t max_bytes) {
  const auto bytes = from_base64(packed);
  z_stream stream = {};
  if (!bytes || inflateInit(&stream) != Z_OK) return std::nullopt;
  // zlib's parameter is a pointer to non-const, but zlib does not write through it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes->data()));
  stream.avail_in = static_cast<uInt>(bytes->size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK && text.size() <= max_bytes) {
    const std::size_t start = text.size();
    text.resize(start + piece_bytes);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + start);
    stream.avail_out = static_cast<uInt>(piece_bytes);
    result = inflate(&stream, Z_NO_FLUSH);
    text.resize(start + piece_bytes - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || text.size() > max_bytes) return std::nullopt;
  return text;
}

}  // namespace ws::mock::trace
