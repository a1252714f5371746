// How questions and conversations look on a terminal.
#include "cli/commands/questions/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view question_by[] = {"questions.get", "questions.create"};
constexpr Fact question_facts[] = {
    {"Asked", "{created_at:time}"},
    {"Status", "{status:words}[, {completed_at:time}]"},
    {"Conversation", "{conversation_id:short}"},
    {"ID", "{id}"},
};
constexpr ViewColumn source_columns[] = {{"SOURCE", "{heading_path:path}"}, {"ID", "{document_id:short}"}};
constexpr ViewColumn artifact_columns[] = {
    {"ARTIFACT", "{kind:words}"},
    {"REVISION", "{content_revision}"},
    {"ID", "{document_id:short}"},
};
constexpr ViewPart question_parts[] = {{"citations", source_columns}, {"artifacts", artifact_columns}};

constexpr std::string_view questions_by[] = {"questions.list"};
constexpr ViewColumn question_columns[] = {
    {"QUESTION", "{prompt}"},
    {"STATUS", "{status:words}"},
    {"SOURCES", "{source_document_ids:count}"},
    {"ASKED", "{created_at:time}"},
    {"ID", "{id:short}"},
};

constexpr std::string_view conversation_by[] = {"conversations.get"};
constexpr Fact conversation_facts[] = {
    {"Questions", "{question_count}[, the last {last_question_at:time}]"},
    {"Status", "{status:words}"},
    {"Begun", "{created_at:time}"},
    {"ID", "{id}"},
};
constexpr std::string_view conversations_by[] = {"conversations.list"};
constexpr ViewColumn conversation_columns[] = {
    {"TITLE", "{title}"},
    {"QUESTIONS", "{question_count}"},
    {"LAST ASKED", "{last_question_at:time}"},
    {"STATUS", "{status:words}"},
    {"ID", "{id:short}"},
};

constexpr View views[] = {
    {.of = question_by, .title = "{prompt}", .facts = question_facts, .markdown = "answer", .parts = question_parts},
    {.of = questions_by, .columns = question_columns, .none = "No questions."},
    {.of = conversation_by, .title = "{title}", .facts = conversation_facts},
    {.of = conversations_by, .columns = conversation_columns, .none = "No conversations."},
};

}  // namespace

std::span<const View> questions_views() { return views; }

}  // namespace ws::cli
