#include "sync-engine/attachments/interrupted_files.hpp"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/publish_list.hpp"
#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

/// Of what lies at a path; empty: nothing does.
using HashAt = std::function<std::optional<Sha256>(const RelativePath&)>;

/// Whether a side has what was there before the change. Where somebody changed the file since, the change was made.
bool is_as_before(const OperationRow& row, const HashAt& hash_at) {
  if (!row.after) return hash_at(row.before->path) == row.before->hash;
  const std::optional<Sha256> now = hash_at(row.after->path);
  if (!now) return true;
  return now != row.after->hash && row.before && now == row.before->hash;
}

HashAt hashes_of(const AttachmentTree& tree) {
  return [&tree](const RelativePath& path) {
    const auto found = tree.find(path);
    return found == tree.end() ? std::nullopt : std::optional(found->second.hash);
  };
}

/// The list as the service has it now, with a commit of it that was under way brought to its end. Empty: it cannot be
/// told.
Result<std::optional<AttachmentTree>> list_there(Session& session, AttachmentStore& store) {
  if (session.remote == nullptr || !finish_list_commit(session, store)) return std::optional<AttachmentTree>{};
  const auto now = survey(session, {.merge = false, .dry_run = true}, PullMode::inspect);
  WS_TRY(session.check_cancelled());
  if (!now) return std::optional<AttachmentTree>{};
  WS_LET(KnownList list, load_list(store));
  for (const PulledPart& part : now->list_parts) take_part(list, part);
  return std::optional(list.rows());
}

/// Whether a side has exactly what the change was to make.
bool is_as_after(const OperationRow& row, const HashAt& hash_at) {
  const bool is_moved = row.before && row.after && row.before->path != row.after->path;
  if (!row.after || is_moved) {
    if (hash_at(row.before->path)) return false;
  }
  return !row.after || hash_at(row.after->path) == row.after->hash;
}

/// What both sides have since: an undo that comes first begins from there.
Result<void> agree_on(AttachmentStore& store, Time now, const OperationRow& row, const AttachmentTree& list) {
  if (row.before && (!row.after || row.before->path != row.after->path)) WS_TRY(store.forget_base(row.before->path));
  const auto file = row.after ? list.find(row.after->path) : list.end();
  const std::string_view how = row.origins.has(ChangeOrigin::sent) ? "sent" : "received";
  if (!row.after) return store.add_version(now, row.before->path, std::nullopt, how);
  if (file == list.end()) return {};
  WS_TRY(store.put_base(file->first, file->second));
  WS_TRY(store.wish_for(file->first));
  return store.add_version(now, file->first, file->second, how);
}

Row row_of_sent(const OperationRow& row) {
  Action action{.kind = ActionKind::push_update, .path = row.path(), .reason = "pushed earlier", .attachment = true};
  if (!row.before) {
    action.kind = ActionKind::push_create;
  } else if (!row.after) {
    action.kind = ActionKind::push_delete;
  } else if (row.before->path != row.after->path) {
    action.kind = ActionKind::push_move;
    action.previous_path = row.before->path;
  }
  if (row.after) action.result = row.after->hash;
  return {.action = std::move(action), .state = Row::State::done};
}

}  // namespace

Result<void> settle_interrupted_files(Session& session, const Clock& clock, std::vector<Row>& finished) {
  Operations operations = session.state.operations();
  WS_LET(const ChangeOrigins planned, operations.planned_origins());
  if (planned == ChangeOrigins()) return {};
  AttachmentStore store = session.attachments();
  WS_LET(const AttachmentTree base, store.base());
  std::optional<AttachmentTree> there;
  if (planned.has(ChangeOrigin::sent)) {
    WS_LET(there, list_there(session, store));
  }
  LocalFiles files(session);
  const HashAt hash_here = [&](const RelativePath& path) -> std::optional<Sha256> {
    const auto file = files.look_at(path.string(), max_attachment_bytes);
    return file ? std::optional(file->hash) : std::nullopt;
  };
  AttachmentTree list;
  if (there) {
    list = *there;
  } else {
    WS_LET(const KnownList known, load_list(store));
    list = known.rows();
  }
  std::vector<OperationRow> agreed;
  const auto took_place = [&](const OperationRow& row) -> std::optional<bool> {
    const bool is_sent = row.origins.has(ChangeOrigin::sent);
    if (!is_as_before(row, hashes_of(base))) return true;
    if (is_sent && !there) return std::nullopt;
    // What was sent was made from what was here, whatever became of that. What came and was changed here since was
    // perhaps made from what was before.
    const bool is_agreed = is_as_after(row, hashes_of(list)) && (is_sent || is_as_after(row, hash_here));
    if (is_agreed) agreed.push_back(row);
    const bool was_made = !is_as_before(row, is_sent ? hashes_of(list) : hash_here);
    if (was_made && is_sent) finished.push_back(row_of_sent(row));
    return was_made;
  };
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(operations.settle_planned(took_place));
  for (const OperationRow& row : agreed) WS_TRY(agree_on(store, clock.now(), row, list));
  return transaction.commit();
}

}  // namespace ws::sync
