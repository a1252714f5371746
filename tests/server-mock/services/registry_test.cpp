#include <algorithm>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/services/shared/service_tables.hpp"

using namespace ws::mock;

TEST_CASE("registry: every operation of the table has one service, and every service an operation", "[server-mock]") {
  std::vector<std::string_view> served = served_operations();
  std::vector<std::string_view> published;
  for (const auto* operation : ws::contract::operations()) published.push_back(operation->id);
  std::ranges::sort(served);
  std::ranges::sort(published);
  CHECK(served == published);
}
