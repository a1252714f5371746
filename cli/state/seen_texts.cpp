#include "cli/state/seen_texts.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept_revisions = 3;

/// The revisions stored in a folder, newest first.
std::vector<std::int64_t> revisions_in(const fs::path& folder) {
  std::vector<std::int64_t> revisions;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    std::int64_t revision = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), revision);
    if (problem == std::errc() && end == name.data() + name.size()) revisions.push_back(revision);
  }
  std::ranges::sort(revisions, std::greater());
  return revisions;
}

fs::path file_in(const fs::path& folder, std::int64_t revision) { return folder / (std::to_string(revision) + ".md"); }

}  // namespace

SeenTexts::SeenTexts(const fs::path& cache, std::string_view server)
    : folder_(cache / "texts" / Sha256::of(server).hex().substr(0, 16)) {}

fs::path SeenTexts::folder_of(std::string_view document_id) const {
  // The id was chosen by a server; its hash is a safe folder name.
  return folder_ / Sha256::of(document_id).hex().substr(0, 32);
}

void SeenTexts::keep(std::string_view document_id, const SeenText& text) const {
  const fs::path folder = folder_of(document_id);
  if (!make_folders(folder, 0700) || !write_file(file_in(folder, text.revision), text.content, 0600)) return;
  std::error_code ignored;
  const std::vector<std::int64_t> revisions = revisions_in(folder);
  for (std::size_t i = kept_revisions; i < revisions.size(); ++i) fs::remove(file_in(folder, revisions[i]), ignored);
}

std::optional<SeenText> SeenTexts::find(std::string_view document_id, std::int64_t revision) const {
  auto content = read_file(file_in(folder_of(document_id), revision));
  if (!content) return std::nullopt;
  return SeenText{.revision = revision, .content = std::move(*content)};
}

std::optional<SeenText> SeenTexts::newest(std::string_view document_id) const {
  const std::vector<std::int64_t> revisions = revisions_in(folder_of(document_id));
  return revisions.empty() ? std::nullopt : find(document_id, revisions.front());
}

}  // namespace ws::cli
