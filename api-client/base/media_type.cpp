#include "api-client/base/media_type.hpp"

#include <algorithm>
#include <optional>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

struct Signature {
  std::string_view bytes;
  std::string_view type;
};
constexpr Signature signatures[] = {
    {"\x89PNG\r\n\x1a\n", "image/png"},
    {"\xff\xd8\xff", "image/jpeg"},
    {"GIF87a", "image/gif"},
    {"GIF89a", "image/gif"},
    {"%PDF-", "application/pdf"},
    {"PK\x03\x04", "application/zip"},
    {"\x1f\x8b", "application/gzip"},
    {"BZh", "application/x-bzip2"},
    {"\xfd"
     "7zXZ",
     "application/x-xz"},
    {"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
    {"\x28\xb5\x2f\xfd", "application/zstd"},
    {"OggS", "audio/ogg"},
    {"ID3", "audio/mpeg"},
    {"fLaC", "audio/flac"},
    {"SQLite format 3", "application/vnd.sqlite3"},
    {"\x7f"
     "ELF",
     "application/x-executable"},
    {"wOF2", "font/woff2"},
};

struct MediaType {
  std::string_view extension;
  std::string_view type;
};
constexpr MediaType media_types[] = {
    // What Debian's table lacks, or has for what hardly anybody means.
    {"bz2", "application/x-bzip2"},
    {"log", "text/plain"},
    {"rs", "text/plain"},
    {"tgz", "application/gzip"},
    {"ts", "video/mp2t"},
    {"wav", "audio/wav"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
#include "media_types.inc"
};

std::optional<std::string_view> type_of_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string extension = to_lower(name.substr(dot + 1));
  const auto* const found = std::ranges::find(media_types, extension, &MediaType::extension);
  if (found == std::end(media_types)) return std::nullopt;
  return found->type;
}

std::optional<std::string_view> type_of_bytes(std::string_view bytes) {
  if (bytes.size() >= 12 && bytes.substr(0, 4) == "RIFF") {
    if (bytes.substr(8, 4) == "WEBP") return "image/webp";
    if (bytes.substr(8, 4) == "WAVE") return "audio/wav";
  }
  for (const Signature& signature : signatures) {
    if (bytes.substr(0, signature.bytes.size()) == signature.bytes) return signature.type;
  }
  return std::nullopt;
}

/// Container formats such as ZIP: the file name's extension is more precise.
bool is_container(std::string_view type) {
  return type == "application/zip" || type == "audio/ogg" || type == "application/gzip";
}

/// Whether a file of this type can be text: a `.ts` that is text is no film.
bool may_be_text(std::string_view type) {
  const std::string_view family = type.substr(0, type.find('/'));
  return type.ends_with("+xml") || (family != "image" && family != "audio" && family != "video" && family != "font");
}

bool is_text(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return false;
  // The sample may end in the middle of a UTF-8 sequence.
  for (int cut = 0; cut < 4; ++cut) {
    if (utf8::is_valid(bytes)) return true;
    if (bytes.empty()) return false;
    bytes.remove_suffix(1);
  }
  return false;
}

}  // namespace

std::string media_type_of(std::string_view file_name, std::string_view first_bytes) {
  const auto by_name = type_of_name(file_name);
  const auto by_bytes = type_of_bytes(first_bytes);
  if (by_bytes && !(by_name && is_container(*by_bytes))) return std::string(*by_bytes);
  const bool text = is_text(first_bytes);
  if (by_name && (text ? may_be_text(*by_name) : !by_name->starts_with("text/"))) return std::string(*by_name);
  return text ? "text/plain" : "application/octet-stream";
}

}  // namespace ws
