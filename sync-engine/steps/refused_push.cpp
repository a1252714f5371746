#include "sync-engine/steps/refused_push.hpp"

#include <fmt/format.h>

#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

std::string mark_of(std::uint64_t revision, const std::optional<Sha256>& hash, const RelativePath& file) {
  return hash ? fmt::format("{} {} {}", revision, hash->hex(), file.text()) : fmt::format("{} deleted", revision);
}

std::string refusal_mark(const BaseTree& base,
                         const LocalTree& local,
                         const RemoteTree& remote,
                         const DocumentId& document) {
  const auto known = base.documents.find(document);
  const auto changed = remote.changed.find(document);
  const std::uint64_t revision = changed != remote.changed.end() ? changed->second.revision
                                 : known != base.documents.end() ? known->second.revision
                                                                 : 0;
  const auto here = local.tracked.find(document);
  if (here == local.tracked.end()) return mark_of(revision, std::nullopt, base.disk_path(document));
  return mark_of(revision, here->second.hash, here->second.path);
}

}  // namespace

std::string path_on_wire(std::string_view path) { return utf8::nfc(path); }

bool is_out_of_reach(const std::string& code) {
  return code == "forbidden" || code == "not_found" || code == "gone" || code == "archived";
}

Failure cannot_push(const Failure& why) {
  Failure failure = why;
  failure.kind = Failure::Kind::forbidden;
  failure.code = "cannot_push";
  failure.hint = "this key may read but not write; the change stays here";
  return failure;
}

Result<void> note_refused(StateStore& state, const StagedItem& staged) {
  const PushItem& item = staged.item;
  if (item.document.empty()) return {};
  const bool both_changed = staged.conflict && staged.conflict->remote;
  const std::uint64_t revision = both_changed ? staged.conflict->remote->revision : item.revision;
  return state.put_refused(item.document, mark_of(revision, item.hash, staged.file));
}

Result<void> hold_refused(Session& session, const BaseTree& base, const RemoteTree& remote, LocalTree& local) {
  WS_LET(const auto refused, session.state.refused());
  for (const auto& [document, mark] : refused) {
    if (!base.documents.contains(document) || remote.gone.contains(document)) continue;
    if (refusal_mark(base, local, remote, document) != mark) continue;
    local.hindered.emplace(document, Hindrance::refused);
  }
  return {};
}

}  // namespace ws::sync
