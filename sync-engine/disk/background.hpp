/// A background thread for disk work, while the caller waits for the network or reads the history.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
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

  void add(std::function<void()> job);
  /// The job is given `text` once it runs. Blocks while the jobs that have not ended hold more than 2 MiB of texts.
  void add(std::string text, std::function<void(const std::string& text)> job);
  /// Returns when all jobs are done.
  void wait();

 private:
  struct Job {
    std::string text;
    std::function<void(const std::string& text)> run;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t held_bytes_ = 0;  ///< of the texts of all jobs that have not ended
  bool is_busy_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ws::sync
