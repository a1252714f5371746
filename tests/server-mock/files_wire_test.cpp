// Files as a client sees them: the PUT beside the API, the bytes back, whole and in parts.
#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;
using Catch::Matchers::Contains;

namespace {

Json start(Wire& wire, std::string_view name, std::size_t size, std::string_view type = "text/plain") {
  const RawAnswer started =
      wire.send("POST", "/v1/files/uploads", {{"file_name", name}, {"mime_type", type}, {"size_bytes", size}});
  REQUIRE(started.status == 201);
  return parse(started);
}

std::string path_of(const Json& upload) {
  const std::string url = upload.at("upload_url");
  REQUIRE(url.starts_with("http://mock.test/uploads/"));
  return url.substr(std::string("http://mock.test").size());
}

RawAnswer put(Wire& wire,
              const std::string& path,
              std::string_view bytes,
              const std::string& more = "Content-Type: text/plain\r\n") {
  return wire.say("PUT " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more +
                  "Content-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + std::string(bytes));
}

RawAnswer finish(Wire& wire, const Json& upload, std::string_view name, std::size_t size) {
  return wire.send("POST",
                   "/v1/files/uploads:finalize",
                   {{"upload_id", upload.at("upload_id")},
                    {"blob_name", upload.at("blob_name")},
                    {"file_name", name},
                    {"mime_type", "text/plain"},
                    {"size_bytes", size}});
}

/// The path of its content.
std::string upload(Wire& wire, std::string_view bytes, std::string_view name = "tides.txt") {
  const Json started = start(wire, name, bytes.size());
  REQUIRE(put(wire, path_of(started), bytes).status == 200);
  const RawAnswer made = finish(wire, started, name, bytes.size());
  REQUIRE(made.status == 201);
  return parse(made).at("links").at("content");
}

RawAnswer get(Wire& wire, const std::string& path, std::vector<std::string> headers = {}, std::string method = "GET") {
  return wire.ask({.method = std::move(method), .target = path, .token = wire.token(), .headers = std::move(headers)});
}

std::string large_text() {
  std::string text;
  for (int line = 0; text.size() < 300'000; ++line) text += "line " + std::to_string(line) + "\n";
  return text;
}

}  // namespace

TEST_CASE("uploads: a part of a file, coded bytes and another Content-Type are refused, and nothing is changed",
          "[server-mock]") {
  Wire wire;
  const std::string bytes = "0123456789";
  const Json started = start(wire, "a.txt", bytes.size());
  const std::string path = path_of(started);
  CHECK(started.at("upload_headers") == Json{{"Content-Type", "text/plain"}});
  REQUIRE(put(wire, path, bytes).status == 200);
  const std::string right = "Content-Type: text/plain\r\n";
  const std::string headers = GENERATE_COPY(right + "Content-Range: bytes 0-4/10\r\n",
                                            right + "Content-Range: bytes 0-9/10\r\n",
                                            right + "Content-Encoding: gzip\r\n",
                                            right + "Content-Encoding: br\r\n",
                                            std::string("Content-Type: text/html\r\n"),
                                            std::string());
  CAPTURE(headers);
  const RawAnswer refused = put(wire, path, "other", headers);
  CHECK(refused.status == 400);
  CHECK(code_of(refused) == "invalid_request");
  const Json asset = parse(finish(wire, started, "a.txt", bytes.size()));
  CHECK(asset.at("content_sha256") == Sha256::of(bytes).hex());
}

TEST_CASE("uploads: Content-Encoding: identity and a Content-Type in other letters are the same", "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "a.txt", 2);
  CHECK(put(wire, path_of(started), "ab", "Content-Type: Text/Plain\r\nContent-Encoding: identity\r\n").status == 200);
}

TEST_CASE("uploads: the mime_type of finalize counts, also its default", "[server-mock]") {
  Wire wire;
  const auto made = [&](const Json& more) {
    const Json started = start(wire, "a.txt", 2);
    REQUIRE(put(wire, path_of(started), "ab").status == 200);
    Json body = {{"upload_id", started.at("upload_id")},
                 {"blob_name", started.at("blob_name")},
                 {"file_name", "a.txt"},
                 {"size_bytes", 2}};
    body.update(more);
    return parse(wire.send("POST", "/v1/files/uploads:finalize", body)).at("mime_type").get<std::string>();
  };
  CHECK(made(Json::object()) == "application/octet-stream");
  CHECK(made({{"mime_type", "text/plain"}}) == "text/plain");
  CHECK(made({{"mime_type", "text/markdown"}}) == "text/markdown");
}

TEST_CASE("files: the exact bytes come back, with their hash, name and type", "[server-mock]") {
  Wire wire;
  const std::string bytes = large_text() + std::string("\0\xFF", 2);
  const std::string content = upload(wire, bytes, "r\u00e9sum\u00e9 \"1\".txt");
  const RawAnswer got = get(wire, content);
  CHECK(got.status == 200);
  CHECK(got.body == bytes);
  CHECK(got.header("etag") == '"' + Sha256::of(bytes).hex() + '"');
  CHECK(got.header("content-length") == std::to_string(bytes.size()));
  CHECK(got.header("content-type") == "text/plain");
  CHECK(got.header("accept-ranges") == "bytes");
  CHECK_THAT(got.header("content-disposition"), Contains("filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.txt"));
  CHECK(got.header("x-mock-operation") == "files.content");
  const RawAnswer head = get(wire, content, {}, "HEAD");
  CHECK(head.status == 200);
  CHECK(head.header("content-length") == std::to_string(bytes.size()));
  CHECK(head.body.empty());
}

TEST_CASE("files: parts, what has not changed, what cannot be satisfied", "[server-mock]") {
  Wire wire;
  const std::string bytes = large_text();
  const std::string content = upload(wire, bytes);
  const std::string etag = get(wire, content, {}, "HEAD").header("etag");
  const RawAnswer part = get(wire, content, {"Range: bytes=100000-199999"});
  CHECK(part.status == 206);
  CHECK(part.body == bytes.substr(100'000, 100'000));
  CHECK(part.header("content-range") == "bytes 100000-199999/" + std::to_string(bytes.size()));
  CHECK(part.header("etag") == etag);
  CHECK(get(wire, content, {"Range: bytes=-7"}).body == bytes.substr(bytes.size() - 7));
  CHECK(get(wire, content, {"Range: bytes=0-4", "If-Range: \"old\""}).status == 200);
  CHECK(get(wire, content, {"Range: bytes=0-4", "If-Range: " + etag}).status == 206);
  const RawAnswer same = get(wire, content, {"If-None-Match: " + etag});
  CHECK(same.status == 304);
  CHECK(same.body.empty());
  CHECK(same.header("content-length").empty());
  const RawAnswer behind = get(wire, content, {"Range: bytes=99999999-"});
  CHECK(behind.status == 416);
  CHECK(behind.header("content-range") == "bytes */" + std::to_string(bytes.size()));
  CHECK(parse(behind).at("code") == "range_not_satisfiable");
}

TEST_CASE("files: the PUT needs no key, answers 200 without a body, and may be repeated", "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "a.txt", 5);
  for (const char* bytes : {"first", "other"}) {
    const RawAnswer answer = put(wire, path_of(started), bytes, "Content-Type: text/plain\r\n");
    CHECK(answer.status == 200);
    CHECK(answer.body.empty());
    CHECK(answer.header("content-length") == "0");
    CHECK(answer.header("x-mock-operation") == "upload.put");
    CHECK_FALSE(answer.header("x-request-id").empty());
  }
  const RawAnswer in_chunks =
      wire.say("PUT " + path_of(started) +
               " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
               "2\r\nch\r\n3\r\nunk\r\n0\r\n\r\n");
  CHECK(in_chunks.status == 200);
  CHECK(parse(finish(wire, started, "a.txt", 5)).at("content_sha256") == Sha256::of("chunk").hex());
}

TEST_CASE("files: the PUT refuses with 413, 410, 409, 404 and 405, each with its code", "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "a.txt", 5);
  const std::string path = path_of(started);
  const RawAnswer declared = put(wire, path, "sixsix");
  CHECK(declared.status == 413);
  CHECK(declared.header("connection") == "close");
  CHECK(parse(declared).at("code") == "payload_too_large");
  const RawAnswer in_chunks =
      wire.say("PUT " + path +
               " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
               "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
  CHECK(in_chunks.status == 413);
  CHECK(parse(finish(wire, started, "a.txt", 5)).at("code") == "upload_incomplete");
  const RawAnswer expecting = wire.say("PUT " + path +
                                       "x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                                       "Content-Length: 5\r\n\r\n");
  CHECK(expecting.status == 404);
  const RawAnswer got = get(wire, path);
  CHECK(got.status == 405);
  CHECK(got.header("allow") == "PUT, OPTIONS");
  CHECK(put(wire, path, "bytes").status == 200);
  REQUIRE(finish(wire, started, "a.txt", 5).status == 201);
  CHECK(parse(put(wire, path, "bytes")).at("code") == "upload_consumed");
  const std::string late = path_of(start(wire, "b.txt", 5));
  wire.advance(3600);
  const RawAnswer expired = put(wire, late, "bytes");
  CHECK(expired.status == 410);
  CHECK(parse(expired).at("code") == "upload_expired");
}

TEST_CASE("files: an upload without a body is answered like any other", "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "a.txt", 5);
  CHECK(put(wire, path_of(started), "").status == 200);
  CHECK(parse(finish(wire, started, "a.txt", 5)).at("code") == "upload_incomplete");
}

TEST_CASE("files: the journal tells of the PUT, but neither its secret nor its bytes", "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "a.txt", 5);
  const std::string path = path_of(started);
  put(wire, path, "bytes");
  const Json all = wire.control("GET", "/requests");
  CHECK_THAT(dump(all), !Contains(path.substr(std::string("/uploads/").size())));
  const Json puts = wire.control("GET", "/requests?operation=upload.put").at("data");
  REQUIRE(puts.size() == 1);
  CHECK(puts.at(0).at("path") == "/uploads/[redacted]");
  CHECK(puts.at(0).at("request_body") == Json{{"omitted_bytes", 5}});
}

TEST_CASE("files: fault rules apply to the PUT, with phase before nothing is stored", "[server-mock]") {
  Wire wire;
  const Json started = start(wire, "a.txt", 5);
  const std::string path = path_of(started);
  wire.control(
      "POST", "/faults", {{"operation", "upload.put"}, {"times", 1}, {"effect", {{"status", {{"status", 503}}}}}}, 201);
  CHECK(put(wire, path, "bytes").status == 503);
  CHECK(parse(finish(wire, started, "a.txt", 5)).at("code") == "upload_incomplete");
  wire.control(
      "POST",
      "/faults",
      {{"operation", "upload.put"}, {"times", 1}, {"phase", "after"}, {"effect", {{"status", {{"status", 503}}}}}},
      201);
  CHECK(put(wire, path, "bytes").status == 503);
  CHECK(finish(wire, started, "a.txt", 5).status == 201);
}

TEST_CASE("files: a reset forgets uploads and files", "[server-mock]") {
  Wire wire;
  const std::string content = upload(wire, "bytes");
  const std::string path = path_of(start(wire, "a.txt", 5));
  wire.control("POST", "/reset", {{"to", "seed"}});
  CHECK(put(wire, path, "bytes").status == 404);
  CHECK(get(wire, content).status == 404);
}
