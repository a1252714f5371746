/// Linux tells what happens in a folder and in all below it; new folders are watched as they come.
///
/// Told are files of the kinds that are synced, folders, `.wsignore`, and the other files that are not hidden, which
/// notes may show; nothing of `.ws/` or `.git/`. Where the queue
/// overflows every folder is looked for anew.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/tree/file_kinds.hpp"
#include "sync-engine/watch/debounce.hpp"

struct inotify_event;

namespace ws::sync {

class InotifyEvents final : public FolderEvents {
 public:
  /// `cancelled` is set by the handlers of SIGINT and SIGTERM: from then on no wait begins, and one under way ends.
  /// Null: waits end by time and events alone. Fails with `disk`.
  static Result<std::unique_ptr<InotifyEvents>> open(const std::filesystem::path& root,
                                                     FileKinds kinds,
                                                     const std::atomic<bool>* cancelled);

  Result<EventBatch> wait(std::chrono::milliseconds at_most) override;
  Instant now() const override;
  bool sees_all() const override { return is_local_ && !is_full_; }
  /// A wait ends also when this descriptor can be read.
  void also_wait_for(int fd) { other_fd_ = fd; }
  std::size_t folder_count() const { return folders_.size(); }

 private:
  InotifyEvents(std::filesystem::path root, FileKinds kinds, Descriptor queue, const std::atomic<bool>* cancelled)
      : root_(std::move(root)), kinds_(std::move(kinds)), queue_(std::move(queue)), cancelled_(cancelled) {}
  bool is_told(const std::string& path, bool is_folder) const;
  void sleep(std::chrono::milliseconds at_most) const;
  Result<void> read_queue(EventBatch& batch);
  void take(const inotify_event& event, std::string_view name, EventBatch& batch);
  void add(const std::string& folder);
  void add_one(const std::string& folder);
  void forget(const std::string& folder);

  std::filesystem::path root_;
  FileKinds kinds_;
  Descriptor queue_;
  const std::atomic<bool>* cancelled_;
  std::uint32_t move_ = 0;  ///< the number of the last move that was told, and what it took away
  FileEvent moved_from_ = {};
  std::map<int, std::string> folders_ = {};  ///< by watch; relative, empty: the root
  dev_t device_ = 0;                         ///< of the root
  bool is_local_ = true;                     ///< all of it lies on one file system of this machine
  int other_fd_ = -1;
  bool is_full_ = false;     ///< the system allows no more watches
  bool tells_full_ = false;  ///< with the next news
};

}  // namespace ws::sync
