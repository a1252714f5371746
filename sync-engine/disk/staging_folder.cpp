#include "sync-engine/disk/staging_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/handle.hpp"

namespace ws::sync {
namespace {

int close_directory(DIR* directory) noexcept { return ::closedir(directory); }

/// Half of the descriptors that the process may open, after raising its limit (RLIMIT_NOFILE).
std::size_t max_unnamed_files() {
  constexpr rlim_t max_wanted = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = std::min(limit.rlim_max, max_wanted);
  if (limit.rlim_cur < wanted) {
    const rlimit raised{.rlim_cur = wanted, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
  }
  return static_cast<std::size_t>(std::min(limit.rlim_cur, wanted) / 2);
}

/// In the whole process, like the limit.
std::atomic<std::size_t> open_unnamed_files = 0;

}  // namespace

Result<StagingFolder> StagingFolder::open(const RootFolder& root, const char* name) {
  if (::mkdirat(root.fd(), ".ws", 0700) != 0 && errno != EEXIST) return disk_failure("make", ".ws");
  Descriptor ws(::openat(root.fd(), ".ws", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!ws) return disk_failure("open", ".ws");
  if (::mkdirat(ws.get(), name, 0700) != 0 && errno != EEXIST) return disk_failure("make", fmt::format(".ws/{}", name));
  Descriptor folder(::openat(ws.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return disk_failure("open", fmt::format(".ws/{}", name));
  return StagingFolder(std::move(folder));
}

/// By its present place.
std::string StagingFolder::shown(std::string_view name) const {
  return shown_path(fmt::format("/proc/self/fd/{}/{}", folder_.get(), name));
}

std::string StagingFolder::new_name() { return fmt::format("{}-{}", ::getpid(), next_++); }

Result<Staged> StagingFolder::stage(std::string_view text, const Sha256& hash) {
  const std::string name = new_name();
  const Descriptor file(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return disk_failure("write", shown(name));
  if (!ws::write_all(file.get(), text)) {
    const auto failed = disk_failure("write", shown(name));
    ::unlinkat(folder_.get(), name.c_str(), 0);
    return failed;
  }
  unflushed_.push_back(name);
  return Staged{.name = name, .hash = hash};
}

Result<Staged> StagingFolder::stage_new(std::string_view text, const Sha256& hash) {
  std::optional<Staged> staged = stage_unnamed(text, hash);
  return staged ? Result<Staged>(std::move(*staged)) : stage(text, hash);
}

/// Some file systems and sandboxes create unnamed files but refuse to name them.
bool StagingFolder::can_name_files() {
  if (can_name_files_) return *can_name_files_;
  const UnnamedFile probe = UnnamedFile::make(folder_.get());
  const std::string name = new_name();
  can_name_files_ = probe && probe.link(folder_.get(), name.c_str()) == 0;
  if (*can_name_files_) ::unlinkat(folder_.get(), name.c_str(), 0);
  return *can_name_files_;
}

std::optional<Staged> StagingFolder::stage_unnamed(std::string_view text, const Sha256& hash) {
  if (!can_name_files()) return std::nullopt;
  Staged staged{.hash = hash, .unnamed = UnnamedFile::make(folder_.get())};
  if (!staged.unnamed || !ws::write_all(staged.unnamed.get(), text)) return std::nullopt;
  unnamed_unflushed_ = true;
  return staged;
}

void StagingFolder::adopt(const Staged& staged) {
  if (staged.unnamed) unnamed_unflushed_ = true;
}

Result<Staged> StagingFolder::stage_file(const std::string& name, const Sha256& hash) {
  const std::string aside = new_name();
  if (::renameat(folder_.get(), name.c_str(), folder_.get(), aside.c_str()) != 0) {
    return disk_failure("rename", name);
  }
  return Staged{.name = aside, .hash = hash};
}

Result<Staged> StagingFolder::stage_copy(const std::string& name, const Sha256& hash) {
  const Descriptor from(::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!from) return disk_failure("open", name);
  WS_LET(std::string copy, copy_in(from.get(), name));
  unflushed_.push_back(copy);
  return Staged{.name = std::move(copy), .hash = hash};
}

Result<std::string> StagingFolder::copy_in(int from, const std::string& shown) {
  const std::string name = new_name();
  const Descriptor to(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!to) return disk_failure("write", name);
  std::array<char, std::size_t{64} << 10U> buffer;
  while (true) {
    const ssize_t count = read_some(from, buffer.data(), buffer.size());
    const bool copied =
        count == 0 || (count > 0 && ws::write_all(to.get(), {buffer.data(), static_cast<std::size_t>(count)}));
    if (copied && count == 0) return name;
    if (copied) continue;
    const int error = errno;
    ::unlinkat(folder_.get(), name.c_str(), 0);
    errno = error;
    return disk_failure("copy", shown);
  }
}

Result<void> StagingFolder::flush_texts() {
  if (unnamed_unflushed_ || unflushed_.size() > max_single_flushes) {
    if (::syncfs(folder_.get()) != 0) return disk_failure("flush", shown());
  } else {
    for (const std::string& name : unflushed_) {
      const Descriptor file(::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      if (!file || ::fsync(file.get()) != 0) return disk_failure("flush", shown(name));
    }
  }
  unflushed_.clear();
  unnamed_unflushed_ = false;
  return {};
}

bool StagingFolder::has(const std::string& name, const Sha256& hash) const {
  const auto found = hash_file_at(folder_.get(), name);
  return found && *found == hash;
}

Result<std::vector<std::string>> StagingFolder::leftovers() const {
  WS_LET(const std::vector<StagingFile> files, this->files());
  std::vector<std::string> names;
  for (const StagingFile& file : files) {
    if (!file.name.starts_with('.')) names.push_back(file.name);
  }
  return names;
}

Result<std::vector<StagingFile>> StagingFolder::files() const {
  const int fd = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Handle<DIR, close_directory> directory(fd < 0 ? nullptr : ::fdopendir(fd));  // which owns it from here on
  if (directory == nullptr) return disk_failure("list", shown());
  std::vector<StagingFile> files;
  while (const dirent* entry = ::readdir(directory.get())) {
    struct stat status {};
    const bool is_file =
        ::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    if (!is_file) continue;
    files.push_back({.name = entry->d_name,
                     .size_bytes = static_cast<std::uint64_t>(status.st_size),
                     .modified = Time(std::chrono::seconds(status.st_mtim.tv_sec))});
  }
  return files;
}

Result<std::string> StagingFolder::read_leftover(const std::string& name) const {
  return read_file_at(folder_.get(), name);
}

Result<Sha256> StagingFolder::hash_leftover(const std::string& name) const {
  WS_LET(const std::optional<Sha256> hash, hash_file_at(folder_.get(), name));
  return hash ? Result<Sha256>(*hash) : fail(Failure::Kind::not_found, fmt::format("{} does not exist", name));
}

Result<void> StagingFolder::rename_leftover(const std::string& name, const std::string& to) const {
  if (::renameat(folder_.get(), name.c_str(), folder_.get(), to.c_str()) != 0) return disk_failure("rename", name);
  return {};
}

Result<void> StagingFolder::remove_leftover(const std::string& name) const {
  if (::unlinkat(folder_.get(), name.c_str(), 0) != 0) return disk_failure("remove", shown(name));
  return {};
}

UnnamedFile::~UnnamedFile() {
  if (file_) --open_unnamed_files;
}

UnnamedFile UnnamedFile::make(int folder) {
  static const std::size_t most = max_unnamed_files();
  if (open_unnamed_files >= most) return {};
  Descriptor file(::openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  if (!file) return {};
  ++open_unnamed_files;
  return UnnamedFile(std::move(file));
}

int UnnamedFile::link(int folder, const char* to) const {
  if (::linkat(file_.get(), "", folder, to, AT_EMPTY_PATH) == 0) return 0;
  // Kernels before 6.10 require a capability for that (ENOENT), but not through /proc: open(2), O_TMPFILE.
  if (errno != ENOENT) return -1;
  const std::string through = fmt::format("/proc/self/fd/{}", file_.get());
  return ::linkat(AT_FDCWD, through.c_str(), folder, to, AT_SYMLINK_FOLLOW);
}

Result<std::unique_ptr<StagedAhead>> StagedAhead::open(const RootFolder& root) {
  WS_LET(StagingFolder staging, StagingFolder::open(root, "tmp"));
  return std::unique_ptr<StagedAhead>(new StagedAhead(std::move(staging)));
}

void StagedAhead::add(const DocumentId& document, const Sha256& hash, std::string text) {
  const auto [place, is_new] = texts_.try_emplace(document);
  if (!is_new) return;  // a page is read again after a cut connection; `take` compares the hash
  disk_.add(std::move(text), [this, &staged = place->second, hash](const std::string& held) {
    staged = staging_.stage_unnamed(held, hash);
  });
}

void StagedAhead::close() {
  disk_.add([this] { static_cast<void>(staging_.flush_texts()); });
}

std::optional<Staged> StagedAhead::take(const DocumentId& document, const Sha256& hash) {
  disk_.wait();
  const auto found = texts_.find(document);
  if (found == texts_.end() || !found->second || found->second->hash != hash) return std::nullopt;
  std::optional<Staged> staged = std::move(found->second);
  texts_.erase(found);
  return staged;
}

}  // namespace ws::sync
