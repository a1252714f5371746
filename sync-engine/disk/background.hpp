/// A background thread for disk work, while the caller waits for the network or reads the history.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ws::sync {

/// For fewer jobs, starting a thread takes longer than it saves.
inline constexpr std::size_t jobs_worth_a_thread = 32;

/// `none`: `add` runs each job itself.
enum class OwnThread { none, one };

/// Runs jobs in the order they were added. A job reports its own failures.
class Background {
 public:
  explicit Background(OwnThread own);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  /// Waits for all jobs.
  ~Background();

  /// `bytes`: the memory that the job holds. Blocks while the waiting jobs hold more than 2 MiB.
  void add(std::size_t bytes, std::function<void()> job);
  /// Returns when all jobs are done.
  void wait();

 private:
  struct Job {
    std::size_t bytes = 0;
    std::function<void()> run;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t waiting_bytes_ = 0;
  bool is_busy_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ws::sync
