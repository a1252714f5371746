#include "api-client/base/result.hpp"

namespace ws {

std::string_view name(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::internal: return "internal";
    case Failure::Kind::usage: return "usage";
    case Failure::Kind::invalid: return "invalid";
    case Failure::Kind::auth: return "auth";
    case Failure::Kind::forbidden: return "forbidden";
    case Failure::Kind::not_found: return "not_found";
    case Failure::Kind::conflict: return "conflict";
    case Failure::Kind::pending: return "pending";
    case Failure::Kind::rate_limited: return "rate_limited";
    case Failure::Kind::service: return "service";
    case Failure::Kind::unreachable: return "unreachable";
    case Failure::Kind::unknown_outcome: return "unknown_outcome";
    case Failure::Kind::partial: return "partial";
    case Failure::Kind::disk: return "disk";
    case Failure::Kind::integrity: return "integrity";
    case Failure::Kind::cancelled: return "cancelled";
  }
  return "internal";
}

std::string_view name(Applied applied) {
  switch (applied) {
    case Applied::no: return "no";
    case Applied::yes: return "yes";
    case Applied::unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace ws
