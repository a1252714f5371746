# One world: database, schema, ids, assumption switches.
set(WS_MOCK_STORE_SOURCES
  store/assumptions.cpp
  store/blobs.cpp
  store/data_file.cpp
  store/ids.cpp
  store/query.cpp
  store/schema.cpp
  store/tree.cpp
  store/world.cpp)
