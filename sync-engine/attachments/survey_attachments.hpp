/// Looks at the attachments of both sides and plans. Changes nothing but the disposable cache of their hashes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/plan_attachments.hpp"
#include "sync-engine/attachments/shown_files.hpp"
#include "sync-engine/attachments/wishes.hpp"
#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

struct AttachmentSurvey {
  AttachmentSides sides = {};
  AttachmentPlan plan = {};
  KnownList list = {};
  ShownFiles shown = {};
  std::map<RelativePath, OpenAttachment> open = {};  ///< conflicts that earlier runs met
  std::map<RelativePath, std::string> disk = {};     ///< how the disk spells what is here
  std::map<RelativePath, FileStamp> stamps = {};     ///< of the files here when they were hashed
  std::vector<Remark> remarks = {};
  TargetMarks marks = {};
  std::vector<RelativePath> files = {};  ///< here that could be one; filled where `RunOptions::whole`
  std::uint64_t synced_here = 0;         ///< files on disk that are attachments, however they stand
  std::optional<Guard> guard = {};       ///< with the deletes of documents; set: nothing may be done unasked
  bool held_deletes = false;             ///< the guard's deletes were taken out of the plan
  std::optional<Growth> growth = {};     ///< set: what would be received was taken out of the plan
  bool is_first = false;                 ///< the folder was tied just now, and its files have not all come yet
  bool backs_off = false;                ///< see `RunOptions`
  bool is_partial = false;               ///< there is more than `only` names
  bool has_off_remark = false;           ///< the remark about `attachments: off` is among them

  /// Nothing to do and nothing to tell.
  bool is_quiet() const { return plan.actions.empty() && plan.collisions.empty() && plan.settled.empty(); }
};

/// `edits`: the plan is made as if these steps were done already, and sent by a wish. Fails with `disk`.
Result<AttachmentSurvey> survey_attachments(Session& session,
                                            const Survey& survey,
                                            const RunOptions& options,
                                            const std::vector<FileStep>& edits = {});

/// The numbers of the files that are as both sides agreed, where others are known: one was saved anew, or put back.
std::map<RelativePath, FileId> unrecorded_files(const AttachmentSurvey& found);

/// Writes down whose wish the files are that notes name by now, and which ones a rule leaves out. Around what writes
/// notes: before it, for what people wrote; and with `Session::wrote_notes` after it, so that nothing this program
/// wrote becomes a wish. Answers how many of the files here are attachments. Fails with `disk`.
Result<std::uint64_t> note_attachments(Session& session, const Survey& survey);

/// Whether the file, or a folder above it, has a name that begins with a dot.
bool is_hidden_name(std::string_view path);

}  // namespace ws::sync
