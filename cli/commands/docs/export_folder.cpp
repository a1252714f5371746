#include "cli/commands/docs/export_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/transfer/partial_file.hpp"
#include "sync-engine/model/file_name.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t manifest_version = 1;
constexpr std::size_t short_id = 8;

std::string name_of(const std::string& title) { return sync::file_name(sync::NamedBy::title, title, ".md"); }
std::string name_of_id(const std::string& id) { return sync::file_name(sync::NamedBy::id, id, ".md"); }

/// Of "deep/a.md" and "x": "deep/a (x).md".
std::string beside(const std::string& name, const std::string& ending) {
  const std::size_t dot = name.rfind('.');
  return fmt::format("{} ({}){}", name.substr(0, dot), ending, name.substr(dot));
}

std::string in_folder_of(std::string_view place, const std::string& name) {
  const std::string_view folder = sync::parent_folder(place);
  return folder.empty() ? name : fmt::format("{}/{}", folder, name);
}

/// Whether it is a name that a document gets where the wanted one is taken.
bool is_beside(const std::string& name, const std::string& wanted) {
  return sync::parent_folder(name) == sync::parent_folder(wanted) &&
         name.starts_with(wanted.substr(0, wanted.rfind('.')) + " (");
}

/// Whether a file that has this name needs no other one for the title.
bool fits(const std::string& name, const std::string& title) {
  if (!sync::parent_folder(name).empty()) return false;
  const std::string wanted = name_of(title);
  return wanted.empty() || name == wanted || is_beside(name, wanted);
}

bool is_place(std::string_view name) { return sync::RelativePath::parse(name) && !is_export_own(name); }

/// What a manifest or a journal says of a file. It may come from anybody: only names that an export makes.
std::optional<ExportedFile> file_of(const Json& each) {
  const auto name = find_text(each, "file");
  const auto hash = Sha256::from_hex(find_text(each, "content_sha256").value_or(""));
  const std::string source = find_text(each, "source_id").value_or("");
  const bool is_usable =
      name && sync::is_markdown(*name) && (source.empty() ? sync::is_file_name(*name) : is_place(*name));
  if (!is_usable || !hash) return std::nullopt;
  return ExportedFile{
      .name = *name, .revision = find_integer(each, "content_revision").value_or(0), .hash = *hash, .source = source};
}

std::optional<ExportedPicture> picture_of(const Json& each) {
  const auto hash = Sha256::from_hex(find_text(each, "content_sha256").value_or(""));
  if (!hash) return std::nullopt;
  return ExportedPicture{.asset = find_text(each, "asset_id").value_or(""),
                         .hash = *hash,
                         .source = find_text(each, "source_id").value_or("")};
}

Json json_of(const ExportedFile& file) {
  Json value = {{"file", file.name}, {"content_revision", file.revision}, {"content_sha256", file.hash.hex()}};
  if (!file.source.empty()) value["source_id"] = file.source;
  return value;
}

Json json_of(const ExportedPicture& picture) {
  return {{"asset_id", picture.asset}, {"content_sha256", picture.hash.hex()}, {"source_id", picture.source}};
}

}  // namespace

bool is_export_own(std::string_view path) {
  return utf8::fold_key(std::string(path.substr(0, path.find('/')))).starts_with(".ws-export");
}

std::string_view name(ExportState state) {
  switch (state) {
    case ExportState::created: return "created";
    case ExportState::updated: return "updated";
    case ExportState::unchanged: return "unchanged";
    case ExportState::kept: return "kept";
    case ExportState::unlisted: return "unlisted";
    case ExportState::removed: return "removed";
    case ExportState::not_visible: return "not_visible";
  }
  return "";
}

Result<ExportFolder> ExportFolder::open(const fs::path& folder, ExportOwner owner, bool dry_run) {
  ExportFolder opened(folder, std::move(owner), dry_run);
  if (!dry_run) {
    WS_TRY(make_folders(folder));
    WS_LET(LockFile lock, LockFile::take(folder / export_lock, "exporting to " + folder.string()));
    opened.lock_ = std::make_unique<LockFile>(std::move(lock));
  }
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) {
    WS_LET(sync::RootFolder root, sync::RootFolder::open(folder));
    opened.root_.emplace(std::move(root));
  }
  WS_TRY(opened.read_manifest());
  WS_TRY(opened.read_journal());
  // Whose folder it is stands there before the first document.
  if (!opened.is_bound_) WS_TRY(opened.save());
  return opened;
}

/// An export of an earlier version, or at a service that did not say it, names no owner: it is taken over.
Result<void> ExportFolder::check_owner(const Json& manifest) {
  const auto refuse = [this](const std::string& whose) {
    return fail(
        Failure::Kind::usage,
        fmt::format("{} holds documents of {}; nothing was changed", folder_.string(), clean(whose, Breaks::space)),
        "export to another folder, or use the key that it was made with");
  };
  const std::string from = find_text(manifest, "base_url").value_or("");
  if (!from.empty() && from != owner_.base_url) return refuse(from);
  const std::string workspace = find_text(manifest, "workspace_id").value_or("");
  const std::string person = find_text(manifest, "owner_id").value_or("");
  const auto differs = [](const std::string& kept, const std::string& now) {
    return !kept.empty() && !now.empty() && kept != now;
  };
  if (differs(workspace, owner_.workspace_id)) {
    return refuse(fmt::format("another Workspace ({}; this key is of {})", workspace, owner_.workspace_id));
  }
  if (differs(person, owner_.owner_id)) {
    return refuse(fmt::format("another person ({}; this key is of {})", person, owner_.owner_id));
  }
  is_bound_ = !from.empty() && workspace == owner_.workspace_id && person == owner_.owner_id;
  // What this answer does not say stays as it is known.
  if (owner_.workspace_id.empty()) owner_.workspace_id = workspace;
  if (owner_.owner_id.empty()) owner_.owner_id = person;
  return {};
}

Result<void> ExportFolder::read_manifest() {
  const fs::path manifest = folder_ / export_manifest;
  auto text = read_file(manifest);
  if (!text && text.error().kind == Failure::Kind::not_found) return {};
  if (!text) return fail(std::move(text).error());
  const auto value = parse_bounded(*text);
  const Json* const documents = value ? find(*value, "documents") : nullptr;
  if (documents == nullptr || !documents->is_object()) {
    return fail(Failure::Kind::disk,
                manifest.string() + " is damaged",
                "remove it to export every document again; files that differ are kept");
  }
  WS_TRY(check_owner(*value));
  for (const auto& [id, each] : documents->items()) {
    auto file = file_of(each);
    if (!file) continue;
    taken_.insert(utf8::fold_key(file->name));
    files_.emplace(id, *std::move(file));
  }
  const auto each_of = [&](const char* member, const auto& take) {
    const Json* const values = find(*value, member);
    if (values == nullptr || !values->is_object()) return;
    for (const auto& [key, each] : values->items()) take(key, each);
  };
  each_of("pictures", [this](const std::string& place, const Json& each) {
    auto picture = picture_of(each);
    if (!picture || !is_place(place)) return;
    taken_.insert(utf8::fold_key(place));
    pictures_.emplace(place, *std::move(picture));
  });
  each_of("sources", [this](const std::string& source, const Json& each) {
    const std::string folder = each.is_string() ? each.get<std::string>() : "";
    if (folder.empty() || (folder.ends_with('/') && is_place(folder.substr(0, folder.size() - 1))))
      source_folders.emplace(source, folder);
  });
  each_of("left_out", [this](const std::string& id, const Json& each) {
    if (each.is_number_integer()) left_out_.emplace(id, each.get<std::int64_t>());
  });
  return {};
}

Result<void> ExportFolder::read_journal() {
  auto text = read_file(folder_ / export_journal);
  if (!text && text.error().kind == Failure::Kind::not_found) return {};
  if (!text) return fail(std::move(text).error());
  std::istringstream lines(*text);
  std::string last, process;
  for (std::string line; std::getline(lines, line);) {
    const auto value = parse_bounded(line);  // the last line may be cut
    if (!value || find_text(*value, "base_url") != owner_.base_url) continue;
    const auto place = find_text(*value, "picture");
    auto picture = place && is_place(*place) ? picture_of(*value) : std::nullopt;
    if (picture && hash_now(*place) == picture->hash) {
      taken_.insert(utf8::fold_key(*place));
      pictures_[*place] = *std::move(picture);
    }
    const auto id = find_text(*value, "id");
    auto file = id ? file_of(*value) : std::nullopt;
    if (!file) continue;
    last = file->name;
    process = std::to_string(find_integer(*value, "process").value_or(0));
    // Noted but not written: the document is as the manifest says.
    if (hash_now(file->name) != file->hash) continue;
    const auto known = files_.find(*id);
    if (known != files_.end() && known->second.name != file->name) remove_renamed(known->second);
    taken_.insert(utf8::fold_key(file->name));
    files_[*id] = *std::move(file);
  }
  // One file is written at a time: only the last can have been cut.
  if (!last.empty() && !dry_run_) remove_temporary(last, process);
  return {};
}

void ExportFolder::remove_temporary(const std::string& name, const std::string& process) const {
  const Descriptor folder = root_->open_beneath(sync::parent_folder(name), O_RDONLY | O_DIRECTORY);
  std::vector<std::string> names;
  if (!folder || !sync::list_folder(folder.get(), names)) return;
  const std::string start = fmt::format(".{}.{}-", sync::last_part(name), process);
  for (const std::string& found : names) {
    const bool is_temporary = found.starts_with(start) && found.size() > start.size() &&
                              found.find_first_not_of("0123456789", start.size()) == std::string::npos;
    if (is_temporary) ::unlinkat(folder.get(), found.c_str(), 0);
  }
}

void ExportFolder::remove_renamed(const ExportedFile& old) {
  if (!dry_run_ && hash_now(old.name) == old.hash) static_cast<void>(remove_file(old.name));
  taken_.erase(utf8::fold_key(old.name));
}

std::optional<Sha256> ExportFolder::hash_now(const std::string& name) const {
  if (!root_) return std::nullopt;
  const Descriptor folder = root_->open_beneath(sync::parent_folder(name), O_RDONLY | O_DIRECTORY);
  if (!folder) return std::nullopt;
  auto hash = sync::hash_file_at(folder.get(), std::string(sync::last_part(name)));
  return hash ? *hash : std::nullopt;
}

/// Anything, and also where nobody can tell.
bool ExportFolder::is_there(const std::string& name) const {
  if (!root_) return false;
  const Descriptor folder = root_->open_beneath(sync::parent_folder(name), O_RDONLY | O_DIRECTORY);
  if (!folder) return errno != ENOENT;
  struct stat status {};
  const std::string last(sync::last_part(name));
  return ::fstatat(folder.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/// Then nothing is there, and what is to come there fails.
bool ExportFolder::is_beneath_file(const std::string& name) const {
  return root_ && !root_->open_beneath(sync::parent_folder(name), O_RDONLY | O_DIRECTORY) && errno == ENOTDIR;
}

bool ExportFolder::is_changed_here(const std::string& id) const {
  const auto known = files_.find(id);
  if (known == files_.end()) return false;
  const std::string& name = known->second.name;
  return hash_now(name) != known->second.hash && is_there(name);
}

bool ExportFolder::has_text(const std::string& id, std::int64_t revision) const {
  const auto known = files_.find(id);
  return known != files_.end() && known->second.revision == revision && revision != 0 &&
         hash_now(known->second.name) == known->second.hash;
}

/// By a file of ours, or by another document that is to lie there.
bool ExportFolder::is_taken_from(const std::string& id, const std::string& path) const {
  const std::string key = utf8::fold_key(path);
  const auto reserved = reserved_.find(key);
  return taken_.contains(key) || (reserved != reserved_.end() && reserved->second != id);
}

bool ExportFolder::is_free_for(const std::string& id, const std::string& path) const {
  const auto known = files_.find(id);
  if (known != files_.end() && known->second.name == path) return true;
  return !is_taken_from(id, path) && !is_there(path);
}

bool ExportFolder::is_in_place(const std::string& id,
                               const std::string& title,
                               const std::optional<ExportPlace>& place) const {
  const auto known = files_.find(id);
  if (known == files_.end()) return false;
  const ExportedFile& file = known->second;
  if (!place) return file.source.empty() && fits(file.name, title);
  const bool is_nearly_there = is_beside(file.name, place->path) && !is_free_for(id, place->path);
  return file.source == place->source && (file.name == place->path || is_nearly_there);
}

Result<void> ExportFolder::make_room(const std::map<std::string, ExportPlace>& places) {
  std::map<std::string, std::string> lying;  // ids, by folded name
  for (const auto& [id, file] : files_) lying.emplace(utf8::fold_key(file.name), id);
  for (const auto& [id, place] : places) reserved_.emplace(utf8::fold_key(place.path), id);
  for (const auto& [id, place] : places) {
    const auto found = lying.find(utf8::fold_key(place.path));
    if (found == lying.end() || found->second == id) continue;
    const auto own = places.find(found->second);
    const ExportedFile& other = files_.at(found->second);
    if (own != places.end() && own->second.path == other.name) continue;
    const std::string aside = name_of_id(found->second);
    if (other.name == aside || hash_now(other.name) != other.hash || !is_free_for(found->second, aside)) continue;
    WS_TRY(rename(found->second, aside, ""));
  }
  return {};
}

std::string ExportFolder::free_name(const ExportText& text, const Sha256& hash) const {
  const std::string of_id = name_of_id(text.id);
  const std::string wanted = text.place ? text.place->path : name_of(text.title);
  const std::string ending = of_id.substr(of_id.rfind('.') - short_id, short_id);
  for (const std::string& name :
       {wanted, wanted.empty() ? std::string() : beside(wanted, ending), in_folder_of(wanted, of_id)}) {
    if (name.empty() || !is_place(name)) continue;
    if (is_free_for(text.id, name)) return name;
    if (!is_taken_from(text.id, name) && hash_now(name) == hash) return name;
  }
  return {};
}

Result<ExportState> ExportFolder::put(const ExportText& text, bool replace_changed) {
  if (!replace_changed && is_changed_here(text.id)) return ExportState::kept;
  const Sha256 hash = Sha256::of(text.content);
  const auto known = files_.find(text.id);
  const auto old = known == files_.end() ? std::nullopt : std::optional(known->second);
  const std::string target = old && is_in_place(text.id, text.title, text.place) ? old->name : free_name(text, hash);
  if (target.empty()) {
    return fail(Failure::Kind::disk,
                fmt::format("no file name is free for {} ({})", text.title, text.id),
                "rename one of the files that have its title");
  }
  const ExportedFile file{
      .name = target, .revision = text.revision, .hash = hash, .source = text.place ? text.place->source : ""};
  const bool is_written = hash_now(target) == hash;
  if (!dry_run_) {
    Json line = json_of(file);
    line["id"] = text.id;
    WS_TRY(note(std::move(line)));
    if (!is_written) WS_TRY(write(target, text.content));
    if (old && old->name != target) WS_TRY(remove_file(old->name));
  }
  if (old) taken_.erase(utf8::fold_key(old->name));
  taken_.insert(utf8::fold_key(target));
  files_[text.id] = file;
  const bool is_same = is_written && (!old || (old->name == target && old->revision == text.revision));
  if (is_same) return ExportState::unchanged;
  return old ? ExportState::updated : ExportState::created;
}

Result<void> ExportFolder::move(const std::string& id,
                                const std::string& title,
                                const std::optional<ExportPlace>& place) {
  const ExportedFile file = files_.at(id);
  const bool stays = !place && fits(file.name, title);
  const std::string target = stays ? file.name : free_name({.id = id, .title = title, .place = place}, file.hash);
  // Where equal bytes lie already there is nothing to be renamed to it.
  if (target.empty() || (target != file.name && is_there(target))) return {};
  return rename(id, target, place ? place->source : "");
}

Result<void> ExportFolder::rename(const std::string& id, const std::string& target, const std::string& source) {
  ExportedFile& file = files_.at(id);
  const std::string old = file.name;
  file.source = source;
  if (target == old) return {};
  file.name = target;
  if (!dry_run_) {
    Json line = json_of(file);
    line["id"] = id;
    WS_TRY(note(std::move(line)));
    WS_TRY(rename_file(old, target));
  }
  taken_.erase(utf8::fold_key(old));
  taken_.insert(utf8::fold_key(target));
  return {};
}

Result<void> ExportFolder::rename_file(const std::string& from, const std::string& to) const {
  const Descriptor above = root_->open_beneath(sync::parent_folder(from), O_RDONLY | O_DIRECTORY);
  if (!above) return sync::disk_failure("rename", (folder_ / from).string());
  WS_LET(const Descriptor folder, folder_for(to));
  const std::string old_name(sync::last_part(from));
  const std::string new_name(sync::last_part(to));
  if (::renameat(above.get(), old_name.c_str(), folder.get(), new_name.c_str()) != 0)
    return sync::disk_failure("rename", (folder_ / from).string());
  remove_empty_folders(from);
  return {};
}

Result<void> ExportFolder::note(Json line) const {
  line["base_url"] = owner_.base_url;
  line["process"] = ::getpid();
  return append_file(folder_ / export_journal, dump(line) + "\n");
}

Result<Descriptor> ExportFolder::folder_for(const std::string& name) const {
  const auto flush = [this](std::string_view above) {
    if (const Descriptor folder = root_->open_beneath(above, O_RDONLY | O_DIRECTORY)) ::fsync(folder.get());
  };
  Descriptor folder = root_->make_folders(sync::parent_folder(name), flush);
  if (!folder) return sync::disk_failure("write", (folder_ / name).string());
  return folder;
}

Result<void> ExportFolder::write(const std::string& name, const std::string& content) const {
  WS_LET(const Descriptor folder, folder_for(name));
  return write_file_at(folder.get(), std::string(sync::last_part(name)), content, std::nullopt, folder_ / name);
}

Result<void> ExportFolder::remove_file(const std::string& name) const {
  const Descriptor folder = root_->open_beneath(sync::parent_folder(name), O_RDONLY | O_DIRECTORY);
  const std::string last(sync::last_part(name));
  const bool is_gone = folder ? ::unlinkat(folder.get(), last.c_str(), 0) == 0 || errno == ENOENT : errno == ENOENT;
  if (!is_gone) return sync::disk_failure("remove", (folder_ / name).string());
  remove_empty_folders(name);
  return {};
}

void ExportFolder::remove_empty_folders(const std::string& name) const {
  for (std::string_view left = sync::parent_folder(name); !left.empty(); left = sync::parent_folder(left)) {
    const Descriptor above = root_->open_beneath(sync::parent_folder(left), O_RDONLY | O_DIRECTORY);
    const std::string last(sync::last_part(left));
    if (!above || ::unlinkat(above.get(), last.c_str(), AT_REMOVEDIR) != 0) return;
  }
}

Result<ExportState> ExportFolder::remove(const std::string& id) {
  const auto known = files_.find(id);
  if (known == files_.end()) return ExportState::unlisted;
  const std::string name = known->second.name;
  const bool is_changed = is_changed_here(id);
  if (!is_changed && !dry_run_) WS_TRY(remove_file(name));
  taken_.erase(utf8::fold_key(name));
  files_.erase(known);
  return is_changed ? ExportState::kept : ExportState::removed;
}

ExportState ExportFolder::need_of_picture(const std::string& name, const Sha256& hash, bool replace_changed) const {
  const auto now = hash_now(name);
  if (now == hash) return ExportState::unchanged;
  if (!now && (!is_there(name) || is_beneath_file(name))) return ExportState::created;
  const auto known = pictures_.find(name);
  const bool is_ours = known != pictures_.end() && now && (replace_changed || *now == known->second.hash);
  return is_ours ? ExportState::updated : ExportState::kept;
}

Result<bool> ExportFolder::take_equal(const std::string& name,
                                      const ExportedPicture& picture,
                                      const std::function<bool(const std::string& name)>& may_go) {
  const auto equal = std::find_if(pictures_.begin(), pictures_.end(), [&](const auto& each) {
    return each.second.hash == picture.hash && each.first != name && hash_now(each.first) == picture.hash;
  });
  if (equal == pictures_.end()) return false;
  const std::string from = equal->first;
  if (!dry_run_) {
    WS_TRY(may_go(from) ? rename_file(from, name) : copy_file(from, name, picture));
  }
  if (may_go(from)) {
    pictures_.erase(from);
    taken_.erase(utf8::fold_key(from));
  }
  WS_TRY(note_picture(name, picture));
  return true;
}

/// By the file that a download writes: a copy that is cut leaves what a download of these bytes would.
Result<void> ExportFolder::copy_file(const std::string& from,
                                     const std::string& to,
                                     const ExportedPicture& picture) const {
  const Descriptor file = root_->open_beneath(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return sync::disk_failure("read", (folder_ / from).string());
  WS_LET(const Descriptor folder, folder_for(to));
  const fs::path target = path_through(folder.get(), (folder_ / to).parent_path()) / sync::last_part(to);
  WS_LET(const std::unique_ptr<PartialFile> copy, PartialFile::open(target, picture.identity()));
  WS_TRY(copy->restart());
  std::array<char, std::size_t{64} << 10U> buffer;
  while (true) {
    const ssize_t count = read_some(file.get(), buffer.data(), buffer.size());
    if (count < 0) return sync::disk_failure("read", (folder_ / from).string());
    if (count == 0) break;
    WS_TRY(copy->append({buffer.data(), static_cast<std::size_t>(count)}));
  }
  return copy->finish(Replace::yes);
}

Result<void> ExportFolder::note_picture(const std::string& name, const ExportedPicture& picture) {
  const auto known = pictures_.find(name);
  if (known != pictures_.end() && known->second == picture) return {};
  if (!dry_run_) {
    Json line = json_of(picture);
    line["picture"] = name;
    WS_TRY(note(std::move(line)));
  }
  taken_.insert(utf8::fold_key(name));
  pictures_[name] = picture;
  return {};
}

Result<ExportState> ExportFolder::remove_picture(const std::string& name) {
  const auto known = pictures_.find(name);
  if (known == pictures_.end()) return ExportState::unlisted;
  const bool is_changed = hash_now(name) != known->second.hash && is_there(name);
  if (!is_changed && !dry_run_) WS_TRY(remove_file(name));
  taken_.erase(utf8::fold_key(name));
  pictures_.erase(known);
  return is_changed ? ExportState::kept : ExportState::removed;
}

void ExportFolder::leave_out(const std::string& id, std::int64_t revision) { left_out_[id] = revision; }

bool ExportFolder::is_left_out(const std::string& id, std::int64_t revision) const {
  const auto known = left_out_.find(id);
  return known != left_out_.end() && known->second == revision;
}

Result<void> ExportFolder::save() const {
  if (dry_run_) return {};
  Json documents = Json::object();
  for (const auto& [id, file] : files_) documents[id] = json_of(file);
  Json pictures = Json::object();
  for (const auto& [name, picture] : pictures_) pictures[name] = json_of(picture);
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json value{{"v", manifest_version},
             {"base_url", owner_.base_url},
             {"workspace_id", text_or_null(owner_.workspace_id)},
             {"owner_id", text_or_null(owner_.owner_id)},
             {"documents", std::move(documents)}};
  if (!pictures_.empty()) value["pictures"] = std::move(pictures);
  if (!source_folders.empty()) value["sources"] = source_folders;
  if (!left_out_.empty()) value["left_out"] = left_out_;
  WS_TRY(write_file(folder_ / export_manifest, dump(value, 2) + "\n"));
  std::error_code ignored;  // what stays says the same
  fs::remove(folder_ / export_journal, ignored);
  return {};
}

}  // namespace ws::cli
