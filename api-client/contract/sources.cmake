# What the API is: vocabulary, table, and what is read off it.
set(WS_CONTRACT_SOURCES
  contract/checks.cpp
  contract/errors.cpp
  contract/failure.cpp
  contract/json_schema.cpp
  contract/openapi.cpp
  contract/operations/operations.cpp
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
  contract/problem.cpp
  contract/schema.cpp
  contract/secrets.cpp
  contract/validate.cpp)

# Each area of the table calls its lists alike.
set(WS_CONTRACT_AREAS ${WS_CONTRACT_SOURCES})
list(FILTER WS_CONTRACT_AREAS INCLUDE REGEX "^contract/operations/")
set_source_files_properties(${WS_CONTRACT_AREAS} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
