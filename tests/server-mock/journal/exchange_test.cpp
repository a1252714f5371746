#include "server-mock/journal/exchange.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;
using namespace ws::mock;

namespace {

const Json whole = {{"seq", 7U},
                    {"time", "2026-11-20T10:00:00.123Z"},
                    {"method", "POST"},
                    {"path", "/v1/documents"},
                    {"query", "a=b"},
                    {"operation", "docs.create"},
                    {"status", 201},
                    {"request_headers", {{"host", "localhost"}}},
                    {"request_body", {{"title", "Soup"}}},
                    {"request_bytes", 16U},
                    {"response_headers", {{"etag", "\"1\""}}},
                    {"response_body", {{"id", "x"}}},
                    {"response_bytes", 10U},
                    {"duration_ms", 1.5},
                    {"fault", "f1"},
                    {"sandbox", "s1"},
                    {"warning", "Ignored: x"},
                    {"assumed", "create_status=201"}};

}  // namespace

TEST_CASE("exchange: what is written is read back, every member of it", "[server-mock]") {
  const auto read = read_exchange(whole);
  REQUIRE(read);
  CHECK(to_json(*read) == whole);
  CHECK(read->request_bytes == 16);
  CHECK(read->duration_us == 1500);
  CHECK(read->request_header("host") == "localhost");
}

TEST_CASE("exchange: what is not known is null, or left out", "[server-mock]") {
  const auto read = read_exchange({{"time", "2026-11-20T10:00:00.123Z"},
                                   {"method", "GET"},
                                   {"path", "/"},
                                   {"status", nullptr},
                                   {"request_headers", Json::object()}});
  REQUIRE(read);
  CHECK(read->status == 0);
  CHECK_FALSE(read->request_bytes);
  const Json value = to_json(*read);
  for (const char* member : {"query", "operation", "status", "request_body", "response_body", "fault", "sandbox"}) {
    CAPTURE(member);
    CHECK(value.at(member).is_null());
  }
  for (const char* member : {"request_bytes", "response_bytes", "response_headers", "warning", "assumed"}) {
    CAPTURE(member);
    CHECK_FALSE(value.contains(member));
  }
}

TEST_CASE("exchange: what lacks a part of it is refused", "[server-mock]") {
  const std::string member = GENERATE("time", "method", "path", "status", "request_headers");
  Json value = whole;
  value.erase(member);
  CAPTURE(member);
  CHECK_FALSE(read_exchange(value));
  CHECK_FALSE(read_exchange(Json(7)));
}
