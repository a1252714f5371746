#include <set>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/commit_work.hpp"
#include "server-mock/services/sync/pages.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

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
    if (work.move) conflict.local_previous_path = work.items[*work.move].previous_path.value_or(work.entry->path);
    WS_TRY(add_base(conflict, item));
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
      WS_LET(const std::optional<SyncEntry> holder, find_holder(world_, seen_.source.id, utf8::fold_key(path)));
      if (holder) conflict.document_id = holder->document_id;
    }
    WS_TRY(save_open_conflict(world_, conflict));
    conflicts_->push_back({{"id", conflict.id}, {"path", conflict.path}, {"kind", conflict.kind}});
    return {};
  }

  Result<void> add_base(Conflict& conflict, const StagedItem& item) {
    if (item.document_id.empty() || !item.expected_content_revision) return {};
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
  WS_API_TRY(judge_work(world, seen, all));
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
