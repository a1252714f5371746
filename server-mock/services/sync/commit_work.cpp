#include "server-mock/services/sync/commit_work.hpp"

#include <unordered_map>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

ApiResult<void> check_push(World& world, std::string_view push_id, std::string_view plan_id) {
  WS_API_LET(const bool found,
             has_row(world, "select 1 from sync_pushes where id = ? and plan_id = ?", push_id, plan_id));
  if (!found) return not_found("push of this plan");
  return {};
}

Result<std::vector<StagedItem>> read_push(World& world, std::string_view push_id) {
  return read_rows(world,
                   read_as<StagedItem>,
                   "select push_id, place, path, action, document_id, content is not null, content_sha256, "
                   "expected_content_revision, previous_path from sync_staged where push_id = ? "
                   "order by place",
                   push_id);
}

/// Adds an item to the others of its document; replaces what an earlier push said about text, path or deletion.
void add_item(Work& work, StagedItem item) {
  if (item.deletes()) {
    work = Work{};
    work.deletion = 0;
    work.items.push_back(std::move(item));
    return;
  }
  if (work.deletion) work = Work{};
  if (item.has_text) work.text = work.items.size();
  if (item.moves()) work.move = work.items.size();
  work.items.push_back(std::move(item));
}

/// Removes items that later ones replaced completely.
void drop_replaced(Work& work) {
  if (work.items.size() < 2) return;
  std::vector<StagedItem> kept;
  Work result;
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    if (work.text != i && work.move != i && work.deletion != i) continue;
    if (work.text == i) result.text = kept.size();
    if (work.move == i) result.move = kept.size();
    if (work.deletion == i) result.deletion = kept.size();
    kept.push_back(std::move(work.items[i]));
  }
  result.items = std::move(kept);
  if (!result.items.empty()) work = std::move(result);
}

ApiResult<void> look_up(World& world, const ServiceCall& call, const VisibleSource& seen, Work& work) {
  const std::string& id = work.items.front().document_id;
  if (id.empty()) return {};
  WS_API_LET(work.entry, find_entry(world, seen.source.id, id));
  WS_API_LET(work.document, find_document(world, id, WithContent::no));
  AccessLevel access = AccessLevel::none;
  if (work.entry && work.document) {
    WS_API_LET(access, access_in(world, call.caller, seen, *work.document));
  }
  if (access < AccessLevel::edit) return forbidden("You may no longer change a staged document");
  return {};
}

/// The kind of conflict with the current state of the document; empty: none.
std::string judge_document(const Work& work) {
  const Document& document = *work.document;
  const SyncEntry& entry = *work.entry;
  const auto expected = work.lead().expected_content_revision;
  const bool as_expected = expected == document.content_revision;
  if (work.deletion) {
    if (!entry.present) return {};
    const StagedItem& item = work.items[*work.deletion];
    const std::string& from = item.previous_path ? *item.previous_path : item.path;
    return as_expected && utf8::fold_key(from) == utf8::fold_key(entry.path) ? "" : "delete_edit";
  }
  if (!entry.present) return "edit_delete";
  if (work.changes_text() && !as_expected) return expected ? "revision" : "hash";
  if (!work.move) return {};
  const StagedItem& item = work.items[*work.move];
  const bool moved_there = item.previous_path && *item.previous_path != entry.path && item.path != entry.path;
  if (moved_there) return "path";
  return !work.text && expected && !as_expected ? "revision" : "";
}

/// The path change of a work item; empty if it has a conflict already.
PathChange path_change(const Work& work) {
  std::string id = work.document ? work.document->id : std::string();
  if (work.failed()) return {.document_id = std::move(id)};
  if (work.creates()) {
    if (work.deletion) return {};
    return {.wants = work.lead().path};
  }
  const bool renames =
      work.changes_path() && utf8::fold_key(work.items[*work.move].path) != utf8::fold_key(work.entry->path);
  const bool leaves = work.entry->present && (renames || work.deletion.has_value());
  if (!renames) return {.document_id = std::move(id), .leaves = leaves};
  return {.document_id = std::move(id), .wants = work.items[*work.move].path, .leaves = leaves};
}

/// The kind of conflict if the path is taken; empty if the document there has the same bytes.
Result<void> judge_clash(World& world, const VisibleSource& seen, Work& work, const Clash& clash) {
  work.conflict_kind = "path";
  work.holder_id = clash.holder_id;
  if (!work.creates() || clash.holder_id.empty()) return {};
  WS_LET(const std::optional<Document> holder, find_document(world, clash.holder_id, WithContent::no));
  WS_LET(const std::optional<SyncEntry> entry, find_entry(world, seen.source.id, clash.holder_id));
  if (!holder || !entry) return {};
  if (holder->content_sha256 == work.lead().content_sha256) {
    work.conflict_kind.clear();
    work.adopted = holder->id;
  } else if (entry->entered_revision == entry->path_revision) {
    work.conflict_kind = "hash";  // created on both sides; else moved there
  }
  return {};
}

}  // namespace

ApiResult<std::vector<Work>> gather_work(World& world,
                                         const ServiceCall& call,
                                         const VisibleSource& seen,
                                         const Plan& plan) {
  std::vector<Work> all;
  std::unordered_map<std::string, std::size_t> places;  // by document, or by path for creations
  for (const Json& push : call.body.at("push_ids")) {
    const std::string push_id = id_of(Json{{"id", push}}, "id");
    WS_API_TRY(check_push(world, push_id, plan.id));
    WS_API_LET(std::vector<StagedItem> items, read_push(world, push_id));
    for (StagedItem& item : items) {
      const std::string key = item.document_id.empty() ? "path:" + item.path : item.document_id;
      const auto [place, fresh] = places.try_emplace(key, all.size());
      if (fresh) all.emplace_back();
      add_item(all[place->second], std::move(item));
    }
  }
  for (Work& work : all) {
    drop_replaced(work);
    WS_API_TRY(look_up(world, call, seen, work));
  }
  return all;
}

Result<void> judge_work(World& world, const VisibleSource& seen, std::vector<Work>& all) {
  std::vector<PathChange> changes;
  changes.reserve(all.size());
  for (Work& work : all) {
    if (work.document) work.conflict_kind = judge_document(work);
    changes.push_back(path_change(work));
  }
  WS_LET(const std::vector<std::optional<Clash>> clashes, check_paths(world, seen.source.id, changes));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (clashes[i]) WS_TRY(judge_clash(world, seen, all[i], *clashes[i]));
  }
  return {};
}

}  // namespace ws::mock
