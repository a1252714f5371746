#include "server-mock/pipeline/content.hpp"

#include <catch2/catch.hpp>

using namespace ws::mock;
using Kind = Slice::Kind;

namespace {

Slice slice(std::string_view range, std::uint64_t size = 100, std::string_view method = "GET") {
  http::Request request;
  request.method = method;
  request.headers = {{"Range", range}};
  return wanted_slice(request, "\"tag\"", size);
}

}  // namespace

TEST_CASE("content: one range of bytes, from the front, from the back, cut at the end", "[server-mock]") {
  CHECK(slice("bytes=0-0") == Slice{Kind::part, 0, 1});
  CHECK(slice("bytes=10-19") == Slice{Kind::part, 10, 10});
  CHECK(slice("bytes=90-") == Slice{Kind::part, 90, 10});
  CHECK(slice("bytes=90-1000") == Slice{Kind::part, 90, 10});
  CHECK(slice("bytes=-5") == Slice{Kind::part, 95, 5});
  CHECK(slice("bytes=-1000") == Slice{Kind::part, 0, 100});
  CHECK(slice("Bytes = 1-2 ") == Slice{Kind::part, 1, 2});
  CHECK(slice("bytes=0-99999999999999999999999") == Slice{Kind::part, 0, 100});
  CHECK(content_range(slice("bytes=10-19"), 100) == "bytes 10-19/100");
}

TEST_CASE("content: a range beyond the end cannot be satisfied", "[server-mock]") {
  for (const char* range : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999999-"}) {
    CAPTURE(range);
    CHECK(slice(range).kind == Kind::unsatisfiable);
  }
  CHECK(content_range(slice("bytes=100-"), 100) == "bytes */100");
}

TEST_CASE("content: malformed, multiple and non-byte ranges are ignored", "[server-mock]") {
  for (const char* range : {"",
                            "bytes",
                            "bytes=",
                            "bytes=-",
                            "bytes=5-2",
                            "bytes=a-b",
                            "bytes=1-2,4-5",
                            "lines=1-2",
                            "bytes=+1-2",
                            "bytes=--5"}) {
    CAPTURE(range);
    CHECK(slice(range) == Slice{Kind::whole, 0, 100});
  }
  CHECK(slice("bytes=0-1", 100, "HEAD").kind == Kind::whole);
}

TEST_CASE("content: If-Range lets a range through only for the same bytes", "[server-mock]") {
  http::Request request;
  request.method = "GET";
  const auto with = [&](std::string_view if_range) {
    request.headers = {{"Range", "bytes=0-9"}, {"If-Range", if_range}};
    return wanted_slice(request, "\"tag\"", 100).kind;
  };
  CHECK(with("\"tag\"") == Kind::part);
  CHECK(with("\"other\"") == Kind::whole);
  CHECK(with("W/\"tag\"") == Kind::whole);
  CHECK(with("Sat, 21 Nov 2026 10:00:00 GMT") == Kind::whole);
}
