# One sandbox: database, schema, ids, switches, and the world that it starts with.
set(WS_MOCK_STORE_SOURCES
  store/assumptions.cpp
  store/blobs.cpp
  store/built_in_documents.cpp
  store/built_in_world.cpp
  store/ids.cpp
  store/people.cpp
  store/schema.cpp
  store/tree.cpp
  store/world.cpp)
