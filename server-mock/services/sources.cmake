# What each operation means, on the store. (authorization, discovery and identity are listed beside the pipeline.)
set(WS_MOCK_SERVICES_SOURCES
  services/arguments.cpp
  services/cursor.cpp
  services/document_changes.cpp
  services/documents.cpp
  services/nodes.cpp
  services/refuse.cpp
  services/registry.cpp
  services/resources.cpp
  services/shares.cpp
  services/sync/membership.cpp
  services/sync/paths.cpp
  services/visibility.cpp
  services/workspaces.cpp)
