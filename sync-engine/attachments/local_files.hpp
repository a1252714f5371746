/// Looks at the files that may be attachments: size, hash, or why they are left alone; and remembers that a survey of
/// them found nothing to do and nothing to report, so that the next run need not repeat it.
///
/// A hash is kept beside the file's stamp in `.ws/attachments.cache`, as the stat cache keeps those of documents, and
/// by the same rule; without the cache the answers are the same. A clean survey is kept there too, and holds while
/// everything that it read is the same: the names and texts of the walk, the stored state of the attachments, the
/// settings, and the stamp of every file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sync-engine/attachments/plan_attachments.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/tree/hash.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// A survey that found nothing to do and nothing to tell.
struct CleanSurvey {
  std::uint64_t inputs = 0;             ///< `survey_inputs`
  std::vector<std::string> files = {};  ///< the attachments, by their names on disk
  std::set<std::string> nowhere = {};   ///< where notes name a file, and none is
};

struct SeenFile {
  FileStamp stamp = {};
  Sha256 hash = {};
};

class LocalFiles {
 public:
  explicit LocalFiles(Session& session);

  /// The file at `disk`; empty: there is none, or a folder.
  std::optional<LocalAttachment> look_at(const std::string& disk, std::uint64_t max_bytes);
  /// What its stamp was when it was hashed.
  const SeenFile* seen(const std::string& disk) const;
  /// Whether the cache knows the name: it was looked at the last time.
  bool was_seen(const std::string& disk);
  /// Whether a change after the first look would change the stamp.
  bool is_trusted(const FileStamp& stamp) const;
  /// Leaves a cache for the next time, of what was looked at. A failure costs only time later. `clean` is not kept
  /// where a file changed so recently that one more change could leave its stamp as it is.
  void save(const std::optional<CleanSurvey>& clean);

 private:
  std::optional<LocalAttachment> hash(int folder,
                                      const std::string& name,
                                      const std::string& disk,
                                      const FileStamp& stamp);

  void load();
  bool are_trusted(const std::vector<std::string>& files) const;

  Session& session_;
  bool is_loaded_ = false;
  std::uint64_t clean_inputs_ = 0;  ///< of the cache
  std::unordered_map<std::string, SeenFile> cached_ = {};
  std::unordered_map<std::string, SeenFile> seen_;
  std::string folder_ = {};
  Descriptor folder_fd_ = {};
  int folder_errno_ = 0;
  bool has_folder_ = false;
  bool is_same_ = true;  ///< as the cache
  std::int64_t started_ns_ = 0;
};

/// A hash of everything that the survey reads, except the stamps of attachments. Empty: the survey has to be made.
std::optional<std::uint64_t> survey_inputs(Session& session, const Scan& scan);

/// How many attachments are here. Empty: the cached survey had other inputs, or one of the files changed.
std::optional<std::uint64_t> find_clean_survey(const Session& session, std::uint64_t inputs);

}  // namespace ws::sync
