#include "tests/property/meetings.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "tests/property/folder.hpp"

namespace ws::property {
namespace {

constexpr std::string_view composed = "\u00e9";
constexpr std::string_view decomposed = "e\u0301";

std::string unique(Words& words) { return words.word(0).substr(1); }

/// A name that nothing has yet, in one of both Unicode forms.
std::string new_name(bool picture, const Step& step, Words& words) {
  const std::string folder = step.how % 4 == 3 ? "d/" : "";
  const std::string stem = step.how % 2 == 0 ? "m" : "n";
  return folder + stem + std::string(step.how % 8 < 4 ? composed : decomposed) + unique(words) +
         (picture ? ".png" : ".md");
}

std::string other_case_of(std::string path) {
  const std::size_t slash = path.rfind('/');
  char& first = path[slash == std::string::npos ? 0 : slash + 1];
  first = static_cast<char>(first ^ 0x20);
  return path;
}

bool has_forms(const std::string& path) {
  return path.find(composed) != std::string::npos || path.find(decomposed) != std::string::npos;
}

std::string other_form_of(std::string path) {
  const bool is_composed = path.find(composed) != std::string::npos;
  const std::string_view from = is_composed ? composed : decomposed;
  return path.replace(path.find(from), from.size(), is_composed ? decomposed : composed);
}

std::string new_path(Happening what, const std::string& path, const Step& step, Words& words) {
  if (what == Happening::recased) return other_case_of(path);
  if (what == Happening::recoded) return other_form_of(path);
  return new_name(names_picture(path), step, words);
}

std::string new_text_of(const std::string& path, Words& words) {
  if (names_picture(path)) return "\x89PNG\r\n\x1a\n" + unique(words) + "\n";
  return "# " + unique(words) + "\n\na line\n\nanother line\n\nlast line\n";
}

/// At the begin or at the end, so that some edits merge.
std::string edited_text(const std::string& path, const std::string& text, bool at_end, Words& words) {
  if (names_picture(path)) return new_text_of(path, words);
  return at_end ? text + "more " + unique(words) + "\n" : "first " + unique(words) + "\n" + text;
}

/// Another first line.
std::string begun_anew(const std::string& path, const std::string& text, Words& words) {
  if (names_picture(path)) return new_text_of(path, words);
  const std::size_t end = text.find('\n');
  return "# " + unique(words) + "\n" + (end == std::string::npos ? std::string() : text.substr(end + 1));
}

std::string from_root(const std::string& target) { return "[" + target + "](/" + target + ")\n"; }

/// A new note that is nothing but a link.
void show_file(const Folder& folder, const std::string& path, Words& words) {
  folder.write("w" + unique(words) + ".md", "!" + from_root(path));
}

/// Notes whose text all agree on, and which have the path that was agreed.
std::vector<std::string> common_notes(const BoundFolder& place, Service& service) {
  std::map<std::string, std::string> agreed;
  for (const auto& [id, row] : place.base()) {
    const auto document = service.documents().find(id.text());
    if (document != service.documents().end() && document->second.path == utf8::nfc(row.entry.path.string()))
      agreed.emplace(document->second.path, document->second.text);
  }
  std::vector<std::string> common;
  for (const auto& [path, text] : place.tree()) {
    const auto document = agreed.find(utf8::nfc(path));
    if (document != agreed.end() && document->second == text) common.push_back(path);
  }
  return common;
}

/// By the name that the service has.
std::map<std::string, std::string> by_form(const std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> formed;
  for (const auto& [path, bytes] : files) formed[utf8::nfc(path)] = bytes;
  return formed;
}

/// Pictures that are listed and lie in both folders alike.
std::vector<std::string> common_pictures(const BoundFolder& place, const BoundFolder& other, Service& service) {
  const std::map<std::string, std::string> there = by_form(other.pictures());
  const std::map<std::string, std::string> listed = by_form(service.listed());
  std::vector<std::string> common;
  for (const auto& [path, bytes] : place.pictures()) {
    const auto copy = there.find(utf8::nfc(path));
    const auto row = listed.find(utf8::nfc(path));
    if (copy == there.end() || row == listed.end() || copy->second != bytes) continue;
    if (Sha256::of(bytes).hex() == row->second) common.push_back(path);
  }
  return common;
}

}  // namespace

void add_entries(BoundFolder& place, const Step& step, Words& words) {
  constexpr unsigned notes = 9;
  constexpr unsigned pictures = 8;
  const Folder folder(place.root(), {});
  Step each = step;
  std::string last;
  for (unsigned i = 0; i < notes; ++i, ++each.how) {
    const std::string note = new_name(false, each, words);
    // Many notes are little but links.
    std::string text = i % 3 == 2 ? std::string() : new_text_of(note, words);
    if (!last.empty()) text += from_root(last);
    if (i < pictures) {
      const std::string picture = new_name(true, each, words);
      folder.write(picture, new_text_of(picture, words));
      text += "!" + from_root(picture);
    }
    folder.write(note, text);
    last = note;
  }
}

std::optional<std::string> entry_for(const Cell& pair,
                                     const BoundFolder& place,
                                     const BoundFolder& other,
                                     Service& service,
                                     const std::set<std::string>& taken,
                                     const Step& step,
                                     Words& words) {
  if (pair.first == Happening::created) return new_name(pair.is_picture, step, words);
  std::vector<std::string> common =
      pair.is_picture ? common_pictures(place, other, service) : common_notes(place, service);
  if (pair.first == Happening::recoded || pair.next == Happening::recoded)
    std::erase_if(common, [](const std::string& path) { return !has_forms(path); });
  std::erase_if(common, [&](const std::string& path) { return taken.contains(path); });
  if (common.empty()) return std::nullopt;
  return common[step.how % common.size()];
}

void change_file(
    BoundFolder& place, Happening what, const std::string& agreed, std::string& path, const Step& step, Words& words) {
  const Folder folder(place.root(), {});
  switch (what) {
    case Happening::created:
      folder.remove(agreed);
      folder.write(agreed, new_text_of(agreed, words));
      path = agreed;
      if (names_picture(path)) show_file(folder, path, words);
      return;
    case Happening::removed: return folder.remove(path);
    case Happening::became_folder: {
      const std::string child = path + (names_picture(path) ? "/p.png" : "/x.md");
      const std::string text = step.how % 2 == 0 ? folder.read(path) : new_text_of(path, words);
      folder.remove(path);
      folder.write(child, text);
      if (names_picture(path)) show_file(folder, child, words);
      return;
    }
    default: break;
  }
  if (what == Happening::edited || what == Happening::renamed_and_edited) {
    const std::string text = edited_text(path, folder.read(path), step.how % 2 == 0, words);
    // Saved by a new file and renamed at once, it is another file for who looks at inodes: rarely.
    const bool is_replaced = step.how % (what == Happening::edited ? 3 : 12) == 0;
    is_replaced ? folder.replace(path, text) : folder.write(path, text);
  }
  if (what == Happening::edited) return;
  const std::string to = new_path(what, path, step, words);
  folder.move(path, to);
  if (names_picture(to) && step.how % 4 != 0) show_file(folder, to, words);
  path = to;
}

void change_document(Service& service,
                     Happening what,
                     const std::string& agreed,
                     std::string& path,
                     const Step& step,
                     Words& words,
                     std::vector<Item>& items) {
  const auto id = service.find(path);
  const Item removal{.action = "push_delete", .path = path, .document = id.value_or("")};
  if (what == Happening::created) {
    for (const auto& [below, document] : service.documents()) {
      if (document.path.starts_with(agreed + "/"))
        items.push_back({.action = "push_delete", .path = document.path, .document = below});
    }
    items.push_back({.action = "push_create", .path = agreed, .text = new_text_of(agreed, words)});
    path = agreed;
  } else if (!id) {
    return;
  } else if (what == Happening::removed) {
    items.push_back(removal);
  } else if (what == Happening::became_folder) {
    items.push_back(removal);
    items.push_back({.action = "push_create", .path = path + "/x.md", .text = new_text_of(path, words)});
  } else {
    if (what != Happening::edited) {
      const std::string to = utf8::nfc(new_path(what, path, step, words));
      items.push_back({.action = "push_move", .path = to, .document = *id, .previous_path = path});
      path = to;
    }
    if (what == Happening::edited || what == Happening::renamed_and_edited) {
      const std::string text = edited_text(path, service.documents().at(*id).text, step.how % 4 < 2, words);
      items.push_back({.action = "push_update", .path = path, .document = *id, .text = text});
    }
  }
}

void change_apart(BoundFolder& place,
                  BoundFolder& other,
                  Service& service,
                  const std::string& here,
                  const std::string& there,
                  Words& words,
                  std::vector<Item>& items) {
  const Folder folder(place.root(), {});
  folder.write(here, begun_anew(here, folder.read(here), words));
  if (names_picture(there)) return Folder(other.root(), {}).write(there, begun_anew(there, {}, words));
  const auto id = service.find(there);
  if (!id) return;
  const std::string text = begun_anew(there, service.documents().at(*id).text, words);
  items.push_back({.action = "push_update", .path = there, .document = *id, .text = text});
}

}  // namespace ws::property
