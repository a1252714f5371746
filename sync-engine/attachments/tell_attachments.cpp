#include "sync-engine/attachments/tell_attachments.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace ws::sync {
namespace {

Entry entry_of(const RelativePath& path, const Attachment& file) { return {.path = path, .hash = file.hash}; }

}  // namespace

Result<void> note_told(Session& session, const AttachmentSurvey& found) {
  for (const Remark& remark : found.remarks) {
    if (remark.word != Remark::Word::foreign_file) continue;
    AttachmentStore store = session.attachments();
    TargetMark mark = found.marks.at(remark.path);
    mark.is_told = true;
    WS_TRY(store.put_mark(remark.path, mark));
  }
  return {};
}

OpenAttachment open_from(const AttachmentCollision& collision) {
  OpenAttachment open{
      .base = collision.base, .remote = collision.remote, .from = collision.from, .there = collision.there};
  if (collision.local) {
    open.local = Attachment{.size_bytes = collision.local->size_bytes, .hash = collision.local->hash};
  }
  open.id = local_conflict_id(conflict_of(collision.path, open));
  return open;
}

Conflict conflict_of(const RelativePath& path, const OpenAttachment& open) {
  Conflict conflict{.path = path, .id = open.id, .record = ConflictRecord::here, .beside = open.beside};
  if (open.base) conflict.base = entry_of(open.from.value_or(path), *open.base);
  if (open.local) conflict.local = entry_of(path, *open.local);
  if (open.remote) conflict.remote = entry_of(open.there.value_or(path), *open.remote);
  conflict.which = find_attachment_case(conflict);
  return conflict;
}

void add_to_report(const AttachmentSurvey& found, Report& report) {
  for (const Action& action : found.plan.actions) report.rows.push_back({.action = action});
  for (const AttachmentCollision& collision : found.plan.collisions) {
    const auto known = found.open.find(collision.path);
    Conflict conflict = conflict_of(collision.path, known != found.open.end() ? known->second : open_from(collision));
    report.rows.push_back({.action = {.kind = ActionKind::conflict,
                                      .path = collision.path,
                                      .reason = conflict.row().reason,
                                      .attachment = true}});
    report.conflicts.push_back(std::move(conflict));
  }
  report.skipped.insert(report.skipped.end(), found.plan.skipped.begin(), found.plan.skipped.end());
  std::ranges::sort(report.skipped);
  report.not_synced += found.plan.skipped.size();
  for (const std::string& note : found.shown.cut) {
    if (std::ranges::find(report.unread_links, note) == report.unread_links.end()) report.unread_links.push_back(note);
  }
  report.remarks.insert(report.remarks.end(), found.remarks.begin(), found.remarks.end());
  report.not_included -= std::min(report.not_included, found.synced_here);
  if (!report.others.empty()) {
    std::set<std::string_view> synced;
    for (const auto& [path, disk] : found.disk) synced.insert(disk);
    for (const Skipped& each : found.plan.skipped) {
      if (each.reason == SkipReason::twin) synced.insert(each.path);
    }
    std::erase_if(report.others, [&](const std::string& path) { return synced.contains(path); });
  }
  if (found.guard && found.held_deletes) {
    report.held_back = found.guard;
  } else if (found.guard) {
    report.guard = found.guard;
  }
  report.growth = found.growth;
  report.partial = report.partial || found.is_partial || found.held_deletes;
  report.clean = report.clean && found.plan.actions.empty() && found.plan.collisions.empty() && !found.guard &&
                 !found.growth && !report.partial;
}

}  // namespace ws::sync
