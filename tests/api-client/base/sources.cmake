set(WS_BASE_TESTS
  base/json_test.cpp)
