#include <algorithm>

#include <catch2/catch.hpp>

#include "server-mock/services/files/files.hpp"

using namespace ws::mock;

TEST_CASE("disposition: a plain name is quoted, without filename*", "[server-mock]") {
  CHECK(content_disposition("notes (2).md") == "attachment; filename=\"notes (2).md\"");
}

TEST_CASE("disposition: every other name is one line of printable ASCII, whole in filename*", "[server-mock]") {
  struct Row {
    std::string name;
    std::string expected;
  };
  const auto row = GENERATE(values<Row>({
      {"a\"b.txt", "attachment; filename=\"a_b.txt\"; filename*=UTF-8''a%22b.txt"},
      {"back\\slash", "attachment; filename=\"back_slash\"; filename*=UTF-8''back%5Cslash"},
      {"x\r\nSet-Cookie: a=b",
       "attachment; filename=\"x__Set-Cookie: a=b\"; filename*=UTF-8''x%0D%0ASet-Cookie%3A%20a%3Db"},
      {"r\u00e9sum\u00e9.pdf", "attachment; filename=\"r_sum_.pdf\"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf"},
      {"\xF0\x9F\x8E\x89.png", "attachment; filename=\"_.png\"; filename*=UTF-8''%F0%9F%8E%89.png"},
      {"../../etc/passwd", "attachment; filename=\".._.._etc_passwd\"; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd"},
      {"100%.txt", "attachment; filename=\"100_.txt\"; filename*=UTF-8''100%25.txt"},
  }));
  CHECK(content_disposition(row.name) == row.expected);
}

TEST_CASE("disposition: a malformed media type becomes application/octet-stream", "[server-mock]") {
  CHECK(safe_media_type("text/plain; charset=utf-8") == "text/plain; charset=utf-8");
  CHECK(safe_media_type("image/svg+xml") == "image/svg+xml");
  for (const char* nonsense : {"", "text", "/plain", "text/", "text/pl\r\nain", "text/plain\r\nX: y", "t xt/plain"}) {
    CAPTURE(nonsense);
    CHECK(safe_media_type(nonsense) == "application/octet-stream");
  }
}
