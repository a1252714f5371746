/// The texts of documents that this user last saw, so that a change made from one of them can be merged with what
/// others changed since: the API gives no old revisions.
///
/// A cache: a missing entry costs an automatic merge, never a text. Files 0600 in folders 0700, three revisions a
/// document.
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
  /// `cache`: `Paths::cache`. `server`: the base URL; documents of two servers never meet.
  SeenTexts(const std::filesystem::path& cache, std::string_view server);

  /// Ignores failures: it is a cache.
  void keep(std::string_view document_id, const SeenText& text) const;
  /// That revision.
  std::optional<SeenText> find(std::string_view document_id, std::int64_t revision) const;
  /// The newest one that was kept.
  std::optional<SeenText> newest(std::string_view document_id) const;

 private:
  std::filesystem::path folder_of(std::string_view document_id) const;

  std::filesystem::path folder_;
};

}  // namespace ws::cli
