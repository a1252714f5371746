#include "api-client/base/result.hpp"

#include <catch2/catch.hpp>

using ws::Failure;
using ws::Result;

namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return ws::fail(Failure::Kind::invalid, "odd", "give an even one");
  return value / 2;
}

Result<int> quarter(int value) {
  WS_LET(const int halved, half(value));
  WS_TRY(half(halved));
  return half(halved);
}

}  // namespace

TEST_CASE("result: a failure passes up unchanged, a value is bound", "[base]") {
  CHECK(quarter(8).value() == 2);
  const auto failed = quarter(6);
  REQUIRE_FALSE(failed);
  CHECK(failed.error() == Failure{.kind = Failure::Kind::invalid, .what = "odd", .hint = "give an even one"});
}

TEST_CASE("result: every kind and every outcome has its word", "[base]") {
  CHECK(name(Failure::Kind::unknown_outcome) == "unknown_outcome");
  CHECK(name(Failure::Kind::rate_limited) == "rate_limited");
  CHECK(name(ws::Applied::unknown) == "unknown");
}
