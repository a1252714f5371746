#include "api-client/http/transport.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace ws::http;

TEST_CASE("transport: an origin is scheme, host and port, and nothing is left to interpretation", "[http]") {
  CHECK(origin_of("https://Example.org/a?b") == "https://example.org:443");
  CHECK(origin_of("HTTP://example.org") == "http://example.org:80");
  CHECK(origin_of("https://example.org:8443/x") == "https://example.org:8443");
  CHECK(origin_of("http://[::1]:80/") == "http://[::1]:80");
  CHECK(origin_of("http://[::1]/") == "http://[::1]:80");
  for (const char* const none : {"",
                                 "example.org",
                                 "ftp://example.org",
                                 "https://",
                                 "https://user@example.org",
                                 "https://user:pw@example.org",
                                 "https://a b",
                                 "https://example.org:x",
                                 "file:///etc",
                                 "https://good.example\\@evil.example/",
                                 "https://good.example\\.evil.example",
                                 "https://a%2eb"}) {
    CAPTURE(none);
    CHECK(origin_of(none).empty());
  }
}

TEST_CASE("transport: loopback is an address of this machine, not a name that looks like one", "[http]") {
  for (const char* const near :
       {"http://localhost:8080/", "http://127.0.0.1", "http://127.255.0.9:1/", "http://[::1]:5"}) {
    CAPTURE(near);
    CHECK(is_loopback(near));
  }
  for (const char* const far : {"http://127.0.0.1.example.org",
                                "http://127.evil.example",
                                "http://localhost.example",
                                "http://127.999.0.1",
                                "http://127.0.1",
                                "http://127.0.0.0.1",
                                "http://127...1",
                                "http://127.0.0.-1",
                                "http://127.0.0.1%2eevil.example",
                                "http://10.0.0.1",
                                "http://0.0.0.0",
                                "https://example.org",
                                ""}) {
    CAPTURE(far);
    CHECK_FALSE(is_loopback(far));
  }
}

TEST_CASE("transport: headers are found whatever their case", "[http]") {
  const Headers headers = {{"Content-Type", "a"}, {"content-type", "b"}};
  CHECK(find_header(headers, "CONTENT-TYPE") == "a");
  CHECK_FALSE(find_header(headers, "content"));
}

TEST_CASE("transport: a header's name is a token, its value one line, a key visible", "[http]") {
  for (const char* const name : {"Host", "x-amz-acl", "X_1.2~!#$%&'*+^`|"}) CHECK(is_header_name(name));
  for (const char* const none : {"", "Host ", " Host", "Host\t", "X-A:b", "X\r\nY", "X/Y", "\"X\"", "X\x7f", "é"}) {
    CAPTURE(none);
    CHECK_FALSE(is_header_name(none));
  }
  CHECK(is_header_value(""));
  CHECK(is_header_value("a b\té"));
  CHECK_FALSE(is_header_value("a\rb"));
  CHECK_FALSE(is_header_value("a\nb"));
  CHECK_FALSE(is_header_value(std::string_view("a\0b", 3)));
  CHECK(is_credential("wsk_A-z0.9~"));
  for (const char* const none : {"", "a b", "a\n", "a\x7f", "é"}) CHECK_FALSE(is_credential(none));
}
