# What the API is: vocabulary, table, and what is read off it.
set(WS_CONTRACT_SOURCES
  contract/schema.cpp)
