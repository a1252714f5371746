#include "tests/property/user_actions.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/property/folder.hpp"

namespace ws::property {
namespace {

namespace fs = std::filesystem;

constexpr std::array names = {"a.md",
                              "b.md",
                              "c.md",
                              "A.md",
                              "d/a.md",
                              "d/b.md",
                              "e/a.md",
                              "d/e/c.md",
                              "a.md/x.md",
                              "caf\u00e9.md",
                              "cafe\u0301.md",
                              "d.md"};
constexpr std::array folders = {"d", "e", "d/e", "f"};
constexpr std::array words_of_all = {"one", "two", "six", "ten"};

std::string new_text(const Step& step, Words& words) {
  return "# " + std::string(words_of_all[step.where % 4]) + "\n\n" + words.word(step.how) + " here\n\nlast line\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

std::string edited(const std::string& text, const Step& step, Words& words) {
  std::vector<std::string> lines = lines_of(text);
  const auto put = [&](const std::string& word) {
    if (lines.empty()) return lines.push_back(word + "\n");
    std::string& line = lines[step.where % 5 % lines.size()];
    line = word + line.substr(std::min<std::size_t>(3, line.find_last_not_of("\r\n") + 1));
  };
  switch (step.how % 16) {
    case 12:  // a note about git with conflict markers
      lines.push_back("<<<<<<< HEAD\nmine " + words.word(step.how) + "\n=======\ntheirs\n>>>>>>> branch\n");
      break;
    case 15: lines.push_back("more " + words.word(step.how) + "\n"); break;
    case 14:
      for (std::string& line : lines) {
        if (line.ends_with("\n") && !line.ends_with("\r\n")) line.insert(line.size() - 1, "\r");
      }
      break;
    case 13:
      if (!lines.empty() && lines.back().ends_with("\n")) lines.back().pop_back();
      break;
    default: put(words.word(step.how));
  }
  std::string joined;
  for (const std::string& line : lines) joined += line;
  return joined;
}

std::string same_size(std::string text, const Step& step) {
  if (text.size() < 3) return text;
  const std::size_t last = text.find_last_not_of("\r\n");
  if (last == std::string::npos) return text;
  text[last] = static_cast<char>('p' + step.how % 4);
  return text;
}

std::string other_case(const std::string& path) {
  const std::size_t at = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  std::string other = path;
  const auto c = static_cast<unsigned char>(other[at]);
  if (c < 0x80) other[at] = static_cast<char>(c ^ 0x20U);
  return other;
}

/// Adds or removes a line of a `.wsignore`, in the root or in a subfolder.
void toggle_rule(const Folder& folder, const Step& step) {
  constexpr std::array rules = {"b.md", "d/", "e*", "*.md", "!a.md", "c.md"};
  const std::string rule = std::string(rules[step.what % rules.size()]) + "\n";
  const bool below = step.how % 4 == 0 && fs::is_directory(folder / "d");
  const std::string file = below ? "d/.wsignore" : ".wsignore";
  std::string kept;
  bool was_there = false;
  if (folder.is_there(file)) {
    for (const std::string& line : lines_of(folder.read(file))) {
      if (line == rule) was_there = true;
      if (line != rule) kept += line;
    }
  }
  if (!was_there) kept += rule;
  if (kept.empty()) return folder.remove(file);
  folder.write(file, kept);
}

void edit_with_old_stamp(const Folder& folder, const std::string& path, const Step& step) {
  struct stat before {};
  ::stat((folder / path).c_str(), &before);
  folder.write(path, same_size(folder.read(path), step));
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ::utimensat(AT_FDCWD, (folder / path).c_str(), times, 0);
}

void swap_files(const Folder& folder, const std::string& a, const std::string& b) {
  folder.move(a, "swap.tmp");
  folder.move(b, a);
  folder.move("swap.tmp", b);
}

void become_folder(const Folder& folder, const std::string& path, const Step& step, Words& words) {
  const std::string old = folder.read(path);
  folder.remove(path);
  folder.write(path + "/x.md", step.how % 2 == 0 ? old : new_text(step, words));
}

void become_file(const Folder& folder, const std::string& path, const Step& step, Words& words) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return;
  const std::string old = folder.read(path);
  const std::string above = path.substr(0, slash);
  folder.remove(above);
  const std::string name = above.ends_with(".md") ? above : above + ".md";
  if (!folder.is_there(name)) folder.write(name, step.how % 2 == 0 ? old : new_text(step, words));
}

void rename_here(const Folder& folder, const std::string& path, const Step& step) {
  const std::string to = names[step.where % names.size()];
  // Sometimes replaces another file, as `mv` does.
  if (folder.is_there(to) && step.how % 8 != 0) return;
  if (to.starts_with(path + "/") || path.starts_with(to + "/")) return;
  folder.move(path, to);
}

/// Whether the path can be used: no twin, and no file above or below it.
bool fits(const Documents& documents, const std::string& path, const std::string& without = {}) {
  const std::string key = sync::RelativePath::parse(path)->twin_key();
  return std::none_of(documents.begin(), documents.end(), [&](const auto& each) {
    if (each.first == without) return false;
    const std::string other = sync::RelativePath::parse(each.second.path)->twin_key();
    return key == other || key.starts_with(other + "/") || other.starts_with(key + "/");
  });
}

/// Picks by path order: the same document in two stories that reached the same state in different ways.
const Documents::value_type* pick(const Documents& documents, std::uint8_t number) {
  std::vector<const Documents::value_type*> by_path;
  for (const auto& each : documents) by_path.push_back(&each);
  std::sort(
      by_path.begin(), by_path.end(), [](const auto* a, const auto* b) { return a->second.path < b->second.path; });
  return by_path.empty() ? nullptr : by_path[number % by_path.size()];
}

Item removal(const Documents::value_type& each) {
  return {.action = "push_delete", .path = each.second.path, .document = each.first};
}
Item update(const Documents::value_type& each, const std::string& text) {
  return {.action = "push_update", .path = each.second.path, .document = each.first, .text = text};
}
Item creation(const std::string& path, const std::string& text) {
  return {.action = "push_create", .path = path, .text = text};
}
Item move(const Documents::value_type& each, const std::string& to) {
  return {.action = "push_move", .path = to, .document = each.first, .previous_path = each.second.path};
}

std::vector<Item> below(const Documents& documents,
                        const std::string& folder,
                        const std::function<Item(const Documents::value_type&)>& item) {
  std::vector<Item> items;
  for (const auto& each : documents) {
    if (each.second.path.starts_with(folder + "/")) items.push_back(item(each));
  }
  return items;
}

std::vector<Item> folder_moves(const Documents& documents, const Step& step) {
  const std::string from = folders[step.what % folders.size()];
  const std::string to = folders[step.where % folders.size()];
  if (from == to || to.starts_with(from + "/") || from.starts_with(to + "/")) return {};
  if (!below(documents, to, removal).empty() || !fits(documents, to)) return {};
  return below(
      documents, from, [&](const auto& each) { return move(each, to + each.second.path.substr(from.size())); });
}

std::vector<Item> file_from_folder(const Documents& documents,
                                   const Documents::value_type& one,
                                   const std::string& text) {
  const std::string above = one.second.path.substr(0, one.second.path.find('/'));
  if (above == one.second.path || !above.ends_with(".md")) return {};
  std::vector<Item> items = below(documents, above, removal);
  items.push_back(creation(above, text));
  return items;
}

std::vector<Item> items_of(const Documents& documents, const Step& step, Words& words) {
  const Documents::value_type* const one = pick(documents, step.what);
  const std::string name = names[step.where % names.size()];
  if (step.kind == StepKind::create || one == nullptr) {
    if (!fits(documents, name)) return {};
    return {creation(name, new_text(step, words))};
  }
  const std::string text = edited(one->second.text, step, words);
  switch (step.kind) {
    case StepKind::edit: return {update(*one, text)};
    case StepKind::same_size_edit: return {update(*one, same_size(one->second.text, step))};
    case StepKind::remove: return {removal(*one)};
    case StepKind::rename_file:
    case StepKind::rename_and_edit: {
      if (!fits(documents, name, one->first)) return {};
      std::vector<Item> items = {move(*one, name)};
      if (step.kind == StepKind::rename_and_edit) items.push_back(creation(name, text));
      if (items.size() == 2)
        items.back() = {.action = "push_update", .path = name, .document = one->first, .text = text};
      return items;
    }
    case StepKind::rename_folder: return folder_moves(documents, step);
    case StepKind::remove_folder: return below(documents, folders[step.what % folders.size()], removal);
    case StepKind::swap: {
      const auto* const other = pick(documents, step.where);
      if (other == one) return {};
      return {move(*one, other->second.path), move(*other, one->second.path)};
    }
    case StepKind::recase: return {move(*one, other_case(one->second.path))};
    case StepKind::become_folder: {
      if (one->second.path.find('/') != std::string::npos) return {};
      return {removal(*one), creation(one->second.path + "/x.md", step.how % 2 == 0 ? one->second.text : text)};
    }
    case StepKind::become_file: return file_from_folder(documents, *one, text);
    default: return {};
  }
}

}  // namespace

std::string Words::word(std::uint8_t how) {
  if (how % 4 != 0) return words_of_all[how / 4 % 4];
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const unsigned number = next_++;
  return {'#', digits[number / 36 % 36], digits[number % 36]};
}

void act_in_folder(const BoundFolder& place, const Step& step, Words& words) {
  const Folder folder(place.root(), place.tree());
  const std::string name = names[step.where % names.size()];
  const auto picked = folder.pick(step.what);
  if (step.kind == StepKind::create || !picked) {
    if (!folder.is_there(name)) folder.write(name, new_text(step, words));
    return;
  }
  const std::string& path = *picked;
  const std::string from = folders[step.what % folders.size()];
  const std::string to = folders[step.where % folders.size()];
  switch (step.kind) {
    case StepKind::edit:
      if (step.how % 3 == 0) return folder.replace(path, edited(folder.read(path), step, words));
      return folder.write(path, edited(folder.read(path), step, words));
    case StepKind::same_size_edit: return edit_with_old_stamp(folder, path, step);
    case StepKind::remove: return folder.remove(path);
    case StepKind::rename_and_edit:
      folder.write(path, edited(folder.read(path), step, words));
      return rename_here(folder, path, step);
    case StepKind::rename_file: return rename_here(folder, path, step);
    case StepKind::rename_folder:
      if (folder.is_there(from) && !folder.is_there(to) && !to.starts_with(from)) folder.move(from, to);
      return;
    case StepKind::remove_folder: return folder.remove(from);
    case StepKind::swap: {
      const std::string other = *folder.pick(step.where);
      if (other != path) swap_files(folder, path, other);
      return;
    }
    case StepKind::recase:
      if (!folder.is_there(other_case(path))) folder.move(path, other_case(path));
      return;
    case StepKind::touch:
      ::utimensat(AT_FDCWD, (folder / path).c_str(), nullptr, 0);
      if (step.how % 2 == 0) ::chmod((folder / path).c_str(), step.how % 4 == 0 ? 0600 : 0755);
      return;
    case StepKind::become_folder: return become_folder(folder, path, step, words);
    case StepKind::become_file: return become_file(folder, path, step, words);
    case StepKind::ignore: return toggle_rule(folder, step);
    default: return;
  }
}

void enlarge_in_folder(const BoundFolder& place, const Step& step, Words& words) {
  const Folder folder(place.root(), place.tree());
  const auto path = folder.pick(step.what);
  if (!path) return;
  const std::size_t bytes = step.how % 16 == 0  ? (std::size_t{8} << 20U) + 100
                            : step.how % 4 == 0 ? (std::size_t{1} << 20U) + 100
                                                : 300;
  std::string text = folder.read(*path) + "grown " + words.word(step.how) + "\n";
  text.reserve(text.size() + bytes + 80);
  for (const std::size_t full = text.size() + bytes; text.size() < full;) {
    text += "a line of a long note, which is alike to all lines of all long notes here, as far as anybody can tell\n";
  }
  folder.write(*path, text);
}

void act_on_service(Service& service, const Step& step, Words& words) {
  const Documents documents = service.documents();
  if (step.kind == StepKind::touch) {
    if (const auto* const one = pick(documents, step.what)) {
      service.retitle(one->first, "Title " + std::string(words_of_all[step.how % 4]));
    }
    return;
  }
  const std::vector<Item> items = items_of(documents, step, words);
  if (!items.empty()) service.publish(items);
}

}  // namespace ws::property
