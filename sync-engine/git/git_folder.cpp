#include "sync-engine/git/git_folder.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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
  if (::mkdir(path.c_str(), 0777) == 0) {
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

}  // namespace ws::sync::git
