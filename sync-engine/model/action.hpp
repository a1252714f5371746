/// One change of a plan to one side.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "api-client/base/sha256.hpp"
#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// The ten actions of the API's sync plan, and `merge` and `adopt`, which the client alone knows.
enum class ActionKind {
  push_create,
  push_update,
  push_delete,
  push_move,
  pull_create,
  pull_update,
  pull_delete,
  pull_move,
  conflict,
  unchanged,
  merge,  ///< edited on both sides, the lines do not collide: the merged text goes to both
  adopt,  ///< created on both sides with the same bytes: one document from now on
};
std::string_view name(ActionKind kind);  ///< "push_create"
bool is_push(ActionKind kind);
bool is_pull(ActionKind kind);

/// One change to one side. It carries its precondition (`seen` on disk, `revision` on the service) and is not done
/// where that no longer holds.
struct Action {
  ActionKind kind = ActionKind::unchanged;
  RelativePath path;
  std::string_view reason = {};                    ///< "edited here": half a sentence for people; a literal
  DocumentId document = {};                        ///< empty: `push_create`
  std::optional<RelativePath> previous_path = {};  ///< of a move; of a `push_create`: a file that is moved aside first
  std::optional<RelativePath> service_path = {};   ///< where the service has the document, if that is not `path`
  std::optional<Sha256> seen = {};    ///< the text on disk that the plan saw at the file's present path; empty: no file
  std::optional<Sha256> result = {};  ///< the text afterwards; empty: a delete
  DocumentRevision revision = {};     ///< push: the revision it was made from; pull, merge, adopt: the one it leads to
  bool attachment = false;            ///< about a file that notes show, not a document
  auto operator<=>(const Action&) const = default;
};

}  // namespace ws::sync
