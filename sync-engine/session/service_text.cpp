#include "sync-engine/session/service_text.hpp"

#include <utility>

namespace ws::sync {

std::optional<std::string> find_kept_text(Session& session, const git::ObjectId& blob, const Sha256& wanted) {
  if (blob.empty()) return std::nullopt;
  auto text = session.history.text(blob);
  return text && Sha256::of(*text) == wanted ? std::optional(std::move(*text)) : std::nullopt;
}

Failure service_needed() {
  return {
      .kind = Failure::Kind::usage, .what = "the service's text is not here", .hint = "ask it: leave out --offline"};
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
