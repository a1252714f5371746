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

struct Ending {
  std::string_view ending;
  std::string_view type;
};
constexpr Ending endings[] = {
    {"md", "text/markdown"},
    {"markdown", "text/markdown"},
    {"txt", "text/plain"},
    {"text", "text/plain"},
    {"log", "text/plain"},
    {"csv", "text/csv"},
    {"tsv", "text/tab-separated-values"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"css", "text/css"},
    {"js", "text/javascript"},
    {"mjs", "text/javascript"},
    {"json", "application/json"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"svg", "image/svg+xml"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"bmp", "image/bmp"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"ico", "image/vnd.microsoft.icon"},
    {"heic", "image/heic"},
    {"avif", "image/avif"},
    {"pdf", "application/pdf"},
    {"rtf", "application/rtf"},
    {"eml", "message/rfc822"},
    {"ics", "text/calendar"},
    {"doc", "application/msword"},
    {"xls", "application/vnd.ms-excel"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"epub", "application/epub+zip"},
    {"jar", "application/java-archive"},
    {"zip", "application/zip"},
    {"gz", "application/gzip"},
    {"tgz", "application/gzip"},
    {"tar", "application/x-tar"},
    {"bz2", "application/x-bzip2"},
    {"xz", "application/x-xz"},
    {"zst", "application/zstd"},
    {"7z", "application/x-7z-compressed"},
    {"mp3", "audio/mpeg"},
    {"wav", "audio/wav"},
    {"ogg", "audio/ogg"},
    {"m4a", "audio/mp4"},
    {"flac", "audio/flac"},
    {"mp4", "video/mp4"},
    {"mov", "video/quicktime"},
    {"webm", "video/webm"},
    {"mkv", "video/x-matroska"},
    {"woff2", "font/woff2"},
    {"wasm", "application/wasm"},
};

std::optional<std::string_view> type_of_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string ending = to_lower(name.substr(dot + 1));
  const auto* const found = std::ranges::find(endings, ending, &Ending::ending);
  if (found == std::end(endings)) return std::nullopt;
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
  if (by_name && (text || by_name->substr(0, 5) != "text/")) return std::string(*by_name);
  return text ? "text/plain" : "application/octet-stream";
}

}  // namespace ws
