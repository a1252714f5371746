#include "sync-engine/links/resolve.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync::links {
namespace {

using State = Resolution::State;

constexpr std::array<std::string_view, 2> note_suffixes = {".md", ".markdown"};

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

bool is_ascii_path(std::string_view path) {
  return std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::size_t count_parts(std::string_view folder) {
  return folder.empty() ? 0 : static_cast<std::size_t>(std::count(folder.begin(), folder.end(), '/')) + 1;
}

/// Folders up and down between two files.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::string_view from = parent_folder(a);
  const std::string_view to = parent_folder(b);
  const auto differs = std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first;
  auto same = static_cast<std::size_t>(differs - from.begin());
  const auto ends_at = [&](std::string_view folder) { return same == folder.size() || folder[same] == '/'; };
  if (!ends_at(from) || !ends_at(to)) {
    const std::size_t slash = from.substr(0, same).rfind('/');
    same = slash == std::string_view::npos ? 0 : slash;
  }
  return count_parts(from) + count_parts(to) - 2 * count_parts(from.substr(0, same));
}

std::string_view without_note_suffix(std::string_view name) {
  for (const std::string_view suffix : note_suffixes) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

}  // namespace

bool Effort::take(std::string_view name, std::size_t others, std::size_t most) {
  const std::size_t pairs = (name.size() + 1) * (2 * most + 1) * others;
  const bool is_left = pairs <= left_;
  if (is_left) left_ -= pairs;
  was_refused_ = was_refused_ || !is_left;
  return is_left;
}

std::size_t edits_between(std::string_view a, std::string_view b, std::size_t most) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > most) return most + 1;
  // Only cells within `most` of the diagonal can have few enough edits; the others stay at one too many.
  std::vector<std::size_t> cells(a.size() + 1, most + 1);
  std::size_t* const row = cells.data();  // the innermost loop of a search for names: nothing is checked in it
  for (std::size_t i = 0; i <= std::min(a.size(), most); ++i) row[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    const std::size_t first = j > most ? j - most : 1;
    const std::size_t last = std::min(a.size(), j + most);
    std::size_t diagonal = row[first - 1];
    row[first - 1] = first == 1 && j <= most ? j : most + 1;
    std::size_t best = row[first - 1];
    for (std::size_t i = first; i <= last; ++i) {
      const std::size_t cost = a.data()[i - 1] == b.data()[j - 1] ? 0 : 1;
      const std::size_t next = std::min(std::min(row[i], row[i - 1]) + 1, std::min(diagonal + cost, most + 1));
      diagonal = std::exchange(row[i], next);
      best = std::min(best, next);
    }
    if (best > most) return most + 1;
  }
  return row[a.size()];
}

bool is_hidden_path(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

std::optional<std::string> joined(std::string_view folder, std::string_view path) {
  std::string whole(path.starts_with('/') ? std::string_view() : folder);
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      if (!whole.empty()) whole += '/';
      whole += part;
    } else if (whole.empty()) {
      return std::nullopt;
    } else {
      whole.resize(parent_folder(whole).size());
    }
  }
  return whole;
}

std::string relative_from(std::string_view note, std::string_view file) {
  const auto from = split(parent_folder(note));
  const auto to = split(file);
  std::size_t same = 0;
  while (same < from.size() && same + 1 < to.size() && from[same] == to[same]) ++same;
  std::string path;
  for (std::size_t i = same; i < from.size(); ++i) path += "../";
  for (std::size_t i = same; i < to.size(); ++i) {
    path += to[i];
    if (i + 1 < to.size()) path += '/';
  }
  return path;
}

TreeFiles::TreeFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {
  if (!std::ranges::is_sorted(paths_)) std::ranges::sort(paths_);
}

const std::vector<std::pair<std::string, std::size_t>>& TreeFiles::forms() const {
  if (forms_) return *forms_;
  forms_.emplace();
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (!is_ascii_path(paths_[i])) forms_->emplace_back(utf8::nfc(paths_[i]), i);
  }
  std::ranges::sort(*forms_);
  return *forms_;
}

const std::string* TreeFiles::find_file(std::string_view path) const {
  const auto same = std::ranges::lower_bound(paths_, path);
  if (same != paths_.end() && *same == path) return &*same;
  if (is_ascii_path(path)) return nullptr;
  const std::string form = utf8::nfc(path);
  const auto found = std::lower_bound(forms().begin(), forms().end(), std::pair(form, std::size_t{0}));
  return found != forms().end() && found->first == form ? &paths_[found->second] : nullptr;
}

bool TreeFiles::has_folder(std::string_view path) const {
  if (path.empty()) return true;
  const std::string begin = std::string(path) + '/';
  const auto same = std::ranges::lower_bound(paths_, begin);
  if (same != paths_.end() && same->starts_with(begin)) return true;
  if (is_ascii_path(path)) return false;
  const std::string form = utf8::nfc(begin);
  const auto found = std::lower_bound(forms().begin(), forms().end(), std::pair(form, std::size_t{0}));
  return found != forms().end() && found->first.starts_with(form);
}

Resolution TreeFiles::resolve(std::string_view note, const Reference& reference) const {
  if (reference.path.empty()) return {.state = State::file, .path = std::string(note)};
  const bool is_wiki = reference.is_wiki();
  if (reference.is_wiki_name()) return resolve_name(note, reference.path);
  const auto path = joined(parent_folder(note), reference.path);
  if (!path && !is_wiki) return {.state = State::outside};
  Resolution found = path ? resolve_path(*path, !reference.is_guess()) : Resolution{.state = State::outside};
  if (!is_wiki || found.state == State::file || reference.path.starts_with('.')) return found;
  const auto from_root = joined("", reference.path);
  if (!from_root) return found;
  if (Resolution other = resolve_path(*from_root, true); other.state == State::file) return other;
  Resolution other = resolve_end(note, *from_root);
  return other.state == State::none ? found : other;
}

Resolution TreeFiles::resolve_path(std::string_view path, bool tries_suffix) const {
  if (path.empty()) return {.state = State::folder};
  if (is_hidden_path(path) || !RelativePath::parse(path)) return {.state = State::outside};
  if (const std::string* const file = find_file(path)) return {.state = State::file, .path = *file};
  for (const std::string_view suffix : note_suffixes) {
    const std::string* const note = tries_suffix ? find_file(std::string(path) + std::string(suffix)) : nullptr;
    if (note != nullptr) return {.state = State::file, .path = *note, .added_suffix = true};
  }
  return {.state = has_folder(path) ? State::folder : State::none, .path = std::string(path)};
}

const TreeFiles::Places* TreeFiles::named(const std::string& name, bool folded) const {
  if (by_name_.empty()) {
    for (std::size_t i = 0; i < paths_.size(); ++i) by_name_[utf8::nfc(last_part(paths_[i]))].push_back(i);
  }
  if (folded && by_folded_name_.empty()) {
    for (std::size_t i = 0; i < paths_.size(); ++i) by_folded_name_[utf8::fold_key(last_part(paths_[i]))].push_back(i);
  }
  const auto& names = folded ? by_folded_name_ : by_name_;
  const auto found = names.find(folded ? utf8::fold_key(name) : utf8::nfc(name));
  return found == names.end() ? nullptr : &found->second;
}

Resolution TreeFiles::resolve_name(std::string_view note, std::string_view name) const {
  if (name.starts_with('.') || !RelativePath::parse(name)) return {.state = State::outside};
  for (const bool folded : {false, true}) {
    if (const Places* places = named(std::string(name), folded)) return choose(note, *places, false);
    for (const std::string_view suffix : note_suffixes) {
      if (const Places* places = named(std::string(name) + std::string(suffix), folded))
        return choose(note, *places, true);
    }
  }
  return {.state = State::none};
}

Resolution TreeFiles::resolve_end(std::string_view note, std::string_view path) const {
  const std::string end = "/" + utf8::nfc(path);
  for (const std::string_view suffix : {std::string_view(), note_suffixes[0], note_suffixes[1]}) {
    const Places* places = named(std::string(last_part(path)) + std::string(suffix), false);
    if (places == nullptr) continue;
    Places ending;
    std::ranges::copy_if(*places, std::back_inserter(ending), [&](std::size_t i) {
      return utf8::nfc(std::string_view(paths_[i]).substr(0, paths_[i].size() - suffix.size())).ends_with(end);
    });
    if (!ending.empty()) return choose(note, ending, !suffix.empty());
  }
  return {.state = State::none};
}

Resolution TreeFiles::choose(std::string_view note, const Places& places, bool added_suffix) const {
  std::size_t best = places.front();
  std::size_t count = 0;
  std::size_t nearest = static_cast<std::size_t>(-1);
  for (const std::size_t i : places) {
    const std::size_t far = distance(note, paths_[i]);
    if (far < nearest) {
      nearest = far;
      best = i;
      count = 0;
    }
    if (far == nearest) ++count;
  }
  if (count > 1) return {.state = State::ambiguous, .added_suffix = added_suffix};
  return {.state = State::file, .path = paths_[best], .added_suffix = added_suffix};
}

std::optional<std::string> TreeFiles::nearest(std::string_view note, const Reference& reference, Effort& effort) const {
  const std::string name(last_part(reference.path));
  if (name.empty()) return std::nullopt;
  for (const std::string& wanted : {name, name + ".md"}) {
    const Places* places = named(wanted, true);
    if (places == nullptr) continue;
    if (!effort.take(note, places->size())) return std::nullopt;
    const auto best =
        std::ranges::min_element(*places, {}, [&](std::size_t i) { return std::pair(distance(note, paths_[i]), i); });
    return paths_[*best];
  }
  const std::string_view stem = without_note_suffix(name);
  std::size_t most = std::min<std::size_t>(3, stem.size() / 2);
  if (most == 0 || !effort.take(stem, paths_.size(), most)) return std::nullopt;
  const std::string* best = nullptr;
  for (const std::string& path : paths_) {
    const std::size_t edits = edits_between(stem, without_note_suffix(last_part(path)), most);
    if (edits > most) continue;
    best = &path;
    if (edits == 0) break;
    most = edits - 1;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace ws::sync::links
