#include "server-mock/store/data_file.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "server-mock/store/schema.hpp"

namespace ws::mock {
namespace {

constexpr mode_t for_owner = S_IRUSR | S_IWUSR;
// https://www.sqlite.org/fileformat2.html, "The Database Header": offsets in bytes, numbers big-endian.
constexpr std::string_view magic("SQLite format 3\0", 16);
constexpr std::size_t header_bytes = 100;
constexpr std::size_t write_version_at = 18;
constexpr std::size_t user_version_at = 60;
constexpr std::size_t application_id_at = 68;
constexpr char version_wal = 2;
// The bytes that SQLite locks, beyond every content: "The Lock-Byte Page" there.
constexpr off_t sqlite_locks_at = 0x40000000;
constexpr off_t sqlite_locks = 512;
// Not in linux/magic.h.
constexpr long cifs_magic = 0xFF534D42;
constexpr long smb2_magic = 0xFE534D42;

using Header = std::array<char, header_bytes>;

tl::unexpected<Failure> refused(const std::string& path, std::string_view why, std::string hint = {}) {
  return fail(Failure::Kind::disk, fmt::format("cannot use {}: {}", path, why), std::move(hint));
}

tl::unexpected<Failure> refused_by_system(const std::string& path, int error) {
  return refused(path, std::generic_category().message(error));
}

/// Opens or creates the file. O_NONBLOCK, so that opening a FIFO does not block.
Result<Descriptor> open_regular(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(::open(path.c_str(), flags, for_owner));
  const int error = errno;
  struct stat status {};
  const bool is_there = ::lstat(path.c_str(), &status) == 0;
  if (is_there && S_ISLNK(status.st_mode)) {
    return refused(path, "it is a symbolic link", "name the file that it leads to");
  }
  if (is_there && !S_ISREG(status.st_mode)) return refused(path, "it is not a regular file");
  if (!file) return refused_by_system(path, error);
  // A file created by hand or by an older version may be readable by others: it holds key hashes and document texts.
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) ::fchmod(file.get(), for_owner);
  return file;
}

std::int32_t number_at(const Header& header, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = (number << 8U) | static_cast<unsigned char>(header.at(at + i));
  return static_cast<std::int32_t>(number);
}

/// Recognizes files of versions without an application id by their tables.
Result<bool> is_unsigned_ours(const std::string& path, const Header& header) {
  const bool in_wal = header.at(write_version_at) == version_wal;
  const std::int32_t version = number_at(header, user_version_at);
  // Reading a file in WAL mode creates files beside it: not beside a file that is not ours.
  if (in_wal && (version < 1 || version > newest_version()) && ::access((path + "-wal").c_str(), F_OK) != 0)
    return false;
  WS_LET(sqlite::Database database, sqlite::Database::open(path, sqlite::OpenMode::read_only));
  WS_LET(sqlite::Statement counts,
         database.prepare("select count(*), coalesce(sum(name in ('id_counters', 'device_authorizations', 'meta')), 0) "
                          "from sqlite_master where type = 'table'"));
  WS_TRY(counts.step());
  return counts.integer(0) == 0 || counts.integer(1) == 3;
}

/// Inspects the file without changing it.
Result<void> check_content(int file, const std::string& path) {
  Header header{};
  const ssize_t count = ::pread(file, header.data(), header.size(), 0);
  if (count < 0) return refused_by_system(path, errno);
  if (count == 0) return {};
  if (static_cast<std::size_t>(count) < header.size() ||
      !std::string_view(header.data(), header.size()).starts_with(magic)) {
    return refused(path, "it is not a database", "name another file: this one is left as it is");
  }
  const std::int32_t id = number_at(header, application_id_at);
  bool is_ours = id == data_application_id;
  if (id == 0) {
    WS_LET(is_ours, is_unsigned_ours(path, header));
  }
  if (!is_ours) {
    return refused(path, "it is another program's database", "name another file: this one is left as it is");
  }
  const std::int32_t version = number_at(header, user_version_at);
  if (version <= newest_version()) return {};
  return refused(path,
                 fmt::format("it has version {}; this ws-mock reads version {}", version, newest_version()),
                 "use a newer ws-mock, or another file");
}

/// The process that has the file open: SQLite's own lock on it says so. No lock: it has not come that far.
std::string holder_of(int file) {
  struct flock sqlite = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sqlite_locks_at, .l_len = sqlite_locks};
  const bool is_told = ::fcntl(file, F_GETLK, &sqlite) == 0 && sqlite.l_type != F_UNLCK && sqlite.l_pid > 0;
  return is_told ? fmt::format("process {}", sqlite.l_pid) : "another process";
}

/// Of the open file and not of its name, which can be a second one or given to another file. Not flock(2): on a network
/// file system that locks all bytes, also those that SQLite locks.
Result<void> take_lock(int file, const std::string& path) {
  struct flock ours = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sqlite_locks_at + sqlite_locks, .l_len = 1};
  if (::fcntl(file, F_OFD_SETLK, &ours) == 0) return {};
  if (errno != EAGAIN && errno != EACCES) {
    return refused(path, "it cannot be locked: " + std::generic_category().message(errno));
  }
  return refused(
      path, fmt::format("{} is using it", holder_of(file)), "stop that one first, or give this one a file of its own");
}

bool is_network(int file) {
  struct statfs system {};
  if (::fstatfs(file, &system) != 0) return false;
  const auto type = static_cast<std::uint32_t>(system.f_type);
  for (const long known : {static_cast<long>(NFS_SUPER_MAGIC),
                           static_cast<long>(SMB_SUPER_MAGIC),
                           cifs_magic,
                           smb2_magic,
                           static_cast<long>(CEPH_SUPER_MAGIC),
                           static_cast<long>(V9FS_MAGIC),
                           static_cast<long>(AFS_SUPER_MAGIC)}) {
    if (type == static_cast<std::uint32_t>(known)) return true;
  }
  return false;
}

}  // namespace

Result<DataFile> DataFile::open(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return refused(path,
                   S_ISLNK(status.st_mode)   ? "it is a symbolic link: name the file that it leads to"
                   : S_ISDIR(status.st_mode) ? "it is a folder"
                                             : "it is not a regular file");
  }
  if (status.st_size > 0) {
    const Descriptor there(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!there) return refused_by_system(path, errno);
    WS_TRY(check_content(there.get(), path));
  }
  DataFile held;
  WS_LET(held.file_, open_regular(path));
  WS_TRY(take_lock(held.file_.get(), path));
  held.is_on_network_ = is_network(held.file_.get());
  for (const char* beside : {"-wal", "-shm"}) {
    const Descriptor other(::open((path + beside).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (other) ::fchmod(other.get(), for_owner);
  }
  return held;
}

Result<void> sign(sqlite::Database& database) {
  WS_LET(const sqlite::CachedStatement row, database.cached("pragma application_id"));
  WS_TRY(row->step());
  if (row->integer(0) == data_application_id) return {};
  return database.execute(fmt::format("pragma application_id = {}", data_application_id));
}

}  // namespace ws::mock
