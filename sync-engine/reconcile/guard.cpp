#include "sync-engine/reconcile/guard.hpp"

#include <algorithm>

namespace ws::sync {
namespace {

/// `min_all`: from how many on losing all of them is too much.
bool too_many(std::size_t lost, std::size_t tracked, std::size_t min_all) {
  const bool many = lost > 10 && lost * 4 > tracked;
  const bool most_of_a_small_tree = tracked >= 4 && lost * 2 > tracked;
  return many || most_of_a_small_tree || (lost >= min_all && lost >= tracked);
}

bool too_many_of_one_side(std::size_t notes, std::size_t files, std::size_t unlinked, const Guard& guard) {
  constexpr std::size_t min_all_notes = 2;
  constexpr std::size_t min_all_files = 4;
  return too_many(notes, guard.tracked, min_all_notes) ||
         too_many(files - std::min(unlinked, files), guard.files_tracked, min_all_files) ||
         too_many(notes + files, guard.tracked + guard.files_tracked, min_all_notes);
}

/// Crashes, and programs that truncate a file before they fail to write it, leave files of 0 bytes.
bool empties(const Action& action) {
  static const Sha256 nothing = Sha256::of("");
  return action.result == nothing;
}

}  // namespace

bool loses_text(const Action& action) {
  const bool updates = action.kind == ActionKind::pull_update || action.kind == ActionKind::push_update;
  return action.kind == ActionKind::pull_delete || action.kind == ActionKind::push_delete ||
         (updates && empties(action));
}

void count_loss(const Action& action, Guard& guard) {
  if (!loses_text(action)) return;
  if (guard.half == Half::here && is_push(action.kind)) return;
  if (action.attachment) {
    // A file of 0 bytes is not synced: what an attachment loses is the whole file.
    ++(is_push(action.kind) ? guard.files_deleted_there : guard.files_deleted_here);
  } else if (action.kind == ActionKind::pull_delete || action.kind == ActionKind::push_delete) {
    ++(is_push(action.kind) ? guard.deletes_there : guard.deletes_here);
  } else {
    ++(is_push(action.kind) ? guard.emptied_there : guard.emptied_here);
  }
}

std::size_t count_in_sight(const BaseTree& base) { return base.documents.size() - base.left_out.size(); }

std::size_t count_absent(const BaseTree& base, const RemoteTree& remote, const WantedPath& only) {
  if (!only) return remote.absent.size();
  const auto is_wanted = [&](const DocumentId& document) { return only(base.disk_path(document)); };
  return static_cast<std::size_t>(std::ranges::count_if(remote.absent, is_wanted));
}

bool needs_confirmation(const Guard& guard) {
  return guard.empty_listing || guard.foreign_source ||
         too_many_of_one_side(guard.deletes_here + guard.emptied_here + guard.absent,
                              guard.files_deleted_here,
                              guard.files_unlinked_here,
                              guard) ||
         too_many_of_one_side(
             guard.deletes_there + guard.emptied_there, guard.files_deleted_there, guard.files_unlinked_there, guard);
}

bool needs_confirmation(const Arrivals& arrivals) {
  constexpr std::size_t max_files = 10'000;
  constexpr std::uint64_t max_bytes = std::uint64_t{2} << 30U;
  constexpr std::uint64_t max_bytes_of_copies = std::uint64_t{256} << 20U;
  constexpr std::uint64_t max_copies = 100;
  if (arrivals.bytes > arrivals.free_bytes / 2) return true;
  if (arrivals.is_first) return false;
  return arrivals.files > max_files || arrivals.bytes > max_bytes ||
         (arrivals.bytes > max_bytes_of_copies && arrivals.bytes > max_copies * arrivals.distinct_bytes);
}

std::optional<Guard> guard_of(const Plan& plan, std::size_t tracked, std::size_t absent, Half half) {
  Guard guard{.half = half, .absent = absent, .tracked = tracked};
  for (const Action& action : plan.actions) count_loss(action, guard);
  return needs_confirmation(guard) ? std::optional(guard) : std::nullopt;
}

}  // namespace ws::sync
