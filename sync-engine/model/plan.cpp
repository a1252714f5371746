#include "sync-engine/model/plan.hpp"

#include <array>
#include <utility>

namespace ws::sync {

std::string_view name(Hindrance hindrance) {
  switch (hindrance) {
    case Hindrance::symlink: return "symlink";
    case Hindrance::unreadable: return "unreadable";
    case Hindrance::not_utf8: return "not_utf8";
    case Hindrance::holds_nul: return "holds_nul";
    case Hindrance::too_large: return "too_large";
    case Hindrance::ignored: return "ignored";
    case Hindrance::twin: return "twin";
    case Hindrance::dangerous_name: return "dangerous_name";
    case Hindrance::busy: return "busy";
    case Hindrance::special: return "special";
    case Hindrance::unportable_name: return "unportable_name";
    case Hindrance::refused: return "refused";
    case Hindrance::no_path: return "no_path";
    case Hindrance::no_id: return "no_id";
    case Hindrance::damaged: return "damaged";
    case Hindrance::no_room: return "no_room";
    case Hindrance::reserved_name: return "reserved_name";
    case Hindrance::missing_scope: return "missing_scope";
    case Hindrance::attachments_off: return "attachments_off";
    case Hindrance::excluded: return "excluded";
    case Hindrance::empty: return "empty";
    case Hindrance::ambiguous_name: return "ambiguous_name";
  }
  return "";
}

const RelativePath& BaseTree::disk_path(const DocumentId& document) const {
  const auto found = placed.find(document);
  return found != placed.end() ? found->second : documents.at(document).path;
}

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
