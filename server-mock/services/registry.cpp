#include <algorithm>

#include "server-mock/services/shared/service_tables.hpp"

namespace ws::mock {
namespace {

constexpr ServiceTable (*tables[])() = {
    authorization_services,
    workspace_services,
    question_services,
    search_services,
    document_services,
    comment_services,
    file_services,
    organize_services,
    sync_source_services,
    sync_plan_services,
    sync_push_services,
    sync_commit_services,
    sync_conflict_services,
    agent_services,
    event_services,
    test_services,
};

}  // namespace

Service find_service(const contract::Operation& operation) {
  for (const auto table : tables) {
    const auto found = std::ranges::find(table(), operation.id, &ServiceEntry::operation);
    if (found != table().end()) return found->service;
  }
  return nullptr;
}

std::vector<std::string_view> served_operations() {
  std::vector<std::string_view> ids;
  for (const auto table : tables) {
    for (const ServiceEntry& entry : table()) ids.push_back(entry.operation);
  }
  return ids;
}

}  // namespace ws::mock
