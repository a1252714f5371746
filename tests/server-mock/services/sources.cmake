# The store, and the services on a world of their own, without HTTP.
set(WS_MOCK_SERVICES_TESTS
  services/agents_test.cpp
  services/comments_test.cpp
  services/documents_test.cpp
  services/events_test.cpp
  services/mentions_test.cpp
  services/registry_test.cpp
  services/service_world.cpp
  services/sync/commit_test.cpp
  services/sync/conflict_test.cpp
  services/sync/plan_test.cpp
  services/sync/pull_test.cpp
  services/sync/push_test.cpp
  services/sync/source_test.cpp
  services/tree_test.cpp
  store/world_test.cpp)
