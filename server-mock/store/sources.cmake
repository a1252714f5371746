# One sandbox: database, schema, ids, switches, and the world that it starts with.
set(WS_MOCK_STORE_SOURCES
  store/assumptions.cpp
  store/ids.cpp
  store/schema.cpp
  store/world.cpp)
