#include "sync-engine/survey/held_documents.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace ws::sync {
namespace {

std::string mark_of(DocumentRevision revision, const std::optional<Sha256>& hash, const RelativePath& file) {
  return hash ? fmt::format("{} {} {}", revision.number, hash->hex(), file.text())
              : fmt::format("{} deleted", revision.number);
}

/// Keys for files without an id: no id of the service holds a line break. `max_file_bytes` is part of the mark, so that
/// a new limit makes the file be tried again.
std::string mark_of_text(const Session& session, const Sha256& hash) {
  return fmt::format("{} {}", hash.hex(), session.config.max_file_bytes);
}
std::string new_file_key(const RelativePath& file) { return "new\n" + file.string(); }
std::string new_conflict_key(const RelativePath& file) { return "conflict\n" + file.string(); }

std::string refusal_mark(const BaseTree& base,
                         const LocalTree& local,
                         const RemoteTree& remote,
                         const DocumentId& document) {
  const auto known = base.documents.find(document);
  const auto changed = remote.changed.find(document);
  const DocumentRevision revision = changed != remote.changed.end() ? changed->second.revision
                                    : known != base.documents.end() ? known->second.revision
                                                                    : DocumentRevision{};
  const auto here = local.tracked.find(document);
  if (here == local.tracked.end()) return mark_of(revision, std::nullopt, base.disk_path(document));
  return mark_of(revision, here->second.hash, here->second.path);
}

}  // namespace

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

bool is_refused_as_it_is(const std::string& code) {
  return is_out_of_reach(code) || code == "too_large" || code == "payload_too_large" || code == "validation_error";
}

Result<void> record_refused(Session& session, const StagedItem& staged) {
  StateStore& state = session.state;
  const PushItem& item = staged.item;
  if (item.document.empty()) {
    const std::string key = staged.conflict ? new_conflict_key(staged.disk_path) : new_file_key(staged.disk_path);
    return state.put_refused(key, mark_of_text(session, *item.hash));
  }
  const bool both_changed = staged.conflict && staged.conflict->remote;
  const DocumentRevision revision = both_changed ? staged.conflict->remote->revision : item.revision;
  return state.put_refused(item.document.text(), mark_of(revision, item.hash, staged.disk_path));
}

bool was_refused(const Session& session,
                 const std::map<std::string, std::string>& refused,
                 const RelativePath& file,
                 const Sha256& hash) {
  const auto known = refused.find(new_conflict_key(file));
  return known != refused.end() && known->second == mark_of_text(session, hash);
}

Result<void> hold_refused(Session& session, const BaseTree& base, const RemoteTree& remote, LocalTree& local) {
  WS_LET(const auto refused, session.state.refused());
  for (const auto& [key, mark] : refused) {
    const DocumentId document(key);
    if (!base.documents.contains(document) || remote.gone.contains(document)) continue;
    if (refusal_mark(base, local, remote, document) != mark) continue;
    local.unsyncable.emplace(document, SkipReason::refused);
  }
  if (refused.empty()) return {};
  std::erase_if(local.created, [&](const auto& file) {
    const auto known = refused.find(new_file_key(file.first));
    if (known == refused.end() || known->second != mark_of_text(session, file.second)) return false;
    local.skipped.push_back({.path = file.first.string(), .reason = SkipReason::refused});
    return true;
  });
  std::sort(local.skipped.begin(), local.skipped.end());
  return {};
}

Result<void> write_incoming(Session& session, Incoming& incoming, Survey& survey) {
  WS_LET(const auto unwritten, session.history.flush_what_fits());
  for (auto at = incoming.rows.begin(); at != incoming.rows.end();) {
    const auto why = unwritten.find(at->second.blob);
    if (why == unwritten.end()) {
      ++at;
      continue;
    }
    survey.unavailable.emplace(at->first, UnavailableText{.path = at->second.entry->path, .why = why->second});
    at = incoming.rows.erase(at);
  }
  return {};
}

void leave_out_damaged(Incoming& incoming, Survey& survey) {
  for (auto& [document, damaged] : incoming.damaged) {
    survey.unavailable.insert_or_assign(
        document,
        UnavailableText{.path = std::move(damaged.path), .why = std::move(damaged.why), .reason = SkipReason::damaged});
  }
}

void hold_unavailable(const Survey& survey, LocalTree& local) {
  for (const auto& [document, unavailable] : survey.unavailable) {
    if (survey.base.documents.contains(document)) local.unsyncable.emplace(document, unavailable.reason);
  }
}

std::vector<Row> rows_of_unavailable(const Survey& survey) {
  std::vector<Row> rows;
  for (const auto& [document, unavailable] : survey.unavailable) {
    const bool known = survey.base.documents.contains(document);
    Failure why = unavailable.why;
    why.what = fmt::format("{}: {}", unavailable.path.text(), why.what);
    if (unavailable.reason == SkipReason::no_room) why.hint = "make room on the disk and run the same command again";
    rows.push_back({.action = {.kind = known ? ActionKind::pull_update : ActionKind::pull_create,
                               .path = unavailable.path,
                               .reason = known ? "edited on the service" : "created on the service",
                               .document = document},
                    .state = Row::State::failed,
                    .error = std::make_shared<const Failure>(std::move(why))});
  }
  return rows;
}

InvalidPaths invalid_paths_after(const InvalidPaths& before, const Incoming& incoming) {
  InvalidPaths now = incoming.invalid_paths;
  if (incoming.end.complete) return now;
  for (const auto& [document, path] : before) {
    if (!incoming.rows.contains(document)) now.emplace(document, path);
  }
  return now;
}

Result<void> store_invalid_paths(StateStore& state, const InvalidPaths& before, const InvalidPaths& now) {
  for (const auto& [document, path] : before) {
    if (!now.contains(document)) WS_TRY(state.drop_invalid_path(document));
  }
  for (const auto& [document, path] : now) {
    const auto known = before.find(document);
    if (known == before.end() || known->second != path) WS_TRY(state.put_invalid_path(document, path));
  }
  return {};
}

std::vector<Skipped> skipped_invalid_paths(const InvalidPaths& invalid_paths, const std::set<std::string>& without_id) {
  std::vector<Skipped> skipped;
  for (const auto& [document, path] : invalid_paths) {
    // One without any path goes by its id.
    skipped.push_back(path.empty() ? Skipped{.path = document.text(), .reason = SkipReason::no_path}
                                   : Skipped{.path = path, .reason = SkipReason::dangerous_name});
  }
  for (const std::string& path : without_id) {
    skipped.push_back({.path = path.empty() ? "a document without a path" : path, .reason = SkipReason::no_id});
  }
  std::sort(skipped.begin(), skipped.end());
  skipped.erase(std::unique(skipped.begin(), skipped.end()), skipped.end());
  return skipped;
}

}  // namespace ws::sync
