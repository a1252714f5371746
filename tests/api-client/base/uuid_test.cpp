#include "api-client/base/uuid.hpp"

#include <catch2/catch.hpp>

TEST_CASE("uuid: version and variant stand in their places, and later ones sort later", "[base]") {
  ws::SeededRandom random(1);
  const auto time = ws::parse_rfc3339("2026-11-20T10:00:00Z").value();
  const std::string first = ws::make_uuid_v7(time, random);
  const std::string later = ws::make_uuid_v7(time + std::chrono::milliseconds{1}, random);
  CHECK(ws::is_uuid(first));
  CHECK(first[14] == '7');
  CHECK(std::string("89ab").find(first[19]) != std::string::npos);
  CHECK(first < later);
}

TEST_CASE("uuid: only the form with hyphens is one", "[base]") {
  CHECK(ws::is_uuid("0190A3B4-0000-7000-8000-000000000000"));
  for (const char* text : {"",
                           "0190a3b4000070008000000000000000",
                           "0190a3b4-0000-7000-8000-00000000000g",
                           "{190a3b4-0000-7000-8000-00000000000}",
                           "0190a3b4-0000-7000-8000-0000000000000"}) {
    CAPTURE(text);
    CHECK_FALSE(ws::is_uuid(text));
  }
}
