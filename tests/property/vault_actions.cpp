#include "tests/property/vault_actions.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tests/property/folder.hpp"

namespace ws::property {
namespace {

constexpr std::array pictures = {
    "p.png", "q.png", "P.png", "d/p.png", "d/e/q.png", "e/pi\u00e9.png", "e/pie\u0301.png"};

/// What a note writes to name a file: the way from its folder, or from the root.
std::string target(const std::string& note, const std::string& file, std::uint8_t how) {
  if (how % 8 == 0) return "/" + file;
  std::string up;
  for (const char c : note) up += c == '/' ? "../" : "";
  const std::size_t slash = note.rfind('/');
  const std::string own = slash == std::string::npos ? std::string() : note.substr(0, slash + 1);
  return !own.empty() && file.starts_with(own) ? file.substr(own.size()) : up + file;
}

void show(const Folder& notes, const Step& step, const std::string& file) {
  const auto note = notes.pick(step.how);
  if (!note || *note == file) return;
  const std::string link = (file.ends_with(".png") ? "![" : "[") + std::string("](") +
                           target(*note, file, static_cast<std::uint8_t>(step.how / 4)) + ")\n";
  // Many notes are nothing but links.
  const std::string text = step.what % 4 == 0 ? link : notes.read(*note) + link;
  step.how % 3 == 0 ? notes.replace(*note, text) : notes.write(*note, text);
}

void unshow(const Folder& notes, const Step& step) {
  const auto note = notes.pick(step.what);
  if (!note) return;
  std::string text = notes.read(*note);
  const std::size_t link = text.rfind("](");
  if (link == std::string::npos) return;
  const std::size_t begin = text.rfind('\n', link) == std::string::npos ? 0 : text.rfind('\n', link) + 1;
  const std::size_t end = text.find('\n', link);
  text.erase(begin, end == std::string::npos ? std::string::npos : end + 1 - begin);
  notes.write(*note, text);
}

std::string new_picture(const Step& step, Words& words) {
  return std::string("\x89PNG\r\n\x1a\n") + words.word(static_cast<std::uint8_t>(step.how * 4)) + "\n";
}

void rename_picture(const Folder& folder, const std::string& path, const Step& step) {
  const std::string to = pictures[step.where % pictures.size()];
  if (folder.is_there(to) && step.how % 8 != 0) return;
  if (to.starts_with(path + "/") || path.starts_with(to + "/")) return;
  folder.move(path, to);
  if (folder.is_there(path)) return;  // a folder is in the way
  if (step.how % 3 == 0) folder.write(to, folder.read(to) + "edited\n");
}

/// A rule in `.wsignore`, or none any more.
void change_rules(const Folder& folder, const Step& step) {
  constexpr std::array rules = {"n*", "d/", "*.png", "m*\n!m*.png", "a.md"};
  if (folder.is_there(".wsignore")) return folder.remove(".wsignore");
  folder.write(".wsignore", rules[step.what % rules.size()] + std::string("\n"));
}

std::string settings(const Step& step) {
  constexpr std::array modes = {"linked", "all", "off", "linked"};
  std::string yaml = "attachments: " + std::string(modes[step.what % modes.size()]) + "\n";
  yaml += step.where % 3 == 0 ? "" : "links: keep\n";
  if (step.how % 8 == 0) yaml += "attachments_exclude: [q.png]\n";
  if (step.how % 8 == 1) yaml += "attachments_max_bytes: 4\n";
  if (step.how % 8 == 2) yaml += "include: ['*.txt']\n";
  return yaml;
}

}  // namespace

void act_in_vault(BoundFolder& place, const Step& step, Words& words) {
  const Folder notes(place.root(), place.tree());
  const Folder files(place.root(), place.pictures());
  const std::string name = pictures[step.where % pictures.size()];
  const auto picked = files.pick(step.what);
  switch (step.kind) {
    case StepKind::picture:
      if (!files.is_there(name)) files.write(name, new_picture(step, words));
      if (step.what % 4 != 0) show(notes, step, name);
      return;
    case StepKind::edit_picture:
      if (!picked) return;
      return step.how % 3 == 0 ? files.replace(*picked, new_picture(step, words))
                               : files.write(*picked, new_picture(step, words));
    case StepKind::rename_picture:
      if (picked) rename_picture(files, *picked, step);
      return;
    case StepKind::remove_picture:
      if (picked) files.remove(*picked);
      return;
    case StepKind::picture_becomes_folder:
      if (!picked) return;
      files.remove(*picked);
      return files.write(*picked + "/p.png", new_picture(step, words));
    case StepKind::show:
      if (step.where % 2 == 0) return show(notes, step, picked.value_or(name));
      if (const auto other = notes.pick(step.what)) show(notes, step, *other);
      return;
    case StepKind::unshow: return unshow(notes, step);
    case StepKind::rule: return change_rules(files, step);
    case StepKind::setting: return place.configure(settings(step));
    default: return;
  }
}

}  // namespace ws::property
