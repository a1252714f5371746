// How the answers of each operation, and our own lists, look on a terminal.
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/text.hpp"
#include "cli/commands/registry.hpp"
#include "cli/output/search_page.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t thread_indent = 2;
constexpr std::size_t widest_text = 100;

/// `text` line by line, each wrapped, below an indent.
std::string indented(std::string_view text, std::size_t by, const Terminal& terminal) {
  const std::size_t columns = std::min(static_cast<std::size_t>(terminal.columns()), widest_text);
  const std::string cleaned = clean(text, Breaks::keep);
  std::string lines;
  for (const std::string_view line : split(cleaned, '\n')) {
    if (!line.empty()) lines += std::string(by, ' ') + wrap(line, columns - by, by);
    lines += '\n';
  }
  return lines;
}

std::string author_of(const Json& entry, ViewContext& context) {
  std::string name = fill("{actor_identity.display_name}", entry, context);
  if (name.empty()) name = fill("{author_kind:words}", entry, context);
  return name;
}

/// The first entry, and the replies below it, indented once more.
std::string entries_of(const Json& thread, ViewContext& context, const Terminal& terminal) {
  const Json* const entries = find(thread, "entries");
  if (entries == nullptr || !entries->is_array()) return {};
  std::string text;
  std::size_t by = thread_indent;
  for (const Json& entry : *entries) {
    text += std::string(by, ' ') + terminal.paint(Stream::out, Look::strong, author_of(entry, context));
    text += terminal.paint(Stream::out, Look::faint, fill("[, {created_at:time}]", entry, context)) + "\n";
    text += indented(find_text(entry, "body").value_or(""), by, terminal);
    by = 2 * thread_indent;
  }
  return text;
}

std::string render_thread(const Json& thread, ViewContext& context, const Terminal& terminal) {
  const std::string quote = fill("{anchor.selection_preview}", thread, context);
  const auto columns = static_cast<std::size_t>(terminal.columns());
  const std::string about = quote.empty() ? "On the whole document" : "On \"" + quote + "\"";
  std::string text = terminal.is_plain() ? about : wrap(about, std::min(columns, widest_text), 0);
  text += "\n" + entries_of(thread, context, terminal);
  const std::string state = fill("{status:words}[, thread {id:short}]", thread, context);
  return text + std::string(thread_indent, ' ') + terminal.paint(Stream::out, Look::faint, state) + "\n";
}

std::string render_threads(const Json& whole, ViewContext& context, const Terminal& terminal) {
  std::string text;
  const Json* const threads = find(whole, "threads");
  if (threads == nullptr || !threads->is_array()) return text;
  for (const Json& thread : *threads) text += (text.empty() ? "" : "\n") + render_thread(thread, context, terminal);
  return text;
}

std::string render_results(const Json& whole, ViewContext& context, const Terminal& terminal) {
  const Json* const items = find(whole, "data");
  return items == nullptr ? std::string() : render_search_results(*items, context, terminal);
}

constexpr View views[] = {
    // Documents
    {.of = {"docs.get"},
     .title = "{title}",
     .facts = {{"Revision", "{content_revision}[, changed {updated_at:time}][ by {updated_by.name}]"},
               {"Created", "{created_at:time}[ by {created_by.name}]"},
               {"Size", "{content:size}"},
               {"Status", "{status:words}"},
               {"Project", "{project_id:short}"},
               {"ID", "{id}"}},
     .markdown = "content"},
    {.of = {"docs.list"},
     .columns = {{"TITLE", "{title}"},
                 {"REVISION", "{content_revision}"},
                 {"CHANGED", "{updated_at:time}"},
                 {"BY", "{updated_by.name}"},
                 {"ID", "{id:short}"}},
     .none = "No documents."},
    {.of = {"docs.create"}, .lines = {"Created \"{title}\", revision {content_revision} ({id})"}},
    {.of = {"docs.update"}, .lines = {"Saved \"{title}\", revision {content_revision} ({id})"}},
    {.of = {"docs.archive"}, .lines = {"Archived the document {id}"}},
    {.of = {"docs.share"},
     .lines = {"Shared the document {document_id}[ with {@grantee}][, permission {@permission}]"}},
    // Comment threads
    {.of = {"comments.list"}, .list = render_threads, .none = "No comments."},
    {.of = {"comments.add"}, .lines = {"Commented on the document {page_id} (thread {id})"}},
    {.of = {"comments.reply"}, .lines = {"Replied in the thread {id}"}},
    {.of = {"comments.set_status"}, .lines = {"The thread {id} is marked as {status:words}"}},
    // Questions and conversations
    {.of = {"questions.get", "questions.create"},
     .title = "{prompt}",
     .facts = {{"Asked", "{created_at:time}"},
               {"Status", "{status:words}[, {completed_at:time}]"},
               {"Conversation", "{conversation_id:short}"},
               {"ID", "{id}"}},
     .markdown = "answer",
     .parts = {{"citations", {{"SOURCE", "{heading_path:path}"}, {"ID", "{document_id:short}"}}},
               {"artifacts",
                {{"ARTIFACT", "{kind:words}"}, {"REVISION", "{content_revision}"}, {"ID", "{document_id:short}"}}}}},
    {.of = {"questions.list"},
     .columns = {{"QUESTION", "{prompt}"},
                 {"STATUS", "{status:words}"},
                 {"SOURCES", "{source_document_ids:count}"},
                 {"ASKED", "{created_at:time}"},
                 {"ID", "{id:short}"}},
     .none = "No questions."},
    {.of = {"conversations.get"},
     .title = "{title}",
     .facts = {{"Questions", "{question_count}[, the last {last_question_at:time}]"},
               {"Status", "{status:words}"},
               {"Begun", "{created_at:time}"},
               {"ID", "{id}"}}},
    {.of = {"conversations.list"},
     .columns = {{"TITLE", "{title}"},
                 {"QUESTIONS", "{question_count}"},
                 {"LAST ASKED", "{last_question_at:time}"},
                 {"STATUS", "{status:words}"},
                 {"ID", "{id:short}"}},
     .none = "No conversations."},
    // Search results
    {.of = {"search.run"}, .list = render_results, .none = "No results."},
    // Synced folders
    {.of = {"ws.attachments"},
     .columns = {{"PATH", "{path}"},
                 {"SIZE", "{bytes:size}"},
                 {"STATE", "{state}"},
                 {"NOTES", "{notes}"},
                 {"ASSET", "{asset_id:short}"}},
     .none = "No note here shows a file."},
    {.of = {"ws.conflicts"},
     .columns = {{"PATH", "{path}"}, {"ID", "{id:short}"}, {"DEVICE", "{device}"}, {"CONFLICT", "{reason:wrap}"}},
     .none = "No open conflicts."},
    {.of = {"ws.roots"},
     .columns = {{"FOLDER", "{folder}"}, {"STATE", "{state}"}, {"NAME", "{name}"}, {"SOURCE", "{source_id:short}"}},
     .none = "No folder is synced; `ws sync init` sets one up."},
    {.of = {"ws.states"},
     .columns = {{"STATE", "{state}"},
                 {"TIME", "{time:time}"},
                 {"AUTHOR", "{author}"},
                 {"FILES", "{first}[ +{more}]"},
                 {"MESSAGE", "{message:wrap}"}},
     .none = "Nothing was synced here yet."},
    {.of = {"ws.runs"},
     .columns = {{"RUN", "{run}"}, {"TIME", "{time:time}"}, {"COMMAND", "{command}"}, {"CHANGES", "{changes:wrap}"}},
     .none = "No run has changed anything here yet."},
    {.of = {"ws.run_rows"},
     .columns = {{"PATH", "{path}"}, {"CHANGE", "{action}"}, {"HOW", "{way}"}, {"PREVIOUS PATH", "{previous_path}"}},
     .none = "The run changed nothing."},
    // Files, uploads and organization runs
    {.of = {"files.get"},
     .title = "{original_file_name}",
     .facts = {{"Size", "{size_bytes:size}"},
               {"Type", "{mime_type}"},
               {"Title", "{title}"},
               {"Status", "{status:words}[, processing {processing_status:words}]"},
               {"Sensitivity", "{sensitivity_status:words}[, {sensitivity_reasons:count} reasons]"},
               {"Reading by AI", "{ai_read_policy:words}"},
               {"Created", "{created_at:time}"},
               {"SHA-256", "{content_sha256}"},
               {"ID", "{id}"}}},
    {.of = {"files.list"},
     .columns = {{"FILE", "{original_file_name}"},
                 {"SIZE", "{size_bytes:size}"},
                 {"TYPE", "{mime_type}"},
                 {"STATUS", "{status:words}"},
                 {"CREATED", "{created_at:time}"},
                 {"ID", "{id:short}"}},
     .none = "No files."},
    {.of = {"files.upload_finish"}, .lines = {"Uploaded \"{original_file_name}\", {size_bytes:size} ({id})"}},
    {.of = {"files.upload_start"}, .lines = {"Started the upload {upload_id}[; it {expires_at:until}]"}},
    {.of = {"ws.uploads"},
     .columns = {{"FILE", "{file_name}"},
                 {"SIZE", "{size_bytes:size}"},
                 {"STATE", "{state}"},
                 {"EXPIRES", "{expires_at:time}"},
                 {"UPLOAD", "{upload_id}"}},
     .none = "No unfinished uploads."},
    {.of = {"files.organize"}, .lines = {"Started the organization run {operation_id}, {status:words}"}},
    {.of = {"files.operation"},
     .lines = {"Organization run {operation_id}: {status:words}[, phase {phase:words}]"},
     .facts = {{"File", "{asset_id}"}, {"Started", "{created_at:time}"}, {"Changed", "{updated_at:time}"}}},
    // Agents
    {.of = {"agents.list"},
     .columns = {{"HANDLE", "@{handle}"},
                 {"NAME", "{display_name}"},
                 {"STATUS", "{status:words}"},
                 {"MAY", "{permissions}"},
                 {"LAST SEEN", "{last_seen_at:time}"},
                 {"ID", "{id:short}"}},
     .none = "No agents."},
    {.of = {"agents.create"},
     .lines = {"Created the agent @{handle} ({id})", "Secret, shown only this once: {credential.secret}"}},
    {.of = {"agents.rotate"},
     .lines = {"The agent {agent_id} has a new secret; the old one is revoked",
               "Secret, shown only this once: {secret}"}},
    {.of = {"agents.update"}, .lines = {"The agent @{handle} is {status:words}[, permissions {permissions}] ({id})"}},
    // Agent events
    {.of = {"events.claim"},
     .lines = {"Claimed the event {event.id}, {event.kind}"},
     .facts = {{"Lease", "{event.lease_expires_at:end}"},
               {"Attempt", "{event.attempt}"},
               {"Document", "{event.document_id}"},
               {"Thread", "{event.thread_id}"},
               {"Comment", "{event.payload.body}"},
               {"Created", "{event.created_at:time}"}}},
    {.of = {"events.renew"}, .lines = {"Renewed the lease of {@event}[; it {lease_expires_at:end}]"}},
    {.of = {"events.complete"}, .lines = {"Completed the event {@event}"}},
    {.of = {"events.fail"}, .lines = {"Reported the event {@event} as failed[; it is {status:words}]"}},
    // Test cases, suites and runs
    {.of = {"tests.catalog"},
     .lines = {"{case_count} test cases in {suite_count} suites"},
     .facts = {{"Capabilities", "{capabilities}"},
               {"Owners", "{owners}"},
               {"Roles", "{roles}"},
               {"Costs", "{cost_classes}"}}},
    {.of = {"tests.case_get"},
     .title = "{title}",
     .lines = {"{description}"},
     .facts = {{"Capability", "{capability}"},
               {"Owner", "{owner}"},
               {"Role", "{role}"},
               {"Cost", "{cost_class}"},
               {"Suites", "{suite_ids}"},
               {"ID", "{case_id}"}}},
    {.of = {"tests.cases_list"},
     .columns = {{"TITLE", "{title}"}, {"COST", "{cost_class}"}, {"CASE", "{case_id}"}},
     .none = "No test cases."},
    {.of = {"tests.suite_get"},
     .title = "{title}",
     .facts = {{"Cases", "{case_ids}"}, {"Runnable", "{runnable:yes}"}, {"ID", "{suite_id}"}}},
    {.of = {"tests.suites_list"},
     .columns =
         {{"TITLE", "{title}"}, {"CASES", "{case_ids:count}"}, {"RUNNABLE", "{runnable:yes}"}, {"SUITE", "{suite_id}"}},
     .none = "No test suites."},
    {.of = {"tests.run_get"},
     .lines = {"Test run {id}: {status:words}"},
     .facts = {{"Suite", "{suite_id}"},
               {"Cases", "{case_ids:count}"},
               {"Passed", "{counts.passed}"},
               {"Failed", "{counts.failed}"},
               {"Launched", "{created_at:time}"},
               {"Finished", "{finished_at:time}"}},
     .parts = {{"results",
                {{"CASE", "{case_id}"},
                 {"STATUS", "{status:words}"},
                 {"TOOK", "{duration_ms:ms}"},
                 {"MESSAGE", "{message}"}}}}},
    {.of = {"tests.runs_list"},
     .columns = {{"SUITE", "{suite_id}"},
                 {"STATUS", "{status:words}"},
                 {"CASES", "{case_ids:count}"},
                 {"LAUNCHED", "{created_at:time}"},
                 {"ID", "{id:short}"}},
     .none = "No test runs."},
    {.of = {"tests.run_launch"}, .lines = {"Launched the test run {id}, {status:words}"}},
    // Workspaces, Projects and nodes
    {.of = {"workspaces.list"},
     .columns = {{"NAME", "{name}"}, {"ROLE", "{role}"}, {"CREATED", "{created_at:time}"}, {"ID", "{id:short}"}},
     .none = "No Workspaces."},
    {.of = {"workspaces.create"}, .lines = {"Created the Workspace \"{name}\" ({id})"}},
    {.of = {"projects.create"}, .lines = {"Created the Project \"{title}\" ({id})"}},
    {.of = {"nodes.move"}, .lines = {"Moved \"{title}\" ({id})"}},
    // Identities and keys: in sentences
    {.of = {"me.get"},
     .lines = {"You are {user.display_name}[ ({user.email})][ at {@server}].",
               "You are the agent @{agent.handle}[ at {@server}].",
               "The Workspace is {workspace.name}[, your role is {workspace.role}].",
               "The key {credential.expires_at:until}.",
               "The key may use {credential.scopes}."},
     .facts = {{"User ID", "{user.id}"},
               {"Agent ID", "{agent.id}"},
               {"Workspace ID", "{workspace.id}"},
               {"Key ID", "{credential.key_id}"}}},
    {.of = {"ws.status"},
     .lines = {"Logged in at {stored_at}[, Workspace {workspace_name}][, profile {profile}].",
               "The key in {unchecked_in} is used at {base_url}; it was not checked.",
               "The key is kept in {kept_in}[; it was made {created_at:time}][ and {expires_at:until}].",
               "The key may use {scopes}."},
     .facts = {{"Workspace ID", "{workspace_id}"}, {"Key ID", "{key_id}"}}},
    {.of = {"ws.keys"},
     .columns = {{"PROFILE", "{profile}"},
                 {"PERSON", "{account_name}"},
                 {"USED", "{current:yes}"},
                 {"WORKSPACE", "{workspace_name}"},
                 {"SERVER", "{base_url}"},
                 {"EXPIRES", "{expires_at:time}"},
                 {"KEY", "{key_id:short}"}},
     .none = "No keys are stored; `ws login --base-url URL` gets one."},
    // What ws tells of the service and itself
    {.of = {"discovery.get"},
     .facts = {{"API version", "{version}"},
               {"Operations", "{operations:count}"},
               {"OpenAPI", "{openapi_url}"},
               {"Skill", "{skill_url}"}},
     .parts = {{"operations", {{"OPERATION", "{id}"}, {"SCOPE", "{scope}"}, {"SUMMARY", "{summary:wrap}"}}}}},
    {.of = {"ws.commands"}, .columns = {{"ID", "{id}"}, {"COMMAND", "{command}"}, {"SUMMARY", "{summary:wrap}"}}},
    {.of = {"ws.exit_codes"}, .columns = {{"EXIT", "{exit}"}, {"NAME", "{name}"}, {"MEANING", "{meaning:wrap}"}}},
    {.of = {"ws.settings"},
     .columns = {{"KEY", "{key}"}, {"VALUE", "{value}"}, {"WHERE", "{where}"}, {"PLACE", "{place:wrap}"}}},
    {.of = {"ws.explanation"},
     .columns = {{"IN USE", "{wins:yes}"}, {"VALUE", "{value}"}, {"WHERE", "{where}"}, {"PLACE", "{place:wrap}"}}},
};

}  // namespace

const View* find_view(std::string_view shape) {
  const auto is_of = [shape](const View& view) { return std::ranges::find(view.of, shape) != view.of.end(); };
  const auto* const found = std::ranges::find_if(views, is_of);
  return found == std::end(views) ? nullptr : found;
}

}  // namespace ws::cli
