/// One writer a tree (promise 13 of `safety.md`).
#pragma once

#include <chrono>

#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"

namespace ws::sync {

/// Holds `.ws/lock` until it goes out of scope. The kernel releases it when the process dies.
class TreeLock {
 public:
  /// Waits at most `wait`. Fails with `disk`, code `tree_locked`, naming the process that holds it; retryable.
  static Result<TreeLock> take(const RootFolder& root, std::chrono::milliseconds wait);

 private:
  explicit TreeLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace ws::sync
