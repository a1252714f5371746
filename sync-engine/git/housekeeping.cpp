#include "sync-engine/git/housekeeping.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "sync-engine/git/git_folder.hpp"
#include "sync-engine/git/library.hpp"

namespace ws::sync::git {
namespace {

namespace fs = std::filesystem;

constexpr const char* leftovers = "ws-new-pack";
constexpr std::size_t index_header_bytes = 8;
constexpr std::size_t fan_out_bytes = 1024;
constexpr std::size_t id_bytes = 20;

tl::unexpected<Failure> disk_trouble(std::string_view doing, const fs::path& path, int error) {
  return fail(Failure::Kind::disk, fmt::format("cannot {} {}: {}", doing, shown_path(path), std::strerror(error)));
}

Result<void> flush_to_disk(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return disk_trouble("open", path, errno);
  const int failed = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (failed != 0) return disk_trouble("flush", path, failed);
  return {};
}

Result<void> rename_file(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return disk_trouble("name", to, errno);
  return {};
}

ObjectId id_at(std::string_view bytes) {
  ObjectId id;
  std::memcpy(id.bytes.data(), bytes.data(), id.bytes.size());
  return id;
}

git_oid oid_of(const ObjectId& id) {
  git_oid oid;
  std::memcpy(oid.id, id.bytes.data(), id.bytes.size());
  return oid;
}

/// The names in an index of version 2 (gitformat-pack): header, 256 sums, then all names in order.
Result<std::vector<ObjectId>> read_index(const fs::path& path) {
  WS_LET(const std::string text, read_file(path, std::size_t{1} << 30U));
  const auto broken = [&] { return fail(Failure::Kind::integrity, shown_path(path) + " is not the index of a pack"); };
  const std::string_view data = text;
  if (data.size() < index_header_bytes + fan_out_bytes || !data.starts_with(std::string_view("\377tOc\0\0\0\2", 8))) {
    return broken();
  }
  std::size_t count = 0;
  for (const char c : data.substr(index_header_bytes + fan_out_bytes - 4, 4)) {
    count = count << 8U | static_cast<unsigned char>(c);
  }
  std::string_view names = data.substr(index_header_bytes + fan_out_bytes);
  if (count > names.size() / id_bytes) return broken();
  std::vector<ObjectId> ids;
  ids.reserve(count);
  for (; ids.size() < count; names.remove_prefix(id_bytes)) ids.push_back(id_at(names));
  return ids;
}

/// Size, and time of the last change; nothing where the file is not there.
struct SizeAndTime {
  std::uint64_t bytes = 0;
  Time time = {};
};
SizeAndTime look_at(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  const auto time = std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return {static_cast<std::uint64_t>(status.st_size),
          Time(std::chrono::duration_cast<std::chrono::milliseconds>(time))};
}

fs::path with_extension(fs::path path, const char* extension) { return path.replace_extension(extension); }

Result<void> remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return disk_trouble("remove", path, errno);
  return {};
}

bool is_hexadecimal(const std::string& text) { return text.find_first_not_of("0123456789abcdef") == std::string::npos; }

}  // namespace

struct Housekeeping::Impl {
  GitFolder home;
  const Library* git = &home.git();
  fs::path path = home.path();
  git_odb* objects = home.objects();
  References references = References(home.folder());

  explicit Impl(GitFolder opened) : home(std::move(opened)) {}

  fs::path folder() const { return path / "objects" / leftovers; }
  Result<std::string> build(const Reachable& wanted);
  Result<git_repository*> wrap() const;
  Result<void> insert(git_packbuilder* builder, const Reachable& wanted) const;
};

Housekeeping::Housekeeping(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Housekeeping::Housekeeping(Housekeeping&&) noexcept = default;
Housekeeping& Housekeeping::operator=(Housekeeping&&) noexcept = default;
Housekeeping::~Housekeeping() = default;

Result<Housekeeping> Housekeeping::open(const fs::path& path) {
  WS_LET(GitFolder home, GitFolder::open(path));
  return Housekeeping(std::make_unique<Impl>(std::move(home)));
}

Result<std::vector<std::string>> Housekeeping::references() { return impl_->references.list(); }

Result<void> Housekeeping::remove_reference(const std::string& name) { return impl_->references.remove(name); }

Result<void> Housekeeping::add_tree(const ObjectId& tree, Reachable& found, int level) {
  if (level > max_tree_depth) {
    return fail(too_deep_tree());
  }
  if (!found.trees.insert(tree).second) return {};
  const git_oid oid = oid_of(tree);
  git_odb_object* raw = nullptr;
  if (impl_->git->odb_read(&raw, impl_->objects, &oid) < 0) return fail(failure(*impl_->git, "read the history"));
  const std::string data(static_cast<const char*>(impl_->git->odb_object_data(raw)), impl_->git->odb_object_size(raw));
  impl_->git->odb_object_free(raw);
  for (std::string_view rest = data; !rest.empty();) {
    const std::size_t space = rest.find(' ');
    const std::size_t end = rest.find('\0');
    if (space == std::string_view::npos || end == std::string_view::npos || end < space ||
        rest.size() < end + 1 + id_bytes) {
      return fail(Failure::Kind::integrity, "the history holds a broken tree");
    }
    const ObjectId id = id_at(rest.substr(end + 1));
    if (rest.substr(0, space) == "40000") {
      WS_TRY(add_tree(id, found, level + 1));
    } else {
      found.texts.try_emplace(id, rest.substr(space + 1, end - space - 1));
    }
    rest.remove_prefix(end + 1 + id_bytes);
  }
  return {};
}

Result<std::vector<ObjectFile>> Housekeeping::files() const {
  std::vector<ObjectFile> files;
  std::error_code error;
  const fs::path objects = impl_->path / "objects";
  for (const auto& entry : fs::directory_iterator(objects / "pack", error)) {
    if (entry.path().extension() != ".idx") continue;
    ObjectFile file{.path = entry.path(), .time = look_at(entry.path()).time, .is_pack = true};
    for (const char* extension : {".idx", ".pack", ".rev", ".bitmap"}) {
      file.bytes += look_at(with_extension(entry.path(), extension)).bytes;
    }
    WS_LET(file.objects, read_index(entry.path()));
    files.push_back(std::move(file));
  }
  for (const auto& folder : fs::directory_iterator(objects, error)) {
    const std::string first = folder.path().filename().string();
    if (first.size() != 2 || !is_hexadecimal(first)) continue;
    for (const auto& entry : fs::directory_iterator(folder.path(), error)) {
      const auto id = ObjectId::from_hex(first + entry.path().filename().string());
      if (!id) continue;
      const SizeAndTime seen = look_at(entry.path());
      files.push_back({.path = entry.path(), .bytes = seen.bytes, .time = seen.time, .objects = {*id}});
    }
  }
  if (error) return disk_trouble("list", objects, error.value());
  return files;
}

Result<void> Housekeeping::Impl::insert(git_packbuilder* builder, const Reachable& wanted) const {
  const auto one = [&](const ObjectId& id, const char* name) -> Result<void> {
    const git_oid oid = oid_of(id);
    if (git->packbuilder_insert(builder, &oid, name) < 0) return fail(failure(*git, "pack the history"));
    return {};
  };
  for (const ObjectId& id : wanted.commits) WS_TRY(one(id, nullptr));
  for (const ObjectId& id : wanted.trees) WS_TRY(one(id, nullptr));
  for (const auto& [id, name] : wanted.texts) WS_TRY(one(id, name.empty() ? nullptr : name.c_str()));
  return {};
}

/// A packbuilder takes objects and settings from a repository: this one has ours, and no settings.
Result<git_repository*> Housekeeping::Impl::wrap() const {
  git_repository* repository = nullptr;
  git_config* none = nullptr;
  if (git->repository_wrap_odb(&repository, objects) < 0) return fail(failure(*git, "pack the history"));
  const bool set = git->config_new(&none) >= 0 && git->repository_set_config(repository, none) >= 0;
  git->config_free(none);
  if (set) return repository;
  git->repository_free(repository);
  return fail(failure(*git, "pack the history"));
}

/// Writes the pack where nobody looks for packs; answers its name.
Result<std::string> Housekeeping::Impl::build(const Reachable& wanted) {
  WS_TRY(make_folders(folder()));
  WS_LET(git_repository* const wrapped, wrap());
  const auto free_repository = [this](git_repository* each) { git->repository_free(each); };
  const std::unique_ptr<git_repository, decltype(free_repository)> repository(wrapped, free_repository);
  git_packbuilder* raw = nullptr;
  if (git->packbuilder_new(&raw, repository.get()) < 0) return fail(failure(*git, "pack the history"));
  const auto release = [this](git_packbuilder* builder) { git->packbuilder_free(builder); };
  const std::unique_ptr<git_packbuilder, decltype(release)> builder(raw, release);
  WS_TRY(insert(raw, wanted));
  if (git->packbuilder_write(raw, folder().c_str(), 0444, nullptr, nullptr) < 0) {
    return fail(failure(*git, "pack the history"));
  }
  return std::string("pack-") + git->packbuilder_name(raw);
}

Result<fs::path> Housekeeping::pack(const Reachable& objects, const std::optional<Time>& time) {
  WS_LET(const std::string name, impl_->build(objects));
  const fs::path made = impl_->folder() / name;
  const fs::path target = impl_->path / "objects" / "pack" / name;
  WS_LET(const std::vector<ObjectId> in_it, read_index(made.string() + ".idx"));
  if (in_it.size() != objects.commits.size() + objects.trees.size() + objects.texts.size()) {
    return fail(Failure::Kind::integrity, "the new pack of the history does not hold what it should");
  }
  std::error_code ignored;
  // One of that name holds the same; its index must never stand beside another pack.
  if (!fs::exists(target.string() + ".idx", ignored)) {
    for (const char* extension : {".pack", ".idx"}) {
      if (time) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count();
        const timespec stamp{.tv_sec = static_cast<std::time_t>(seconds), .tv_nsec = 0};
        const timespec both[] = {stamp, stamp};
        static_cast<void>(::utimensat(AT_FDCWD, (made.string() + extension).c_str(), both, 0));
      }
      WS_TRY(flush_to_disk(made.string() + extension));
      WS_TRY(rename_file(made.string() + extension, target.string() + extension));
      WS_TRY(flush_to_disk(target.parent_path()));
    }
  }
  WS_TRY(clear_leftovers());
  return fs::path(target.string() + ".idx");
}

Result<void> Housekeeping::remove(const std::vector<ObjectFile>& files,
                                  const std::function<Result<void>()>& check_cancelled) {
  const fs::path objects = impl_->path / "objects";
  // They speak of packs and commits that go.
  std::error_code ignored;
  WS_TRY(remove_file(objects / "pack" / "multi-pack-index"));
  WS_TRY(remove_file(objects / "info" / "commit-graph"));
  fs::remove_all(objects / "info" / "commit-graphs", ignored);
  for (const ObjectFile& file : files) {
    // The index first: without it git does not look for the pack.
    WS_TRY(check_cancelled());
    WS_TRY(remove_file(file.path));
    if (!file.is_pack) continue;
    for (const char* extension : {".bitmap", ".rev", ".pack"}) {
      WS_TRY(check_cancelled());
      WS_TRY(remove_file(with_extension(file.path, extension)));
    }
  }
  if (impl_->git->odb_refresh(impl_->objects) < 0) return fail(failure(*impl_->git, "read the history again"));
  return {};
}

Result<void> Housekeeping::clear_leftovers() {
  std::error_code error;
  fs::remove_all(impl_->folder(), error);
  if (error) return disk_trouble("remove", impl_->folder(), error.value());
  return {};
}

}  // namespace ws::sync::git
