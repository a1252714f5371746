#include "api-client/transfer/partial_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/own_file.hpp"

namespace ws {
namespace {

namespace fs = std::filesystem;

/// Smaller parts are downloaded again after a kill: flushing a record to disk costs more than these bytes.
constexpr std::uint64_t noted_from_bytes = std::uint64_t{1} << 20U;
/// Up to this number, single fsyncs are cheaper than syncing the whole file system.
constexpr std::size_t max_single_flushes = 16;

auto disk(std::string_view what, const fs::path& path, int error) {
  return fail(Failure::Kind::disk, fmt::format("cannot {} {}: {}", what, shown_path(path), std::strerror(error)));
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// `.NAME.ws-part`; if that would be too long, the beginning of the name and a hash of all of it.
std::string part_name(const std::string& name) {
  constexpr std::size_t longest = 255 - std::string_view("..ws-part.json").size();
  if (name.size() <= longest) return fmt::format(".{}.ws-part", name);
  const std::string hash = Sha256::of(name).hex().substr(0, 16);
  return fmt::format(".{}-{}.ws-part", name.substr(0, longest - hash.size() - 1), hash);
}

/// On file systems without RENAME_NOREPLACE the target is checked before the rename.
int rename_without_replacing(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(to, ignored))) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<PartialFile>> PartialFile::open(const fs::path& target, const std::string& identity) {
  const fs::path part = folder_of(target) / part_name(target.filename().string());
  WS_LET(Descriptor descriptor, open_own_file(part, O_RDWR, 0666));
  std::unique_ptr<PartialFile> file(new PartialFile(target, part, std::move(descriptor)));
  if (!lock_file(file->descriptor_.get(), WaitForLock::no)) {
    file->finished_ = true;  // leave the file to the run that holds the lock
    return fail(Failure::Kind::disk,
                fmt::format("another ws is downloading {}", shown_path(target)),
                "wait for it, then run the same command again");
  }
  WS_TRY(copy_mode_and_group(file->descriptor_.get(), target));
  WS_TRY(file->adopt(identity));
  return file;
}

fs::path PartialFile::notes() const { return part_.string() + ".json"; }

/// Keeps the existing bytes if they are of the same file; otherwise starts empty.
Result<void> PartialFile::adopt(const std::string& identity) {
  identity_ = identity;
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) return disk("read", part_, errno);
  const auto text = read_notes();
  has_notes_ = text || text.error().kind != Failure::Kind::not_found;
  const auto known = text ? parse_bounded(*text) : Result<Json>(fail(text.error()));
  if (!known || find_text(*known, "identity") != identity || !S_ISREG(status.st_mode)) return restart();
  size_ = static_cast<std::uint64_t>(status.st_size);
  etag_ = find_text(*known, "etag").value_or("");
  return {};
}

// NOLINTNEXTLINE(bugprone-exception-escape): nothing is thrown but for want of memory
PartialFile::~PartialFile() {
  if (finished_) return;
  // Remove an empty file; keep any other for the next run to resume.
  if (size_ == 0) {
    ::unlink(part_.c_str());
    if (has_notes_) ::unlink(notes().c_str());
  } else if (!has_notes_) {
    static_cast<void>(write_notes());
  }
}

/// Somebody else's would say what our bytes are.
Result<std::string> PartialFile::read_notes() const {
  const Descriptor file(::open(notes().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file && errno == ENOENT) return fail(Failure::Kind::not_found, "");
  if (!file) return disk("read", notes(), errno);
  WS_TRY(check_is_ours(file.get(), notes()));
  return read_open_file(file.get(), notes(), std::size_t{64} << 10U);
}

Result<void> PartialFile::set_etag(const std::string& etag) {
  etag_ = etag;
  return has_notes_ ? write_notes() : Result<void>();
}

Result<void> PartialFile::write_notes() {
  const Json known = {{"v", 1}, {"identity", identity_}, {"etag", etag_}};
  has_notes_ = true;
  return write_file(notes(), dump(known) + "\n");
}

Result<void> PartialFile::append(std::string_view piece) {
  if (!write_all_at(descriptor_.get(), piece, static_cast<off_t>(size_))) return disk("write", part_, errno);
  size_ += piece.size();
  return has_notes_ || size_ < noted_from_bytes ? Result<void>() : write_notes();
}

Result<void> PartialFile::restart() {
  if (::ftruncate(descriptor_.get(), 0) != 0) return disk("empty", part_, errno);
  size_ = 0;
  etag_.clear();
  return {};
}

Result<Sha256> PartialFile::hash() {
  const auto hash = Sha256::of_file(descriptor_.get());
  if (!hash) return disk("read", part_, errno);
  return *hash;
}

Result<void> PartialFile::take_name(Replace replace) {
  int error = 0;
  if (replace == Replace::no) {
    error = rename_without_replacing(part_, target_);
  } else if (::rename(part_.c_str(), target_.c_str()) != 0) {
    error = errno;
  }
  if (error == EEXIST) {
    return fail(Failure::Kind::disk,
                fmt::format("the file {} exists already", shown_path(target_)),
                "add --force to replace it");
  }
  if (error != 0) return disk("write", target_, error);
  finished_ = true;
  if (has_notes_) ::unlink(notes().c_str());
  return {};
}

std::vector<Result<void>> PartialFile::finish_all(const std::vector<PartialFile*>& files, Replace replace) {
  const bool is_barrier = files.size() > max_single_flushes;
  std::vector<Result<void>> ends(files.size());
  std::map<dev_t, int> flushed;  // errno by file system
  std::set<fs::path> folders;
  for (std::size_t i = 0; replace == Replace::yes && i < files.size(); ++i) {
    ends[i] = copy_mode_and_group(files[i]->descriptor_.get(), files[i]->target_);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!ends[i]) continue;
    const int fd = files[i]->descriptor_.get();
    struct stat status {};
    int error = 0;
    if (!is_barrier || ::fstat(fd, &status) != 0) {
      error = ::fsync(fd) == 0 ? 0 : errno;
    } else if (const auto known = flushed.find(status.st_dev); known != flushed.end()) {
      error = known->second;
    } else {
      error = flushed[status.st_dev] = ::syncfs(fd) == 0 ? 0 : errno;
    }
    ends[i] = error == 0 ? files[i]->take_name(replace) : disk("flush", files[i]->part_, error);
    if (ends[i]) folders.insert(folder_of(files[i]->target_));
  }
  for (const fs::path& each : folders) {
    const Descriptor folder(::open(each.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) static_cast<void>(::fsync(folder.get()));
  }
  return ends;
}

Result<void> PartialFile::finish(Replace replace) { return std::move(finish_all({this}, replace).front()); }

}  // namespace ws
