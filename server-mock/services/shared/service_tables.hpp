/// Tables of the operations and the services that implement them, joined by `registry.cpp`.
///
/// Add a service to the table at the end of its file. The behaviour is specified in `workspace-api-v1.md` and
/// `decisions.md`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server-mock/services/shared/service.hpp"

namespace ws::mock {

struct ServiceEntry {
  std::string_view operation = {};  ///< id in the operation table: "docs.list"
  Service service = nullptr;
};
using ServiceTable = std::span<const ServiceEntry>;

/// Ids of all operations that have a service, for the test that compares them with the operation table.
std::vector<std::string_view> served_operations();

ServiceTable authorization_services();
ServiceTable workspace_services();
ServiceTable question_services();
ServiceTable search_services();
ServiceTable document_services();
ServiceTable comment_services();
ServiceTable file_services();
ServiceTable organize_services();
ServiceTable sync_source_services();
ServiceTable sync_plan_services();
ServiceTable sync_push_services();
ServiceTable sync_commit_services();
ServiceTable sync_conflict_services();
ServiceTable agent_services();
ServiceTable event_services();
ServiceTable test_services();

}  // namespace ws::mock
