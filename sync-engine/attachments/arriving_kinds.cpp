#include "sync-engine/attachments/arriving_kinds.hpp"

#include <algorithm>
#include <array>

#include "api-client/base/utf8.hpp"
#include "sync-engine/tree/wildmatch.hpp"

namespace ws::sync {
namespace {

struct PlainKind {
  std::string_view extension;
  bool is_only_shown;
};

constexpr PlainKind plain_kinds[] = {
    {"png", true},    {"jpg", true},         {"jpeg", true},    {"gif", true},    {"webp", true},  {"avif", true},
    {"heic", true},   {"bmp", true},         {"tif", true},     {"tiff", true},   {"svg", true},   {"ico", true},
    {"mp3", true},    {"m4a", true},         {"ogg", true},     {"opus", true},   {"flac", true},  {"wav", true},
    {"aac", true},    {"mp4", true},         {"m4v", true},     {"mov", true},    {"webm", true},  {"mkv", true},
    {"avi", true},    {"pdf", true},         {"epub", false},   {"docx", false},  {"xlsx", false}, {"pptx", false},
    {"odt", false},   {"ods", false},        {"odp", false},    {"rtf", false},   {"csv", false},  {"tsv", false},
    {"txt", false},   {"log", false},        {"srt", false},    {"vtt", false},   {"bib", false},  {"zip", false},
    {"gz", false},    {"tar", false},        {"7z", false},     {"ttf", false},   {"otf", false},  {"woff", false},
    {"woff2", false}, {"excalidraw", false}, {"drawio", false}, {"canvas", false}};

/// Names and folders, in folded case, that programs read whatever the extension promises.
constexpr std::array<std::string_view, 3> names_for_tools = {"requirements*.txt", "constraints*.txt", "cmakelists.txt"};
constexpr std::array<std::string_view, 7> folders_of_tools = {
    "node_modules", "vendor", "__pycache__", "site-packages", "venv", "target", "bin"};

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Behind the last dot; empty: there is none.
std::string_view extension_of(std::string_view path) {
  const std::string_view name = last_name(path);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

const PlainKind* find_plain(std::string_view extension) {
  const auto* const found = std::ranges::find(plain_kinds, extension, &PlainKind::extension);
  return found == std::end(plain_kinds) ? nullptr : found;
}

bool is_for_tools(std::string_view folded) {
  const std::string_view name = last_name(folded);
  if (std::ranges::any_of(names_for_tools, [&](std::string_view each) { return wildmatch(each, name); })) return true;
  for (std::size_t begin = 0, slash = folded.find('/'); slash != std::string_view::npos;
       begin = slash + 1, slash = folded.find('/', begin)) {
    if (std::ranges::find(folders_of_tools, folded.substr(begin, slash - begin)) != folders_of_tools.end()) return true;
  }
  return false;
}

}  // namespace

ArrivingKinds::ArrivingKinds(const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    is_any_ = is_any_ || kind == "any";
    is_plain_ = is_plain_ || kind == "plain";
    extensions_.push_back(kind);
  }
}

bool ArrivingKinds::take(std::string_view path) const {
  if (is_any_) return true;
  const std::string folded = utf8::fold_key(path);
  if (is_for_tools(folded)) return false;
  const std::string_view extension = extension_of(folded);
  if (extension.empty()) return false;
  return (is_plain_ && find_plain(extension) != nullptr) ||
         std::ranges::find(extensions_, extension) != extensions_.end();
}

bool is_only_shown(std::string_view path) {
  const std::string folded = utf8::fold_key(path);
  const PlainKind* const kind = find_plain(extension_of(folded));
  return kind != nullptr && kind->is_only_shown;
}

}  // namespace ws::sync
