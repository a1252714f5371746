#include "sync-engine/model/change.hpp"

#include <algorithm>

#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

SideChange present(const Entry& base, const RelativePath& base_path, const Entry& now) {
  const bool text = now.hash != base.hash;
  if (!same_name(now.path, base_path)) return {.change = Change::moved, .text_too = text, .entry = now};
  return {.change = text ? Change::edited : Change::unchanged, .entry = now};
}

}  // namespace

bool same_name(const RelativePath& a, const RelativePath& b) {
  return a == b || utf8::nfc(a.text()) == utf8::nfc(b.text());
}

SideChange local_change(const DocumentId& document, const BaseTree& base, const LocalTree& local) {
  if (local.unsyncable.contains(document)) return {.change = Change::unknown};
  const auto found = local.tracked.find(document);
  if (found == local.tracked.end()) return {.change = Change::deleted};
  return present(base.documents.at(document), base.disk_path(document), found->second);
}

SideChange remote_change(const DocumentId& document, const Entry& base, const RemoteTree& remote) {
  if (const auto gone = remote.gone.find(document); gone != remote.gone.end()) {
    // Some services send no revision with a tombstone: it then counts as newer than the base.
    const bool older = gone->second.is_known() && gone->second < base.revision;
    return {.change = older ? Change::rewound : Change::deleted};
  }
  if (const auto found = remote.changed.find(document); found != remote.changed.end()) {
    if (found->second.revision < base.revision) return {.change = Change::rewound, .entry = found->second};
    return present(base, base.path, found->second);
  }
  if (std::binary_search(remote.absent.begin(), remote.absent.end(), document)) {
    return {.change = Change::unknown};
  }
  return {.change = Change::unchanged, .entry = base};
}

}  // namespace ws::sync
