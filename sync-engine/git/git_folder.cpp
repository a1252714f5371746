#include "sync-engine/git/git_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/handle.hpp"

namespace ws::sync::git {
namespace {

/// Git's own layout is three levels deep, a branch's name some more.
constexpr int max_depth = 32;
constexpr int loose_priority = 1;  // as libgit2's own defaults: packs are asked first
constexpr int packed_priority = 2;
constexpr int default_compression = -1;

int close_listed(DIR* directory) noexcept { return ::closedir(directory); }

tl::unexpected<Failure> refused_entry(const std::filesystem::path& path, std::string_view what, const char* code) {
  Failure failure{.kind = Failure::Kind::disk,
                  .what = fmt::format("{} {}", shown_path(path), what),
                  .hint = "remove it if you did not put it there; without history.git a sync makes a new history"};
  failure.code = code;
  return fail(std::move(failure));
}

/// All files below are regular: libgit2 opens them by name.
Result<void> check_entries(int folder, const std::filesystem::path& path, int depth) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Handle<DIR, close_listed> directory(copy < 0 ? nullptr : ::fdopendir(copy));  // which owns it from here on
  if (directory == nullptr) return disk_failure("list", shown_path(path));
  if (depth > max_depth) return refused_entry(path, "is too deep", "not_ours");
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    unsigned char type = entry->d_type;
    struct stat found {};
    if (type == DT_UNKNOWN && ::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
      type = static_cast<unsigned char>(IFTODT(found.st_mode));
    }
    if (type == DT_REG) continue;
    if (type == DT_LNK) {
      return refused_entry(path / name, "is a symbolic link, which could lead anywhere", "linked_marker");
    }
    if (type != DT_DIR) return refused_entry(path / name, "is not a regular file", "not_ours");
    const Descriptor below(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below) return disk_failure("open", shown_path(path / name));
    WS_TRY(check_entries(below.get(), path / name, depth + 1));
  }
  return {};
}

Result<void> make_folder(const RootFolder& folder, const char* name) {
  const Descriptor made = folder.make_folders(name, [](std::string_view) {});
  if (!made) return disk_failure("make", shown_path(folder.path() / name));
  if (::fsync(made.get()) != 0) return disk_failure("flush", shown_path(folder.path() / name));
  return {};
}

/// HEAD comes last: a repository is there once it is.
Result<void> make_repository(const RootFolder& folder) {
  for (const char* name : {"objects/pack", "objects/info", "objects", "refs/heads", "refs/tags", "refs"}) {
    WS_TRY(make_folder(folder, name));
  }
  const auto write = [&](const char* name, std::string_view text) {
    return write_file_at(folder.fd(), name, text, std::nullopt, folder.path() / name);
  };
  WS_TRY(write("config", "[core]\n\tbare = true\n\trepositoryformatversion = 0\n\tfilemode = true\n"));
  // `git log` without an argument shows our branch, whatever the user's git calls a first one.
  return write("HEAD", "ref: refs/heads/main\n");
}

constexpr std::size_t max_reference_bytes = 4096;
constexpr std::size_t max_packed_bytes = std::size_t{64} << 20U;
constexpr int max_levels = 32;         // of folders below refs/
constexpr int max_symbolic_steps = 5;  // as git
constexpr const char* packed_name = "packed-refs";
constexpr std::string_view lock_ending = ".lock";

int close_refs(DIR* directory) noexcept { return ::closedir(directory); }

std::string shown_reference(const RootFolder& folder, const std::string& name) {
  return shown_path(folder.path() / name);
}

/// Empty: there is no such file.
Result<std::optional<std::string>> read_beneath(const RootFolder& folder, const std::string& name, std::size_t most) {
  const Descriptor file = folder.open_beneath(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>{};
  if (!file) return disk_failure("read", shown_reference(folder, name));
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return disk_failure("read", shown_reference(folder, name));
  if (S_ISDIR(found.st_mode)) return std::optional<std::string>{};
  if (!S_ISREG(found.st_mode)) {
    return fail(Failure::Kind::disk, shown_reference(folder, name) + " is not a regular file");
  }
  WS_LET(std::string text, read_open_file(file.get(), folder.path() / name, most));
  return std::optional<std::string>(std::move(text));
}

/// Each line `ID NAME`; comments and peeled tags (`^ID`) are passed over.
std::map<std::string, ObjectId> packed_references(std::string_view text) {
  std::map<std::string, ObjectId> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto id = line.size() > 41 && line[40] == ' ' ? ObjectId::from_hex(line.substr(0, 40)) : std::nullopt;
    if (id) found.emplace(line.substr(41), *id);
  }
  return found;
}

Result<std::map<std::string, ObjectId>> read_packed(const RootFolder& folder) {
  WS_LET(const auto text, read_beneath(folder, packed_name, max_packed_bytes));
  return text ? packed_references(*text) : std::map<std::string, ObjectId>{};
}

Result<void> flush_folder(int folder, const std::string& shown) {
  if (::fsync(folder) != 0) return disk_failure("flush the folder of", shown);
  return {};
}

std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {"", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

/// Up to so many single fsyncs are cheaper than a barrier over the whole file system.
constexpr std::size_t max_reference_flushes = 4;
enum class Flush { yes, no };

Result<Descriptor> open_folder_above(const RootFolder& folder, const std::string& name) {
  Descriptor parent = folder.make_folders(split(name).first, [](std::string_view) {});
  if (!parent) return disk_failure("open the folder of", shown_reference(folder, name));
  return parent;
}

Result<void> write_reference(int file, std::string_view text, Flush flush, const std::string& shown) {
  if (!write_all(file, text)) return disk_failure("write", shown);
  if (flush == Flush::yes && ::fsync(file) != 0) return disk_failure("flush", shown);
  return {};
}

/// Writes `NAME.lock`.
Result<void> stage_reference(const RootFolder& folder, const std::string& name, std::string_view text, Flush flush) {
  const std::string shown = shown_reference(folder, name);
  WS_LET(const Descriptor parent, open_folder_above(folder, name));
  const std::string lock = split(name).second + std::string(lock_ending);
  const auto create = [&] {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return Descriptor(::openat(parent.get(), lock.c_str(), flags, 0666));
  };
  Descriptor file = create();
  if (!file && errno == EEXIST && ::unlinkat(parent.get(), lock.c_str(), 0) == 0) file = create();
  if (!file) return disk_failure("lock", shown);
  auto written = write_reference(file.get(), text, flush, shown);
  if (!written) ::unlinkat(parent.get(), lock.c_str(), 0);
  return written;
}

/// Renames `NAME.lock` to its name.
Result<void> place_reference(const RootFolder& folder, const std::string& name, Flush flush) {
  const std::string shown = shown_reference(folder, name);
  WS_LET(const Descriptor parent, open_folder_above(folder, name));
  const std::string last = split(name).second;
  const std::string lock = last + std::string(lock_ending);
  if (::renameat(parent.get(), lock.c_str(), parent.get(), last.c_str()) != 0) {
    const int error = errno;
    ::unlinkat(parent.get(), lock.c_str(), 0);
    errno = error;
    return disk_failure("replace", shown);
  }
  return flush == Flush::yes ? flush_folder(parent.get(), shown) : Result<void>();
}

Result<void> replace_locked(const RootFolder& folder, const std::string& name, std::string_view text) {
  WS_TRY(stage_reference(folder, name, text, Flush::yes));
  return place_reference(folder, name, Flush::yes);
}

/// Calls `visit(folder, path, name)` for every file below, folders of links never entered.
template <class Visit>
Result<void> for_each_file(int folder, const std::string& path, int level, const Visit& visit) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Handle<DIR, close_refs> directory(copy < 0 ? nullptr : ::fdopendir(copy));  // which owns it from here on
  if (directory == nullptr || level > max_levels) return disk_failure("list", path);
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string shown = fmt::format("{}/{}", path, name);
    struct stat found {};
    if (::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(found.st_mode)) visit(folder, shown, name);
    if (!S_ISDIR(found.st_mode)) continue;
    const Descriptor below(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (below) WS_TRY(for_each_file(below.get(), shown, level + 1, visit));
  }
  return {};
}

}  // namespace

GitFolder::GitFolder(const Library& git, RootFolder folder)
    : git_(&git), folder_(std::move(folder)), path_(path_through(folder_.fd(), folder_.path())) {}

GitFolder::GitFolder(GitFolder&& other) noexcept
    : git_(other.git_),
      folder_(std::move(other.folder_)),
      path_(std::move(other.path_)),
      objects_(std::exchange(other.objects_, nullptr)) {}

GitFolder::~GitFolder() {
  if (objects_ != nullptr) git_->odb_free(objects_);
}

Result<GitFolder> GitFolder::open(const std::filesystem::path& path) {
  WS_LET(const Library* git, library());
  if (::mkdir(path.c_str(), 0700) == 0) {
    const Descriptor above(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!above || ::fsync(above.get()) != 0) return disk_failure("make", shown_path(path));
  } else if (errno != EEXIST && errno != EROFS) {
    return disk_failure("make", shown_path(path));
  }
  WS_LET(RootFolder folder, RootFolder::open_no_link(path));
  WS_TRY(check_entries(folder.fd(), path, 0));
  struct stat found {};
  if (::fstatat(folder.fd(), "HEAD", &found, AT_SYMLINK_NOFOLLOW) != 0) WS_TRY(make_repository(folder));
  GitFolder opened(*git, std::move(folder));
  WS_TRY(opened.open_objects());
  return opened;
}

Result<void> GitFolder::open_objects() {
  const std::string objects = (path_ / "objects").string();
  git_odb_backend* loose = nullptr;
  git_odb_backend* packed = nullptr;
  // libgit2 looks for packs again only where the folder was there when it was opened.
  static_cast<void>(folder_.make_folders("objects/pack", [](std::string_view) {}));
  // Added, a backend belongs to the database.
  const bool opened = git_->odb_new(&objects_) >= 0 &&
                      git_->odb_backend_loose(&loose, objects.c_str(), default_compression, 1, 0, 0) >= 0 &&
                      git_->odb_add_backend(objects_, loose, loose_priority) >= 0 &&
                      git_->odb_backend_pack(&packed, objects.c_str()) >= 0 &&
                      git_->odb_add_backend(objects_, packed, packed_priority) >= 0;
  if (!opened) return fail(failure(*git_, "open the history " + shown_path(path_)));
  return {};
}

Result<std::set<ObjectId>> read_shallow(const std::filesystem::path& path) {
  std::set<ObjectId> commits;
  auto text = read_file(path / "shallow");
  if (!text && text.error().kind == Failure::Kind::not_found) return commits;
  if (!text) return fail(std::move(text).error());
  for (std::string_view rest = *text; !rest.empty(); rest.remove_prefix(std::min<std::size_t>(41, rest.size()))) {
    const auto id = ObjectId::from_hex(rest.substr(0, 40));
    if (!id) return fail(Failure::Kind::integrity, shown_path(path / "shallow") + " is broken");
    commits.insert(*id);
  }
  return commits;
}

Result<std::optional<ObjectId>> References::find(const std::string& name) const {
  std::string wanted = name;
  for (int step = 0; step < max_symbolic_steps; ++step) {
    WS_LET(auto text, read_beneath(*folder_, wanted, max_reference_bytes));
    if (!text) {
      WS_LET(const auto packed, read_packed(*folder_));
      const auto found = packed.find(wanted);
      return found == packed.end() ? std::optional<ObjectId>{} : std::optional<ObjectId>(found->second);
    }
    trim_end(*text, " \r\n");
    if (const auto id = ObjectId::from_hex(*text)) return std::optional<ObjectId>(*id);
    if (!text->starts_with("ref: refs/")) break;
    wanted = text->substr(5);
  }
  return fail(Failure::Kind::integrity, shown_reference(*folder_, name) + " is not a reference");
}

Result<std::vector<std::string>> References::list() const {
  WS_LET(const auto packed, read_packed(*folder_));
  std::set<std::string> names;
  for (const auto& [name, id] : packed) names.insert(name);
  const Descriptor refs = folder_->open_beneath("refs", O_RDONLY | O_DIRECTORY);
  if (refs) {
    WS_TRY(for_each_file(refs.get(), "refs", 0, [&](int, const std::string& path, const std::string&) {
      if (!path.ends_with(lock_ending)) names.insert(path);
    }));
  } else if (errno != ENOENT) {
    return disk_failure("list", shown_reference(*folder_, "refs"));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<void> References::set(const std::string& name, const ObjectId& id) const {
  return replace_locked(*folder_, name, id.hex() + "\n");
}

Result<void> References::set(const std::map<std::string, ObjectId>& ids) const {
  if (ids.size() <= max_reference_flushes) {
    for (const auto& [name, id] : ids) WS_TRY(set(name, id));
    return {};
  }
  const auto flush_all = [&]() -> Result<void> {
    if (::syncfs(folder_->fd()) != 0) return disk_failure("flush", shown_reference(*folder_, "refs"));
    return {};
  };
  for (const auto& [name, id] : ids) WS_TRY(stage_reference(*folder_, name, id.hex() + "\n", Flush::no));
  WS_TRY(flush_all());
  for (const auto& [name, id] : ids) WS_TRY(place_reference(*folder_, name, Flush::no));
  return flush_all();
}

Result<void> References::remove(const std::string& name) const {
  // The packed one first: it would come back to light when the other one goes.
  WS_LET(const auto text, read_beneath(*folder_, packed_name, max_packed_bytes));
  if (text && packed_references(*text).contains(name)) {
    std::string kept;
    bool was_dropped = false;
    for (std::string_view rest = *text; !rest.empty();) {
      const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
      rest.remove_prefix(line.size());
      const bool is_peeled = line.front() == '^';
      const std::string_view bare = line.substr(0, line.find('\n'));
      was_dropped = is_peeled ? was_dropped : bare.size() > 41 && bare.substr(41) == name;
      if (!was_dropped) kept += line;
    }
    WS_TRY(replace_locked(*folder_, packed_name, kept));
  }
  const auto [above, last] = split(name);
  const Descriptor parent = folder_->open_beneath(above, O_RDONLY | O_DIRECTORY);
  if (!parent) return errno == ENOENT ? Result<void>() : disk_failure("remove", shown_reference(*folder_, name));
  if (::unlinkat(parent.get(), last.c_str(), 0) != 0 && errno != ENOENT) {
    return disk_failure("remove", shown_reference(*folder_, name));
  }
  return flush_folder(parent.get(), shown_reference(*folder_, name));
}

void References::drop_dead_locks() const {
  for (const char* name : {"HEAD.lock", "packed-refs.lock", "config.lock"}) {
    struct stat found {};
    if (::fstatat(folder_->fd(), name, &found, AT_SYMLINK_NOFOLLOW) == 0) ::unlinkat(folder_->fd(), name, 0);
  }
  const Descriptor refs = folder_->open_beneath("refs", O_RDONLY | O_DIRECTORY);
  if (!refs) return;
  static_cast<void>(for_each_file(refs.get(), "refs", 0, [](int folder, const std::string&, const std::string& name) {
    if (name.ends_with(lock_ending)) ::unlinkat(folder, name.c_str(), 0);
  }));
}

}  // namespace ws::sync::git
