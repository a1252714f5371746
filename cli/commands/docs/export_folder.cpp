#include "cli/commands/docs/export_folder.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t manifest_version = 1;
constexpr std::size_t most_name_bytes = 120;
constexpr std::size_t short_id = 8;

/// A title as the name of a file that every system can hold; empty where nothing of it is left.
std::string name_of(const std::string& title) {
  std::string name;
  for (const char c : title) {
    const bool is_refused = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ||
                            std::string_view("/\\<>:\"|?*").find(c) != std::string_view::npos;
    name += is_refused ? '-' : c;
  }
  std::size_t end = std::min(name.size(), most_name_bytes);
  while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  name.resize(end);
  const auto is_outer = [](char c) { return c == ' ' || c == '.'; };
  while (!name.empty() && is_outer(name.back())) name.pop_back();
  while (!name.empty() && is_outer(name.front())) name.erase(name.begin());
  if (name.empty()) return {};
  const auto path = sync::RelativePath::parse(name + ".md");
  const bool is_usable = path && !sync::is_unportable(*path) && !sync::dangerous_part(name + ".md");
  return is_usable ? name : std::string();
}

}  // namespace

std::string_view name(ExportState state) {
  switch (state) {
    case ExportState::created: return "created";
    case ExportState::updated: return "updated";
    case ExportState::unchanged: return "unchanged";
    case ExportState::kept: return "kept";
    case ExportState::gone: return "gone";
    case ExportState::removed: return "removed";
  }
  return "";
}

Result<ExportFolder> ExportFolder::open(const fs::path& folder, const std::string& base_url, bool dry_run) {
  if (!dry_run) WS_TRY(make_folders(folder));
  ExportFolder opened(folder, base_url, dry_run);
  const fs::path manifest = folder / export_manifest;
  auto text = read_file(manifest);
  if (!text && text.error().kind == Failure::Kind::not_found) return opened;
  if (!text) return fail(std::move(text).error());
  const auto value = parse_bounded(*text);
  const Json* const documents = value ? find(*value, "documents") : nullptr;
  if (documents == nullptr || !documents->is_object()) {
    return fail(Failure::Kind::disk,
                manifest.string() + " is damaged",
                "remove it to export every document again; files that differ are kept");
  }
  const std::string from = find_text(*value, "base_url").value_or("");
  if (from != base_url) {
    return fail(Failure::Kind::usage,
                fmt::format("{} holds documents of {}", folder.string(), from),
                "export to another folder");
  }
  for (const auto& [id, each] : documents->items()) {
    const auto name = find_text(each, "file");
    const auto hash = Sha256::from_hex(find_text(each, "content_sha256").value_or(""));
    const auto path = sync::RelativePath::parse(name.value_or(""));
    // A manifest may come from anybody: only names that an export makes.
    const bool is_usable = path && path->folder().empty() && sync::is_markdown(*name) && !sync::dangerous_part(*name);
    if (!is_usable || !hash) continue;
    opened.taken_.insert(utf8::fold_key(*name));
    opened.files_.emplace(
        id, ExportedFile{.name = *name, .revision = find_integer(each, "content_revision").value_or(0), .hash = *hash});
  }
  return opened;
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
  const std::string wanted = name_of(title);
  const std::string& name = known->second.name;
  const bool has_name = wanted.empty() || name == wanted + ".md" || name.starts_with(wanted + " (");
  return has_name && hash_now(name) == known->second.hash;
}

std::string ExportFolder::free_name(const std::string& id, const std::string& title) const {
  const std::string wanted = name_of(title);
  const std::string ending = id.substr(id.size() - std::min(id.size(), short_id));
  for (const std::string& name : {wanted.empty() ? std::string() : wanted + ".md",
                                  wanted.empty() ? std::string() : fmt::format("{} ({}).md", wanted, ending),
                                  id + ".md"}) {
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
    const std::string wanted = name_of(title);
    const bool stays = wanted.empty() || *old == wanted + ".md" || old->starts_with(wanted + " (");
    target = stays ? *old : free_name(id, title);
  } else {
    target = free_name(id, title);
  }
  if (target.empty()) {
    return fail(Failure::Kind::disk, fmt::format("no file name is free for {} ({})", title, id), "move a file away");
  }
  const Sha256 hash = Sha256::of(content);
  if (old == target && known->second.revision == revision && hash_now(target) == hash) {
    taken_.insert(utf8::fold_key(target));
    return ExportState::unchanged;
  }
  if (!dry_run_) {
    WS_TRY(write_file(folder_ / target, content));
    std::error_code ignored;
    if (old && *old != target) fs::remove(folder_ / *old, ignored);
  }
  files_[id] = {.name = target, .revision = revision, .hash = hash};
  taken_.insert(utf8::fold_key(target));
  return old ? ExportState::updated : ExportState::created;
}

Result<ExportState> ExportFolder::remove(const std::string& id) {
  const auto known = files_.find(id);
  if (known == files_.end()) return ExportState::gone;
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
  for (const auto& [id, file] : files_) {
    documents[id] = {{"file", file.name}, {"content_revision", file.revision}, {"content_sha256", file.hash.hex()}};
  }
  const Json value{{"v", manifest_version}, {"base_url", base_url_}, {"documents", std::move(documents)}};
  return write_file(folder_ / export_manifest, dump(value, 2) + "\n");
}

}  // namespace ws::cli
