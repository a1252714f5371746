#include "sync-engine/reconcile/free_name.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ws::sync {
namespace {

constexpr std::size_t longest_name = 255;

/// Not in the midst of a character.
std::string_view cut(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace

FreeNames::FreeNames(const BaseTree& base, const LocalTree& local, const RemoteTree& remote) {
  for (const auto& [document, entry] : base.documents) taken_.insert(entry.path.twin_key());
  for (const auto& [document, path] : base.displaced_to) taken_.insert(path.twin_key());
  for (const auto& [document, entry] : local.tracked) taken_.insert(entry.path.twin_key());
  for (const auto& [path, hash] : local.created) taken_.insert(path.twin_key());
  for (const RelativePath& path : local.obstacles) taken_.insert(path.twin_key());
  for (const auto& [document, entry] : remote.changed) taken_.insert(entry.path.twin_key());
  for (const Skipped& skipped : local.skipped) {
    if (const auto path = RelativePath::parse(skipped.path)) taken_.insert(path->twin_key());
  }
}

RelativePath FreeNames::beside(const RelativePath& path, std::string_view word) {
  const auto take = [this](const RelativePath& place) { return taken_.insert(place.twin_key()).second; };
  // A path at its greatest length: the caller's place stays taken, and the file waits.
  return name_beside(path, word, take).value_or(path);
}

std::optional<RelativePath> name_beside(const RelativePath& path,
                                        std::string_view word,
                                        const std::function<bool(const RelativePath&)>& is_free) {
  const std::string_view whole = path.text();
  const std::string_view name = path.name();
  const std::size_t name_at = whole.size() - name.size();
  const std::size_t dot = name.rfind('.');
  const std::string_view extension = dot == std::string_view::npos ? std::string_view() : name.substr(dot);
  const std::string_view stem = name.substr(0, name.size() - extension.size());
  for (int number = 1;; ++number) {
    const std::string mark = number == 1 ? fmt::format(" ({})", word) : fmt::format(" ({} {})", word, number);
    const std::size_t room = longest_name - std::min(longest_name, mark.size() + extension.size());
    const auto found =
        RelativePath::parse(fmt::format("{}{}{}{}", whole.substr(0, name_at), cut(stem, room), mark, extension));
    if (!found) return std::nullopt;
    if (is_free(*found)) return *found;
  }
}

}  // namespace ws::sync
