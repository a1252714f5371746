#include <catch2/catch.hpp>
#include <zlib.h>

#include "server-mock/http/server/delivery.hpp"

using namespace ws::mock::http;

namespace {

Response answer(std::string text, std::string_view type = "application/json") {
  Response response;
  response.header("ETag", "\"7\"").body(type, std::move(text));
  return response;
}

Response packed(Response&& response, std::string_view accepted) {
  Request request;
  if (!accepted.empty()) request.headers = {{"Accept-Encoding", accepted}};
  pack_for(request, response);
  return std::move(response);
}

std::string unpacked(std::string text) {
  std::string out(1'000'000, '\0');
  z_stream stream = {};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

bool has(const Response& response, std::string_view field) {
  return response.headers().find(field) != std::string::npos;
}

}  // namespace

TEST_CASE("gzip: text is compressed on request and decompresses to itself", "[server-mock]") {
  const std::string text = "[" + std::string(5000, '1') + "]";
  const Response response = packed(answer(text), "deflate, gzip");
  CHECK(response.text().size() < 200);
  CHECK(unpacked(response.text()) == text);
  CHECK(has(response, "Content-Encoding: gzip\r\n"));
  CHECK(has(response, "Vary: Accept-Encoding\r\n"));
  CHECK(has(response, "ETag: \"7-gzip\"\r\n"));
}

TEST_CASE("gzip: the weights in Accept-Encoding decide", "[server-mock]") {
  for (const char* yes : {"gzip",
                          "GZIP",
                          "x-gzip",
                          "*",
                          "gzip;q=0.5",
                          "gzip; q=1.0, identity; q=0.5",
                          "br, gzip;q=0.001",
                          "identity;q=0, *",
                          "gzip;q=nonsense"}) {
    CAPTURE(yes);
    CHECK(wants_gzip(yes));
  }
  for (const char* no : {"",
                         "identity",
                         "br",
                         "gzip;q=0",
                         "gzip;q=0.000",
                         "*;q=0",
                         "gzip;q=0, *",
                         "gzip;q=0.5, identity",
                         "gzipped",
                         ",;,"}) {
    CAPTURE(no);
    CHECK_FALSE(wants_gzip(no));
  }
}

TEST_CASE("gzip: without Accept-Encoding the text is sent as it is, with Vary", "[server-mock]") {
  const std::string text(5000, '1');
  for (const char* accepted : {"", "identity", "gzip;q=0"}) {
    const Response response = packed(answer(text), accepted);
    CHECK(response.text() == text);
    CHECK(has(response, "Vary: Accept-Encoding\r\n"));
    CHECK_FALSE(has(response, "Content-Encoding"));
  }
}

TEST_CASE("gzip: small, binary, bodiless and faulted responses are not compressed", "[server-mock]") {
  const std::string text(5000, '1');
  CHECK_FALSE(has(packed(answer(std::string(1023, '1')), "gzip"), "Content-Encoding"));
  CHECK(has(packed(answer(std::string(1024, '1')), "gzip"), "Content-Encoding"));
  CHECK_FALSE(has(packed(answer(text, "image/png"), "gzip"), "Content-Encoding"));
  Response disturbed = answer(text);
  disturbed.set_wire_fault({.truncate_at = 10});
  CHECK_FALSE(has(packed(std::move(disturbed), "gzip"), "Content-Encoding"));
  CHECK(has(packed(answer(text, "text/html; charset=utf-8"), "gzip"), "Content-Encoding"));
}
