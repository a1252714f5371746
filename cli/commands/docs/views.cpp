// How documents look on a terminal.
#include "cli/commands/docs/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view shown_by[] = {"docs.get"};
constexpr Fact facts[] = {
    {"Revision", "{content_revision}[, changed {updated_at:time}][ by {updated_by.name}]"},
    {"Created", "{created_at:time}[ by {created_by.name}]"},
    {"Size", "{content:size}"},
    {"Status", "{status:words}"},
    {"Project", "{project_id:short}"},
    {"ID", "{id}"},
};

constexpr std::string_view listed_by[] = {"docs.list"};
constexpr ViewColumn columns[] = {
    {"TITLE", "{title}"},
    {"REVISION", "{content_revision}"},
    {"CHANGED", "{updated_at:time}"},
    {"BY", "{updated_by.name}"},
    {"ID", "{id:short}"},
};

constexpr std::string_view created_by[] = {"docs.create"};
constexpr std::string_view created[] = {"Created \"{title}\", revision {content_revision} ({id})"};
constexpr std::string_view saved_by[] = {"docs.update"};
constexpr std::string_view saved[] = {"Saved \"{title}\", revision {content_revision} ({id})"};
constexpr std::string_view archived_by[] = {"docs.archive"};
constexpr std::string_view archived[] = {"Archived the document {id}"};
constexpr std::string_view shared_by[] = {"docs.share"};
constexpr std::string_view shared[] = {
    "Shared the document {document_id}[ with {@grantee}][, permission {@permission}]"};

constexpr View views[] = {
    {.of = shown_by, .title = "{title}", .facts = facts, .markdown = "content"},
    {.of = listed_by, .columns = columns, .none = "No documents."},
    {.of = created_by, .lines = created},
    {.of = saved_by, .lines = saved},
    {.of = archived_by, .lines = archived},
    {.of = shared_by, .lines = shared},
};

}  // namespace

std::span<const View> docs_views() { return views; }

}  // namespace ws::cli
