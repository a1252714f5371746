#include "sync-engine/reconcile/identify.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/reconcile/surroundings.hpp"

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
  Identifier(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options)
      : base_(base), found_(found), options_(options) {
    for (const auto& [document, entry] : base.documents) by_path_.emplace(base.disk_path(document).text(), &document);
    local_.skipped = found.skipped;
    for (const Skipped& skipped : found.closed) closed_.emplace(skipped.path, skipped.reason);
    for (const Skipped& skipped : found.skipped) closed_.emplace(skipped.path, skipped.reason);
  }

  LocalTree identify() {
    match_unchanged();
    if (!changed_.empty() || local_.tracked.size() < base_.documents.size()) {
      take_renames(moved_files(base_, missing(), changed_, options_.renames));
      match_by_path();
      match_other_forms();
      look_for_hindrances();
      take_renames(alike_files(base_, missing(), changed_, options_.renames));
    }
    take_created();
    std::sort(local_.skipped.begin(), local_.skipped.end());
    return std::move(local_);
  }

 private:
  void track(const DocumentId& document, const FoundFile& file) {
    local_.tracked.emplace(document, Entry{.path = file.path, .hash = file.hash});
  }

  void match_unchanged() {
    for (const FoundFile& file : found_.files) {
      const auto [first, last] = by_path_.equal_range(file.path.text());
      const auto same = std::find_if(
          first, last, [&](const auto& known) { return base_.documents.at(*known.second).hash == file.hash; });
      if (same != last) {
        track(*same->second, file);
      } else {
        changed_.push_back(&file);
      }
    }
  }

  /// Whose file it is by its path. Two documents have one place where the file of the first was renamed here and waits
  /// for a decision, and the second came since: then its number tells, or else the second is taken for it.
  const DocumentId* document_at(const FoundFile& file) const {
    const auto [first, last] = by_path_.equal_range(file.path.text());
    if (first == last) return nullptr;
    if (std::next(first) == last) return local_.tracked.contains(*first->second) ? nullptr : first->second;
    const std::map<DocumentId, FileId> numbers =
        options_.renames.files ? options_.renames.files() : std::map<DocumentId, FileId>();
    const DocumentId* best = nullptr;
    for (auto known = first; known != last; ++known) {
      if (local_.tracked.contains(*known->second)) continue;
      const auto number = numbers.find(*known->second);
      if (number != numbers.end() && number->second == file.id) return known->second;
      if (best == nullptr || *best < *known->second) best = known->second;
    }
    return best;
  }

  /// Documents without a file, neither at their path nor elsewhere, as far as is known by now.
  std::vector<DocumentId> missing() const {
    if (local_.tracked.size() == base_.documents.size()) return {};
    std::set<std::string_view> places;
    for (const FoundFile* file : changed_) places.insert(file->path.text());
    std::vector<DocumentId> missing;
    for (const auto& [document, entry] : base_.documents) {
      const std::string_view path = base_.disk_path(document).text();
      const bool there = local_.tracked.contains(document) || local_.hindered.contains(document) ||
                         places.contains(path) || hindrance_of(closed_, path);
      if (!there) missing.push_back(document);
    }
    return missing;
  }

  void take_renames(const Renames& renames) {
    if (renames.empty()) return;
    std::set<const FoundFile*> taken;
    for (const auto& [document, file] : renames) {
      track(document, *file);
      taken.insert(file);
    }
    std::erase_if(changed_, [&](const FoundFile* file) { return taken.contains(file); });
  }

  void match_by_path() {
    std::erase_if(changed_, [&](const FoundFile* file) {
      const DocumentId* const known = document_at(*file);
      if (known == nullptr) return false;
      track(*known, *file);
      return true;
    });
  }

  /// A known document whose file is found under the same name in another normal form.
  void match_other_forms() {
    if (changed_.empty() || local_.tracked.size() == base_.documents.size()) return;
    std::unordered_map<std::string, const DocumentId*> missing;
    for (const auto& [document, entry] : base_.documents) {
      if (!local_.tracked.contains(document)) missing.emplace(utf8::nfc(base_.disk_path(document).text()), &document);
    }
    std::erase_if(changed_, [&](const FoundFile* file) {
      const auto known = missing.find(utf8::nfc(file->path.text()));
      if (known == missing.end()) return false;
      track(*known->second, *file);
      missing.erase(known);
      return true;
    });
  }

  void take_created() {
    if (changed_.empty()) return;
    Surroundings taken;
    std::sort(
        changed_.begin(), changed_.end(), [](const FoundFile* a, const FoundFile* b) { return a->path < b->path; });
    for (const auto& [document, entry] : local_.tracked) taken.add(entry.path.twin_key());
    for (const FoundFile* file : changed_) {
      std::string key = file->path.twin_key();
      // Of the file itself, or of a folder: `A.md` and `a.md/x.md` are two names only where case tells them apart.
      if (!taken.touch(key)) {
        taken.add(std::move(key));
        local_.created.emplace_hint(local_.created.end(), file->path, file->hash);
      } else {
        local_.skipped.push_back({.path = file->path.string(), .reason = Hindrance::twin});
      }
    }
  }

  void look_for_hindrances() {
    if (local_.tracked.size() == base_.documents.size()) return;
    for (const auto& [document, entry] : base_.documents) {
      if (local_.tracked.contains(document)) continue;
      const RelativePath& path = base_.disk_path(document);
      if (const auto hindrance = hindrance_of(closed_, path.text())) {
        local_.hindered.emplace(document, *hindrance);
      } else if (options_.ignored && options_.ignored(path)) {
        local_.hindered.emplace(document, Hindrance::ignored);
      }
    }
  }

  const BaseTree& base_;
  const FoundTree& found_;
  const IdentifyOptions& options_;
  std::unordered_multimap<std::string_view, const DocumentId*> by_path_;
  std::vector<const FoundFile*> changed_;  // not yet known to be a document's
  Closed closed_;
  LocalTree local_;
};

}  // namespace

LocalTree identify(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options) {
  return Identifier(base, found, options).identify();
}

}  // namespace ws::sync
