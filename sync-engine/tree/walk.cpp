#include "sync-engine/tree/walk.hpp"

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

namespace ws::sync {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t min_tick_ns = 4'000'000;
constexpr std::size_t listing_bytes = std::size_t{64} << 10U;
constexpr std::chrono::milliseconds tell_every{100};

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second_ns + time.tv_nsec; }

}  // namespace

Walk::Walk(const RootFolder& root, const StatCache& cache, const ScanOptions& options, IgnoreMode mode)
    : root_(root), cache_(cache), options_(options), mode_(mode) {
  // The clock that the kernel stamps files with.
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  started_ns_ = nanoseconds(time);
  ::clock_getres(CLOCK_REALTIME_COARSE, &time);
  tick_ns_ = std::max(nanoseconds(time), min_tick_ns);
  tell_next_ = std::chrono::steady_clock::now() + options_.seen_from;
}

Result<void> Walk::run(Scan& into) {
  into.rules_ = std::make_unique<IgnoreRules>();
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
  into.not_included_ = 0;
  into.same_ = true;
  into.same_places_ = true;
  for (Worker& worker : workers) {
    into.hashed_ += worker.hashed;
    into.not_included_ += worker.not_included;
    into.same_ = into.same_ && worker.all_same;
    into.same_places_ = into.same_places_ && worker.same_places;
    std::move(worker.folders.begin(), worker.folders.end(), std::back_inserter(into.folders_));
  }
  const bool same_folders = into.folders_.size() == cache_.folder_count();
  into.same_ = into.same_ && same_folders;
  into.same_places_ = into.same_places_ && same_folders;
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

void Walk::count(Worker& worker) {
  seen_ += std::exchange(worker.uncounted, 0);
  if (!options_.seen) return;
  const std::unique_lock lock(telling_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (!lock || now < tell_next_) return;
  tell_next_ = now + tell_every;
  options_.seen(seen_);
}

}  // namespace ws::sync
