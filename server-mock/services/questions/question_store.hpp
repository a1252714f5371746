/// Questions and conversations as they are kept, and the one place where a question is answered.
///
/// A question is seen by who asked it (of an agent's: by the agent and by the person who owns it) and by the admins of
/// its Workspace, exactly as its artifact is: the prompt and the quotes are the asker's until the artifact is shared.
/// What is quoted is checked again at every reading: a citation of a document that the reader may no longer see is
/// left out, of the answer too. The artifact is the asker's own copy and stays as it was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/questions/answering.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Who made something, for `is_seen`.
struct Maker {
  std::string user_id = {};
  std::string agent_id = {};  ///< empty: the person
};
Result<bool> is_seen(World& world, const Caller& caller, std::string_view workspace_id, const Maker& maker);

struct Conversation {
  std::int64_t sequence = 0;
  std::string id = {};
  std::string workspace_id = {};
  std::string title = {};
  std::string status = "active";
  std::string thread_id = {};
  std::int64_t question_count = 0;
  std::optional<std::int64_t> last_question_at = {};
  Maker maker = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};
#define WS_CONVERSATION_COLUMNS                                                                                  \
  "sequence, id, workspace_id, title, status, thread_id, question_count, last_question_at, created_by_user_id, " \
  "created_by_agent_id, created_at, updated_at"
Conversation read_conversation(const sqlite::Statement& row);
Result<std::optional<Conversation>> find_conversation(World& world, std::string_view id);
/// A new one, still without questions.
Result<Conversation> begin_conversation(World& world, const Caller& caller, std::string_view title);

struct Question {
  std::int64_t sequence = 0;
  std::string id = {};
  std::string workspace_id = {};
  std::string conversation_id = {};
  std::string prompt = {};
  std::string title = {};
  std::vector<Knowledge> sources = {};
  bool answers_later = false;               ///< asked under `question_async`: never shows `answer`
  std::optional<std::int64_t> due_at = {};  ///< still running until then
  std::vector<Passage> passages = {};
  std::string artifact_document_id = {};  ///< empty: still running
  std::int64_t artifact_revision = 0;
  Maker maker = {};
  std::int64_t created_at = 0;
  std::optional<std::int64_t> completed_at = {};
};
#define WS_QUESTION_COLUMNS                                                                                \
  "sequence, id, workspace_id, conversation_id, prompt, title, sources, answers_later, due_at, passages, " \
  "artifact_document_id, artifact_revision, created_by_user_id, created_by_agent_id, created_at, completed_at"
Result<Question> read_question(const sqlite::Statement& row);
Result<std::optional<Question>> find_question(World& world, std::string_view id);
/// Puts it in, behind the others of its conversation.
Result<void> insert_question(World& world, Question& question);

/// Looks for the answer with the eyes of `asker`, and keeps it as a document of the asker's. Within a UnitOfWork.
Result<void> answer_question(World& world, const Caller& asker, Question& question, std::int64_t completed_at);
/// Answers what is due by the world's clock, in order. Whoever reads questions, conversations or the index calls it
/// first; so may who moves the clock. Costs one lookup where nothing is due.
Result<void> complete_due_questions(World& world);

}  // namespace ws::mock
