#include <nlohmann/json.hpp>

#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/events/notify.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/entity_tags.hpp"
#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view documents_list = "docs.list";

// Newest first; the cross joins keep the order of the table, so that nothing is sorted. Visibility is part of the
// query, so that pages are full. ?1 person, ?2 before, ?3 only this Workspace, ?4 agent, ?5 limit, ?6 the Workspace of
// the key, ?7 whether the caller is an admin in it.
constexpr const char* documents_query =
    "select " WS_DOCUMENT_COLUMNS
    " from documents d cross join nodes n on n.id = d.node_id "
    "cross join members m on m.workspace_id = d.workspace_id and m.user_id = ?1 "
    "where d.status = 'active' and d.sequence < ?2 and (?3 = '' or d.workspace_id = ?3) and (n.project_id <> '' "
    "  or (?4 = '' and (d.created_by_user_id = ?1 "
    "    or iif(d.workspace_id = ?6, ?7, ?7 is not null and m.role in ('owner', 'admin')))) "
    "  or (?4 <> '' and d.created_by_agent_id = ?4) "
    "  or exists (select 1 from shares s where s.document_id = d.id "
    "    and s.grantee_kind = iif(?4 = '', 'user', 'agent') and s.grantee_id = iif(?4 = '', ?1, ?4))) "
    "order by d.sequence desc limit ?5";

Answer document_answer(const World& world, int status, Document&& document) {
  std::string etag = document_etag(world, document);
  return {.status = status, .body = to_text(std::move(document)), .headers = {{"ETag", std::move(etag)}}};
}

ServiceResult list_documents(World& world, const ServiceCall& call) {
  WS_API_LET(const std::int64_t before, cursor_position(call, documents_list, from_newest));
  const std::int64_t limit = integer_of(call.parameters, "limit", 50);
  WS_API_LET(const sqlite::CachedStatement rows, world.database.cached(documents_query));
  rows->bind_all(call.caller.owner_user_id,
                 before,
                 bound_workspace(call.caller),
                 call.caller.agent_id,
                 limit + 1,
                 call.caller.workspace_id,
                 bound_admin_flag(call.caller));
  return read_page(
      *rows, documents_list, limit, [](const sqlite::Statement& row, Json& data) -> ApiResult<std::int64_t> {
        Document document = read_document(row, WithContent::no);
        const std::int64_t position = document.sequence;
        data.push_back(to_json(std::move(document)));
        return position;
      });
}

ServiceResult create_document(World& world, const ServiceCall& call) {
  WS_API_LET(const Parent parent, find_parent(world, call));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
  const std::string_view content = text_of(call.body, "content");
  WS_API_LET(Document document,
             changes.create({.workspace_id = parent.workspace_id,
                             .parent_node_id = parent.parent_node_id,
                             .project_id = parent.project_id,
                             .title = text_of(call.body, "title"),
                             .content = content}));
  WS_API_TRY(work.commit());
  document.content = content;
  return document_answer(world, 201, std::move(document));
}

ServiceResult get_document(World& world, const ServiceCall& call) {
  WS_API_LET(VisibleDocument seen,
             find_visible_document(world, call, id_of(call.parameters, "document_id"), WithContent::yes));
  return document_answer(world, 200, std::move(seen.document));
}

ServiceResult update_document(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  const std::string id = id_of(call.parameters, "document_id");
  WS_API_LET(Document document, editable_document(world, call, id, WithContent::no));
  WS_API_TRY(require_match(call, document_etag(world, document)));
  WS_API_TRY(require_active(document));
  const std::int64_t expected = integer_of(call.body, "expected_content_revision", 0);
  if (expected != document.content_revision) return revision_conflict(world, document, expected);
  Rewrite change;
  if (const Json* title = find(call.body, "title"); title != nullptr && title->is_string()) {
    change.title = title->get_ref<const std::string&>();
  }
  if (const Json* content = find(call.body, "content"); content != nullptr && content->is_string()) {
    change.content = content->get_ref<const std::string&>();
  }
  if (change.title || change.content) {
    WS_API_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
    WS_API_TRY(changes.rewrite(document, change));
  }
  WS_API_TRY(work.commit());
  WS_API_LET(std::optional<Document> now, find_document(world, id, WithContent::yes));
  return document_answer(world, 200, std::move(*now));
}

ServiceResult archive_document(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(Document document, editable_document(world, call, id_of(call.parameters, "document_id"), WithContent::no));
  WS_API_TRY(require_match(call, document_etag(world, document)));
  if (!document.archived) {
    WS_API_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
    WS_API_TRY(changes.archive(document));
    WS_API_TRY(work.commit());
  }
  return Answer{.body = Json{{"id", document.id},
                             {"object", "document"},
                             {"status", "archived"},
                             {"archived_at", rfc3339(document.archived_at.value_or(document.updated_at))}}};
}

struct Grantee {
  std::string kind = {};
  std::string id = {};
};

std::string_view handle_in(const ServiceCall& call) {
  std::string_view handle = text_of(call.body, "agent_handle");
  if (handle.starts_with('@')) handle.remove_prefix(1);
  return handle;
}

/// The person or agent to share with; must belong to the document's Workspace.
ApiResult<Grantee> find_grantee(World& world, const ServiceCall& call, const Document& document) {
  const std::string_view email = text_of(call.body, "email");
  const std::string_view handle = handle_in(call);
  const char* sql = email.empty()
                        ? "select id from agents where workspace_id = ? and handle = ? and status <> 'revoked'"
                        : "select u.id from users u join members m on m.user_id = u.id and m.workspace_id = ? "
                          "where u.email = ?";
  WS_API_LET(const std::optional<std::string> id,
             read_row(world, read_text, sql, document.workspace_id, email.empty() ? handle : email));
  if (!id) return not_found(email.empty() ? "agent" : "person in the Workspace");
  return Grantee{.kind = email.empty() ? "agent" : "user", .id = *id};
}

Result<std::vector<Json>> shares_of(World& world, std::string_view document_id) {
  const auto read = [](const sqlite::Statement& row) {
    const bool agent = row.text(1) == "agent";
    return Json{{"id", row.text(0)},
                {"grantee_kind", row.text(1)},
                {agent ? "handle" : "email", row.text(agent ? 3 : 2)},
                {"permission", row.text(4)},
                {"created_at", rfc3339(row.integer(5))}};
  };
  return read_rows(world,
                   read,
                   "select s.id, s.grantee_kind, u.email, a.handle, s.permission, s.created_at from shares s "
                   "left join users u on s.grantee_kind = 'user' and u.id = s.grantee_id "
                   "left join agents a on s.grantee_kind = 'agent' and a.id = s.grantee_id "
                   "where s.document_id = ? order by s.id",
                   document_id);
}

/// Whether the share extends the grantee's access.
Result<bool> is_news(World& world, const Document& document, const Grantee& grantee, std::string_view permission) {
  WS_LET(
      const bool has_it,
      has_row(world,
              "select 1 from shares where document_id = ? and grantee_kind = ? and grantee_id = ? and permission = ?",
              document.id,
              grantee.kind,
              grantee.id,
              permission));
  return !has_it;
}

ServiceResult share_document(World& world, const ServiceCall& call) {
  if (const std::string_view email = text_of(call.body, "email"); email.empty() == handle_in(call).empty()) {
    return invalid("body", "email", "value_error", "Give either email or agent_handle", Json(email));
  }
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Document document,
             editable_document(world, call, id_of(call.parameters, "document_id"), WithContent::no));
  WS_API_LET(const Grantee grantee, find_grantee(world, call, document));
  WS_API_TRY(require_active(document));
  const std::string_view permission = text_of(call.body, "permission");
  WS_API_LET(const bool news, is_news(world, document, grantee, permission));
  WS_API_TRY(put(world,
                 "insert into shares (id, document_id, grantee_kind, grantee_id, permission, message, "
                 "created_by_user_id, created_at) values (?, ?, ?, ?, ?, ?, ?, ?) "
                 "on conflict (document_id, grantee_kind, grantee_id) do update set "
                 "permission = excluded.permission, message = excluded.message",
                 world.ids.uuid("share"),
                 document.id,
                 grantee.kind,
                 grantee.id,
                 permission,
                 text_of(call.body, "message"),
                 call.caller.owner_user_id,
                 world.now()));
  if (news && grantee.kind == "agent") {
    WS_API_LET(const Actor actor, find_actor(world, call.caller));
    WS_API_TRY(notify_of_share(world,
                               {.document = document,
                                .by = actor,
                                .agent_id = grantee.id,
                                .permission = permission,
                                .message = text_of(call.body, "message")}));
  }
  WS_API_LET(std::vector<Json> shares, shares_of(world, document.id));
  WS_API_TRY(work.commit());
  return Answer{.body = Json{{"document_id", document.id},
                             {"shares", std::move(shares)},
                             {"links", {{"document", "/v1/documents/" + document.id}}}}};
}

}  // namespace

ServiceTable document_services() {
  static constexpr ServiceEntry entries[] = {
      {"docs.list", list_documents},
      {"docs.create", create_document},
      {"docs.get", get_document},
      {"docs.update", update_document},
      {"docs.archive", archive_document},
      {"docs.share", share_document},
  };
  return entries;
}

}  // namespace ws::mock
