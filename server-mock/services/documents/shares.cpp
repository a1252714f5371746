#include <nlohmann/json.hpp>

#include "server-mock/services/events/notify.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

struct Grantee {
  std::string kind = {};
  std::string id = {};
};

/// The person or agent to share with; must belong to the document's Workspace.
ApiResult<Grantee> find_grantee(World& world, const ServiceCall& call, const Document& document) {
  const std::string_view email = text_of(call.body, "email");
  std::string_view handle = text_of(call.body, "agent_handle");
  if (handle.starts_with('@')) handle.remove_prefix(1);
  if (email.empty() == handle.empty()) {
    return invalid("body", "email", "value_error", "Give either email or agent_handle", Json(email));
  }
  const char* sql = email.empty()
                        ? "select id from agents where workspace_id = ? and handle = ? and status <> 'revoked'"
                        : "select u.id from users u join members m on m.user_id = u.id and m.workspace_id = ? "
                          "where u.email = ?";
  WS_API_LET(const std::optional<std::string> id,
             read_row(world, read_text, sql, document.workspace_id, email.empty() ? handle : email));
  if (!id) return not_found(email.empty() ? "agent" : "person in the Workspace");
  return Grantee{.kind = email.empty() ? "agent" : "user", .id = *id};
}

Result<Json> shares_of(World& world, std::string_view document_id) {
  WS_LET(
      const sqlite::CachedStatement rows,
      world.database.cached("select s.id, s.grantee_kind, u.email, a.handle, s.permission, s.created_at from shares s "
                            "left join users u on s.grantee_kind = 'user' and u.id = s.grantee_id "
                            "left join agents a on s.grantee_kind = 'agent' and a.id = s.grantee_id "
                            "where s.document_id = ? order by s.id"));
  rows->bind(1, document_id);
  Json shares = Json::array();
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return shares;
    const bool agent = rows->text(1) == "agent";
    shares.push_back({{"id", rows->text(0)},
                      {"grantee_kind", rows->text(1)},
                      {agent ? "handle" : "email", rows->text(agent ? 3 : 2)},
                      {"permission", rows->text(4)},
                      {"created_at", rfc3339(rows->integer(5))}});
  }
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
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Document document,
             editable_document(world, call, id_of(call.parameters, "document_id"), WithContent::no));
  WS_API_LET(const Grantee grantee, find_grantee(world, call, document));
  if (document.archived) return conflict("archived", "The document is archived");
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
  WS_API_LET(Json shares, shares_of(world, document.id));
  WS_API_TRY(work.commit());
  return Answer{.body = Json{{"document_id", document.id},
                             {"shares", std::move(shares)},
                             {"links", {{"document", "/v1/documents/" + document.id}}}}};
}

}  // namespace

ServiceTable share_services() {
  static constexpr ServiceEntry entries[] = {
      {"docs.share", share_document},
  };
  return entries;
}

}  // namespace ws::mock
