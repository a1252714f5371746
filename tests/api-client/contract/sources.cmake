set(WS_CONTRACT_TESTS
  ${PROJECT_SOURCE_DIR}/tests/support/samples.cpp
  contract/limits_test.cpp
  contract/openapi_test.cpp
  contract/operations_test.cpp
  contract/problem_test.cpp
  contract/secrets_test.cpp
  contract/validate_test.cpp)
