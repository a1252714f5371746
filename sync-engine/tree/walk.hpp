/// The walk behind `scan`: folders as tasks for a few threads (`walk.cpp`), and what is done in each
/// (`walk_folder.cpp`).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// `trust_cache`: the ignore decisions of the cache are taken over, and the walk gives up (`gave_up`) when it meets
/// something that they may not cover. `evaluate`: every name is judged by the rules, which are read on the way down.
enum class IgnoreMode { trust_cache, evaluate };

class Walk {
 public:
  Walk(const RootFolder& root, const StatCache& cache, const ScanOptions& options, IgnoreMode mode);

  /// Fails with the first failure of any thread.
  Result<void> run(Scan& into);
  bool gave_up() const { return gave_up_; }

 private:
  /// A thread tells of its names in portions: the counter is shared.
  static constexpr std::uint64_t names_a_portion = 256;

  /// A name of the folder under way; the text stands in `Worker::names`, with a NUL after it.
  struct Listed {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    unsigned char type = 0;
  };
  /// One thread's scratch space and findings.
  struct Worker {
    std::string listing;
    std::string names;
    std::string text;
    std::vector<Listed> listed;
    std::vector<ScannedFolder> folders;
    std::uint64_t hashed = 0;
    std::uint64_t not_included = 0;
    std::uint64_t uncounted = 0;  ///< names that `seen_` does not have yet
    bool all_same = true;
    bool same_places = true;
  };
  /// A folder under way.
  struct Visit;

  void work(Worker& worker);
  std::optional<std::string> next_task();
  void add_tasks(std::vector<std::string> folders);
  void stop(std::optional<Failure> failure);
  Result<void> visit(const std::string& path, Worker& worker);
  Result<bool> list(Visit& visit, Worker& worker);
  void look_at_git_name(Visit& visit, std::string_view name, unsigned char type) const;
  bool is_wanted(const Visit& visit, const char* name) const;
  bool is_ignored(const Visit& visit, std::string_view name) const;
  Result<void> look_at_rules(Visit& visit);
  Result<void> read_rules(const Visit& visit);
  Result<void> look_at_all(Visit& visit, Worker& worker);
  void look_at_folder(Visit& visit, std::string_view name);
  void look_at_entry(Visit& visit, Worker& worker, const char* name, const Listed& listed);
  void look_at_link(Visit& visit, const char* name, const CachedEntry* cached);
  void look_at_file(Visit& visit, Worker& worker, const char* name, const CachedEntry* cached);
  void take(Visit& visit, std::string_view name, const CachedEntry& entry, const CachedEntry* cached);
  void take_read(Visit& visit, std::string_view name, const CachedEntry& entry, const CachedEntry* cached);
  void leave_cache(Visit& visit) const;
  void close(Visit& visit, Worker& worker);
  void count(Worker& worker);
  CachedEntry read(Visit& visit, Worker& worker, const char* name);
  bool is_trusted(const FileStamp& stamp) const;

  const RootFolder& root_;
  const StatCache& cache_;
  ScanOptions options_;
  IgnoreMode mode_;
  IgnoreRules* rules_ = nullptr;
  std::int64_t started_ns_ = 0;
  std::int64_t tick_ns_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> tasks_;
  std::size_t busy_ = 0;
  bool stopped_ = false;
  std::optional<Failure> failure_;
  std::atomic<bool> gave_up_ = false;
  std::atomic<bool> any_rules_ = false;

  std::atomic<std::uint64_t> seen_ = 0;
  std::mutex telling_;
  std::chrono::steady_clock::time_point tell_next_ = {};
};

}  // namespace ws::sync
