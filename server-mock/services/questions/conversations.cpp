
#include <nlohmann/json.hpp>

#include "server-mock/services/questions/question_store.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/service_tables.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view list_name = "conversations.list";

// Ordered by creation, newest first, so that a new question does not move a conversation to another page. Parameters as
// in questions.cpp.
constexpr const char* list_query =
    "select " WS_CONVERSATION_COLUMNS
    " from conversations c where c.sequence < ?2 and (?3 = '' or c.workspace_id = ?3) "
    "and exists (select 1 from members m where m.workspace_id = c.workspace_id and m.user_id = ?1 "
    "  and ((?4 = '' and (c.created_by_user_id = ?1 "
    "    or iif(c.workspace_id = ?5, ?6, ?6 is not null and m.role in ('owner', 'admin')))) "
    "  or (?4 <> '' and c.created_by_agent_id = ?4))) order by c.sequence desc limit ?7";

Json to_json(const Conversation& conversation) {
  return {{"id", conversation.id},
          {"object", "conversation"},
          {"title", conversation.title},
          {"status", conversation.status},
          {"thread_id", conversation.thread_id},
          {"question_count", conversation.question_count},
          {"last_question_at",
           conversation.last_question_at ? Json(rfc3339(*conversation.last_question_at)) : Json(nullptr)},
          {"created_at", rfc3339(conversation.created_at)},
          {"updated_at", rfc3339(conversation.updated_at)},
          {"links",
           {{"self", "/v1/conversations/" + conversation.id},
            {"questions", "/v1/questions?conversation_id=" + conversation.id}}}};
}

ServiceResult list_conversations(World& world, const ServiceCall& call) {
  WS_API_LET(const std::int64_t before, cursor_position(call, list_name, from_newest));
  const std::int64_t limit = integer_of(call.parameters, "limit", 20);
  const Caller& caller = call.caller;
  WS_API_LET(const sqlite::CachedStatement rows, world.database.cached(list_query));
  rows->bind_all(caller.owner_user_id,
                 before,
                 bound_workspace(caller),
                 caller.agent_id,
                 caller.workspace_id,
                 bound_admin_flag(caller),
                 limit + 1);
  return read_page(*rows, list_name, limit, [](const sqlite::Statement& row, Json& data) -> Result<std::int64_t> {
    const Conversation conversation = read_conversation(row);
    data.push_back(to_json(conversation));
    return conversation.sequence;
  });
}

ServiceResult get_conversation(World& world, const ServiceCall& call) {
  WS_API_LET(const std::optional<Conversation> conversation,
             find_conversation(world, id_of(call.parameters, "conversation_id")));
  if (!conversation) return not_found("conversation");
  WS_API_LET(const bool seen, is_seen(world, call.caller, conversation->workspace_id, conversation->maker));
  if (!seen) return not_found("conversation");
  return Answer{.body = to_json(*conversation)};
}

}  // namespace

ServiceTable conversation_services() {
  static constexpr ServiceEntry entries[] = {
      {"conversations.list", list_conversations},
      {"conversations.get", get_conversation},
  };
  return entries;
}

}  // namespace ws::mock
