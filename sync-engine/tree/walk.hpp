/// The walk behind `scan`: folders as tasks for a few threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
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
  struct Listed {
    std::string name;
    unsigned char type;
  };
  /// One thread's scratch space and findings.
  struct Worker {
    std::string listing;
    std::string text;
    std::vector<Listed> listed;
    std::vector<ScannedFolder> folders;
    std::uint64_t hashed = 0;
    bool all_same = true;
  };
  /// A folder under way.
  struct Visit;

  void work(Worker& worker);
  std::optional<std::string> next_task();
  void add_tasks(std::vector<std::string> folders);
  void stop(std::optional<Failure> failure);
  Result<void> visit(const std::string& path, Worker& worker);
  Result<bool> list(Visit& visit, Worker& worker);
  bool is_wanted(const Visit& visit, const char* name) const;
  Result<void> look_at_rules(Visit& visit);
  void look_at_folder(Visit& visit, const std::string& name);
  void look_at_entry(Visit& visit, Worker& worker, const Listed& listed);
  void take(Visit& visit, std::string_view name, CachedEntry entry, const CachedEntry* cached);
  CachedEntry read(Visit& visit, Worker& worker, const std::string& name, const FileStamp& now);
  bool is_trusted(const FileStamp& stamp) const;

  const RootFolder& root_;
  const StatCache& cache_;
  ScanOptions options_;
  IgnoreMode mode_;
  git::IgnoreRules* rules_ = nullptr;
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
};

}  // namespace ws::sync
