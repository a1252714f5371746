#include "cli/commands/docs/export_folder.hpp"

#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/model/file_name.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t manifest_version = 1;
constexpr std::size_t short_id = 8;

std::string name_of(const std::string& title) { return sync::file_name(sync::NamedBy::title, title, ".md"); }

/// Whether a file that has this name needs no other one for the title.
bool fits(const std::string& name, const std::string& title) {
  const std::string wanted = name_of(title);
  if (wanted.empty() || name == wanted) return true;
  return name.starts_with(wanted.substr(0, wanted.size() - 3) + " (");
}

/// What a manifest or a journal says of a file. It may come from anybody: only names that an export makes.
std::optional<ExportedFile> file_of(const Json& each) {
  const auto name = find_text(each, "file");
  const auto hash = Sha256::from_hex(find_text(each, "content_sha256").value_or(""));
  const bool is_usable = name && sync::is_file_name(*name) && sync::is_markdown(*name);
  if (!is_usable || !hash) return std::nullopt;
  return ExportedFile{.name = *name, .revision = find_integer(each, "content_revision").value_or(0), .hash = *hash};
}

Json json_of(const ExportedFile& file) {
  return {{"file", file.name}, {"content_revision", file.revision}, {"content_sha256", file.hash.hex()}};
}

}  // namespace

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
  WS_TRY(opened.read_manifest());
  WS_TRY(opened.read_journal());
  // Whose folder it is stands there before the first document.
  if (!opened.is_bound_) WS_TRY(opened.save());
  return opened;
}

/// An export of an earlier version, or at a service that did not say it, names no owner.
Result<void> ExportFolder::check_owner(const Json& manifest) {
  const auto refuse = [this](const std::string& whose) {
    return fail(Failure::Kind::usage,
                fmt::format("{} holds documents of {}", folder_.string(), clean(whose, Breaks::space)),
                "export to another folder, or use the key that it was made with");
  };
  const std::string from = find_text(manifest, "base_url").value_or("");
  if (from != owner_.base_url) return refuse(from);
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
  is_bound_ = workspace == owner_.workspace_id && person == owner_.owner_id;
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
    const auto id = value ? find_text(*value, "id") : std::nullopt;
    if (!id || find_text(*value, "base_url") != owner_.base_url) continue;
    auto file = file_of(*value);
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
  if (!last.empty() && !dry_run_) remove_temporary(fmt::format(".{}.{}-", last, process));
  return {};
}

void ExportFolder::remove_temporary(const std::string& start) const {
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(folder_, ignored)) {
    const std::string found = each.path().filename().string();
    const bool is_temporary = found.starts_with(start) && found.size() > start.size() &&
                              found.find_first_not_of("0123456789", start.size()) == std::string::npos;
    if (is_temporary) fs::remove(each.path(), ignored);
  }
}

void ExportFolder::remove_renamed(const ExportedFile& old) {
  std::error_code ignored;
  if (!dry_run_ && hash_now(old.name) == old.hash) fs::remove(folder_ / old.name, ignored);
  taken_.erase(utf8::fold_key(old.name));
}

std::optional<Sha256> ExportFolder::hash_now(const std::string& name) const {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(folder_ / name, ignored))) return std::nullopt;
  const auto text = read_file(folder_ / name);
  return text ? std::optional(Sha256::of(*text)) : std::nullopt;
}

bool ExportFolder::is_changed_here(const std::string& id) const {
  const auto known = files_.find(id);
  if (known == files_.end()) return false;
  const auto now = hash_now(known->second.name);
  return now && *now != known->second.hash;
}

bool ExportFolder::is_current(const std::string& id, std::int64_t revision, const std::string& title) const {
  const auto known = files_.find(id);
  if (known == files_.end() || known->second.revision != revision || revision == 0) return false;
  const std::string& name = known->second.name;
  return fits(name, title) && hash_now(name) == known->second.hash;
}

std::string ExportFolder::free_name(const std::string& id, const std::string& title) const {
  const std::string of_id = sync::file_name(sync::NamedBy::id, id, ".md");
  const std::string wanted = name_of(title);
  const std::string stem = wanted.substr(0, wanted.rfind('.'));
  const std::string ending = of_id.substr(of_id.rfind('.') - short_id, short_id);
  for (const std::string& name :
       {wanted, wanted.empty() ? std::string() : fmt::format("{} ({}).md", stem, ending), of_id}) {
    std::error_code ignored;
    const bool is_free = !name.empty() && !taken_.contains(utf8::fold_key(name)) &&
                         !fs::exists(fs::symlink_status(folder_ / name, ignored));
    if (is_free) return name;
  }
  return {};
}

Result<ExportState> ExportFolder::put(const std::string& id,
                                      std::int64_t revision,
                                      const std::string& title,
                                      const std::string& content,
                                      bool replace_changed) {
  const auto known = files_.find(id);
  if (!replace_changed && is_changed_here(id)) return ExportState::kept;
  std::optional<std::string> old;
  std::string target;
  if (known != files_.end()) {
    old = known->second.name;
    taken_.erase(utf8::fold_key(*old));
    target = fits(*old, title) ? *old : free_name(id, title);
  } else {
    target = free_name(id, title);
  }
  if (target.empty()) {
    return fail(Failure::Kind::disk,
                fmt::format("no file name is free for {} ({})", title, id),
                "rename one of the files that have its title");
  }
  const Sha256 hash = Sha256::of(content);
  if (old == target && known->second.revision == revision && hash_now(target) == hash) {
    taken_.insert(utf8::fold_key(target));
    return ExportState::unchanged;
  }
  const ExportedFile file{.name = target, .revision = revision, .hash = hash};
  if (!dry_run_) {
    Json line = json_of(file);
    line["id"] = id;
    line["base_url"] = owner_.base_url;
    line["process"] = ::getpid();
    WS_TRY(append_file(folder_ / export_journal, dump(line) + "\n"));
    WS_TRY(write_file(folder_ / target, content));
    std::error_code ignored;
    if (old && *old != target) fs::remove(folder_ / *old, ignored);
  }
  files_[id] = file;
  taken_.insert(utf8::fold_key(target));
  return old ? ExportState::updated : ExportState::created;
}

Result<ExportState> ExportFolder::remove(const std::string& id) {
  const auto known = files_.find(id);
  if (known == files_.end()) return ExportState::unlisted;
  const bool is_changed = is_changed_here(id);
  std::error_code error;
  if (!is_changed && !dry_run_) fs::remove(folder_ / known->second.name, error);
  if (error) return fail(Failure::Kind::disk, fmt::format("cannot remove {}: {}", known->second.name, error.message()));
  taken_.erase(utf8::fold_key(known->second.name));
  files_.erase(known);
  return is_changed ? ExportState::kept : ExportState::removed;
}

Result<void> ExportFolder::save() const {
  if (dry_run_) return {};
  Json documents = Json::object();
  for (const auto& [id, file] : files_) documents[id] = json_of(file);
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const Json value{{"v", manifest_version},
                   {"base_url", owner_.base_url},
                   {"workspace_id", text_or_null(owner_.workspace_id)},
                   {"owner_id", text_or_null(owner_.owner_id)},
                   {"documents", std::move(documents)}};
  WS_TRY(write_file(folder_ / export_manifest, dump(value, 2) + "\n"));
  std::error_code ignored;  // what stays says the same
  fs::remove(folder_ / export_journal, ignored);
  return {};
}

}  // namespace ws::cli
