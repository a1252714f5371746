#include "sync-engine/attachments/weigh_attachments.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <sys/statvfs.h>

#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/links/references.hpp"
#include "sync-engine/reconcile/guard.hpp"

namespace ws::sync {
namespace {

/// Whether the note goes, or comes with a text that names no such file.
bool drops_link(Session& session, const Survey& survey, const RelativePath& note, const RelativePath& file) {
  const auto planned = std::ranges::find(survey.plan.actions, note, &Action::path);
  if (planned == survey.plan.actions.end()) return false;
  if (planned->kind == ActionKind::pull_delete) return true;
  const auto pending = survey.pending.find(planned->document);
  if (pending == survey.pending.end() || !pending->second.entry) return false;
  const auto text = find_kept_text(session, pending->second.blob, pending->second.entry->hash);
  if (!text) return false;
  const links::NoteLinks links = links::read_note(*text);
  return !links.is_cut && std::ranges::none_of(links.references, [&](const links::Reference& each) {
    return last_part(each.path) == file.name();
  });
}

/// Whether the notes that showed a file that goes show it no more since this very run.
bool loses_last_link(Session& session, const Survey& survey, const ShownFiles& shown, const Action& action) {
  const RelativePath& path = action.path;
  if (!shown.is_whole || !shown.cut.empty()) return false;
  if (is_push(action.kind)) {
    const std::set<std::string>& unnamed = shown.unnamed;
    return unnamed.contains(path.string()) || unnamed.contains("[[" + utf8::fold_key(path.name())) ||
           unnamed.contains("[[" + utf8::fold_key(path.text()));
  }
  const auto notes = shown.notes.find(path);
  return notes != shown.notes.end() && std::ranges::all_of(notes->second, [&](const RelativePath& note) {
           return drops_link(session, survey, note, path);
         });
}

}  // namespace

void weigh_losses(Session& session, const Survey& survey, const RunOptions& options, AttachmentSurvey& found) {
  const bool is_held = survey.plan.held.has_value();
  Guard guard = survey.plan.guard ? *survey.plan.guard : survey.plan.held.value_or(Guard{.half = options.half});
  if (!survey.plan.guard && !is_held) {
    for (const Action& action : survey.plan.actions) count_loss(action, guard);
    guard.absent = count_absent(survey.base, survey.remote, options.only);
  }
  guard.tracked = session.state.base_count().value_or(count_in_sight(survey.base));
  guard.files_tracked = found.sides.base.size() - found.sides.left_out.size();
  for (const Action& action : found.plan.actions) count_loss(action, guard);
  if (guard.files_deleted_here + guard.files_deleted_there == 0) return;
  if (!survey.plan.guard && !is_held) {
    if (!needs_confirmation(guard)) return;
    for (const Action& action : found.plan.actions) {
      if (!loses_text(action) || !loses_last_link(session, survey, found.shown, action)) continue;
      ++(is_push(action.kind) ? guard.files_unlinked_there : guard.files_unlinked_here);
    }
    if (!needs_confirmation(guard)) return;
  }
  found.guard = guard;
  if (!options.hold_deletes || survey.plan.guard) return;
  if (!is_held) {
    // The notes pass by themselves: only files are held back.
    found.guard = Guard{.files_deleted_here = guard.files_deleted_here,
                        .files_deleted_there = guard.files_deleted_there,
                        .files_tracked = guard.files_tracked};
  }
  found.held_deletes = true;
  std::erase_if(found.plan.actions, loses_text);
}

void weigh_growth(const Session& session, AttachmentSurvey& found) {
  Arrivals arrivals{.is_first = found.is_first};
  std::set<Sha256> contents;
  std::set<RelativePath> arriving;
  const auto add = [&](const RelativePath& path, const RelativePath& row) {
    const auto file = found.sides.remote.find(row);
    if (file == found.sides.remote.end() || !arriving.insert(path).second) return;
    ++arrivals.files;
    arrivals.bytes += file->second.size_bytes;
    if (contents.insert(file->second.hash).second) arrivals.distinct_bytes += file->second.size_bytes;
  };
  std::map<RelativePath, RelativePath> moved_here;
  for (const Action& action : found.plan.actions) {
    if (action.kind == ActionKind::push_move) moved_here.emplace(action.path, *action.previous_path);
    if (action.kind != ActionKind::pull_create && action.kind != ActionKind::pull_update) continue;
    const auto moved = moved_here.find(action.path);
    add(action.path, moved == moved_here.end() ? action.path : moved->second);
  }
  for (const AttachmentCollision& each : found.plan.collisions) {
    if (each.remote && !each.there && !found.open.contains(each.path)) add(each.path, each.path);
  }
  if (arriving.empty()) return;
  struct statvfs disk {};
  const bool is_known = ::fstatvfs(session.root.fd(), &disk) == 0;
  arrivals.free_bytes = is_known ? std::uint64_t{disk.f_bavail} * disk.f_frsize : UINT64_MAX;
  if (!needs_confirmation(arrivals)) return;
  found.growth = Growth{.files = arrivals.files, .bytes = arrivals.bytes};
  const auto waits = [&](const auto& each) { return arriving.contains(each.path); };
  std::erase_if(found.plan.actions, waits);
  std::erase_if(found.plan.collisions, waits);
  for (const RelativePath& path : arriving) {
    found.plan.skipped.push_back({.path = path.string(), .reason = SkipReason::growth});
  }
}

}  // namespace ws::sync
