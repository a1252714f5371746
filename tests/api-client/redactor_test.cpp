#include "api-client/redactor.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;

TEST_CASE("redactor: a secret is gone from every text of a failure", "[client]") {
  Redactor redactor;
  redactor.add("wsk_secret\"1");
  redactor.add_members(
      Json{{"device_code", "device-code-1"}, {"lease_token", "lease-token-1"}, {"title", "title-text"}});
  CHECK(redactor.clean("key wsk_secret\"1, wsk_secret\"1.") == "key [redacted], [redacted].");
  CHECK(redactor.clean(std::string(R"({"k":"wsk_secret\"1"})")) == R"({"k":"[redacted]"})");
  CHECK(redactor.clean("?k=wsk_secret%221") == "?k=[redacted]");
  CHECK(redactor.clean("device-code-1 lease-token-1 title-text") == "[redacted] [redacted] title-text");
  const Failure failure = redactor.clean(Failure{.what = "device-code-1",
                                                 .hint = "device-code-1",
                                                 .request_id = "device-code-1",
                                                 .code = "device-code-1",
                                                 .call = {.details = "device-code-1"}});
  CHECK(failure == Failure{.what = "[redacted]",
                           .hint = "[redacted]",
                           .request_id = "[redacted]",
                           .code = "[redacted]",
                           .call = {.details = "[redacted]"}});
}

TEST_CASE("redactor: texts too short to be secrets are left alone", "[client]") {
  Redactor redactor;
  redactor.add("");
  redactor.add("a");
  CHECK(redactor.clean("banana") == "banana");
}
