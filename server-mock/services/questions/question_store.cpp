#include "server-mock/services/questions/question_store.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/services/text_index/index.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Result<std::vector<std::string>> due_questions(World& world) {
  return read_rows(world,
                   read_text,
                   "select id from questions where due_at is not null and due_at <= ? order by due_at, sequence",
                   world.now());
}

}  // namespace

Result<bool> is_seen(World& world, const Caller& caller, std::string_view workspace_id, const Maker& maker) {
  WS_LET(const contract::Role role, role_in(world, caller, workspace_id));
  const Node as_private_page = {.created_by_user_id = maker.user_id, .created_by_agent_id = maker.agent_id};
  return access_to(caller, role, as_private_page) != AccessLevel::none;
}

Result<std::optional<Conversation>> find_conversation(World& world, std::string_view id) {
  return read_row(
      world, read_as<Conversation>, "select " WS_CONVERSATION_COLUMNS " from conversations where id = ?", id);
}

Result<Conversation> begin_conversation(World& world, const Caller& caller, std::string_view title) {
  Conversation made = {.id = world.ids.uuid("conversation"),
                       .workspace_id = caller.workspace_id,
                       .title = std::string(title),
                       .thread_id = world.ids.uuid("conversation_thread"),
                       .maker = {.user_id = caller.owner_user_id, .agent_id = caller.agent_id},
                       .created_at = world.now(),
                       .updated_at = world.now()};
  WS_TRY(put_row(world,
                 "insert into conversations (" WS_CONVERSATION_COLUMNS
                 ") values (nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 made));
  return made;
}

Result<std::optional<Question>> find_question(World& world, std::string_view id) {
  return read_row(world, read_as<Question>, "select " WS_QUESTION_COLUMNS " from questions where id = ?", id);
}

Result<void> insert_question(World& world, Question& question) {
  WS_TRY(put_row(world,
                 "insert into questions (" WS_QUESTION_COLUMNS
                 ") values (nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 question));
  question.sequence = world.database.last_insert_rowid();
  return put(world,
             "update conversations set question_count = question_count + 1, last_question_at = ?1, "
             "updated_at = ?1 where id = ?2",
             question.created_at,
             question.conversation_id);
}

Result<void> answer_question(World& world, const Caller& asker, Question& question, std::int64_t completed_at) {
  WS_TRY(refresh_search_index(world));
  std::vector<Passage> passages;
  for (const std::string& source : question.sources) {
    const Knowledge knowledge = source == name(Knowledge::memory) ? Knowledge::memory : Knowledge::workspace;
    WS_LET(std::vector<Passage> found, find_passages(world, asker, question.workspace_id, question.prompt, knowledge));
    std::ranges::move(found, std::back_inserter(passages));
  }
  question.passages = to_json(passages);
  const std::string text = render_artifact(question.title, question.prompt, render_answer(passages, question.sources));
  WS_LET(DocumentChanges changes, DocumentChanges::by(world, asker));
  WS_LET(const Document artifact,
         changes.create({.workspace_id = question.workspace_id, .title = question.title, .content = text}));
  question.artifact_document_id = artifact.id;
  question.artifact_revision = artifact.content_revision;
  question.completed_at = completed_at;
  question.due_at.reset();
  return put(world,
             "update questions set due_at = null, passages = ?, artifact_document_id = ?, "
             "artifact_revision = ?, completed_at = ? where id = ?",
             dump(*question.passages),
             question.artifact_document_id,
             question.artifact_revision,
             completed_at,
             question.id);
}

Result<void> complete_due_questions(World& world) {
  WS_LET(const std::vector<std::string> due, due_questions(world));
  if (due.empty()) return {};
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  for (const std::string& id : due) {
    WS_LET(std::optional<Question> question, find_question(world, id));
    WS_LET(const Caller asker,
           caller_in(world,
                     question->workspace_id,
                     question->maker.user_id,
                     question->maker.agent_id,
                     contract::find_role(question->ceiling).value_or(contract::Role::none)));
    WS_TRY(answer_question(world, asker, *question, question->due_at.value_or(world.now())));
  }
  return work.commit();
}

}  // namespace ws::mock
