#include <algorithm>

#include <nlohmann/json.hpp>

#include "server-mock/services/questions/question_store.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// Duration of an answer under `question_async`.
constexpr std::int64_t answering_ms = 2000;

// Newest first. ?1 person, ?2 before, ?3 only this Workspace, ?4 agent, ?5 the Workspace of the key, ?6 whether the
// caller is an admin in it, ?7 conversation, ?8 limit.
constexpr const char* questions_query =
    "select " WS_QUESTION_COLUMNS
    " from questions q where q.sequence < ?2 and (?3 = '' or q.workspace_id = ?3) and (?7 = '' or q.conversation_id = "
    "?7) "
    "and exists (select 1 from members m where m.workspace_id = q.workspace_id and m.user_id = ?1 "
    "  and ((?4 = '' and (q.created_by_user_id = ?1 "
    "    or iif(q.workspace_id = ?5, ?6, ?6 is not null and m.role in ('owner', 'admin')))) "
    "  or (?4 <> '' and q.created_by_agent_id = ?4))) "
    "order by q.sequence desc limit ?8";

/// The passages whose documents the reader may see now.
ApiResult<std::vector<Passage>> seen_passages(World& world, const ServiceCall& call, const Question& question) {
  std::vector<Passage> seen;
  for (const Passage& passage : parse_passages(*question.passages)) {
    WS_API_LET(const bool is_visible, is_visible_document(world, call, passage.document_id));
    if (is_visible) seen.push_back(passage);
  }
  return seen;
}

Json citations_of(const std::vector<Passage>& passages) {
  Json citations = Json::array();
  for (const Passage& passage : passages) {
    citations.push_back({{"document_id", passage.document_id},
                         {"chunk_id", passage.chunk_id},
                         {"heading_path", passage.heading_path},
                         {"quote", passage.quote}});
  }
  return citations;
}

Json documents_of(const std::vector<Passage>& passages) {
  Json ids = Json::array();
  for (const Passage& passage : passages) {
    if (std::ranges::find(ids, Json(passage.document_id)) == ids.end()) ids.push_back(passage.document_id);
  }
  return ids;
}

ApiResult<Json> artifacts_of(World& world, const ServiceCall& call, const Question& question) {
  Json artifacts = Json::array();
  if (question.artifact_document_id.empty()) return artifacts;
  WS_API_LET(const bool is_visible, is_visible_document(world, call, question.artifact_document_id));
  if (is_visible) {
    artifacts.push_back({{"kind", "document"},
                         {"document_id", question.artifact_document_id},
                         {"content_revision", question.artifact_revision}});
  }
  return artifacts;
}

ApiResult<Json> to_json(World& world, const ServiceCall& call, const Question& question) {
  WS_API_LET(const std::vector<Passage> passages, seen_passages(world, call, question));
  WS_API_LET(Json artifacts, artifacts_of(world, call, question));
  const bool completed = question.completed_at.has_value();
  Json json = {{"id", question.id},
               {"object", "question"},
               {"status", completed ? "completed" : "running"},
               {"conversation_id", question.conversation_id},
               {"prompt", question.prompt},
               {"title", question.title},
               {"sources", question.sources}};
  if (completed && !question.answers_later) json["answer"] = render_answer(passages, question.sources);
  json["source_document_ids"] = documents_of(passages);
  json["citations"] = citations_of(passages);
  json["artifacts"] = std::move(artifacts);
  json["created_at"] = rfc3339(question.created_at);
  json["completed_at"] = completed ? Json(rfc3339(*question.completed_at)) : Json(nullptr);
  json["links"] = {{"self", "/v1/questions/" + question.id},
                   {"conversation", "/v1/conversations/" + question.conversation_id}};
  return json;
}

/// The conversation to continue, or a new one. Only its creator may continue a conversation, so that all its questions
/// have the same readers.
ApiResult<Conversation> find_or_begin(World& world, const ServiceCall& call, std::string_view title) {
  const std::string id = id_of(call.body, "conversation_id");
  if (id.empty()) {
    WS_API_LET(Conversation begun, begin_conversation(world, call.caller, title));
    return begun;
  }
  WS_API_LET(std::optional<Conversation> conversation, find_conversation(world, id));
  if (!conversation) return not_found("conversation");
  WS_API_LET(const bool seen, is_seen(world, call.caller, conversation->workspace_id, conversation->maker));
  if (!seen) return not_found("conversation");
  if (conversation->maker.user_id != call.caller.owner_user_id ||
      conversation->maker.agent_id != call.caller.agent_id) {
    return forbidden("Only the person who began a conversation can continue it");
  }
  return std::move(*conversation);
}

/// The value of the switch when the question was asked.
std::pair<std::string, std::string> answered_as(bool later) {
  return {assumed_header, later ? "question_async=yes" : "question_async=no"};
}

/// Without duplicates, the documents first.
std::vector<std::string> sources_of(const Json& body) {
  const std::vector<std::string> asked = find_texts(body, "sources");
  std::vector<std::string> sources;
  for (const Knowledge source : {Knowledge::workspace, Knowledge::memory}) {
    if (std::ranges::find(asked, name(source)) != asked.end()) sources.emplace_back(name(source));
  }
  return sources;
}

ServiceResult ask_question(World& world, const ServiceCall& call) {
  WS_API_TRY(complete_due_questions(world));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  const std::string_view prompt = text_of(call.body, "prompt");
  const std::string title = make_title(prompt);
  WS_API_LET(const Conversation conversation, find_or_begin(world, call, title));
  const bool later = world.assumptions.is("question_async", "yes");
  Question question = {.id = world.ids.uuid("question"),
                       .workspace_id = conversation.workspace_id,
                       .conversation_id = conversation.id,
                       .prompt = std::string(prompt),
                       .title = title,
                       .sources = sources_of(call.body),
                       .answers_later = later,
                       .due_at = later ? std::optional(world.now() + answering_ms) : std::nullopt,
                       .passages = Json::array(),
                       .maker = {.user_id = call.caller.owner_user_id, .agent_id = call.caller.agent_id},
                       .ceiling = std::string(contract::name(call.caller.ceiling)),
                       .created_at = world.now()};
  WS_API_TRY(insert_question(world, question));
  if (!later) WS_API_TRY(answer_question(world, call.caller, question, world.now()));
  WS_API_LET(Json body, to_json(world, call, question));
  WS_API_TRY(work.commit());
  return Answer{.status = world.assumptions.is("question_created", "201") ? 201 : 200,
                .body = std::move(body),
                .headers = {{assumed_header, world.assumptions.assignment("question_created")},
                            {assumed_header, world.assumptions.assignment("question_async")}}};
}

ServiceResult get_question(World& world, const ServiceCall& call) {
  WS_API_TRY(complete_due_questions(world));
  WS_API_LET(const std::optional<Question> question, find_question(world, id_of(call.parameters, "question_id")));
  if (!question) return not_found("question");
  WS_API_LET(const bool seen, is_seen(world, call.caller, question->workspace_id, question->maker));
  if (!seen) return not_found("question");
  WS_API_LET(Json body, to_json(world, call, *question));
  return Answer{.body = std::move(body), .headers = {answered_as(question->answers_later)}};
}

ServiceResult list_questions(World& world, const ServiceCall& call) {
  WS_API_TRY(complete_due_questions(world));
  const std::string conversation = id_of(call.parameters, "conversation_id");
  const std::string list = "questions.list " + conversation;
  WS_API_LET(const std::int64_t before, cursor_position(call, list, from_newest));
  const std::int64_t limit = integer_of(call.parameters, "limit", 20);
  const Caller& caller = call.caller;
  WS_API_LET(const sqlite::CachedStatement rows, world.database.cached(questions_query));
  rows->bind_all(caller.owner_user_id,
                 before,
                 bound_workspace(caller),
                 caller.agent_id,
                 caller.workspace_id,
                 bound_admin_flag(caller),
                 conversation,
                 limit + 1);
  std::optional<bool> answers_later;
  const auto add = [&](const sqlite::Statement& row, Json& data) -> ApiResult<std::int64_t> {
    const auto question = read_as<Question>(row);
    WS_API_LET(Json item, to_json(world, call, question));
    data.push_back(std::move(item));
    answers_later = answers_later.value_or(false) || question.answers_later;
    return question.sequence;
  };
  WS_API_LET(Answer answer, read_page(*rows, list, limit, add));
  if (answers_later) answer.headers.push_back(answered_as(*answers_later));
  return answer;
}

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
  return read_page(*rows, list_name, limit, [](const sqlite::Statement& row, Json& data) -> ApiResult<std::int64_t> {
    const auto conversation = read_as<Conversation>(row);
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

ServiceTable question_services() {
  static constexpr ServiceEntry entries[] = {
      {"questions.list", list_questions},
      {"questions.create", ask_question},
      {"questions.get", get_question},
      {"conversations.list", list_conversations},
      {"conversations.get", get_conversation},
  };
  return entries;
}

}  // namespace ws::mock
