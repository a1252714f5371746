# What each operation means, on the store: a folder for each area.
set(WS_MOCK_SERVICES_SOURCES
  services/registry.cpp
  services/agents/agent_credentials.cpp
  services/agents/agents.cpp
  services/authorization/authorization.cpp
  services/authorization/device_logins.cpp
  services/authorization/keys.cpp
  services/built_in/built_in_world.cpp
  services/comments/anchors.cpp
  services/comments/comments.cpp
  services/documents/document_changes.cpp
  services/documents/documents.cpp
  services/events/event_queue.cpp
  services/events/events.cpp
  services/events/leased_events.cpp
  services/events/mentions.cpp
  services/events/notify.cpp
  services/files/assets.cpp
  services/files/disposition.cpp
  services/files/files.cpp
  services/files/organize_runs.cpp
  services/files/uploads.cpp
  services/questions/answering.cpp
  services/questions/question_store.cpp
  services/questions/questions.cpp
  services/search/search.cpp
  services/shared/arguments.cpp
  services/shared/paging.cpp
  services/shared/errors.cpp
  services/shared/resources.cpp
  services/shared/validation_errors.cpp
  services/shared/visibility.cpp
  services/sync/commit.cpp
  services/sync/commit_work.cpp
  services/sync/conflict.cpp
  services/sync/conflict_store.cpp
  services/sync/pages.cpp
  services/sync/path_conflicts.cpp
  services/sync/plan.cpp
  services/sync/push.cpp
  services/sync/shared.cpp
  services/sync/source.cpp
  services/sync_sources/membership.cpp
  services/sync_sources/paths.cpp
  services/tests/catalog.cpp
  services/tests/checks_content.cpp
  services/tests/checks_knowledge.cpp
  services/tests/checks_sync.cpp
  services/tests/scratch_world.cpp
  services/tests/tests.cpp
  services/text_index/index.cpp
  services/text_index/query.cpp
  services/workspaces/workspaces.cpp)

# The checks that test runs execute are tables, each with its own `create` and `cases`.
set(WS_MOCK_TABLES ${WS_MOCK_SERVICES_SOURCES})
list(FILTER WS_MOCK_TABLES INCLUDE REGEX "^services/tests/checks_")
