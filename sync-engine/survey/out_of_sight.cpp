#include "sync-engine/survey/out_of_sight.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sync-engine/model/attachment.hpp"
#include "sync-engine/model/change.hpp"

namespace ws::sync {
namespace {

/// Why a file that is here cannot be seen: a rule, its name, or what it is. What goes missing meanwhile was not deleted
/// by anybody who saw it. The other reasons are about the service, or pass by themselves.
bool is_out_of_sight(SkipReason reason) {
  switch (reason) {
    case SkipReason::symlink:
    case SkipReason::unreadable:
    case SkipReason::not_utf8:
    case SkipReason::holds_nul:
    case SkipReason::too_large:
    case SkipReason::ignored:
    case SkipReason::dangerous_name:
    case SkipReason::special:
    case SkipReason::unportable_name:
    case SkipReason::reserved_name:
    case SkipReason::elsewhere:
    case SkipReason::left_out:
    case SkipReason::tied_elsewhere: return true;
    default: return false;
  }
}

/// Skips the files whose names are refused. A document whose file is one of them is kept on both sides.
void refuse_names(LocalTree& local,
                  SkipReason reason,
                  const std::function<bool(const RelativePath&)>& is_refused,
                  const std::function<bool(const DocumentId&, const RelativePath&)>& may_stay) {
  const std::size_t before = local.skipped.size();
  const auto skip = [&](const RelativePath& path) {
    const bool refused = is_refused(path);
    if (refused) local.skipped.push_back({.path = path.string(), .reason = reason});
    return refused;
  };
  std::erase_if(local.created, [&](const auto& file) { return skip(file.first); });
  std::erase_if(local.tracked, [&](const auto& file) {
    const bool refused = !may_stay(file.first, file.second.path) && skip(file.second.path);
    if (refused) local.unsyncable.emplace(file.first, reason);
    return refused;
  });
  if (local.skipped.size() != before) std::sort(local.skipped.begin(), local.skipped.end());
}

/// What `leave_out:` names, whether or not a file lies here.
void hide_left_out(const Session& session, Survey& survey) {
  const auto& rule = session.config.left_out;
  if (rule.empty()) return;
  LocalTree& local = survey.local;
  std::map<std::string, RelativePath> created;  // by the twin key
  for (const auto& [path, hash] : local.created) created.emplace(path.twin_key(), path);
  for (const auto& [document, row] : survey.base_rows) {
    if (!rule.takes(document, row.entry.path)) continue;
    local.unsyncable.insert_or_assign(document, SkipReason::left_out);
    const auto file = created.extract(row.disk_path().twin_key());
    if (file.empty()) continue;
    const RelativePath& path = file.mapped();
    local.created.erase(path);
    local.obstacles.insert(path);
    if (same_name(path, row.disk_path())) {
      survey.left_out_here.insert(document);
    } else {
      local.skipped.push_back({.path = path.string(), .reason = SkipReason::twin});
    }
  }
  std::ranges::sort(local.skipped);
  refuse_names(
      local,
      SkipReason::left_out,
      [&](const RelativePath& path) { return rule.takes(path.text()); },
      [](const DocumentId&, const RelativePath&) { return true; });
}

/// A missing file that its rule would hide if it were here is out of sight, as one at an ignored path is.
void hide_missing(Session& session, Survey& survey) {
  LocalTree& local = survey.local;
  const std::uint64_t max_bytes = session.config.max_file_bytes;
  const bool is_any_left_out = !survey.base.left_out.empty();
  if (!session.config.portable_names && max_bytes >= default_max_file_bytes && !is_any_left_out) return;
  for (const auto& [document, row] : survey.base_rows) {
    if (local.tracked.contains(document) || local.unsyncable.contains(document)) continue;
    const auto text = session.history.text(row.blob);
    if (session.config.portable_names && is_unportable(row.disk_path())) {
      local.unsyncable.emplace(document, SkipReason::unportable_name);
    } else if (text && text->size() > max_bytes && (max_bytes < default_max_file_bytes || row.left_out)) {
      local.unsyncable.emplace(document, SkipReason::too_large);
    }
  }
}

}  // namespace

BaseTree without_left_out(const Session& session, const BaseTree& base) {
  const auto& rule = session.config.left_out;
  BaseTree rest = base;
  std::erase_if(rest.documents, [&](const auto& known) { return rule.takes(known.first, known.second.path); });
  std::erase_if(rest.displaced_to, [&](const auto& placed) { return !rest.documents.contains(placed.first); });
  return rest;
}

void hide_out_of_sight(Session& session, Survey& survey) {
  if (session.config.portable_names) {
    refuse_names(survey.local, SkipReason::unportable_name, is_unportable, [](const DocumentId&, const RelativePath&) {
      return false;
    });
  }
  // Paths of the list of attachments. A document that had one before keeps it.
  refuse_names(
      survey.local,
      SkipReason::reserved_name,
      [](const RelativePath& path) { return is_manifest_path(path.text()); },
      [&](const DocumentId& document, const RelativePath& path) { return path == survey.base.disk_path(document); });
  hide_left_out(session, survey);
  hide_missing(session, survey);
}

void show_moved_out(const Session& session, Survey& survey) {
  const auto& rule = session.config.left_out;
  if (rule.empty()) return;
  for (const auto& [document, entry] : survey.remote.changed) {
    const auto out = survey.local.unsyncable.find(document);
    if (out == survey.local.unsyncable.end() || out->second != SkipReason::left_out) continue;
    if (rule.takes(document, entry.path) || survey.left_out_here.contains(document)) continue;
    survey.local.unsyncable.erase(out);
    survey.base.left_out.insert(document);
  }
}

void note_out_of_sight(Survey& survey, PullMode mode, bool keep_archived) {
  BaseTree& base = survey.base;
  if (keep_archived) {
    for (const auto& [document, revision] : survey.remote.gone) {
      if (base.documents.contains(document)) base.left_out.insert(document);
    }
  }
  if (mode != PullMode::store) return;
  for (auto& [document, row] : survey.base_rows) {
    const auto hidden = survey.local.unsyncable.find(document);
    const bool is_hidden = hidden != survey.local.unsyncable.end();
    const bool is_seen = !is_hidden && survey.local.tracked.contains(document);
    const bool is_kept = keep_archived && is_seen && survey.remote.gone.contains(document);
    const bool begins = !row.left_out && (is_kept || (is_hidden && is_out_of_sight(hidden->second)));
    const bool ends = row.left_out && is_seen && !survey.remote.gone.contains(document);
    if (!begins && !ends) continue;
    row.left_out = begins;
    if (begins) base.left_out.insert(document);
    if (ends) base.left_out.erase(document);
    survey.unstored.marked.push_back(document);
  }
}

void hush_left_out(Survey& survey) {
  std::erase_if(survey.plan.detached, [&](const Detached& each) {
    return each.reason == name(SkipReason::left_out) && !survey.left_out_here.contains(each.document) &&
           !survey.local.tracked.contains(each.document);
  });
}

}  // namespace ws::sync
