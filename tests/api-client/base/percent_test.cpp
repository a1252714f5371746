#include "api-client/base/percent.hpp"

#include <catch2/catch.hpp>

TEST_CASE("percent: any bytes survive encoding and decoding", "[base]") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(ws::percent_decode(ws::percent_encode(all)).value() == all);
  CHECK(ws::percent_encode("a/b c:ä~") == "a%2Fb%20c%3A%C3%A4~");
}

TEST_CASE("percent: a broken escape is no text", "[base]") {
  for (const char* text : {"%", "%2", "%zz", "a%4"}) {
    CAPTURE(text);
    CHECK_FALSE(ws::percent_decode(text));
  }
  CHECK(ws::percent_decode("a+b%3a").value() == "a+b:");
}
