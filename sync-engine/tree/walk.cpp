#include "sync-engine/tree/walk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::sync {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t least_tick_ns = 4'000'000;
/// File systems that keep whole seconds may keep every other one only (FAT).
constexpr std::int64_t coarse_tick_ns = 2 * second_ns;
constexpr std::size_t listing_bytes = std::size_t{64} << 10U;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second_ns + time.tv_nsec; }

std::string join(const std::string& folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  path = folder;
  if (!path.empty()) path += '/';
  path += name;
  return path;
}

/// False with errno where the name cannot be looked at.
bool stat_name(int folder, const char* name, struct statx& status) {
  return ::statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_STATX_SYNC_AS_STAT, STATX_BASIC_STATS, &status) == 0;
}

unsigned char type_of(unsigned mode) {
  if (S_ISDIR(mode)) return DT_DIR;
  if (S_ISLNK(mode)) return DT_LNK;
  return S_ISREG(mode) ? DT_REG : DT_FIFO;
}

CachedEntry hindered(Hindrance hindrance) {
  return {.kind = EntryKind::hindered, .hindrance = static_cast<std::uint8_t>(hindrance)};
}

}  // namespace

struct Walk::Visit {
  ScannedFolder folder = {};
  Descriptor fd = {};
  const CachedFolder* known = nullptr;
  std::span<const CachedEntry> cached = {};
  std::size_t cursor = 0;
  bool same = true;
  bool has_rules_file = false;
  std::vector<std::string> below = {};
  std::unordered_map<std::string_view, const CachedEntry*> by_name = {};  ///< filled when the order is another

  const CachedEntry* find(const StatCache& cache, std::string_view name) {
    if (cursor < cached.size() && cache.name(cached[cursor]) == name) return &cached[cursor++];
    if (by_name.empty()) {
      for (const CachedEntry& entry : cached) by_name.emplace(cache.name(entry), &entry);
    }
    const auto found = by_name.find(name);
    if (found == by_name.end()) return nullptr;
    cursor = static_cast<std::size_t>(found->second - cached.data()) + 1;
    return found->second;
  }
};

Walk::Walk(const RootFolder& root, const StatCache& cache, const ScanOptions& options, IgnoreMode mode)
    : root_(root), cache_(cache), options_(options), mode_(mode) {
  // The clock that the kernel stamps files with.
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  started_ns_ = nanoseconds(time);
  ::clock_getres(CLOCK_REALTIME_COARSE, &time);
  tick_ns_ = std::max(nanoseconds(time), least_tick_ns);
}

Result<void> Walk::run(Scan& into) {
  into.rules_ = std::make_unique<git::IgnoreRules>();
  rules_ = into.rules_.get();
  tasks_.emplace_back();
  std::vector<Worker> workers(std::max(1U, options_.threads));
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < workers.size(); ++i) threads.emplace_back([this, &workers, i] { work(workers[i]); });
  work(workers[0]);
  for (std::thread& thread : threads) thread.join();
  if (failure_) return fail(std::move(*failure_));
  into.folders_.clear();
  into.hashed_ = 0;
  into.same_ = true;
  for (Worker& worker : workers) {
    into.hashed_ += worker.hashed;
    into.same_ = into.same_ && worker.all_same;
    std::move(worker.folders.begin(), worker.folders.end(), std::back_inserter(into.folders_));
  }
  into.same_ = into.same_ && into.folders_.size() == cache_.folder_count();
  into.rules_loaded_ = mode_ == IgnoreMode::evaluate || !any_rules_;
  return {};
}

void Walk::work(Worker& worker) {
  worker.listing.resize(listing_bytes);
  while (const auto task = next_task()) {
    if (auto visited = visit(*task, worker); !visited) stop(std::move(visited).error());
    const std::lock_guard lock(mutex_);
    --busy_;
    if (busy_ == 0 && tasks_.empty()) changed_.notify_all();
  }
}

std::optional<std::string> Walk::next_task() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || !tasks_.empty() || busy_ == 0; });
  if (stopped_ || tasks_.empty()) return std::nullopt;
  std::string task = std::move(tasks_.back());
  tasks_.pop_back();
  ++busy_;
  return task;
}

void Walk::add_tasks(std::vector<std::string> folders) {
  if (folders.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    std::move(folders.begin(), folders.end(), std::back_inserter(tasks_));
  }
  changed_.notify_all();
}

void Walk::stop(std::optional<Failure> failure) {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (failure && !failure_) failure_ = std::move(failure);
  }
  changed_.notify_all();
}

Result<void> Walk::visit(const std::string& path, Worker& worker) {
  Visit visit;
  visit.folder.path = path;
  visit.fd = root_.open_beneath(path, O_RDONLY | O_DIRECTORY);
  visit.known = cache_.find_folder(path);
  if (visit.known != nullptr) visit.cached = cache_.entries(*visit.known);
  WS_LET(const bool listed, list(visit, worker));
  if (!listed) {
    if (path.empty()) return disk_failure("list", root_.path().string());
    // A folder that cannot be listed hides what is in it; nothing there counts as deleted.
    CachedEntry entry = hindered(Hindrance::unreadable);
    entry.reserved[0] = 1;  // the folder itself
    visit.same = false;
    take(visit, "", entry, nullptr);
  } else {
    WS_TRY(look_at_rules(visit));
    for (const Listed& each : worker.listed) {
      if (each.type == DT_DIR) {
        look_at_folder(visit, each.name);
      } else {
        look_at_entry(visit, worker, each);
      }
      if (gave_up_) return {};
    }
  }
  visit.same = visit.same && visit.known != nullptr && visit.cursor == visit.cached.size() && visit.by_name.empty();
  if (visit.same) {
    visit.folder.same = visit.known;
    visit.folder.entries = {};
    visit.folder.names = {};
  }
  worker.all_same = worker.all_same && visit.same;
  add_tasks(std::move(visit.below));
  worker.folders.push_back(std::move(visit.folder));
  return {};
}

/// Reads all names that matter into `worker.listed`; false with errno where the folder cannot be read.
Result<bool> Walk::list(Visit& visit, Worker& worker) {
  worker.listed.clear();
  if (!visit.fd) return false;
  const bool markdown_alone = options_.kinds == nullptr || options_.kinds->is_markdown_alone();
  while (true) {
    const ssize_t count = ::getdents64(visit.fd.get(), worker.listing.data(), worker.listing.size());
    if (count < 0) return false;
    if (count == 0) return true;
    for (ssize_t place = 0; place < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(worker.listing.data() + place);
      place += entry->d_reclen;
      const char* name = static_cast<const char*>(entry->d_name);
      if (name[0] == '.') {
        visit.has_rules_file = visit.has_rules_file || name == ignore_file_name;
        if (markdown_alone || dangerous_part(name)) continue;  // `.git`, `.ws`, `.` and `..` too
      }
      unsigned char type = entry->d_type;
      if (type == DT_REG && !is_wanted(visit, name)) continue;
      if (type == DT_UNKNOWN) {
        struct statx status {};
        type = stat_name(visit.fd.get(), name, status) ? type_of(status.stx_mode) : static_cast<unsigned char>(DT_FIFO);
      }
      if (type != DT_DIR && type != DT_LNK && !is_wanted(visit, name)) continue;
      worker.listed.push_back({name, type});
    }
  }
}

bool Walk::is_wanted(const Visit& visit, const char* name) const {
  if (options_.kinds == nullptr || options_.kinds->is_markdown_alone()) return is_markdown(name);
  return options_.kinds->takes(join(visit.folder.path, name));
}

/// Decides whether the cache's ignore decisions still hold for this folder.
Result<void> Walk::look_at_rules(Visit& visit) {
  FileStamp before;
  if (visit.known != nullptr) before = visit.known->ignore_stamp;
  if (visit.has_rules_file) {
    any_rules_ = true;
    struct statx status {};
    if (!stat_name(visit.fd.get(), ".wsignore", status))
      return disk_failure("read", join(visit.folder.path, ".wsignore"));
    visit.folder.ignore_stamp = stamp_of(status);
  }
  if (mode_ == IgnoreMode::evaluate) {
    if (visit.has_rules_file) WS_TRY(read_ignore_file(visit.fd.get(), visit.folder.path, *rules_));
    // A stamp that may still be written over within its tick says nothing later.
    if (!is_trusted(visit.folder.ignore_stamp)) visit.folder.ignore_stamp.reserved = 1;
    visit.same = visit.same && visit.known != nullptr && visit.folder.ignore_stamp == before;
    return {};
  }
  if (visit.folder.ignore_stamp != before) {
    gave_up_ = true;
    stop(std::nullopt);
  }
  return {};
}

void Walk::look_at_folder(Visit& visit, const std::string& name) {
  const CachedEntry* cached = nullptr;
  if (dangerous_part(name)) {
    cached = visit.find(cache_, name);
    CachedEntry entry = hindered(Hindrance::dangerous_name);
    entry.reserved[0] = 1;
    return take(visit, name, entry, cached);
  }
  std::string path = join(visit.folder.path, name);
  bool ignored = false;
  if (mode_ == IgnoreMode::evaluate) {
    ignored = rules_->is_ignored(path + "/");
  } else {
    // Folders that are walked have no entry of their own: only ignored ones have.
    const bool at_cursor = visit.cursor < visit.cached.size() && cache_.name(visit.cached[visit.cursor]) == name;
    ignored = at_cursor && visit.cached[visit.cursor].kind == EntryKind::ignored_folder;
    if (!ignored && cache_.find_folder(path) == nullptr && cache_.folder_count() != 0) {
      if (any_rules_) {
        gave_up_ = true;
        return stop(std::nullopt);
      }
      ignored = rules_->is_ignored(path + "/");
    }
  }
  if (!ignored) {
    visit.below.push_back(std::move(path));
    return;
  }
  take(visit, name, {.kind = EntryKind::ignored_folder}, visit.find(cache_, name));
}

void Walk::look_at_entry(Visit& visit, Worker& worker, const Listed& listed) {
  const CachedEntry* cached = visit.find(cache_, listed.name);
  if (listed.type == DT_LNK) return take(visit, listed.name, {.kind = EntryKind::link}, cached);
  if (cached == nullptr && dangerous_part(listed.name)) {
    return take(visit, listed.name, hindered(Hindrance::dangerous_name), cached);
  }
  if (mode_ == IgnoreMode::trust_cache && cached != nullptr) {
    if (cached->kind == EntryKind::ignored) return take(visit, listed.name, *cached, cached);
    if (cached->kind == EntryKind::hindered &&
        cached->hindrance == static_cast<std::uint8_t>(Hindrance::dangerous_name)) {
      return take(visit, listed.name, *cached, cached);
    }
  } else {
    if (mode_ == IgnoreMode::trust_cache && any_rules_) {
      gave_up_ = true;
      return stop(std::nullopt);
    }
    if (rules_->is_ignored(join(visit.folder.path, listed.name))) {
      return take(visit, listed.name, {.kind = EntryKind::ignored}, cached);
    }
  }
  struct statx status {};
  if (!stat_name(visit.fd.get(), listed.name.c_str(), status)) {
    return take(visit, listed.name, hindered(errno == ENOENT ? Hindrance::busy : Hindrance::unreadable), cached);
  }
  const FileStamp now = stamp_of(status);
  if (cached != nullptr && cached->trusted != 0 && cached->stamp == now) {
    return take(visit, listed.name, *cached, cached);
  }
  take(visit, listed.name, read(visit, worker, listed.name, now), nullptr);
}

CachedEntry Walk::read(Visit& visit, Worker& worker, const std::string& name, const FileStamp& now) {
  ++worker.hashed;
  const auto outcome = hash_file(visit.fd.get(), name.c_str(), options_.max_file_bytes, worker.text);
  if (const auto* hashed = std::get_if<HashedFile>(&outcome)) {
    return {.stamp = hashed->stamp,
            .hash = hashed->hash.bytes(),
            .kind = EntryKind::file,
            .trusted = is_trusted(hashed->stamp)};
  }
  const Hindrance hindrance = std::get<Hindrance>(outcome);
  CachedEntry entry = hindered(hindrance);
  // What depends on the bytes alone holds as long as the stamp does; the rest is asked again each time.
  if (hindrance == Hindrance::not_utf8 || hindrance == Hindrance::holds_nul || hindrance == Hindrance::too_large) {
    entry.stamp = now;
    entry.trusted = is_trusted(now);
  }
  return entry;
}

bool Walk::is_trusted(const FileStamp& stamp) const {
  const bool coarse = stamp.modified_ns % second_ns == 0 && stamp.changed_ns % second_ns == 0;
  return std::max(stamp.modified_ns, stamp.changed_ns) + (coarse ? coarse_tick_ns : tick_ns_) <= started_ns_;
}

/// Notes an entry. `cached` is the one that it was taken over from, or agrees with; null: it is news.
void Walk::take(Visit& visit, std::string_view name, CachedEntry entry, const CachedEntry* cached) {
  if (cached == nullptr || cached->kind != entry.kind || cached->hindrance != entry.hindrance) visit.same = false;
  entry.name_offset = static_cast<std::uint32_t>(visit.folder.names.size());
  entry.name_bytes = static_cast<std::uint16_t>(name.size());
  visit.folder.names += name;
  visit.folder.entries.push_back(entry);
}

}  // namespace ws::sync
