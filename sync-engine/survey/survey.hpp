/// Reads the three trees and plans. The first half of every command, and all of `status`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sync-engine/disk/staging_folder.hpp"
#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// A document whose text the disk had no room for, or that cannot be read.
struct UnavailableText {
  RelativePath path;
  Failure why = {};
  SkipReason reason = SkipReason::no_room;
};

/// Texts that files are about to get, by path.
using TextEdits = std::map<RelativePath, std::string>;

/// What a survey found out and is not in the state yet.
struct Unstored {
  std::vector<DocumentId> marked = {};   ///< whose `BaseRow::left_out` changed
  std::vector<Conflict> renamed = {};    ///< at the new paths of their files
  bool any = false;                      ///< something was pulled: all below
  std::vector<DocumentId> pending = {};  ///< rows of `Survey::pending`
  std::vector<DocumentId> dropped = {};  ///< no longer pending
  InvalidPaths paths_before = {};
  InvalidPaths paths = {};
  bool moves_revision = false;  ///< else the next pull starts where this one did
};

struct Survey {
  Scan scan;
  TextEdits edits = {};
  std::set<RelativePath> absent = {};  ///< `RunOptions::absent`
  std::map<DocumentId, BaseRow> base_rows = {};
  std::map<DocumentId, PendingRow> pending = {};
  BaseTree base = {};
  LocalTree local = {};
  std::set<DocumentId> left_out_here = {};  ///< by `leave_out:`, though a file lies here
  RemoteTree remote = {};
  Plan plan = {};
  std::map<DocumentId, std::string> merged = {};  ///< the text of each `merge`
  SourceRevision revision_before = {};            ///< as last heard
  SourceRevision revision = {};                   ///< and now
  std::vector<RelativePath> same_revision = {};   ///< the service gave another text for the revision of the base
  std::vector<Conflict> known_conflicts = {};     ///< those that a commit recorded
  std::map<DocumentId, UnavailableText> unavailable = {};  ///< the next run asks for them again
  std::vector<PulledPart> list_parts = {};                 ///< what came of the list of attachments
  Unstored unstored = {};                                  ///< for `store_survey`; empty unless `PullMode::store`
  std::unique_ptr<StagedAhead> ahead = {};                 ///< texts of many new documents; null: of few
  /// Every file is as the base has it: these. Then `base`, `local` and `base_rows` may be empty.
  std::optional<std::map<DocumentId, FileId>> agreed = {};
};

/// `inspect`: writes nothing but the stat cache; texts of the service are held in memory only where a merge needs them.
/// `record`: the numbers of the files that equal the base too, for rename detection, where they are not known yet.
/// `store`: and the pulled texts are durable in the history before the survey returns; the rest by `store_survey`.
enum class PullMode { inspect, record, store };

/// Where the source's revision fell the plan is the one conflict `rewound` and nothing else. Fails where the tree
/// cannot be walked or the service not asked. `edits`: the plan is made as if the files had these texts already.
Result<Survey> survey(Session& session, const RunOptions& options, PullMode mode, TextEdits edits = {});

/// Makes `Survey::unstored` durable, before anything is applied. Nothing where the guard stops the plan: no later run
/// may apply what was not confirmed. The next survey pulls the same again, and sees it if the service has recovered.
/// Where the guard of the attachments stops the run, the caller leaves this out for the same reason.
Result<void> store_survey(Session& session, const Survey& survey);

/// By the path of the file on disk.
using PushItems = std::unordered_map<std::string_view, PushItem*>;
/// Gives those that send a text its size, as the walk found it.
void note_sizes(const Scan& scan, const PushItems& items);

/// Walks once more after a run and writes the stat cache. A failure only costs time later.
void refresh_cache(Session& session);

}  // namespace ws::sync
