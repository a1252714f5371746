#include "sync-engine/model/plan.hpp"

#include <algorithm>

namespace ws::sync {

bool Plan::went_back() const {
  return std::ranges::any_of(conflicts,
                             [](const Conflict& each) { return each.which == ConflictCase::service_went_back; });
}

std::string_view name(SkipReason skip_reason) {
  switch (skip_reason) {
    case SkipReason::symlink: return "symlink";
    case SkipReason::unreadable: return "unreadable";
    case SkipReason::not_utf8: return "not_utf8";
    case SkipReason::holds_nul: return "holds_nul";
    case SkipReason::too_large: return "too_large";
    case SkipReason::ignored: return "ignored";
    case SkipReason::twin: return "twin";
    case SkipReason::dangerous_name: return "dangerous_name";
    case SkipReason::busy: return "busy";
    case SkipReason::special: return "special";
    case SkipReason::unportable_name: return "unportable_name";
    case SkipReason::refused: return "refused";
    case SkipReason::no_path: return "no_path";
    case SkipReason::no_id: return "no_id";
    case SkipReason::damaged: return "damaged";
    case SkipReason::no_room: return "no_room";
    case SkipReason::reserved_name: return "reserved_name";
    case SkipReason::missing_scope: return "missing_scope";
    case SkipReason::attachments_off: return "attachments_off";
    case SkipReason::excluded: return "excluded";
    case SkipReason::empty: return "empty";
    case SkipReason::ambiguous_name: return "ambiguous_name";
    case SkipReason::foreign: return "foreign";
    case SkipReason::held: return "held";
    case SkipReason::growth: return "growth";
    case SkipReason::declined: return "declined";
    case SkipReason::elsewhere: return "elsewhere";
    case SkipReason::tied_elsewhere: return "tied_elsewhere";
    case SkipReason::archived: return "archived";
    case SkipReason::left_out: return "left_out";
  }
  return "";
}

std::optional<SkipReason> find_skip_reason(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(SkipReason::last); ++i) {
    if (name(static_cast<SkipReason>(i)) == word) return static_cast<SkipReason>(i);
  }
  return std::nullopt;
}

const RelativePath& BaseTree::disk_path(const DocumentId& document) const {
  const auto found = displaced_to.find(document);
  return found != displaced_to.end() ? found->second : documents.at(document).path;
}

PushItem push_item_of(const Action& action) {
  return {.kind = action.kind,
          .path = action.service_path.value_or(action.path),
          .previous_path = action.kind == ActionKind::push_move ? action.previous_path : std::nullopt,
          .document = action.document,
          .hash = action.result,
          .revision = action.revision};
}

bool is_about_content(SkipReason reason) {
  return reason == SkipReason::not_utf8 || reason == SkipReason::holds_nul || reason == SkipReason::too_large ||
         reason == SkipReason::empty;
}

}  // namespace ws::sync
