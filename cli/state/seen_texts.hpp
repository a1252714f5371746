/// The document texts that this user saw last. With them, an edit of an older revision can be merged with later changes
/// by others: the API does not return old revisions.
///
/// A cache: if an entry is missing, an automatic merge is not possible, but no text is lost. Files have mode 0600 in
/// folders with mode 0700; at most three revisions per document.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ws::cli {

struct SeenText {
  std::int64_t revision = 0;
  std::string content = {};
};

class SeenTexts {
 public:
  /// `cache` is `Paths::cache`. `server` is the base URL: each server has its own entries.
  SeenTexts(const std::filesystem::path& cache, std::string_view server);

  /// Ignores failures, since it is only a cache.
  void keep(std::string_view document_id, const SeenText& text) const;
  /// The text of that revision.
  std::optional<SeenText> find(std::string_view document_id, std::int64_t revision) const;
  /// The text with the highest stored revision.
  std::optional<SeenText> newest(std::string_view document_id) const;

 private:
  std::filesystem::path folder_of(std::string_view document_id) const;

  std::filesystem::path folder_;
};

}  // namespace ws::cli
