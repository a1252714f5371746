/// Rows of questions and conversations, and the answering of questions.
///
/// A question is visible to who asked it (an agent's question also to its owner) and to admins of the Workspace,
/// exactly as its artifact is: prompt and quotes stay private until the artifact is shared. Citations are checked at
/// every read: those of documents that the reader may not see are removed, from the answer too. The artifact is a copy
/// that belongs to the asker and does not change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

// Answers a question by quoting and citing texts of the Workspace.
//
// The answer is extractive: the chunks that share the most words with the prompt are searched for the relevant line or
// paragraph. If no chunk shares enough words, the answer says so and cites nothing.

/// Sources of an answer: the documents of the Workspace, or the answers to its earlier questions.
enum class Knowledge { workspace, memory };
std::string_view name(Knowledge knowledge);  ///< "workspace"

/// A quote with its source.
struct Passage {
  Knowledge knowledge = Knowledge::workspace;
  std::string document_id = {};
  std::string title = {};
  std::string chunk_id = {};
  std::vector<std::string> heading_path = {};
  std::string quote = {};  ///< a literal part of the chunk
};

/// Passages that the caller may read in one Workspace and that match the prompt, best first. The index must be up to
/// date.
Result<std::vector<Passage>> find_passages(
    World& world, const Caller& caller, std::string_view workspace_id, std::string_view prompt, Knowledge knowledge);

/// The answer as Markdown. `asked`: the names of the sources, told in the sentence that nothing was found.
std::string render_answer(const std::vector<Passage>& passages, const std::vector<std::string>& asked);
/// The document in which the answer is stored.
std::string render_artifact(std::string_view title, std::string_view prompt, std::string_view answer);
/// The prompt's first line, at most 80 code points.
std::string make_title(std::string_view prompt);

/// Passages as they are stored with their question.
Json to_json(const std::vector<Passage>& passages);
std::vector<Passage> parse_passages(const Json& json);

/// The creator, for `is_seen`.
struct Maker {
  std::string user_id = {};
  std::string agent_id = {};  ///< empty: a person
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
Result<std::optional<Conversation>> find_conversation(World& world, std::string_view id);
/// Creates a conversation without questions.
Result<Conversation> begin_conversation(World& world, const Caller& caller, std::string_view title);

struct Question {
  std::int64_t sequence = 0;
  std::string id = {};
  std::string workspace_id = {};
  std::string conversation_id = {};
  std::string prompt = {};
  std::string title = {};
  std::vector<std::string> sources = {};    ///< names of `Knowledge`
  bool answers_later = false;               ///< asked under `question_async`: `answer` is never shown
  std::optional<std::int64_t> due_at = {};  ///< time of the answer; running until then
  JsonBox passages = {};                    ///< as `to_json` of passages writes them
  std::string artifact_document_id = {};    ///< empty: running
  std::int64_t artifact_revision = 0;
  Maker maker = {};
  std::string ceiling = {};  ///< of the key that asked: a role
  std::int64_t created_at = 0;
  std::optional<std::int64_t> completed_at = {};
};
#define WS_QUESTION_COLUMNS                                                                                \
  "sequence, id, workspace_id, conversation_id, prompt, title, sources, answers_later, due_at, passages, " \
  "artifact_document_id, artifact_revision, created_by_user_id, created_by_agent_id, ceiling, "            \
  "created_at, completed_at"
Result<std::optional<Question>> find_question(World& world, std::string_view id);
/// Inserts it as the last of its conversation.
Result<void> insert_question(World& world, Question& question);

/// Finds the answer with the access rights of `asker`, and stores it as a document of the asker. Needs a UnitOfWork.
Result<void> answer_question(World& world, const Caller& asker, Question& question, std::int64_t completed_at);
/// Answers the questions that are due by the world's clock, in order. Call it before reading questions, conversations
/// or the index. Costs one query if nothing is due.
Result<void> complete_due_questions(World& world);

}  // namespace ws::mock
