/// What resolving a conflict does to the documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server-mock/services/sync/shared.hpp"

namespace ws::mock {

/// The body of `sync.conflict_resolve`.
struct Wish {
  std::string_view resolution = {};  ///< "keep_local", "keep_remote", "merged", "keep_both"
  std::string_view content = {};     ///< with "merged"
  std::string content_sha256 = {};   ///< of that content; else empty
  std::optional<std::string> path = {};
  std::optional<std::string> path_for_local_copy = {};
  std::optional<std::int64_t> expected_content_revision = {};  ///< empty: the remote side has none
};
/// 422: a refused path, "merged" without content, a hash that is not the content's.
Served<Wish> read_wish(const ServiceCall& call);

/// Carries it out and fills in the conflict's resolution, result and remote side. 409 `revision_conflict` where the
/// remote side moved again (the conflict then shows it), 409 `sync_conflict` where a path is taken.
Served<void> apply_resolution(
    World& world, const ServiceCall& call, const SeenSource& seen, const Wish& wish, Conflict& conflict);

}  // namespace ws::mock
