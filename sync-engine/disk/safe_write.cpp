#include "sync-engine/disk/safe_write.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::sync {
namespace {

tl::unexpected<Failure> changed(const RelativePath& path) {
  Failure failure{.kind = Failure::Kind::conflict, .what = fmt::format("{} changed during the sync", path.text())};
  failure.hint = "run the same command again";
  failure.code = "changed_meanwhile";
  return fail(std::move(failure));
}

std::string name_of(const RelativePath& path) { return std::string(path.name()); }

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

}  // namespace

Result<SafeWriter> SafeWriter::open(const RootFolder& root, const char* staging) {
  WS_LET(StagingFolder folder, StagingFolder::open(root, staging));
  return SafeWriter(root, std::move(folder));
}

Result<void> SafeWriter::keep_copy(const RelativePath& path, const Sha256& hash) {
  const std::string name = hash.hex();
  if (has(name, hash)) return {};
  WS_LET(const Descriptor folder, folder_of(path));
  const Descriptor from(::openat(folder.get(), name_of(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!from) return disk_failure("open", path.text());
  WS_LET(const std::string copy, copy_in(from.get(), path.string()));
  if (!has(copy, hash)) {
    ::unlinkat(staging_fd(), copy.c_str(), 0);
    return changed(path);
  }
  const Descriptor written(::openat(staging_fd(), copy.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!written || ::fsync(written.get()) != 0) return disk_failure("flush", path.text());
  if (::renameat(staging_fd(), copy.c_str(), staging_fd(), name.c_str()) != 0 || ::fsync(staging_fd()) != 0) {
    return disk_failure("keep", path.text());
  }
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
    if (link_to_free_or_empty(staged.unnamed, folder, name_of(path).c_str()) == 0) return {};
    return errno == EEXIST ? Result<void>(changed(path)) : Result<void>(disk_failure("write", path.text()));
  }
  if (rename_to_free_or_empty(staging_fd(), staged.name.c_str(), folder, name_of(path).c_str()) == 0) return {};
  const int error = errno;
  ::unlinkat(staging_fd(), staged.name.c_str(), 0);
  if (error == EEXIST) return changed(path);
  errno = error;
  return disk_failure("write", path.text());
}

Result<void> SafeWriter::put_over(const Staged& staged, int folder, const RelativePath& path, const Sha256& seen) {
  const std::string name = name_of(path);
  const auto give_up = [&](Result<void> failed) {
    ::unlinkat(staging_fd(), staged.name.c_str(), 0);
    return failed;
  };
  const auto now = hash_file_at(folder, name);
  if (!now) return give_up(fail(now.error()));
  if (*now != seen) return give_up(changed(path));
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    // The mode is kept where the file system can.
    [[maybe_unused]] const int kept = ::fchmodat(staging_fd(), staged.name.c_str(), status.st_mode & 07777U, 0);
  }
  if (::renameat2(staging_fd(), staged.name.c_str(), folder, name.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL) return give_up(disk_failure("replace", path.text()));
    // A file system that cannot exchange: the look above is the best there is.
    if (::renameat(staging_fd(), staged.name.c_str(), folder, name.c_str()) != 0) {
      return give_up(disk_failure("replace", path.text()));
    }
    return {};
  }
  if (!has(staged.name, seen)) return swap_back(staged, folder, path);
  if (::unlinkat(staging_fd(), staged.name.c_str(), 0) != 0) return disk_failure("remove the old", path.text());
  return {};
}

/// Somebody wrote between the look and the exchange: their text goes back to its place.
Result<void> SafeWriter::swap_back(const Staged& staged, int folder, const RelativePath& path) {
  const std::string name = name_of(path);
  if (::renameat2(staging_fd(), staged.name.c_str(), folder, name.c_str(), RENAME_EXCHANGE) != 0) {
    return disk_failure("put back", path.text());  // it stays in .ws/tmp, from where the next run keeps it
  }
  WS_LET(const std::optional<Sha256> ours, hash_file_at(staging_fd(), staged.name));
  // If what came back is not ours there was a third writer; the text stays in .ws/tmp for the next run.
  if (ours == staged.hash) ::unlinkat(staging_fd(), staged.name.c_str(), 0);
  return changed(path);
}

Result<void> SafeWriter::remove(const RelativePath& path, const Sha256& seen) {
  const auto folder = folder_of(path);
  if (!folder && folder.error().kind == Failure::Kind::not_found) return remove_folders_left(path);
  if (!folder) return fail(folder.error());
  const std::string name = name_of(path);
  WS_LET(const std::optional<Sha256> now, hash_file_at(folder->get(), name));
  const bool is_gone = !now && ::faccessat(folder->get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
  if (is_gone && errno == ENOENT) return remove_folders_left(path);
  if (now != seen) return changed(path);
  const std::string aside = new_name();
  if (rename_to_free(folder->get(), name.c_str(), staging_fd(), aside.c_str()) != 0) {
    return disk_failure("remove", path.text());
  }
  if (!has(aside, seen)) {
    // Back to its place, unless a newer file stands there; then the next run keeps the text from .ws/tmp.
    static_cast<void>(rename_to_free(staging_fd(), aside.c_str(), folder->get(), name.c_str()));
    return changed(path);
  }
  if (::unlinkat(staging_fd(), aside.c_str(), 0) != 0) return disk_failure("remove", path.text());
  return remove_folders_left(path);
}

Result<void> SafeWriter::remove_folders_left(const RelativePath& path) {
  touched_.insert(std::string(path.folder()));
  remove_empty_folders(path.folder());
  return {};
}

Result<void> SafeWriter::move(const RelativePath& from, const RelativePath& to, const Sha256& seen) {
  if (is_nested(to, from)) return move_nested(from, to, seen);
  WS_LET(const Descriptor source, folder_of(from));
  WS_LET(const std::optional<Sha256> now, hash_file_at(source.get(), name_of(from)));
  if (now != seen) return changed(from);
  WS_LET(const Descriptor target, make_folder_of(to));
  if (rename_to_free_or_empty(source.get(), name_of(from).c_str(), target.get(), name_of(to).c_str()) != 0) {
    if (errno == EEXIST) return changed(to);
    return disk_failure("rename", from.text());
  }
  touched_.insert(std::string(from.folder()));
  touched_.insert(std::string(to.folder()));
  remove_empty_folders(from.folder());
  return {};
}

Result<void> SafeWriter::move_nested(const RelativePath& from, const RelativePath& to, const Sha256& seen) {
  const std::string source_name = name_of(from);
  const std::string aside = new_name();
  {
    WS_LET(const Descriptor source, folder_of(from));
    WS_LET(const std::optional<Sha256> now, hash_file_at(source.get(), source_name));
    if (now != seen) return changed(from);
    if (rename_to_free(source.get(), source_name.c_str(), staging_fd(), aside.c_str()) != 0) {
      return disk_failure("rename", from.text());
    }
  }
  touched_.insert(std::string(from.folder()));
  if (is_at_or_below(from.text(), to.text())) remove_empty_folders(from.folder());
  const bool is_as_seen = has(aside, seen);
  if (is_as_seen) {
    const auto target = make_folder_of(to);
    const std::string name = name_of(to);
    if (target && rename_to_free(staging_fd(), aside.c_str(), target->get(), name.c_str()) == 0) {
      touched_.insert(std::string(to.folder()));
      return {};
    }
  }
  // Back to its place; where that is taken by now the next run keeps the text from .ws/tmp.
  WS_LET(const Descriptor source, make_folder_of(from));
  static_cast<void>(rename_to_free_or_empty(staging_fd(), aside.c_str(), source.get(), source_name.c_str()));
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
    const std::string_view above = parent_folder(folder);
    const std::string name(last_part(folder));
    const Descriptor parent = root_->open_beneath(above, O_RDONLY | O_DIRECTORY);
    // The kernel removes only what is empty; anything else ends the way up.
    if (!parent || ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) != 0) return;
    touched_.insert(std::string(above));
    folder = above;
  }
}

Result<std::string> SafeWriter::read(const RelativePath& path) const {
  WS_LET(const Descriptor folder, folder_of(path));
  return read_file_at(folder.get(), name_of(path));
}

Result<std::optional<Sha256>> SafeWriter::hash(const RelativePath& path) const {
  const Descriptor folder = root_->open_beneath(path.folder(), O_RDONLY | O_DIRECTORY);
  if (folder) return hash_file_at(folder.get(), name_of(path));
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::optional<Sha256>{};
  return disk_failure("open the folder of", path.text());
}

}  // namespace ws::sync
