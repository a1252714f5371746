#include <set>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/services/services.hpp"

using namespace ws::mock;

TEST_CASE("registry: names only operations of the table, each once", "[server-mock]") {
  std::set<std::string_view> seen;
  for (const std::string_view id : served_operations()) {
    CAPTURE(id);
    const ws::contract::Operation* operation = ws::contract::find_operation(id);
    REQUIRE(operation != nullptr);
    CHECK(find_service(*operation) != nullptr);
    CHECK(seen.insert(id).second);
  }
}
