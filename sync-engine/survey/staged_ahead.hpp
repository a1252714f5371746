/// Writes the texts of new documents to disk while the pull is still running.
///
/// They are unnamed files (O_TMPFILE): if the plan does not use them, or the process is killed, nothing is left behind.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "sync-engine/disk/background.hpp"
#include "sync-engine/disk/staging_folder.hpp"
#include "sync-engine/model/entry.hpp"

namespace ws::sync {

class StagedAhead {
 public:
  /// `root` must outlive it. Fails with `disk`.
  static Result<std::unique_ptr<StagedAhead>> open(const RootFolder& root);
  StagedAhead(const StagedAhead&) = delete;
  StagedAhead& operator=(const StagedAhead&) = delete;

  void add(const DocumentId& document, const Sha256& hash, std::string text);
  /// No more texts: starts to flush the written ones.
  void close();
  /// Empty: that text was not written. The result is not known to be flushed: call `SafeWriter::adopt`.
  std::optional<Staged> take(const DocumentId& document, const Sha256& hash);

 private:
  explicit StagedAhead(StagingFolder staging) : staging_(std::move(staging)), disk_(OwnThread::one) {}

  StagingFolder staging_;
  std::unordered_map<std::string, std::optional<Staged>> texts_;  ///< by document
  Background disk_;                                               ///< ends before what its jobs refer to
};

}  // namespace ws::sync
