#include "api-client/base/ascii.hpp"

#include <catch2/catch.hpp>

using namespace ws;

TEST_CASE("ascii: letters change case, every other byte stays", "[base]") {
  CHECK(to_lower("AZ[@\xC3\x84"
                 "9") ==
        "az[@\xC3\x84"
        "9");
  CHECK(to_upper("az{`") == "AZ{`");
  CHECK(equal_ignoring_case("Content-Type", "content-tYPE"));
  CHECK_FALSE(equal_ignoring_case("a", "ab"));
}

TEST_CASE("ascii: blanks go at the ends alone", "[base]") {
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(trimmed_end("a \n", "\n") == "a ");
}

TEST_CASE("ascii: hexadecimal digits of either case", "[base]") {
  CHECK(hex_digit('0') == 0);
  CHECK(hex_digit('f') == 15);
  CHECK(hex_digit('F') == 15);
  CHECK(hex_digit('g') == -1);
  CHECK(hex_digit('/') == -1);
}
