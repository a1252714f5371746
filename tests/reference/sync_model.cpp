#include "tests/reference/sync_model.hpp"

#include <algorithm>
#include <set>

namespace ws::mock::test {
namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Why the document is not in the state that the item expects; empty if it is.
std::string clash(const Model& model, const SyncModel& sync, const SyncItem& item) {
  if (item.action == "push_create") return {};
  const ModelDocument& document = model.documents.at(item.document_id);
  const auto entry = sync.entries.find(item.document_id);
  const bool there = entry != sync.entries.end() && entry->second.present;
  if (item.action == "push_delete") return document.revision == item.expected ? "" : "delete_edit";
  if (!there) return "edit_delete";
  if (document.revision == item.expected) return {};
  return item.action == "push_update" ? "revision" : "any";
}

}  // namespace

void SyncModel::follow(const ModelDocument& document, bool moved) {
  const bool in = !document.archived && document.project == project_id;
  const auto found = entries.find(document.id);
  const bool was = found != entries.end() && found->second.present;
  if (!was && !in) return;
  SyncEntry& entry = entries[document.id];
  if (!was || moved) {
    const bool known = was && in && is_free(name_of(entry.path));
    // The folder of a path outside the root is empty; if the name is taken, the service adds a number that the model
    // does not know.
    entry.path = known ? name_of(entry.path) : std::string();
  }
  entry.present = in;
  if (!in) entry.left_with = document.revision;
  entry.changed_at = ++revision;
}

std::string SyncModel::at(const std::string& path) const {
  for (const auto& [id, entry] : entries) {
    if (entry.present && entry.path == path) return id;
  }
  return {};
}

std::string SyncModel::subject_of(const SyncItem& item) const {
  return item.document_id.empty() ? "path " + item.path : item.document_id;
}

CommitResult SyncModel::commit_result(const Model& model, const std::vector<SyncItem>& items) const {
  CommitResult result;
  std::set<std::size_t> candidates;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const std::string kind = clash(model, *this, items[i]); !kind.empty()) {
      result.conflicts[i] = kind == "any" ? "" : kind;
    } else {
      candidates.insert(i);
    }
  }
  for (bool again = true; again;) {
    again = false;
    std::map<std::string, std::string> held;  // path -> document that keeps it
    for (const auto& [id, entry] : entries) {
      const bool moves = std::ranges::any_of(
          candidates, [&](std::size_t i) { return items[i].document_id == id && items[i].action != "push_update"; });
      if (entry.present && !moves) held[entry.path] = id;
    }
    for (const std::size_t i : std::set<std::size_t>(candidates)) {
      const SyncItem& item = items[i];
      if (item.action == "push_delete" || item.action == "push_update") continue;
      if (!held.contains(item.path)) continue;
      candidates.erase(i);
      // For a new file: `hash` if the other file was created there too, `path` if it was moved there.
      result.conflicts[i] = item.action == "push_create" ? "" : "path";
      again = true;
    }
  }
  result.applied.assign(candidates.begin(), candidates.end());
  return result;
}

std::vector<std::string> SyncModel::changed_since(std::int64_t since) const {
  std::vector<std::string> ids;
  for (const auto& [id, entry] : entries) {
    if (entry.changed_at > since) ids.push_back(id);
  }
  return ids;
}

}  // namespace ws::mock::test
