// Source: API document v1, "Questions and conversations", "Question", "Conversation", "Limits".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter list_parameters[] = {
    page_limit("20"),
    page_cursor,
    in_query(optional("conversation_id", uuid(), "only those of this conversation")),
};
constexpr Parameter create_parameters[] = {idempotency_key};
constexpr Parameter question_parameters[] = {in_path("question_id", uuid())};
constexpr Parameter conversation_list_parameters[] = {page_limit("20"), page_cursor};
constexpr Parameter conversation_parameters[] = {in_path("conversation_id", uuid())};

// The API document shows these two values; that there are no others is assumed.
constexpr std::string_view source_values[] = {"workspace", "memory"};
constexpr Type source_item = assumed(choice(source_values));
constexpr Field create_fields[] = {
    required("prompt", assumed(string(1, 8000)), "the question"),
    required("sources", array_of(source_item), "where the answer may come from"),
    assumed(optional("conversation_id", uuid(), "continues this conversation")),
};
constexpr Schema question_create = {.name = "QuestionCreate", .fields = create_fields};

constexpr Field artifact_fields[] = {
    required("kind", string(), "document"),
    required("document_id", uuid()),
    required("content_revision", integer()),
};
constexpr Schema artifact = {.name = "QuestionArtifact", .fields = artifact_fields};

constexpr auto citation_fields = all_assumed({
    required("document_id", uuid()),
    required("chunk_id", string()),
    required("heading_path", array_of(text_item)),
    required("quote", string()),
});
constexpr Schema citation = {.name = "QuestionCitation", .fields = citation_fields, .source = Source::assumed};

constexpr Field link_fields[] = {
    optional("self", string(), "path of the question"),
    optional("conversation", string(), "path of the conversation"),
};
constexpr Schema question_links = {.name = "QuestionLinks", .fields = link_fields};

// The API document gives the shape and marks none of its fields as required.
constexpr std::string_view question_object[] = {"question"};
constexpr Field question_fields[] = {
    optional("id", uuid()),
    optional("status", string(), "completed when it is finished"),
    optional("conversation_id", uuid()),
    optional("source_document_ids", array_of(uuid_item)),
    optional("artifacts", array_of(item_of<artifact>)),
    optional("links", object(question_links), "self and conversation"),
    assumed(with_default(optional("object", choice(question_object)), "\"question\"")),
    assumed(optional("prompt", string())),
    assumed(nullable(optional("answer", string(), "Markdown; if it is missing, the artifact document holds it"))),
    assumed(nullable(optional("title", string()))),
    assumed(optional("sources", array_of(text_item))),
    assumed(optional("citations", array_of(item_of<citation>))),
    assumed(optional("created_at", date_time())),
    assumed(nullable(optional("completed_at", date_time()))),
};
constexpr Schema question = {.name = "Question", .fields = question_fields};
constexpr auto list_fields = all_assumed({required("data", array_of(item_of<question>)), next_cursor});
constexpr Schema question_list = {.name = "QuestionList", .fields = list_fields, .source = Source::assumed};
// The OpenAPI document says 200, the introductory sample 201: both are success.

constexpr std::string_view conversation_object[] = {"conversation"};
constexpr Field conversation_fields[] = {
    required("id", uuid()),
    with_default(optional("object", choice(conversation_object)), "\"conversation\""),
    required("title", string()),
    required("status", string()),
    required("thread_id", uuid()),
    required("question_count", integer()),
    nullable(optional("last_question_at", date_time())),
    required("created_at", date_time()),
    required("updated_at", date_time()),
    links,
};
constexpr Schema conversation = {.name = "Conversation", .fields = conversation_fields};
constexpr Field conversation_list_fields[] = {required("data", array_of(item_of<conversation>)), next_cursor};
constexpr Schema conversation_list = {.name = "ConversationList", .fields = conversation_list_fields};

}  // namespace

constexpr Operation question_table[] = {
    {.id = "questions.list",
     .path = "/v1/questions",
     .summary = "List questions",
     .parameters = list_parameters,
     .responses = {{.schema = &question_list}},
     .scope = "questions:read",
     .role = Role::viewer,
     .paging = Paging::cursor,
     .command = "questions list"},
    {.id = "questions.create",
     .method = Method::post,
     .path = "/v1/questions",
     .summary = "Ask a question",
     .parameters = create_parameters,
     .request = &question_create,
     .responses = {{.status = 200, .schema = &question}, {.status = 201, .schema = &question}},
     .scope = "questions:write",
     .role = Role::viewer,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "ask",
     .arguments = {{"PROMPT", "prompt", Presence::optional}}},
    {.id = "questions.get",
     .path = "/v1/questions/{question_id}",
     .summary = "Read a question and its answer",
     .parameters = question_parameters,
     .responses = {{.schema = &question}},
     .scope = "questions:read",
     .role = Role::viewer,
     .command = "questions get",
     .arguments = {{"ID", "question_id"}}},
    {.id = "conversations.list",
     .path = "/v1/conversations",
     .summary = "List conversations",
     .parameters = conversation_list_parameters,
     .responses = {{.schema = &conversation_list}},
     .scope = "questions:read",
     .role = Role::viewer,
     .paging = Paging::cursor,
     .command = "conversations list"},
    {.id = "conversations.get",
     .path = "/v1/conversations/{conversation_id}",
     .summary = "Read a conversation",
     .parameters = conversation_parameters,
     .responses = {{.schema = &conversation}},
     .scope = "questions:read",
     .role = Role::viewer,
     .command = "conversations get",
     .arguments = {{"ID", "conversation_id"}}},
};
static_assert(well_formed(question_table));
constinit const Area question_operations = {"Questions and conversations", question_table};

}  // namespace ws::contract
