#include "sync-engine/disk/safe_write.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/handle.hpp"
#include "sync-engine/disk/empty_folder.hpp"

namespace ws::sync {
namespace {

/// Up to so many single fsyncs are cheaper than a barrier over the whole file system.
constexpr std::size_t max_single_flushes = 16;

int close_directory(DIR* directory) noexcept { return ::closedir(directory); }

tl::unexpected<Failure> changed(const RelativePath& path) {
  Failure failure{.kind = Failure::Kind::conflict, .what = fmt::format("{} changed during the sync", path.text())};
  failure.hint = "run the command again";
  failure.code = "changed_meanwhile";
  return fail(std::move(failure));
}

std::string last_part(const RelativePath& path) { return std::string(path.name()); }

/// The whole file; a link or anything else that is no regular file fails with errno.
Result<std::string> read_in(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return fail(Failure::Kind::not_found, fmt::format("{} does not exist", name));
    return disk_failure("open", name);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return disk_failure("read", name);
  if (!S_ISREG(status.st_mode)) return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", name));
  std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == text.size()) text.resize(text.size() * 2);
    const ssize_t count = read_some(file.get(), text.data() + filled, text.size() - filled);
    if (count < 0) return disk_failure("read", name);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

Result<void> write_text(int fd, std::string_view text, const std::string& name) {
  if (!ws::write_all(fd, text)) return disk_failure("write", name);
  return {};
}

/// Renames where nothing stands. File systems without RENAME_NOREPLACE take a link and an unlink.
int rename_to_free(int from_folder, const char* from, int to_folder, const char* to) {
  if (::renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return -1;
  if (::linkat(from_folder, from, to_folder, to, 0) != 0) return -1;
  return ::unlinkat(from_folder, from, 0);
}

/// The same where perhaps an empty folder stands.
int rename_to_free_or_empty(int from_folder, const char* from, int to_folder, const char* to) {
  if (rename_to_free(from_folder, from, to_folder, to) == 0) return 0;
  if (errno != EEXIST) return -1;
  if (!remove_empty_folder(to_folder, to)) {
    errno = EEXIST;
    return -1;
  }
  return rename_to_free(from_folder, from, to_folder, to);
}

/// Replaces an empty folder at `to`, if there is one.
int link_to_free_or_empty(const UnnamedFile& file, int folder, const char* to) {
  if (file.link(folder, to) == 0) return 0;
  if (errno != EEXIST) return -1;
  if (!remove_empty_folder(folder, to)) {
    errno = EEXIST;
    return -1;
  }
  return file.link(folder, to);
}

bool lies_beneath(const RelativePath& path, const RelativePath& folder) {
  return path.text().size() > folder.text().size() && path.text().starts_with(folder.text()) &&
         path.text()[folder.text().size()] == '/';
}

}  // namespace

Result<SafeWriter> SafeWriter::open(const RootFolder& root, const char* own) {
  if (::mkdirat(root.fd(), ".ws", 0777) != 0 && errno != EEXIST) return disk_failure("make", ".ws");
  Descriptor ws(::openat(root.fd(), ".ws", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!ws) return disk_failure("open", ".ws");
  if (::mkdirat(ws.get(), own, 0777) != 0 && errno != EEXIST) return disk_failure("make", fmt::format(".ws/{}", own));
  Descriptor temporary(::openat(ws.get(), own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!temporary) return disk_failure("open", fmt::format(".ws/{}", own));
  return SafeWriter(root, std::move(temporary));
}

std::string SafeWriter::new_name() {
  // The pid keeps two runs apart even if the lock were lost; O_EXCL and NOREPLACE decide in the end.
  return fmt::format("{}-{}", ::getpid(), next_++);
}

Result<Staged> SafeWriter::stage(std::string_view text, const Sha256& hash) {
  const std::string name = new_name();
  const Descriptor file(::openat(temporary_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return disk_failure("write", ".ws/tmp/" + name);
  if (auto written = write_text(file.get(), text, ".ws/tmp/" + name); !written) {
    ::unlinkat(temporary_.get(), name.c_str(), 0);
    return fail(std::move(written).error());
  }
  unflushed_.push_back(name);
  return Staged{.name = name, .hash = hash};
}

Result<Staged> SafeWriter::stage_new(std::string_view text, const Sha256& hash) {
  std::optional<Staged> staged = stage_unnamed(text, hash);
  return staged ? Result<Staged>(std::move(*staged)) : stage(text, hash);
}

/// Some file systems and sandboxes create unnamed files but refuse to name them.
bool SafeWriter::can_name_files() {
  if (can_name_files_) return *can_name_files_;
  const UnnamedFile probe = UnnamedFile::make(temporary_.get());
  const std::string name = new_name();
  can_name_files_ = probe && probe.link(temporary_.get(), name.c_str()) == 0;
  if (*can_name_files_) ::unlinkat(temporary_.get(), name.c_str(), 0);
  return *can_name_files_;
}

std::optional<Staged> SafeWriter::stage_unnamed(std::string_view text, const Sha256& hash) {
  if (!can_name_files()) return std::nullopt;
  Staged staged{.hash = hash, .unnamed = UnnamedFile::make(temporary_.get())};
  if (!staged.unnamed || !ws::write_all(staged.unnamed.get(), text)) return std::nullopt;
  unnamed_unflushed_ = true;
  return staged;
}

void SafeWriter::adopt(const Staged& staged) {
  if (staged.unnamed) unnamed_unflushed_ = true;
}

Result<Staged> SafeWriter::stage_file(const std::string& name, const Sha256& hash) {
  const std::string aside = new_name();
  if (::renameat(temporary_.get(), name.c_str(), temporary_.get(), aside.c_str()) != 0) {
    return disk_failure("rename", name);
  }
  return Staged{.name = aside, .hash = hash};
}

Result<Staged> SafeWriter::stage_copy(const std::string& name, const Sha256& hash) {
  const Descriptor from(::openat(temporary_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!from) return disk_failure("open", name);
  WS_LET(std::string copy, copy_in(from.get(), name));
  unflushed_.push_back(copy);
  return Staged{.name = std::move(copy), .hash = hash};
}

Result<void> SafeWriter::keep_copy(const RelativePath& path, const Sha256& hash) {
  const std::string name = hash.hex();
  if (is_text(name, hash)) return {};
  WS_LET(const Descriptor folder, folder_of(path));
  const Descriptor from(
      ::openat(folder.get(), last_part(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!from) return disk_failure("open", path.text());
  WS_LET(const std::string copy, copy_in(from.get(), path.string()));
  if (!is_text(copy, hash)) {
    ::unlinkat(temporary_.get(), copy.c_str(), 0);
    return changed(path);
  }
  const Descriptor written(::openat(temporary_.get(), copy.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!written || ::fsync(written.get()) != 0) return disk_failure("flush", path.text());
  if (::renameat(temporary_.get(), copy.c_str(), temporary_.get(), name.c_str()) != 0 ||
      ::fsync(temporary_.get()) != 0) {
    return disk_failure("keep", path.text());
  }
  return {};
}

/// The name of a new file in the own folder with the same bytes.
Result<std::string> SafeWriter::copy_in(int from, const std::string& shown) {
  const std::string name = new_name();
  const Descriptor to(::openat(temporary_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!to) return disk_failure("write", name);
  std::array<char, std::size_t{64} << 10U> buffer;
  while (true) {
    const ssize_t count = read_some(from, buffer.data(), buffer.size());
    const bool copied =
        count == 0 || (count > 0 && ws::write_all(to.get(), {buffer.data(), static_cast<std::size_t>(count)}));
    if (copied && count == 0) return name;
    if (copied) continue;
    const int error = errno;
    ::unlinkat(temporary_.get(), name.c_str(), 0);
    errno = error;
    return disk_failure("copy", shown);
  }
}

Result<void> SafeWriter::flush_texts() {
  if (unnamed_unflushed_ || unflushed_.size() > max_single_flushes) {
    if (::syncfs(temporary_.get()) != 0) return disk_failure("flush", ".ws/tmp");
  } else {
    for (const std::string& name : unflushed_) {
      const Descriptor file(::openat(temporary_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      if (!file || ::fsync(file.get()) != 0) return disk_failure("flush", ".ws/tmp/" + name);
    }
  }
  unflushed_.clear();
  unnamed_unflushed_ = false;
  return {};
}

Result<Descriptor> SafeWriter::folder_of(const RelativePath& path) const {
  Descriptor folder = root_->open_beneath(path.folder(), O_RDONLY | O_DIRECTORY);
  if (folder) return folder;
  if (errno == ENOENT) return fail(Failure::Kind::not_found, fmt::format("{} does not exist", path.text()));
  return disk_failure("open the folder of", path.text());
}

Result<Descriptor> SafeWriter::make_folder_of(const RelativePath& path) {
  Descriptor folder = root_->make_folders(path.folder(), [this](std::string_view above) { touched_.emplace(above); });
  if (folder) return folder;
  return disk_failure("open the folder of", path.text());
}

Result<std::optional<Sha256>> SafeWriter::hash_at(int folder, const std::string& name) const {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::optional<Sha256>{};
  if (!file) return disk_failure("open", name);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return disk_failure("read", name);
  if (!S_ISREG(status.st_mode)) return fail(Failure::Kind::disk, fmt::format("{} is not a regular file", name));
  // Piece by piece: the file may be an attachment.
  Sha256Stream stream;
  std::array<char, std::size_t{64} << 10U> buffer;
  while (true) {
    const ssize_t count = read_some(file.get(), buffer.data(), buffer.size());
    if (count < 0) return disk_failure("read", name);
    if (count == 0) return std::optional(stream.finish());
    stream.update({buffer.data(), static_cast<std::size_t>(count)});
  }
}

/// A link or a folder that somebody put there meanwhile is not that text either.
bool SafeWriter::is_text(const std::string& aside, const Sha256& seen) const {
  const auto hash = hash_at(temporary_.get(), aside);
  return hash && *hash == seen;
}

Result<void> SafeWriter::place(const Staged& staged, const RelativePath& path, const std::optional<Sha256>& seen) {
  if (staged.unnamed && seen) return fail(Failure::Kind::internal, "a new file cannot replace another");
  WS_LET(const Descriptor folder, make_folder_of(path));
  auto done = seen ? put_over(staged, folder.get(), path, *seen) : put_new(staged, folder.get(), path);
  if (done) touched_.insert(std::string(path.folder()));
  return done;
}

Result<void> SafeWriter::put_new(const Staged& staged, int folder, const RelativePath& path) {
  if (staged.unnamed) {
    unnamed_placed_ = true;
    if (link_to_free_or_empty(staged.unnamed, folder, last_part(path).c_str()) == 0) return {};
    return errno == EEXIST ? Result<void>(changed(path)) : Result<void>(disk_failure("write", path.text()));
  }
  if (rename_to_free_or_empty(temporary_.get(), staged.name.c_str(), folder, last_part(path).c_str()) == 0) return {};
  const int error = errno;
  ::unlinkat(temporary_.get(), staged.name.c_str(), 0);
  if (error == EEXIST) return changed(path);
  errno = error;
  return disk_failure("write", path.text());
}

Result<void> SafeWriter::put_over(const Staged& staged, int folder, const RelativePath& path, const Sha256& seen) {
  const std::string name = last_part(path);
  const auto give_up = [&](Result<void> failed) {
    ::unlinkat(temporary_.get(), staged.name.c_str(), 0);
    return failed;
  };
  const auto now = hash_at(folder, name);
  if (!now) return give_up(fail(now.error()));
  if (*now != seen) return give_up(changed(path));
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    ::fchmodat(temporary_.get(), staged.name.c_str(), status.st_mode & 07777U, 0);
  }
  if (::renameat2(temporary_.get(), staged.name.c_str(), folder, name.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL) return give_up(disk_failure("replace", path.text()));
    // A file system that cannot exchange: the look above is the best there is.
    if (::renameat(temporary_.get(), staged.name.c_str(), folder, name.c_str()) != 0) {
      return give_up(disk_failure("replace", path.text()));
    }
    return {};
  }
  if (!is_text(staged.name, seen)) return swap_back(staged, folder, path);
  if (::unlinkat(temporary_.get(), staged.name.c_str(), 0) != 0) return disk_failure("remove the old", path.text());
  return {};
}

/// Somebody wrote between the look and the exchange: their text goes back to its place.
Result<void> SafeWriter::swap_back(const Staged& staged, int folder, const RelativePath& path) {
  const std::string name = last_part(path);
  if (::renameat2(temporary_.get(), staged.name.c_str(), folder, name.c_str(), RENAME_EXCHANGE) != 0) {
    return disk_failure("put back", path.text());  // it stays in .ws/tmp, from where the next run keeps it
  }
  WS_LET(const std::optional<Sha256> ours, hash_at(temporary_.get(), staged.name));
  // If what came back is not ours there was a third writer; the text stays in .ws/tmp for the next run.
  if (ours == staged.hash) ::unlinkat(temporary_.get(), staged.name.c_str(), 0);
  return changed(path);
}

Result<void> SafeWriter::remove(const RelativePath& path, const Sha256& seen) {
  WS_LET(const Descriptor folder, folder_of(path));
  const std::string name = last_part(path);
  WS_LET(const std::optional<Sha256> now, hash_at(folder.get(), name));
  if (!now) return remove_folders_left(path);
  if (now != seen) return changed(path);
  const std::string aside = new_name();
  if (rename_to_free(folder.get(), name.c_str(), temporary_.get(), aside.c_str()) != 0) {
    return disk_failure("remove", path.text());
  }
  if (!is_text(aside, seen)) {
    // Back to its place, unless a newer file stands there; then the next run keeps the text from .ws/tmp.
    static_cast<void>(rename_to_free(temporary_.get(), aside.c_str(), folder.get(), name.c_str()));
    return changed(path);
  }
  if (::unlinkat(temporary_.get(), aside.c_str(), 0) != 0) return disk_failure("remove", path.text());
  return remove_folders_left(path);
}

Result<void> SafeWriter::remove_folders_left(const RelativePath& path) {
  touched_.insert(std::string(path.folder()));
  remove_empty_folders(path.folder());
  return {};
}

Result<void> SafeWriter::move(const RelativePath& from, const RelativePath& to, const Sha256& seen) {
  if (lies_beneath(to, from) || lies_beneath(from, to)) return move_nested(from, to, seen);
  WS_LET(const Descriptor source, folder_of(from));
  WS_LET(const std::optional<Sha256> now, hash_at(source.get(), last_part(from)));
  if (now != seen) return changed(from);
  WS_LET(const Descriptor target, make_folder_of(to));
  if (rename_to_free_or_empty(source.get(), last_part(from).c_str(), target.get(), last_part(to).c_str()) != 0) {
    if (errno == EEXIST) return changed(to);
    return disk_failure("rename", from.text());
  }
  touched_.insert(std::string(from.folder()));
  touched_.insert(std::string(to.folder()));
  remove_empty_folders(from.folder());
  return {};
}

Result<void> SafeWriter::move_nested(const RelativePath& from, const RelativePath& to, const Sha256& seen) {
  const std::string source_name = last_part(from);
  const std::string aside = new_name();
  {
    WS_LET(const Descriptor source, folder_of(from));
    WS_LET(const std::optional<Sha256> now, hash_at(source.get(), source_name));
    if (now != seen) return changed(from);
    if (rename_to_free(source.get(), source_name.c_str(), temporary_.get(), aside.c_str()) != 0) {
      return disk_failure("rename", from.text());
    }
  }
  touched_.insert(std::string(from.folder()));
  if (lies_beneath(from, to)) remove_empty_folders(from.folder());
  const bool is_as_seen = is_text(aside, seen);
  if (is_as_seen) {
    const auto target = make_folder_of(to);
    const std::string name = last_part(to);
    if (target && rename_to_free(temporary_.get(), aside.c_str(), target->get(), name.c_str()) == 0) {
      touched_.insert(std::string(to.folder()));
      return {};
    }
  }
  // Back to its place; where that is taken by now the next run keeps the text from .ws/tmp.
  WS_LET(const Descriptor source, make_folder_of(from));
  static_cast<void>(rename_to_free_or_empty(temporary_.get(), aside.c_str(), source.get(), source_name.c_str()));
  return changed(is_as_seen ? to : from);
}

Result<void> SafeWriter::flush_folders() {
  if (unnamed_placed_ || touched_.size() > max_single_flushes) {
    if (::syncfs(root_->fd()) != 0) return disk_failure("flush", root_->path().string());
  } else {
    for (const std::string& name : touched_) {
      // One that is gone by now had nothing left in it; its own removal is in the folder above.
      const Descriptor folder = root_->open_beneath(name, O_RDONLY | O_DIRECTORY);
      if (folder && ::fsync(folder.get()) != 0) return disk_failure("flush", name);
    }
  }
  touched_.clear();
  unnamed_placed_ = false;
  return {};
}

void SafeWriter::remove_empty_folders(std::string_view folder) {
  while (!folder.empty()) {
    const std::size_t slash = folder.rfind('/');
    const std::string_view above = slash == std::string_view::npos ? std::string_view() : folder.substr(0, slash);
    const std::string name(slash == std::string_view::npos ? folder : folder.substr(slash + 1));
    const Descriptor parent = root_->open_beneath(above, O_RDONLY | O_DIRECTORY);
    // The kernel removes only what is empty; anything else ends the way up.
    if (!parent || ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) != 0) return;
    touched_.insert(std::string(above));
    folder = above;
  }
}

Result<std::string> SafeWriter::read(const RelativePath& path) const {
  WS_LET(const Descriptor folder, folder_of(path));
  return read_in(folder.get(), last_part(path));
}

Result<std::optional<Sha256>> SafeWriter::hash(const RelativePath& path) const {
  const Descriptor folder = root_->open_beneath(path.folder(), O_RDONLY | O_DIRECTORY);
  if (folder) return hash_at(folder.get(), last_part(path));
  if (errno == ENOENT || errno == ENOTDIR) return std::optional<Sha256>{};
  return disk_failure("open the folder of", path.text());
}

Result<std::vector<std::string>> SafeWriter::leftovers() const {
  WS_LET(const std::vector<OwnFile> files, own_files());
  std::vector<std::string> names;
  for (const OwnFile& file : files) {
    if (!file.name.starts_with('.')) names.push_back(file.name);
  }
  return names;
}

Result<std::vector<OwnFile>> SafeWriter::own_files() const {
  const int fd = ::openat(temporary_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Handle<DIR, close_directory> directory(fd < 0 ? nullptr : ::fdopendir(fd));  // which owns it from here on
  if (directory == nullptr) return disk_failure("list", ".ws/tmp");
  std::vector<OwnFile> files;
  while (const dirent* entry = ::readdir(directory.get())) {
    struct stat status {};
    const bool is_file =
        ::fstatat(temporary_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    if (!is_file) continue;
    files.push_back({.name = entry->d_name,
                     .size_bytes = static_cast<std::uint64_t>(status.st_size),
                     .modified = Time(std::chrono::seconds(status.st_mtim.tv_sec))});
  }
  return files;
}

Result<std::string> SafeWriter::read_leftover(const std::string& name) const { return read_in(temporary_.get(), name); }

Result<Sha256> SafeWriter::hash_leftover(const std::string& name) const {
  WS_LET(const std::optional<Sha256> hash, hash_at(temporary_.get(), name));
  return hash ? Result<Sha256>(*hash) : fail(Failure::Kind::not_found, fmt::format("{} does not exist", name));
}

Result<void> SafeWriter::rename_leftover(const std::string& name, const std::string& to) const {
  if (::renameat(temporary_.get(), name.c_str(), temporary_.get(), to.c_str()) != 0)
    return disk_failure("rename", name);
  return {};
}

Result<void> SafeWriter::remove_leftover(const std::string& name) const {
  if (::unlinkat(temporary_.get(), name.c_str(), 0) != 0) return disk_failure("remove", ".ws/tmp/" + name);
  return {};
}

}  // namespace ws::sync
