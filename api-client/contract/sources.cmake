# What the API is: vocabulary, table, and what is read off it.
set(WS_CONTRACT_SOURCES
  contract/errors.cpp
  contract/operations.cpp
  contract/operations/agents.cpp
  contract/operations/authorization.cpp
  contract/operations/comments.cpp
  contract/operations/discovery.cpp
  contract/operations/documents.cpp
  contract/operations/events.cpp
  contract/operations/files.cpp
  contract/operations/questions.cpp
  contract/operations/search.cpp
  contract/operations/sync.cpp
  contract/operations/tests.cpp
  contract/operations/workspaces.cpp
  contract/schema.cpp)
