#include "sync-engine/reconcile/identify.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

using Closed = std::map<std::string, Hindrance, std::less<>>;

/// Why the file at `path` cannot be seen: itself, or a folder above it, is closed.
std::optional<Hindrance> hindrance_of(const Closed& closed, std::string_view path) {
  if (closed.empty()) return std::nullopt;
  for (std::string_view place = path;;) {
    if (const auto found = closed.find(place); found != closed.end()) return found->second;
    const std::size_t slash = place.rfind('/');
    if (slash == std::string_view::npos) return std::nullopt;
    place = place.substr(0, slash);
  }
}

class Identifier {
 public:
  Identifier(const BaseTree& base, const FoundTree& found) : base_(base), found_(found) {
    for (const auto& [document, entry] : base.documents) by_path_.emplace(entry.path.text(), &document);
    local_.skipped = found.skipped;
    for (const Skipped& skipped : found.closed) closed_.emplace(skipped.path, skipped.reason);
    for (const Skipped& skipped : found.skipped) closed_.emplace(skipped.path, skipped.reason);
  }

  LocalTree identify(const std::function<bool(const RelativePath&)>& ignored) {
    match_exactly();
    match_other_forms();
    take_created();
    look_for_hindrances(ignored);
    std::sort(local_.skipped.begin(), local_.skipped.end());
    return std::move(local_);
  }

 private:
  void match_exactly() {
    for (const FoundFile& file : found_.files) {
      const auto known = by_path_.find(file.path.text());
      if (known == by_path_.end()) {
        others_.push_back(&file);
      } else {
        local_.tracked.emplace(*known->second, Entry{.path = file.path, .hash = file.hash});
      }
    }
  }

  /// A known document whose file is found under the same name in another normal form.
  void match_other_forms() {
    if (others_.empty() || local_.tracked.size() == base_.documents.size()) return;
    std::unordered_map<std::string, const DocumentId*> missing;
    for (const auto& [document, entry] : base_.documents) {
      if (!local_.tracked.contains(document)) missing.emplace(utf8::nfc(entry.path.text()), &document);
    }
    std::erase_if(others_, [&](const FoundFile* file) {
      const auto known = missing.find(utf8::nfc(file->path.text()));
      if (known == missing.end()) return false;
      local_.tracked.emplace(*known->second, Entry{.path = file->path, .hash = file->hash});
      missing.erase(known);
      return true;
    });
  }

  void take_created() {
    if (others_.empty()) return;
    std::unordered_map<std::string, const FoundFile*> first;
    std::sort(others_.begin(), others_.end(), [](const FoundFile* a, const FoundFile* b) { return a->path < b->path; });
    for (const auto& [document, entry] : local_.tracked) first.emplace(entry.path.twin_key(), nullptr);
    for (const FoundFile* file : others_) {
      if (first.emplace(file->path.twin_key(), file).second) {
        local_.created.emplace(file->path, file->hash);
      } else {
        local_.skipped.push_back({.path = file->path.string(), .reason = Hindrance::twin});
      }
    }
  }

  void look_for_hindrances(const std::function<bool(const RelativePath&)>& ignored) {
    if (local_.tracked.size() == base_.documents.size()) return;
    for (const auto& [document, entry] : base_.documents) {
      if (local_.tracked.contains(document)) continue;
      if (const auto hindrance = hindrance_of(closed_, entry.path.text())) {
        local_.hindered.emplace(document, *hindrance);
      } else if (ignored && ignored(entry.path)) {
        local_.hindered.emplace(document, Hindrance::ignored);
      }
    }
  }

  const BaseTree& base_;
  const FoundTree& found_;
  std::unordered_map<std::string_view, const DocumentId*> by_path_;
  std::vector<const FoundFile*> others_;
  Closed closed_;
  LocalTree local_;
};

}  // namespace

LocalTree identify(const BaseTree& base,
                   const FoundTree& found,
                   const std::function<bool(const RelativePath&)>& ignored) {
  return Identifier(base, found).identify(ignored);
}

}  // namespace ws::sync
