#include <unordered_set>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr const char* action_names[] = {"push_create",
                                        "push_update",
                                        "push_delete",
                                        "push_move",
                                        "pull_create",
                                        "pull_update",
                                        "pull_delete",
                                        "pull_move",
                                        "conflict",
                                        "unchanged"};

// The three-way decision about one document from base, local and remote; a pure function. Whether a wanted path is free
// is checked afterwards for all documents together (`path_conflicts.cpp`).

/// A file as the client describes it.
struct LocalFile {
  std::string path = {};
  std::string document_id = {};                    ///< empty: not a document yet
  std::optional<std::string> content_sha256 = {};  ///< empty: deleted locally
  std::optional<std::int64_t> base_content_revision = {};
  std::optional<std::string> previous_path = {};
};

/// The document as the service has it.
struct RemoteFile {
  bool known = false;    ///< it is or was in the source
  bool present = false;  ///< false: deleted, or moved out
  std::string path = {};
  std::int64_t content_revision = 0;
  std::string content_sha256 = {};
};

struct Decision {
  std::string action = {};  ///< one of the ten in `decisions.md`
  std::string reason = {};
  std::string path = {};
  std::string previous_path = {};  ///< of a move; or empty
  std::string kind = {};           ///< of a conflict; or empty
};

/// How one side differs from the base.
struct Difference {
  bool edited = false;
  bool moved = false;
};

Decision conflict_decision(const LocalFile& local, std::string kind, std::string reason) {
  return {.action = "conflict", .reason = std::move(reason), .path = local.path, .kind = std::move(kind)};
}

/// The local file was deleted (rows D*): a remote change wins over the deletion.
std::vector<Decision> decide_deletion(const LocalFile& local, const RemoteFile& remote, const Difference& there) {
  if (!remote.present) return {{.action = "unchanged", .reason = "deleted on both sides", .path = local.path}};
  if (there.edited)
    return {{.action = "pull_create", .reason = "deleted locally, edited on the service", .path = remote.path}};
  if (there.moved)
    return {{.action = "pull_create", .reason = "deleted locally, moved on the service", .path = remote.path}};
  return {{.action = "push_delete", .reason = "deleted locally", .path = remote.path}};
}

void decide_text(std::vector<Decision>& rows, const LocalFile& local, const RemoteFile& remote, bool here, bool there) {
  if (local.content_sha256 == remote.content_sha256) return;
  if (here && there) {
    const bool based = local.base_content_revision.has_value();
    rows = {conflict_decision(local, based ? "revision" : "hash", "edited on both sides")};
  } else if (here) {
    rows.push_back({.action = "push_update", .reason = "edited locally", .path = remote.path});
  } else if (there) {
    rows.push_back({.action = "pull_update", .reason = "edited on the service", .path = local.path});
  }
}

void decide_path(std::vector<Decision>& rows, const LocalFile& local, const RemoteFile& remote, bool here, bool there) {
  if (local.path == remote.path) return;
  if (here && there) {
    rows = {conflict_decision(local, "path", "renamed on both sides")};
  } else if (here) {
    rows.push_back(
        {.action = "push_move", .reason = "moved locally", .path = local.path, .previous_path = remote.path});
  } else if (there) {
    rows.push_back(
        {.action = "pull_move", .reason = "moved on the service", .path = remote.path, .previous_path = local.path});
  }
}

/// One decision, or two if text and path are to be synced in different directions. `base_sha256`: of the text at the
/// file's base revision; empty if there is none.
std::vector<Decision> decide(const LocalFile& local, const std::string& base_sha256, const RemoteFile& remote) {
  if (local.document_id.empty()) {
    if (!local.content_sha256)
      return {{.action = "unchanged", .reason = "there is no such document", .path = local.path}};
    return {{.action = "push_create", .reason = "created locally", .path = local.path}};
  }
  if (!remote.known)
    return {{.action = "unchanged", .reason = "the document is not in this source", .path = local.path}};

  const std::string& base_path = local.previous_path ? *local.previous_path : local.path;
  const Difference there = {.edited = base_sha256.empty() || remote.content_sha256 != base_sha256,
                            .moved = remote.path != base_path};
  if (!local.content_sha256) return decide_deletion(local, remote, there);
  const Difference here = {.edited = base_sha256.empty() || *local.content_sha256 != base_sha256,
                           .moved = local.path != base_path};
  if (!remote.present) {
    if (here.edited || here.moved)
      return {conflict_decision(local, "edit_delete", "changed locally, deleted on the service")};
    return {{.action = "pull_delete", .reason = "deleted on the service", .path = local.path}};
  }
  std::vector<Decision> rows;
  decide_text(rows, local, remote, here.edited, there.edited);
  if (rows.empty() || rows.front().action != "conflict") decide_path(rows, local, remote, here.moved, there.moved);
  if (rows.empty()) rows.push_back({.action = "unchanged", .reason = "same on both sides", .path = local.path});
  return rows;
}

/// One row of the plan.
struct Row {
  Decision judgement = {};
  std::string document_id = {};
  std::optional<std::int64_t> content_revision = {};
  std::string content_sha256 = {};
  std::string subject = {};  ///< identifies an open conflict of the row
};

LocalFile read_local_file(const Json& entry) {
  LocalFile local = {.path = utf8::nfc(text_of(entry, "path")), .document_id = id_of(entry, "document_id")};
  if (const auto sha = text_of(entry, "content_sha256"); !sha.empty()) local.content_sha256 = std::string(sha);
  local.base_content_revision = find_integer(entry, "base_content_revision");
  if (const auto from = text_of(entry, "previous_path"); !from.empty()) local.previous_path = utf8::nfc(from);
  return local;
}

class Planning {
 public:
  Planning(World& world, const ServiceCall& call, const VisibleSource& seen)
      : world_(world), call_(call), seen_(seen) {}

  Result<std::vector<Row>> rows() {
    const Json* entries = find(call_.body, "entries");
    if (entries != nullptr) {
      for (const Json& entry : *entries) WS_TRY(add_entry(read_local_file(entry)));
    }
    WS_TRY(resolve_path_conflicts());
    WS_TRY(add_unlisted(integer_of(call_.body, "base_revision", 0)));
    return std::move(rows_);
  }

 private:
  Result<void> add_entry(const LocalFile& local) {
    const std::string key = utf8::fold_key(local.path);
    std::optional<std::string> problem = path_problem(local.path);
    if (!problem && local.content_sha256 && !keys_.insert(key).second)
      problem = "another path of the source differs only in case or accents";
    if (!local.document_id.empty()) named_.insert(local.document_id);
    const std::string subject = local.document_id.empty() ? "path:" + key : local.document_id;
    if (problem) {
      rows_.push_back({.judgement = {.action = "conflict",
                                     .reason = "the path is refused: " + *problem,
                                     .path = local.path,
                                     .kind = "path"},
                       .document_id = local.document_id,
                       .subject = subject});
      return {};
    }
    WS_LET(const RemoteFile remote, find_remote(local.document_id));
    std::string base_sha256;
    if (local.base_content_revision && local.base_content_revision <= remote.content_revision) {
      WS_LET(std::optional<PastText> base, find_text_at(world_, local.document_id, *local.base_content_revision));
      if (base) base_sha256 = std::move(base->sha256);
    }
    for (Decision& judgement : decide(local, base_sha256, remote)) {
      const bool ours = !remote.known || judgement.action == "push_update" || judgement.action == "push_create";
      rows_.push_back({.judgement = std::move(judgement),
                       .document_id = local.document_id,
                       .content_revision = remote.known ? std::optional(remote.content_revision) : std::nullopt,
                       .content_sha256 = ours ? local.content_sha256.value_or("") : remote.content_sha256,
                       .subject = subject});
    }
    return {};
  }

  Result<RemoteFile> find_remote(const std::string& document_id) {
    if (document_id.empty()) return RemoteFile{};
    WS_LET(const std::optional<SyncEntry> entry, find_entry(world_, seen_.source.id, document_id));
    WS_LET(const std::optional<Document> document, find_entered(world_, entry, WithContent::no));
    if (!document) return RemoteFile{};
    WS_LET(const AccessLevel access, access_in(world_, call_.caller, seen_, *document));
    if (access == AccessLevel::none) return RemoteFile{};
    return RemoteFile{.known = true,
                      .present = entry->present,
                      .path = entry->path,
                      .content_revision = document->content_revision,
                      .content_sha256 = document->content_sha256};
  }

  /// A creation or a move to a path that another document has becomes a conflict.
  Result<void> resolve_path_conflicts() {
    std::vector<PathChange> changes;
    changes.reserve(rows_.size());
    for (const Row& row : rows_) {
      const std::string& action = row.judgement.action;
      const bool wants = action == "push_create" || action == "push_move";
      changes.push_back({.document_id = row.document_id,
                         .wants = wants ? std::optional(row.judgement.path) : std::nullopt,
                         .leaves = action == "push_delete" || action == "push_move"});
    }
    WS_LET(const std::vector<std::optional<Clash>> clashes, check_paths(world_, call_.caller, seen_, changes));
    for (std::size_t i = 0; i < clashes.size(); ++i) {
      if (clashes[i]) WS_TRY(refuse(rows_[i], *clashes[i]));
    }
    return {};
  }

  Result<void> refuse(Row& row, const Clash& clash) {
    Decision& judgement = row.judgement;
    const bool creation = judgement.action == "push_create";
    if (creation && !clash.holder_id.empty()) {
      WS_LET(const std::optional<Document> holder, find_document(world_, clash.holder_id, WithContent::no));
      if (holder) {
        named_.insert(holder->id);
        row.document_id = holder->id;
        row.content_revision = holder->content_revision;
        if (holder->content_sha256 == row.content_sha256) {
          judgement = {.action = "unchanged", .reason = "the same bytes are there already", .path = judgement.path};
          return {};
        }
        row.content_sha256 = holder->content_sha256;
        judgement = {.action = "conflict", .reason = "created on both sides", .path = judgement.path, .kind = "hash"};
        return {};
      }
    }
    judgement = {.action = "conflict", .reason = "the path is taken", .path = judgement.path, .kind = "path"};
    return {};
  }

  /// Adds documents that changed on the service since the base and that the client did not list.
  Result<void> add_unlisted(std::int64_t base_revision) {
    WS_LET(const sqlite::CachedStatement rows,
           world_.database.cached(
               "select " WS_DOCUMENT_COLUMNS
               ", e.path, e.present, e.first_entered_revision, e.entered_revision, e.path_revision, "
               "e.text_revision, e.as_left from sync_entries e join documents d on d.id = e.document_id "
               "join nodes n on n.id = d.node_id where e.source_id = ? and e.revision > ? "
               "order by e.revision"));
    rows->bind_all(seen_.source.id, base_revision);
    while (true) {
      WS_LET(const bool found, rows->step());
      if (!found) return {};
      Document document = read_document(*rows, WithContent::no);
      if (named_.contains(document.id)) continue;
      WS_LET(const AccessLevel access, access_in(world_, call_.caller, seen_, document));
      if (access == AccessLevel::none) continue;
      WS_TRY(show_as_left(document, rows->text(document_column_count + 6)));
      const SyncEntry entry = {.present = rows->integer(document_column_count + 1) != 0,
                               .path = rows->string(document_column_count),
                               .first_entered_revision = rows->integer(document_column_count + 2),
                               .entered_revision = rows->integer(document_column_count + 3),
                               .path_revision = rows->integer(document_column_count + 4),
                               .text_revision = rows->integer(document_column_count + 5)};
      add_pulls(document, entry, base_revision);
    }
  }

  void add_pulls(const Document& document, const SyncEntry& entry, std::int64_t base_revision) {
    const auto add = [&](const char* action, const char* reason) {
      rows_.push_back({.judgement = {.action = action, .reason = reason, .path = entry.path},
                       .document_id = document.id,
                       .content_revision = document.content_revision,
                       .content_sha256 = document.content_sha256,
                       .subject = document.id});
    };
    if (!entry.present) {
      if (entry.first_entered_revision <= base_revision) add("pull_delete", "deleted on the service");
    } else if (entry.entered_revision > base_revision) {
      add("pull_create", "created on the service");
    } else {
      if (entry.path_revision > base_revision) add("pull_move", "moved on the service");
      if (entry.text_revision > base_revision) add("pull_update", "edited on the service");
      if (entry.path_revision <= base_revision && entry.text_revision <= base_revision) {
        add("unchanged", "only the title changed");
      }
    }
  }

  World& world_;
  const ServiceCall& call_;
  const VisibleSource& seen_;
  std::vector<Row> rows_ = {};
  std::unordered_set<std::string> named_ = {};  // documents
  std::unordered_set<std::string> keys_ = {};   // of paths, folded
};

Result<Json> to_json(
    World& world, const Caller& caller, const Row& row, const VisibleSource& seen, std::string_view client_id) {
  Json conflict_id = nullptr;
  if (row.judgement.action == "conflict") {
    std::string document_id = row.document_id;
    if (document_id.empty()) {
      WS_LET(document_id, find_shown_holder(world, caller, seen, utf8::fold_key(row.judgement.path)));
    }
    WS_LET(const std::optional<std::string> open,
           find_open_conflict(world, seen.source.id, client_id, row.subject, document_id, row.judgement.path));
    if (open) conflict_id = *open;
  }
  return Json{{"path", row.judgement.path},
              {"action", row.judgement.action},
              {"reason", row.judgement.reason},
              {"document_id", text_or_null(row.document_id)},
              {"content_revision", row.content_revision ? Json(*row.content_revision) : Json(nullptr)},
              {"content_sha256", text_or_null(row.content_sha256)},
              {"previous_path", text_or_null(row.judgement.previous_path)},
              {"conflict_id", std::move(conflict_id)}};
}

Result<void> insert_plan(World& world, const ServiceCall& call, const Plan& plan) {
  return put(world,
             "insert into sync_plans (id, source_id, actor, client_id, base_revision, created_at, "
             "expires_at) values (?, ?, ?, ?, ?, ?, ?)",
             plan.id,
             plan.source_id,
             actor_key(call.caller),
             plan.client_id,
             plan.base_revision,
             world.now(),
             plan.expires_at);
}

/// Drops the staged texts of plans that cannot be committed any more. The plans stay: a commit of one that expired is
/// told so, of one that was committed gets its stored response.
Result<void> drop_lapsed_texts(World& world) {
  WS_TRY(put(world,
             "delete from sync_staged where push_id in (select p.id from sync_pushes p "
             "join sync_plans l on l.id = p.plan_id where l.expires_at <= ?)",
             world.now()));
  return put(world,
             "delete from sync_pushes where plan_id in (select l.id from sync_pushes p "
             "join sync_plans l on l.id = p.plan_id where l.expires_at <= ?)",
             world.now());
}

ServiceResult plan_sync(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const VisibleSource seen, find_visible_source(world, call, id_of(call.body, "source_id")));
  WS_API_TRY(drop_lapsed_texts(world));
  WS_API_LET(const std::vector<Row> rows, Planning(world, call, seen).rows());
  const Plan plan = {.id = world.ids.uuid("sync_plan"),
                     .source_id = seen.source.id,
                     .client_id = std::string(text_of(call.body, "client_id")),
                     .base_revision = integer_of(call.body, "base_revision", 0),
                     .expires_at = world.now() + plan_lifetime_ms};
  WS_API_TRY(insert_plan(world, call, plan));
  Json actions = Json::array();
  Json summary = Json::object();
  for (const char* name : action_names) summary[name] = 0;
  for (const Row& row : rows) {
    WS_API_LET(Json action, to_json(world, call.caller, row, seen, plan.client_id));
    actions.push_back(std::move(action));
    Json& count = summary[row.judgement.action];
    count = count.get<int>() + 1;
  }
  WS_API_TRY(work.commit());
  return Answer{.body = Json{{"plan_id", plan.id},
                             {"source_id", plan.source_id},
                             {"revision", seen.source.revision},
                             {"base_revision", plan.base_revision},
                             {"actions", std::move(actions)},
                             {"summary", std::move(summary)},
                             {"expires_at", rfc3339(plan.expires_at)}}};
}

}  // namespace

ServiceTable sync_plan_services() {
  static constexpr ServiceEntry entries[] = {
      {"sync.plan", plan_sync},
  };
  return entries;
}

}  // namespace ws::mock
