#include "sync-engine/session/session.hpp"

#include <utility>

namespace ws::sync {

bool Session::knows_attachments() {
  if (!met_attachments) {
    const auto changes = attachments().changes();
    met_attachments = changes && *changes > 0;
  }
  return met_attachments;
}

Result<void> Session::check_cancelled() const {
  if (options.cancelled != nullptr && options.cancelled->load()) {
    return fail(Failure::Kind::cancelled, "stopped");
  }
  return {};
}

bool ends_everything(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::conflict:
    case Failure::Kind::not_found:
    case Failure::Kind::invalid: return false;
    case Failure::Kind::internal:
    case Failure::Kind::usage:
    case Failure::Kind::auth:
    case Failure::Kind::forbidden:
    case Failure::Kind::pending:
    case Failure::Kind::rate_limited:
    case Failure::Kind::service:
    case Failure::Kind::unreachable:
    case Failure::Kind::unknown_outcome:
    case Failure::Kind::partial:
    case Failure::Kind::disk:
    case Failure::Kind::integrity:
    case Failure::Kind::cancelled: return true;
  }
  return true;
}

bool is_about_one(const Failure& failure) {
  return !ends_everything(failure) || failure.kind == Failure::Kind::forbidden ||
         failure.kind == Failure::Kind::service || failure.kind == Failure::Kind::integrity;
}

std::optional<std::string> find_kept_text(Session& session, const git::ObjectId& blob, const Sha256& wanted) {
  if (blob.empty()) return std::nullopt;
  auto text = session.history.text(blob);
  return text && Sha256::of(*text) == wanted ? std::optional(std::move(*text)) : std::nullopt;
}

Failure service_needed() {
  return {.kind = Failure::Kind::usage,
          .what = "the text of the service was not received yet",
          .hint = "leave out --offline to ask the service"};
}

Result<std::optional<std::string>> fetch_remote_text(Session& session,
                                                     const DocumentId& document,
                                                     const git::ObjectId& blob,
                                                     const Sha256& wanted) {
  using Text = std::optional<std::string>;
  if (Text kept = find_kept_text(session, blob, wanted)) return kept;
  if (session.remote == nullptr) return fail(service_needed());
  WS_LET(PulledItem item, session.remote->content(document));
  if (item.deleted || !item.content || Sha256::of(*item.content) != wanted) return Text{};
  return std::move(item.content);
}

}  // namespace ws::sync
