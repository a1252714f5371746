#include <algorithm>
#include <iterator>
#include <string_view>

#include "server-mock/services/services.hpp"

namespace ws::mock {
namespace {

struct Registered {
  std::string_view operation = {};
  Service service = nullptr;
};

constexpr Registered registry[] = {
    {"auth.start", start_authorization},
    {"auth.token", exchange_device_code},
    {"auth.revoke", revoke_current_credential},
    {"me.get", get_identity},
    {"discovery.get", get_discovery},
    {"workspaces.list", list_workspaces},
    {"workspaces.create", create_workspace},
    {"projects.create", create_project},
    {"nodes.move", move_node},
    {"questions.list", list_questions},
    {"questions.create", ask_question},
    {"questions.get", get_question},
    {"conversations.list", list_conversations},
    {"conversations.get", get_conversation},
    {"search.run", run_search},
    {"docs.list", list_documents},
    {"docs.create", create_document},
    {"docs.get", get_document},
    {"docs.update", update_document},
    {"docs.archive", archive_document},
    {"docs.share", share_document},
    {"comments.list", list_comments},
    {"comments.add", add_comment},
    {"comments.reply", reply_to_comment},
    {"comments.set_status", set_comment_status},
    {"files.upload_start", start_upload},
    {"files.upload_finish", finish_upload},
    {"files.list", list_files},
    {"files.get", get_file},
    {"files.content", get_file_content},
    {"files.organize", organize_file},
    {"files.operation", get_file_operation},
    {"sync.source_create", create_source},
    {"sync.source_get", get_source},
    {"sync.pull", pull_source},
    {"sync.plan", plan_sync},
    {"sync.push", push_sync},
    {"sync.commit", commit_sync},
    {"sync.conflict_get", get_conflict},
    {"sync.conflict_resolve", resolve_conflict},
    {"agents.list", list_agents},
    {"agents.create", create_agent},
    {"agents.update", update_agent},
    {"agents.rotate", rotate_agent_credential},
    {"events.claim", claim_agent_event},
    {"events.renew", renew_agent_event},
    {"events.complete", complete_agent_event},
    {"events.fail", fail_agent_event},
    {"tests.catalog", get_test_catalog},
    {"tests.cases_list", list_test_cases},
    {"tests.case_get", get_test_case},
    {"tests.suites_list", list_test_suites},
    {"tests.suite_get", get_test_suite},
    {"tests.runs_list", list_test_runs},
    {"tests.run_launch", launch_test_run},
    {"tests.run_get", get_test_run},
};

}  // namespace

Service find_service(const contract::Operation& operation) {
  const auto* found = std::ranges::find(registry, operation.id, &Registered::operation);
  return found == std::end(registry) ? nullptr : found->service;
}

std::vector<std::string_view> served_operations() {
  std::vector<std::string_view> ids;
  for (const Registered& entry : registry) ids.push_back(entry.operation);
  return ids;
}

}  // namespace ws::mock
