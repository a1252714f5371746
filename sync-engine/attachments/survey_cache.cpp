#include "sync-engine/attachments/survey_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr const char* quiet_cache = "quiet.cache";
constexpr std::string_view quiet_magic = "WSquiet1\n";
constexpr std::size_t max_quiet_bytes = std::size_t{256} << 20U;
/// For fewer files another thread is not worth its start.
constexpr std::size_t files_a_thread = 500;

std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  state = (state ^ value) * 0x9E3779B97F4A7C15ULL;
  return state ^ (state >> 32U);
}

std::uint64_t number_of(std::string_view text) { return std::hash<std::string_view>()(text); }

std::uint64_t number_of(const Sha256& hash) {
  std::uint64_t number = 0;
  std::memcpy(&number, hash.bytes().data(), sizeof number);
  return number;
}

/// Empty: there is none, or it cannot be told.
std::optional<FileStamp> stamp_at(int folder, const char* name) {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT;
  if (::statx(folder, name, flags, stamp_mask, &status) != 0 || !S_ISREG(status.stx_mode)) return std::nullopt;
  return stamp_of(status);
}

/// Whether nothing has the name; a folder that cannot be opened may hold anything.
bool is_missing(const Descriptor& folder, const char* name) {
  struct stat status {};
  const bool is_there = folder && ::fstatat(folder.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  return !is_there && (errno == ENOENT || errno == ENOTDIR);
}

struct KnownFile {
  std::string_view folder = {};
  std::string name = {};
  FileStamp stamp = {};
};

/// The files of the cache, in order of folder; empty: it is of other inputs, or damaged.
std::optional<std::vector<KnownFile>> files_in(std::string_view bytes, std::uint64_t inputs) {
  const std::size_t sum = Sha256::Bytes().size();
  if (!bytes.starts_with(quiet_magic) || bytes.size() < quiet_magic.size() + sizeof inputs + sum) return std::nullopt;
  std::uint64_t known = 0;
  std::memcpy(&known, bytes.data() + quiet_magic.size(), sizeof known);
  if (known != inputs) return std::nullopt;
  const std::string_view told = bytes.substr(bytes.size() - sum);
  bytes.remove_suffix(sum);
  if (bytes_of(Sha256::of(bytes)) != told) return std::nullopt;
  bytes.remove_prefix(quiet_magic.size() + sizeof known);
  std::vector<KnownFile> files;
  while (!bytes.empty()) {
    KnownFile file;
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos || bytes.size() - end - 1 < sizeof file.stamp) return std::nullopt;
    const std::string_view path = bytes.substr(0, end);
    file.folder = parent_folder(path);
    file.name = last_part(path);
    std::memcpy(&file.stamp, bytes.data() + end + 1, sizeof file.stamp);
    files.push_back(std::move(file));
    bytes.remove_prefix(end + 1 + sizeof file.stamp);
  }
  return files;
}

bool are_unchanged(const RootFolder& root, const std::vector<KnownFile>& files, std::size_t first, std::size_t last) {
  Descriptor folder;
  std::optional<std::string_view> opened;
  for (std::size_t i = first; i < last; ++i) {
    if (opened != files[i].folder) {
      folder = root.open_beneath(files[i].folder, O_RDONLY | O_DIRECTORY);
      opened = files[i].folder;
    }
    const FileStamp& known = files[i].stamp;
    const bool is_absent = known == FileStamp{};
    if (is_absent ? !is_missing(folder, files[i].name.c_str())
                  : !folder || stamp_at(folder.get(), files[i].name.c_str()) != known)
      return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> survey_inputs(const Session& session, const Scan& scan, const LocalFiles& files) {
  // Rules about what is ignored are read by the look itself. A write to SQLite's log does not change the database file.
  struct stat log {};
  const bool has_log = ::stat(session.own("attachments.db-wal").c_str(), &log) == 0 && log.st_size > 0;
  if (scan.any_rules() || has_log) return std::nullopt;
  const TreeConfig& config = session.config;
  std::string settings = fmt::format("{} {} {} {}\n",
                                     config.fingerprint(),
                                     static_cast<int>(config.attachments),
                                     config.says_attachments,
                                     config.attachments_max_bytes);
  for (const std::string& glob : config.attachments_exclude) settings += glob + "\n";
  std::uint64_t inputs = mixed(1, number_of(settings));
  if (const auto store = stamp_at(AT_FDCWD, session.own("attachments.db").c_str())) {
    if (!files.is_trusted(*store)) return std::nullopt;
    inputs = mixed(inputs, number_of({reinterpret_cast<const char*>(&*store), sizeof *store}));
  }
  // A sum: the walk lists them in no order.
  std::uint64_t names = 0;
  scan.each_file([&](const std::string& path, const Sha256& hash, const FileId&) {
    names += mixed(number_of(path), number_of(hash));
  });
  scan.each_other([&](const std::string& path) { names += mixed(number_of(path), 1); });
  return mixed(inputs, names);
}

std::optional<std::uint64_t> find_clean_survey(const Session& session, std::uint64_t inputs) {
  const auto text = session.ws.read(quiet_cache, max_quiet_bytes);
  if (!text) return std::nullopt;
  const auto files = files_in(*text, inputs);
  if (!files) return std::nullopt;
  const std::size_t threads =
      std::clamp<std::size_t>(files->size() / files_a_thread, 1, std::max(1U, session.options.threads));
  std::atomic<bool> all_same = true;
  const auto look = [&](std::size_t part) {
    const std::size_t first = files->size() * part / threads;
    if (!are_unchanged(session.root, *files, first, files->size() * (part + 1) / threads)) all_same = false;
  };
  std::vector<std::thread> others;
  for (std::size_t part = 1; part < threads; ++part) others.emplace_back(look, part);
  look(0);
  for (std::thread& other : others) other.join();
  if (!all_same) return std::nullopt;
  return static_cast<std::uint64_t>(
      std::ranges::count_if(*files, [](const KnownFile& file) { return file.stamp != FileStamp{}; }));
}

void save_clean_survey(const Session& session,
                       std::uint64_t inputs,
                       const LocalFiles& files,
                       const std::map<std::string, FileStamp>& stamps) {
  std::string bytes(quiet_magic);
  bytes.append(reinterpret_cast<const char*>(&inputs), sizeof inputs);
  for (const auto& [path, stamp] : stamps) {
    if (!files.is_trusted(stamp)) return;
    bytes += path;
    bytes += '\0';
    bytes.append(reinterpret_cast<const char*>(&stamp), sizeof stamp);
  }
  bytes += bytes_of(Sha256::of(bytes));
  static_cast<void>(session.ws.write(quiet_cache, bytes));
}

}  // namespace ws::sync
