/// Uploads that were begun and not finished: `$XDG_STATE_HOME/ws/uploads/ID.json`, 0600.
///
/// They hold the upload address, which lets whoever has it write the bytes. One that may have become an Asset is known
/// by its bytes, name and type, one that was only started by its path, size and time of change too; both for the same
/// person or agent, or the same key, at the same server.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/transfer/upload.hpp"

namespace ws::cli {

/// Whose uploads they are, as hashes.
struct Uploader {
  std::string key = {};
  std::string account = {};  ///< of the key's person or agent (`identity_of`); empty: not known
};

struct PendingUpload {
  StartedUpload started = {};
  UploadFile file = {};  ///< with an absolute path
  std::string base_url = {};
  Uploader who = {};
};

class PendingUploads {
 public:
  /// Of `$XDG_STATE_HOME/ws`.
  explicit PendingUploads(const std::filesystem::path& state_folder) : folder_(state_folder / "uploads") {}

  /// All of them, flushed to the disk together. Fails with `disk`, with `internal` where a service's id is no UUID:
  /// none, or some, are kept.
  Result<void> save_all(const std::vector<PendingUpload>& uploads) const;
  /// Fails with `not_found`, or `disk`.
  Result<PendingUpload> load(std::string_view upload_id) const;
  /// The newest of this file that has not lapsed, among what `list` gave. Reads the file where one may be of its bytes.
  static std::optional<PendingUpload> find(const std::vector<PendingUpload>& listed,
                                           const UploadFile& file,
                                           const std::string& base_url,
                                           const Uploader& who,
                                           Time now);
  void forget(std::string_view upload_id) const;
  /// All of them, the newest first; what cannot be read is left out. Those that lapsed a week ago are removed.
  std::vector<PendingUpload> list(Time now) const;

 private:
  std::filesystem::path file_of(std::string_view upload_id) const;

  std::filesystem::path folder_;
};

/// What `ws files upload` has uploaded in the last 24 hours: `$XDG_STATE_HOME/ws/uploaded/*.json`, 0600. A command that
/// is run again prints it again instead of making a second Asset.
///
/// A file is known by its bytes, name and type, for the same person or agent, or the same key, at the same server.
///
/// A command that uploads has the turn of each of its files, so that another with the same one waits and then finds
/// what became of it. Turns end with `end_turns`, with this object, and with the process.
class FinishedUploads {
 public:
  /// `is_waited_for`: turns are taken; where the folder cannot be written, everybody has them.
  FinishedUploads(const std::filesystem::path& state_folder, std::string origin, Time now, bool is_waited_for);

  /// False while another process has the turn of a file of the same name, type and size.
  bool take_turn(const UploadFile& file);
  void end_turns();
  /// Reads which files are known; records that are too old are removed.
  void read();
  /// Whether anybody has uploaded a file of that name, type and size.
  bool may_know(const UploadFile& file) const;
  /// The answer of an earlier upload of the same file. Reads the file where one may be known.
  std::optional<Json> take(const UploadFile& file, const Uploader& who) const;
  /// Writes down what the service answered. Fails with `disk`.
  Result<void> keep(const UploadFile& file, const Json& asset, const Uploader& who) const;
  /// Flushes what was kept to the disk.
  void flush() const;

 private:
  std::string start_of(const UploadFile& file) const;

  std::filesystem::path folder_;
  std::string origin_;
  Time now_;
  bool is_waited_for_;
  Descriptor turns_;             ///< one byte of this file is locked for each
  std::set<std::string> names_;  ///< of the records
};

}  // namespace ws::cli
