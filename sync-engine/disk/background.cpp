#include "sync-engine/disk/background.hpp"

#include <utility>

namespace ws::sync {
namespace {

constexpr std::size_t max_held_bytes = std::size_t{2} << 20U;

}  // namespace

Background::Background(OwnThread own) {
  if (own == OwnThread::one) thread_ = std::thread([this] { work(); });
}

Background::~Background() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Background::add(std::function<void()> job) {
  add({}, [job = std::move(job)](const std::string& /*text*/) { job(); });
}

void Background::add(std::string text, std::function<void(const std::string& text)> job) {
  if (!thread_.joinable()) return job(text);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_bytes_ <= max_held_bytes; });
    held_bytes_ += text.size();
    jobs_.push_back({.text = std::move(text), .run = std::move(job)});
  }
  changed_.notify_all();
}

void Background::wait() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() && !is_busy_; });
}

void Background::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    is_busy_ = true;
    lock.unlock();
    job.run(job.text);
    const std::size_t bytes = job.text.size();
    job = {};  // what it held is freed here, not under the lock
    lock.lock();
    is_busy_ = false;
    held_bytes_ -= bytes;
    changed_.notify_all();
  }
}

}  // namespace ws::sync
