/// A set of paths with their ancestors and descendants. A file that is outside of it cannot clash with any of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace ws::sync {

/// Places by `RelativePath::twin_key`.
class OverlappingPaths {
 public:
  void add(std::string key) {
    each_folder(key, [this](std::string_view folder) {
      if (!above_.contains(folder)) above_.emplace(folder);
      return false;
    });
    places_.insert(std::move(key));
  }

  /// Whether `key` is one of the places, a folder above one, or below one.
  bool overlaps(std::string_view key) const {
    return places_.contains(key) || above_.contains(key) ||
           each_folder(key, [this](std::string_view folder) { return places_.contains(folder); });
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Keys = std::unordered_set<std::string, Hash, std::equal_to<>>;

  /// From the top down, until `visit` says that it is found.
  template <class Visit>
  static bool each_folder(std::string_view key, Visit visit) {
    for (std::size_t slash = key.find('/'); slash != std::string_view::npos; slash = key.find('/', slash + 1)) {
      if (visit(key.substr(0, slash))) return true;
    }
    return false;
  }

  Keys places_;
  Keys above_;
};

/// Visits what stands at `key`, above it and below it, in a multimap by twin key.
template <class Map, class Visit>
void visit_overlapping(const Map& map, const std::string& key, Visit visit) {
  const auto visit_at = [&](const std::string& place) {
    const auto [first, last] = map.equal_range(place);
    for (auto each = first; each != last; ++each) visit(each);
  };
  visit_at(key);
  for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
    visit_at(key.substr(0, slash));
  }
  const std::string folder = key + "/";
  for (auto below = map.lower_bound(folder); below != map.end() && below->first.starts_with(folder); ++below) {
    visit(below);
  }
}

}  // namespace ws::sync
