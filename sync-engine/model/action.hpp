/// One change of a plan to one side.
#pragma once

#include <compare>
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

/// Whether an action has a member that not every kind has.
enum class Presence { never, maybe, always };

/// What is known of a kind. The members in the plan of a document; an attachment has neither id nor revision.
struct ActionKindRow {
  std::string_view word = {};  ///< of scripts: "push_create"
  enum class Direction { none, push, pull } direction = Direction::none;
  Presence document = Presence::always;
  Presence previous_path = Presence::never;
  Presence service_path = Presence::never;
  Presence seen = Presence::always;
  Presence result = Presence::always;
};
const ActionKindRow& row_of(ActionKind kind);
inline std::string_view name(ActionKind kind) { return row_of(kind).word; }
inline bool is_push(ActionKind kind) { return row_of(kind).direction == ActionKindRow::Direction::push; }
inline bool is_pull(ActionKind kind) { return row_of(kind).direction == ActionKindRow::Direction::pull; }
/// Whether it takes a file here away from its place: that of `previous_path`, or without one that of `path`.
inline bool frees_place_here(ActionKind kind) {
  return kind == ActionKind::pull_delete || kind == ActionKind::pull_move;
}

/// One change to one side. It carries its precondition (`seen` on disk, `revision` on the service) and is not done
/// where that no longer holds. Which members it has depends on its kind: `row_of`; planner_property_test.cpp holds
/// every plan against it. One struct and no variant: most of the places that read actions treat all kinds alike.
struct Action {
  ActionKind kind = ActionKind::unchanged;
  RelativePath path;
  std::string_view reason = {};                    ///< "edited here": half a sentence for people; a literal
  DocumentId document = {};                        ///< empty: `push_create`
  std::optional<RelativePath> previous_path = {};  ///< of a move; of a `push_create`: a file that is moved aside first
  std::optional<RelativePath> service_path = {};   ///< where the service has the document, if that is not `path`
  std::optional<Sha256> seen = {};    ///< the text on disk that the plan saw at the file's present path; empty: no file
  std::optional<Sha256> result = {};  ///< the text afterwards; empty: a delete, or a merge that is not made yet
  DocumentRevision revision = {};     ///< push: the revision it was made from; pull, merge, adopt: the one it leads to
  bool attachment = false;            ///< about a file that notes show, not a document
  auto operator<=>(const Action&) const = default;
};

}  // namespace ws::sync
