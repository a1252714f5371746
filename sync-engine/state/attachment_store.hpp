/// What a tree remembers of its attachments between runs: tables of the state (`state_format.cpp`).
///
/// A write within a transaction is durable with it. One by itself outlives a kill when it has returned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "sync-engine/model/attachment.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/found_files.hpp"

namespace ws::sync {

/// A document of the list of attachments, as the service was last heard to have it.
struct StoredPart {
  std::string path = {};
  DocumentRevision revision = {};
  Sha256 hash = {};       ///< of the text there, whatever it is
  bool is_gone = false;   ///< archived there; what it said still holds
  bool is_due = false;    ///< edited by hand, or older than what was known: to be written anew
  std::string rows = {};  ///< what holds of it, rendered anew
  bool operator==(const StoredPart&) const = default;
};

/// Other bytes on both sides, until somebody decides.
struct OpenAttachment {
  std::string id = {};
  std::optional<Attachment> base = {};
  std::optional<Attachment> local = {};     ///< empty: deleted here
  std::optional<Attachment> remote = {};    ///< empty: deleted there
  std::optional<RelativePath> beside = {};  ///< where the other side's bytes lie
  std::int64_t seconds = 0;                 ///< since 1970: when it was met
  /// Of one renamed on both sides: the name that both knew, and the one there.
  std::optional<RelativePath> from = {};
  std::optional<RelativePath> there = {};
  bool operator==(const OpenAttachment&) const = default;
};

/// How a state ended whose bytes this tree never sent nor received: they were replaced by what was accepted.
inline constexpr std::string_view replaced_unsent = "replaced, never sent";

/// One state of one path.
struct AttachmentVersion {
  std::uint64_t place = 0;  ///< the later ones have the greater number
  std::int64_t seconds = 0;
  RelativePath path;
  std::optional<Attachment> file = {};  ///< empty: it went
  std::string how = {};                 ///< "sent", "received", "replaced", "restored"; see `replaced_unsent`
};

/// A transfer that failed, so that a watch does not try it again at once.
struct FailedTransfer {
  std::string asset = {};  ///< empty: of an upload
  std::uint64_t times = 0;
  std::int64_t until_seconds = 0;  ///< since 1970: not before
  Failure failure = {};
};

/// Whose wish it is that a file is synced, by who named it first.
struct TargetMark {
  bool is_foreign = false;  ///< a text from the service named it before any text written here
  std::string note = {};    ///< that named it
  std::string by = {};      ///< who wrote that text; empty: it is not known
  /// Of the file when it was last looked at: of a foreign one, and of a wish by a wiki link.
  std::optional<Sha256> hash = {};
  bool is_told = false;  ///< a run has named it
  bool operator==(const TargetMark&) const = default;
};
/// By what the links name: a path in NFC, or `[[` and the name of a wiki link, while its file is not here yet and for
/// when it gets another path.
using TargetMarks = std::map<std::string, TargetMark>;

/// What was decided about these bytes at this path: whether they are accepted.
using FileDecisions = std::map<std::pair<RelativePath, Sha256>, bool>;

/// The note that is there while this program writes notes; a run that was cut off leaves it.
inline const std::string notes_under_way_key = "notes_under_way";
/// The same, until the files of a tree's first run have come.
inline const std::string first_files_key = "first_files";
/// The kinds that the last run took; empty: those of a tree that says nothing.
inline const std::string last_kinds_key = "last_kinds";

class AttachmentStore {
 public:
  explicit AttachmentStore(sqlite::Database& database) : database_(&database) {}

  /// Rises with every change of what is kept here. 0: this tree never met an attachment.
  Result<std::uint64_t> changes();

  Result<AttachmentTree> base();
  Result<void> put_base(const RelativePath& path, const Attachment& file);
  Result<void> forget_base(const RelativePath& path);
  /// Which file on disk each of them was, when that was last looked at.
  Result<std::map<RelativePath, FileId>> files();
  Result<void> put_file(const RelativePath& path, const FileId& file);  ///< nothing where the base has none there
  /// The file at `path` was written anew: whose it was, also one that was renamed to it and is not sent yet.
  Result<void> put_written(const RelativePath& path, const std::optional<FileId>& before, const FileId& now);

  /// Files of the base that are out of sight here, until they are seen again or `put_base`.
  Result<std::set<RelativePath>> left_out();
  Result<void> set_left_out(const RelativePath& path, bool left_out);

  Result<std::map<DocumentId, StoredPart>> parts();
  Result<void> put_part(const DocumentId& document, const StoredPart& part);
  Result<void> drop_part(const DocumentId& document);

  /// Assets by what they hold: known to be finished.
  Result<std::optional<Attachment>> find_asset(const Sha256& hash);
  Result<void> put_asset(const Attachment& asset);
  /// A service that went back may have none of them.
  Result<void> forget_assets();

  /// Of an upload of which nobody knows whether it became an Asset.
  Result<std::optional<SentUpload>> find_upload(const Sha256& hash);
  Result<void> put_upload(const Sha256& hash, const SentUpload& upload);
  Result<void> drop_upload(const Sha256& hash);
  /// What they are to hold.
  Result<std::vector<Sha256>> uploads();

  /// By what they were to bring.
  Result<std::map<Sha256, FailedTransfer>> failed();
  Result<void> put_failed(const Sha256& hash, const FailedTransfer& failed);
  Result<void> drop_failed(const Sha256& hash);

  Result<std::map<RelativePath, OpenAttachment>> conflicts();
  Result<void> put_conflict(const RelativePath& path, const OpenAttachment& conflict);
  Result<void> drop_conflict(const RelativePath& path);
  /// Those that the operation decided, as they were: its undo opens them again.
  Result<std::map<RelativePath, OpenAttachment>> decided_conflicts(std::uint64_t operation);
  /// Of `from` (0: an open one) it becomes one of `to`.
  Result<void> set_decided(const RelativePath& path, std::uint64_t from, std::uint64_t to);
  Result<void> forget_decided(const RelativePath& path, std::uint64_t operation);

  /// Files that are attachments though no note may show them: somebody decided so.
  Result<std::set<RelativePath>> wanted();
  Result<void> put_wanted(const RelativePath& path);

  Result<TargetMarks> marks();
  Result<void> put_mark(const std::string& target, const TargetMark& mark);
  /// A foreign one stays.
  Result<void> drop_wish(const std::string& target);
  /// The file was sent, received, adopted or added: from now on it is this tree's own wish.
  Result<void> wish_for(const RelativePath& path);

  /// What lies at the path is no wish of this tree, and nothing is agreed or decided about it: as before it was
  /// accepted.
  Result<void> hold_again(const RelativePath& path);

  Result<FileDecisions> decisions();
  Result<void> put_decision(const RelativePath& path, const Sha256& hash, bool is_accepted);
  Result<void> drop_decisions(const RelativePath& path);

  /// Words to remember by a key. Empty: none.
  Result<std::string> note(const std::string& key);
  Result<void> set_note(const std::string& key, const std::string& value);  ///< an empty one forgets it

  Result<void> add_version(Time time,
                           const RelativePath& path,
                           const std::optional<Attachment>& file,
                           std::string_view how);
  /// The newest first.
  Result<std::vector<AttachmentVersion>> versions(const std::optional<RelativePath>& path);
  Result<void> drop_version(std::uint64_t place);

 private:
  template <class... Values>
  Result<void> write(const char* sql, const Values&... values);
  template <class... Values>
  Result<void> write_counted(const char* sql, const Values&... values);
  Result<std::set<RelativePath>> paths(const char* sql);
  sqlite::Database* database_;
};

}  // namespace ws::sync
