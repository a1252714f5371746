#include "sync-engine/model/action.hpp"

namespace ws::sync {

std::string_view name(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create: return "push_create";
    case ActionKind::push_update: return "push_update";
    case ActionKind::push_delete: return "push_delete";
    case ActionKind::push_move: return "push_move";
    case ActionKind::pull_create: return "pull_create";
    case ActionKind::pull_update: return "pull_update";
    case ActionKind::pull_delete: return "pull_delete";
    case ActionKind::pull_move: return "pull_move";
    case ActionKind::conflict: return "conflict";
    case ActionKind::unchanged: return "unchanged";
    case ActionKind::merge: return "merge";
    case ActionKind::adopt: return "adopt";
  }
  return "";
}

bool is_push(ActionKind kind) {
  return kind == ActionKind::push_create || kind == ActionKind::push_update || kind == ActionKind::push_delete ||
         kind == ActionKind::push_move;
}

bool is_pull(ActionKind kind) {
  return kind == ActionKind::pull_create || kind == ActionKind::pull_update || kind == ActionKind::pull_delete ||
         kind == ActionKind::pull_move;
}

}  // namespace ws::sync
