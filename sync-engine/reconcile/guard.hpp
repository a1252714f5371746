/// The guard against mass deletion (promise 6 of `safety.md`): one rule for notes and for files beside them, on either
/// side. Pure.
///
/// Notes are weighed by themselves, files by themselves, and both together. A document that is missing from a listing
/// counts as a local delete, a text that becomes empty as a delete on its side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

bool loses_text(const Action& action);  ///< whether the guard counts it

/// Adds what the action loses to the counts of its kind and side.
void count_loss(const Action& action, Guard& guard);
/// Documents of the base that are not out of sight: what the guard weighs a loss against.
std::size_t count_in_sight(const BaseTree& base);
/// Known documents that are missing from the listing; with `only` those that it names.
std::size_t count_absent(const BaseTree& base, const RemoteTree& remote, const WantedPath& only);

/// Whether so much is lost on either side that it needs confirmation.
bool needs_confirmation(const Guard& guard);
/// The same of a plan's notes. Empty: it needs none.
std::optional<Guard> guard_of(const Plan& plan, std::size_t tracked, std::size_t absent, Half half = Half::both);

/// Files that are about to be received.
struct Arrivals {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t distinct_bytes = 0;  ///< equal contents counted once
  std::uint64_t free_bytes = 0;      ///< on the disk
  bool is_first = false;             ///< of a folder that was tied just now: only the disk is a bound
};
/// The guard against growth: whether so much needs confirmation before any of it is taken.
bool needs_confirmation(const Arrivals& arrivals);

}  // namespace ws::sync
