#include "sync-engine/attachments/undo_attachments.hpp"

#include <optional>
#include <utility>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/restore_attachment.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view changed_since = "changed since";

std::optional<Sha256> hash_of(const std::optional<Version>& version) {
  return version ? std::optional(version->hash) : std::nullopt;
}

/// Of the file now; empty: there is none.
std::optional<Sha256> hash_now(LocalFiles& files, const RelativePath& path) {
  const auto seen = files.look_at(path.string(), max_attachment_bytes);
  if (!seen) return std::nullopt;
  return seen->hidden ? Sha256::of("") : seen->hash;
}

class AttachmentUndo {
 public:
  AttachmentUndo(Session& session, AttachmentStore& store, SafeWriter& writer)
      : session_(session), store_(store), writer_(writer), files_(session) {}

  Result<void> take(const UndoStep& step) {
    const RelativePath& path = step.to ? *step.to : *step.from;
    const auto now = hash_now(files_, path);
    if (now == step.result) return {};  // done before an interruption
    if (now != step.seen) return leave(path, changed_since);
    auto done = step.result ? bring(path, *step.result, now) : remove(path, *now);
    if (done) return done;
    switch (done.error().kind) {
      case Failure::Kind::not_found: return leave(path, "its bytes are neither here nor on the service");
      case Failure::Kind::conflict: return leave(path, changed_since);
      default: return done;
    }
  }

  std::vector<LeftAlone> left = {};

 private:
  Result<void> leave(const RelativePath& path, std::string_view why) {
    left.push_back({.path = path, .why = std::string(why)});
    return {};
  }

  Assets* assets() const { return session_.remote == nullptr ? nullptr : session_.remote->assets(); }

  Result<void> keep(const RelativePath& path, const Sha256& now) {
    WS_LET(const auto known, store_.find_asset(now));
    return ensure_backup(writer_, assets(), path, now, known);
  }

  Result<void> bring(const RelativePath& path, const Sha256& hash, const std::optional<Sha256>& now) {
    WS_TRY(bring_bytes(session_, store_, writer_, {.hash = hash}));
    if (now) WS_TRY(keep(path, *now));
    WS_LET(const Staged staged, writer_.stage_copy(hash.hex(), hash));
    WS_TRY(writer_.flush_texts());
    WS_TRY(writer_.place(staged, path, now));
    return store_.put_wanted(path);
  }

  Result<void> remove(const RelativePath& path, const Sha256& now) {
    WS_TRY(keep(path, now));
    return writer_.remove(path, now);
  }

  Session& session_;
  AttachmentStore& store_;
  SafeWriter& writer_;
  LocalFiles files_;
};

}  // namespace

bool is_about_bytes(const Session& session, const OperationRow& row) {
  const bool keeps_bytes = row.before && row.after && row.before->hash == row.after->hash;
  return row.document.empty() && !keeps_bytes && !session.kinds.takes(row.path().text());
}

bool is_about_bytes(const Session& session, const UndoStep& step) {
  const RelativePath& path = step.to ? *step.to : *step.from;
  return step.seen != step.result && !session.kinds.takes(path.text());
}

void plan_attachment_undo(Session& session,
                          const std::vector<OperationRow>& rows,
                          const UndoOptions& options,
                          UndoPlan& plan) {
  LocalFiles files(session);
  for (const OperationRow& row : rows) {
    const RelativePath& path = row.path();
    if (options.only && !options.only(path)) {
      plan.is_partial = true;
      continue;
    }
    UndoStep step{.seen = hash_of(row.after), .result = hash_of(row.before)};
    if (row.after) step.from = path;
    if (row.before) step.to = path;
    const auto now = hash_now(files, path);
    if (now == step.result) continue;
    if (now != step.seen) {
      plan.left.push_back({.path = path, .why = std::string(changed_since)});
      continue;
    }
    plan.steps.push_back(std::move(step));
    plan.documents.emplace_back();
  }
}

Result<std::vector<LeftAlone>> undo_attachments(Session& session, const std::vector<UndoStep>& steps) {
  if (steps.empty()) return std::vector<LeftAlone>();
  WS_LET(AttachmentStore* const store, session.attachments());
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  AttachmentUndo undo(session, *store, writer);
  for (const UndoStep& step : steps) {
    WS_TRY(session.check_cancelled());
    WS_TRY(undo.take(step));
  }
  WS_TRY(writer.flush_folders());
  return std::move(undo.left);
}

}  // namespace ws::sync
