#include "sync-engine/model/action.hpp"

#include <array>

namespace ws::sync {
namespace {

/// The table. A kind without a row does not compile.
constexpr ActionKindRow make_row(ActionKind kind) {
  using enum ActionKind;
  using enum ActionKindRow::Direction;
  using enum Presence;
  switch (kind) {
    case push_create: return {.word = "push_create", .direction = push, .document = never, .previous_path = maybe};
    case push_update: return {.word = "push_update", .direction = push, .service_path = maybe};
    case push_delete: return {.word = "push_delete", .direction = push, .seen = never, .result = never};
    case push_move: return {.word = "push_move", .direction = push, .previous_path = always};
    case pull_create: return {.word = "pull_create", .direction = pull, .service_path = maybe, .seen = maybe};
    case pull_update: return {.word = "pull_update", .direction = pull, .service_path = maybe};
    case pull_delete: return {.word = "pull_delete", .direction = pull, .result = never};
    case pull_move: return {.word = "pull_move", .direction = pull, .previous_path = always, .service_path = maybe};
    case conflict: return {.word = "conflict", .document = maybe, .seen = maybe, .result = maybe};
    case unchanged: return {.word = "unchanged", .seen = maybe, .result = maybe};
    case merge: return {.word = "merge", .service_path = maybe, .result = maybe};
    case adopt: return {.word = "adopt"};
  }
  return {};
}

constexpr std::size_t action_kinds = static_cast<std::size_t>(ActionKind::adopt) + 1;

constexpr std::array<ActionKindRow, action_kinds> make_action_rows() {
  std::array<ActionKindRow, action_kinds> rows;
  for (std::size_t i = 0; i < action_kinds; ++i) rows[i] = make_row(static_cast<ActionKind>(i));
  return rows;
}

constexpr std::array<ActionKindRow, action_kinds> action_rows = make_action_rows();

}  // namespace

const ActionKindRow& row_of(ActionKind kind) { return action_rows[static_cast<std::size_t>(kind)]; }

}  // namespace ws::sync
