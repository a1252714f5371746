#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

// The work of a commit: the staged items grouped by document, with the decision about each.

/// One staged item; its text stays in the database until it is needed.
struct StagedItem {
  std::string push_id = {};
  std::int64_t place = 0;
  std::string path = {};
  std::string action = {};
  std::string document_id = {};
  bool has_text = false;
  std::string content_sha256 = {};
  std::optional<std::int64_t> expected_content_revision = {};
  std::optional<std::string> previous_path = {};

  bool deletes() const {
    return action == "push_delete" || (!has_text && content_sha256.empty() && action == "conflict");
  }
  bool moves() const { return action == "push_move" || (previous_path && *previous_path != path); }
};

/// The items of one document (text and move may be separate), or one creation.
struct Work {
  std::vector<StagedItem> items = {};
  std::optional<std::size_t> text = {};  ///< index of the item with the text, the path, the deletion
  std::optional<std::size_t> move = {};
  std::optional<std::size_t> deletion = {};
  std::optional<Document> document = {};  ///< the current document; empty for a creation
  std::optional<SyncEntry> entry = {};
  std::string conflict_kind = {};  ///< if not empty, nothing of it is applied
  std::string adopted = {};        ///< of a creation: id of a document with the same path and bytes
  std::string holder_id = {};      ///< document that has the wanted path

  bool failed() const { return !conflict_kind.empty(); }
  bool creates() const { return !document; }
  bool changes_text() const { return text && document && items[*text].content_sha256 != document->content_sha256; }
  bool changes_path() const { return move && entry && items[*move].path != entry->path; }
  const StagedItem& lead() const { return items[text ? *text : move ? *move : 0]; }
};

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
  WS_API_LET(work.document, find_entered(world, work.entry, WithContent::no));
  if (!work.document) return forbidden("A staged document is not in this source any more");
  return require_edit(world, call.caller, seen, *work.document);
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

/// Reads the staged items of these pushes; later items replace earlier ones of the same file. 404 if a push does not
/// belong to the plan; 403 if the caller may no longer change a document.
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

/// Decides about each work item: first by revisions, then by the paths of all together.
Result<void> judge_work(World& world, const Caller& caller, const VisibleSource& seen, std::vector<Work>& all) {
  std::vector<PathChange> changes;
  changes.reserve(all.size());
  for (Work& work : all) {
    if (work.document) {
      work.conflict_kind = judge_document(work);
    } else if (!work.text) {
      work.conflict_kind = work.deletion ? "delete_edit" : "path";  // it names no document, nor the text of a new one
    }
    changes.push_back(path_change(work));
  }
  WS_LET(const std::vector<std::optional<Clash>> clashes, check_paths(world, caller, seen, changes));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (clashes[i]) WS_TRY(judge_clash(world, seen, all[i], *clashes[i]));
  }
  return {};
}

/// Maximal length of a title in characters (`decisions.md`, "document"); a file name has at most 255 bytes.
std::string title_of(std::string_view path) { return std::string(stem_of(file_name_of(path))); }

/// Applies the work items without a conflict, and records the conflicts of the others.
class Commit {
 public:
  Commit(World& world, const ServiceCall& call, const VisibleSource& seen, DocumentChanges changes)
      : world_(world), call_(call), seen_(seen), changes_(std::move(changes)), pages_(world, call.caller, seen) {}

  Result<void> apply(std::vector<Work>& all) {
    // All paths that change are freed first, so that swaps and chains of moves work.
    for (Work& work : all) {
      if (work.failed() || work.creates()) continue;
      if (work.deletion) {
        WS_TRY(remove(work));
      } else if (work.changes_path()) {
        WS_TRY(release_path(world_, seen_.source.id, work.document->id));
      }
    }
    for (Work& work : all) {
      if (work.failed() || work.deletion) continue;
      WS_TRY(work.creates() ? create(work) : change(work));
    }
    for (const std::string& page : left_pages_) WS_TRY(pages_.prune(page));
    for (Work& work : all) {
      if (work.failed()) WS_TRY(record_conflict(work));
    }
    return {};
  }

  Json take_applied() { return std::move(*applied_); }
  Json take_conflicts() { return std::move(*conflicts_); }

 private:
  Result<sqlite::CachedStatement> staged_text(const StagedItem& item) {
    WS_LET(sqlite::CachedStatement row,
           world_.database.cached("select content from sync_staged where push_id = ? and place = ?"));
    row->bind_all(item.push_id, item.place);
    WS_TRY(row->step());
    return row;
  }

  Result<void> remove(Work& work) {
    if (work.entry->present) {
      left_pages_.insert(work.document->parent_node_id);
      WS_TRY(changes_.archive(*work.document));
    }
    report(work, *work.document, work.entry->path);
    return {};
  }

  Result<void> change(Work& work) {
    Document& document = *work.document;
    std::string path = work.entry->path;
    if (work.changes_text()) {
      const StagedItem& item = work.items[*work.text];
      WS_LET(const sqlite::CachedStatement text, staged_text(item));
      WS_TRY(changes_.rewrite(document, {.content = text->text(0), .content_sha256 = item.content_sha256}));
    }
    if (work.changes_path()) {
      path = work.items[*work.move].path;
      WS_LET(const Node parent, pages_.find_or_make(folder_of(path)));
      if (parent.id != document.parent_node_id) left_pages_.insert(document.parent_node_id);
      WS_TRY(changes_.move(document, parent, RequestedPath{.source_id = seen_.source.id, .path = path}));
    }
    report(work, document, path);
    return {};
  }

  Result<void> create(Work& work) {
    const StagedItem& item = work.lead();
    if (!work.adopted.empty()) {
      WS_LET(const std::optional<Document> there, find_document(world_, work.adopted, WithContent::no));
      report(work, *there, item.path);
      return {};
    }
    WS_LET(const Node parent, pages_.find_or_make(folder_of(item.path)));
    WS_LET(const sqlite::CachedStatement text, staged_text(item));
    const std::string title = title_of(item.path);
    WS_LET(const Document made,
           changes_.create({.workspace_id = parent.workspace_id,
                            .parent_node_id = parent.id,
                            .project_id = parent.project_id,
                            .title = title,
                            .content = text->text(0),
                            .content_sha256 = item.content_sha256},
                           RequestedPath{.source_id = seen_.source.id, .path = item.path}));
    report(work, made, item.path);
    return {};
  }

  void report(const Work& work, const Document& document, std::string_view path) {
    for (const StagedItem& item : work.items) {
      applied_->push_back({{"path", path},
                           {"action", item.action},
                           {"document_id", document.id},
                           {"content_revision", document.content_revision},
                           {"content_sha256", document.content_sha256}});
    }
  }

  Result<void> record_conflict(Work& work) {
    const StagedItem& item = work.deletion ? work.items[*work.deletion] : work.lead();
    const std::string path = work.move ? work.items[*work.move].path : item.path;
    Conflict conflict = {
        .source_id = seen_.source.id,
        .client_id = std::string(text_of(call_.body, "client_id")),
        .subject = work.creates() ? "path:" + utf8::fold_key(path) : work.document->id,
        .document_id = work.creates() ? work.holder_id : work.document->id,
        .path = path,
        .kind = work.conflict_kind,
        .local_content_sha256 = work.deletion ? "" : item.content_sha256,
        .local_deleted = work.deletion.has_value(),
        .local_path = path,
    };
    if (work.move) conflict.local_previous_path = work.items[*work.move].previous_path;
    if (work.move && work.entry && !conflict.local_previous_path) conflict.local_previous_path = work.entry->path;
    // No text that was written after the document left the source.
    if (work.document && item.expected_content_revision <= work.document->content_revision) {
      WS_TRY(add_base(conflict, item));
    }
    if (item.has_text) {
      WS_LET(const sqlite::CachedStatement text, staged_text(item));
      conflict.local_content = text->string(0);
    } else if (!conflict.local_deleted) {
      // Only moved: the local text is the base text.
      conflict.local_content = conflict.base_content;
      if (conflict.local_content_sha256.empty()) conflict.local_content_sha256 = conflict.base_content_sha256;
    }
    // The path is taken by a creation of the same commit, or by a folder: find the document that is there now.
    if (conflict.document_id.empty()) {
      WS_LET(conflict.document_id, find_shown_holder(world_, call_.caller, seen_, utf8::fold_key(path)));
    }
    WS_TRY(save_open_conflict(world_, conflict));
    conflicts_->push_back({{"id", conflict.id}, {"path", conflict.path}, {"kind", conflict.kind}});
    return {};
  }

  Result<void> add_base(Conflict& conflict, const StagedItem& item) {
    if (!item.expected_content_revision) return {};
    WS_LET(std::optional<PastText> base, find_text_at(world_, item.document_id, *item.expected_content_revision));
    if (!base) return {};
    conflict.base_content_revision = item.expected_content_revision;
    conflict.base_content_sha256 = std::move(base->sha256);
    conflict.base_content = std::move(base->content);
    return {};
  }

  World& world_;
  const ServiceCall& call_;
  const VisibleSource& seen_;
  DocumentChanges changes_;
  Pages pages_;
  std::set<std::string> left_pages_ = {};
  JsonBox applied_ = Json(Json::array());
  JsonBox conflicts_ = Json(Json::array());
};

/// Stores the response, which later calls get again, and drops the staged texts.
Result<void> close_plan(World& world, const Plan& plan, const std::string& commit_id, const std::string& body) {
  WS_TRY(put(world, "update sync_plans set commit_id = ?, commit_body = ? where id = ?", commit_id, body, plan.id));
  WS_TRY(
      put(world, "delete from sync_staged where push_id in (select id from sync_pushes where plan_id = ?)", plan.id));
  WS_TRY(put(world, "delete from sync_pushes where plan_id = ?", plan.id));
  return put(world,
             "update sync_sources set last_committed_at = ?, updated_at = ? where id = ?",
             world.now(),
             world.now(),
             plan.source_id);
}

/// 200 also with conflicts, or (assumption `sync_conflict_status`) 409 with the same body.
Answer commit_answer(const World& world, Json body) {
  Answer answer;
  if (!body.at("conflicts").empty()) {
    answer.headers.emplace_back(assumed_header, world.assumptions.assignment("sync_conflict_status"));
    if (world.assumptions.is("sync_conflict_status", "409")) {
      answer.status = 409;
      body["detail"] = "Some documents conflict; the others were committed";
      body["code"] = "sync_conflict";
    }
  }
  *answer.body = std::move(body);
  return answer;
}

ServiceResult commit_sync(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const VisibleSource seen, find_visible_source(world, call, id_of(call.body, "source_id")));
  WS_API_LET(const Plan plan, find_plan(world, call, id_of(call.body, "plan_id"), seen.source.id));
  if (plan.commit_body) {
    WS_API_LET(Json body, parse_bounded(*plan.commit_body));
    return commit_answer(world, std::move(body));
  }
  if (plan.expires_at <= world.now()) return conflict("plan_expired", "The plan is over an hour old; make a new plan");

  WS_API_LET(std::vector<Work> all, gather_work(world, call, seen, plan));
  WS_API_TRY(judge_work(world, call.caller, seen, all));
  WS_API_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
  Commit commit(world, call, seen, std::move(changes));
  WS_API_TRY(commit.apply(all));
  WS_API_LET(const std::optional<Source> now, find_source(world, seen.source.id));

  const std::string commit_id = world.ids.uuid("sync_commit");
  Json conflicts = commit.take_conflicts();
  const char* status = conflicts.empty() ? "committed" : "partly_conflicted";
  Json body = {{"commit_id", commit_id},
               {"source_id", seen.source.id},
               {"plan_id", plan.id},
               {"revision", now->revision},
               {"status", status}};
  body["applied"] = commit.take_applied();
  body["conflicts"] = std::move(conflicts);
  WS_API_TRY(close_plan(world, plan, commit_id, dump(body)));
  WS_API_TRY(work.commit());
  return commit_answer(world, std::move(body));
}

}  // namespace

ServiceTable sync_commit_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.commit", commit_sync},
  };
  return entries;
}

}  // namespace ws::mock
