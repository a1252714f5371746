#include "api-client/client/redactor.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"

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

TEST_CASE("redactor: a secret that is escaped in JSON is gone from the details", "[client]") {
  Redactor redactor;
  redactor.add("wsk_abc/def");
  const auto cleaned = [&](std::string details) {
    return redactor.clean(Failure{.call = {.details = std::move(details)}}).call.details;
  };
  CHECK(cleaned(R"({"b": "key wsk_abc\/def", "a": [1]})") == R"({"b":"key [redacted]","a":[1]})");
  CHECK(cleaned(R"({"a":[{"x":"\u0077\u0073\u006b_abc/def"}]})") == R"({"a":[{"x":"[redacted]"}]})");
  CHECK(cleaned(R"({"wsk_abc\/def": 1})") == R"({"[redacted]":1})");
  CHECK(cleaned(R"({"a": "one\ntwo",  "b": 1.0})") == R"({"a": "one\ntwo",  "b": 1.0})");
  CHECK(cleaned(R"(wsk_abc/def \ is no JSON)") == R"([redacted] \ is no JSON)");
}

TEST_CASE("redactor: what signs an address is a secret", "[client]") {
  Redactor redactor;
  redactor.add_query("https://files.example/a?X-Signature=abc%2Fdef12345&X-Date=20261120&k=v#top");
  CHECK(redactor.clean("abc%2Fdef12345, abc/def12345 of 20261120: k=v") == "[redacted], [redacted] of [redacted]: k=v");
}

TEST_CASE("redactor: every member that the contract marks as a secret is gone, wherever it stands", "[client]") {
  const std::string canary = "canary-314159265";
  std::size_t marked = 0;
  for (const contract::Schema* schema : contract::schemas()) {
    for (const contract::Field& field : schema->fields) {
      if (field.secret.empty()) continue;
      ++marked;
      CAPTURE(schema->name, field.name);
      Redactor redactor;
      redactor.add_members(Json{{"data", Json::array({Json{{std::string(field.name), canary}}})}});
      CHECK(redactor.clean("x " + canary + " y") == "x [redacted] y");
    }
  }
  CHECK(marked >= 9);
}

TEST_CASE("redactor: an address that is a secret is gone, whole and in its parts", "[client]") {
  Redactor redactor;
  redactor.add_address("http://127.0.0.1:8080/uploads/q8Zr2LkP0vTn5YwXc3Jd7Hs1?sig=abcdefgh");
  CHECK(redactor.clean("cannot reach http://127.0.0.1:8080/uploads/q8Zr2LkP0vTn5YwXc3Jd7Hs1?sig=abcdefgh") ==
        "cannot reach [redacted]");
  CHECK(redactor.clean("no /uploads/q8Zr2LkP0vTn5YwXc3Jd7Hs1 here, nor abcdefgh") ==
        "no /uploads/[redacted] here, nor [redacted]");
}
