#include "sync-engine/model/plan.hpp"

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
  const auto found = displaced_to.find(document);
  return found != displaced_to.end() ? found->second : documents.at(document).path;
}

}  // namespace ws::sync
