/// Every service of this folder by its operation; `registry.cpp` ties them to the table.
///
/// What each does stands in `workspace-api-v1.md` and `decisions.md`; each refuses as "Errors" there says.
#pragma once

#include <string_view>
#include <vector>

#include "server-mock/services/service.hpp"

namespace ws::mock {

/// The ids that `find_service` knows.
std::vector<std::string_view> served_operations();

ServiceResult start_authorization(World& world, const ServiceCall& call);
ServiceResult exchange_device_code(World& world, const ServiceCall& call);
ServiceResult revoke_current_credential(World& world, const ServiceCall& call);
ServiceResult get_identity(World& world, const ServiceCall& call);
ServiceResult get_discovery(World& world, const ServiceCall& call);

ServiceResult list_workspaces(World& world, const ServiceCall& call);
ServiceResult create_workspace(World& world, const ServiceCall& call);
ServiceResult create_project(World& world, const ServiceCall& call);
ServiceResult move_node(World& world, const ServiceCall& call);

ServiceResult list_questions(World& world, const ServiceCall& call);
ServiceResult ask_question(World& world, const ServiceCall& call);
ServiceResult get_question(World& world, const ServiceCall& call);
ServiceResult list_conversations(World& world, const ServiceCall& call);
ServiceResult get_conversation(World& world, const ServiceCall& call);

ServiceResult run_search(World& world, const ServiceCall& call);

ServiceResult list_documents(World& world, const ServiceCall& call);
ServiceResult create_document(World& world, const ServiceCall& call);
ServiceResult get_document(World& world, const ServiceCall& call);
ServiceResult update_document(World& world, const ServiceCall& call);
ServiceResult archive_document(World& world, const ServiceCall& call);
ServiceResult share_document(World& world, const ServiceCall& call);

ServiceResult list_comments(World& world, const ServiceCall& call);
ServiceResult add_comment(World& world, const ServiceCall& call);
ServiceResult reply_to_comment(World& world, const ServiceCall& call);
ServiceResult set_comment_status(World& world, const ServiceCall& call);

ServiceResult start_upload(World& world, const ServiceCall& call);
ServiceResult finish_upload(World& world, const ServiceCall& call);
ServiceResult list_files(World& world, const ServiceCall& call);
ServiceResult get_file(World& world, const ServiceCall& call);
ServiceResult get_file_content(World& world, const ServiceCall& call);
ServiceResult organize_file(World& world, const ServiceCall& call);
ServiceResult get_file_operation(World& world, const ServiceCall& call);

ServiceResult list_agents(World& world, const ServiceCall& call);
ServiceResult create_agent(World& world, const ServiceCall& call);
ServiceResult update_agent(World& world, const ServiceCall& call);
ServiceResult rotate_agent_credential(World& world, const ServiceCall& call);

ServiceResult claim_agent_event(World& world, const ServiceCall& call);
ServiceResult renew_agent_event(World& world, const ServiceCall& call);
ServiceResult complete_agent_event(World& world, const ServiceCall& call);
ServiceResult fail_agent_event(World& world, const ServiceCall& call);

ServiceResult create_source(World& world, const ServiceCall& call);
ServiceResult get_source(World& world, const ServiceCall& call);
ServiceResult pull_source(World& world, const ServiceCall& call);
ServiceResult plan_sync(World& world, const ServiceCall& call);
ServiceResult push_sync(World& world, const ServiceCall& call);
ServiceResult commit_sync(World& world, const ServiceCall& call);
ServiceResult get_conflict(World& world, const ServiceCall& call);
ServiceResult resolve_conflict(World& world, const ServiceCall& call);

ServiceResult get_test_catalog(World& world, const ServiceCall& call);
ServiceResult list_test_cases(World& world, const ServiceCall& call);
ServiceResult get_test_case(World& world, const ServiceCall& call);
ServiceResult list_test_suites(World& world, const ServiceCall& call);
ServiceResult get_test_suite(World& world, const ServiceCall& call);
ServiceResult list_test_runs(World& world, const ServiceCall& call);
ServiceResult launch_test_run(World& world, const ServiceCall& call);
ServiceResult get_test_run(World& world, const ServiceCall& call);

}  // namespace ws::mock
