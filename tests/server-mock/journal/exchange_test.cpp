#include "server-mock/journal/exchange.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;
using namespace ws::mock;

namespace {

Exchange whole_exchange() {
  return {.seq = 7,
          .time_ms = 1'795'168'800'123,
          .method = "POST",
          .path = "/v1/documents",
          .query = "a=b",
          .operation = "docs.create",
          .status = 201,
          .request_headers = Json{{"host", "localhost"}},
          .request_body = Json{{"title", "Soup"}},
          .request_bytes = 16,
          .response_headers = Json{{"etag", "\"1\""}},
          .response_body = Json{{"id", "x"}},
          .response_bytes = 10,
          .duration_us = 1500,
          .fault = "f1",
          .sandbox = "s1",
          .warning = "Ignored: x",
          .assumed = "create_status=201"};
}

}  // namespace

TEST_CASE("exchange: what is written is read back, every member of it", "[server-mock]") {
  const Exchange exchange = whole_exchange();
  const auto read = read_exchange(to_json(exchange));
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(exchange));
  CHECK(read->request_bytes == exchange.request_bytes);
  CHECK(read->duration_us == 1500);
  CHECK(read->request_header("host") == "localhost");
}

TEST_CASE("exchange: what is not known is null, or left out", "[server-mock]") {
  const Json value = to_json(Exchange{.request_headers = Json::object()});
  for (const char* member : {"query", "operation", "status", "request_body", "response_body", "fault", "sandbox"}) {
    CAPTURE(member);
    CHECK(value.at(member).is_null());
  }
  for (const char* member : {"request_bytes", "response_bytes", "response_headers", "warning", "assumed"}) {
    CAPTURE(member);
    CHECK_FALSE(value.contains(member));
  }
  const auto read = read_exchange(value);
  REQUIRE(read);
  CHECK(read->status == 0);
  CHECK_FALSE(read->request_bytes);
}

TEST_CASE("exchange: what lacks a part of it is refused", "[server-mock]") {
  const std::string member = GENERATE("time", "method", "path", "status", "request_headers");
  Json value = to_json(whole_exchange());
  value.erase(member);
  CAPTURE(member);
  CHECK_FALSE(read_exchange(value));
  CHECK_FALSE(read_exchange(Json(7)));
}
