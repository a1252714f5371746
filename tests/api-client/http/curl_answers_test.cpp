// What a server may answer with: cut, broken, too long, lying.
#include <string>
#include <variant>

#include <catch2/catch.hpp>

#include "api-client/http/curl.hpp"
#include "tests/api-client/http/exchanges.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::http;
using ws::test::answer;
using ws::test::HostileServer;
using ws::test::ResetConnection;
using ws::test::Script;
using ws::test::Seen;
using ws::test::SendBytes;
using Stage = TransportError::Stage;

namespace {

/// Deflate of 1 MiB of zeros, ended by a full flush, so that it can be repeated: 1024 of them are 1 GiB.
std::string deflated_mebibyte() {
  return std::string("\xec\xc1\x31\x01\x00\x00\x00\xc2\xa0\xf5\x4f\x6d\x08\x5f\xa0", 15) + std::string(1016, '\0') +
         std::string("\x3e\x03\x00\x00\xff\xff", 6);
}

}  // namespace

TEST_CASE("curl: a cut answer is no answer", "[http]") {
  CHECK(stage_of(outcome_of("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")) == Stage::no_answer);
  CHECK(stage_of(outcome_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n")) ==
        Stage::no_answer);
  CHECK(stage_of(outcome_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")) == Stage::no_answer);
  HostileServer server([](const Seen&) {
    return Script{SendBytes{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}, ResetConnection{}};
  });
  CHECK(stage_of(make_transport()->send({.url = server.url("/")})) == Stage::no_answer);
}

TEST_CASE("curl: an answer cut in its head is no answer", "[http]") {
  const std::string bytes = GENERATE(as<std::string>(),
                                     "HTT",
                                     "HTTP/1.1 2",
                                     "HTTP/1.1 200 OK\r\n",
                                     "HTTP/1.1 200 OK\r\nContent-Le",
                                     "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n",
                                     "HTTP/1.1 100 Continue\r\n\r\n");
  CAPTURE(bytes);
  CHECK(stage_of(outcome_of(bytes)) == Stage::no_answer);
}

TEST_CASE("curl: an answer that breaks the protocol is unusable", "[http]") {
  const std::string bytes = GENERATE(as<std::string>(),
                                     "hello, this is no HTTP\r\n\r\n",
                                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
                                     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
                                     "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
                                     "HTTP/9.9 200 OK\r\n\r\n");
  CAPTURE(bytes);
  CHECK(stage_of(outcome_of(bytes)) == Stage::unusable);
}

TEST_CASE("curl: a protocol that was not asked for is unusable, though the connection stays open", "[http]") {
  HostileServer server([](const Seen&) {
    return Script{SendBytes{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"},
                  ws::test::Hold{}};
  });
  CHECK(stage_of(make_transport()->send({.url = server.url("/")})) == Stage::unusable);
}

TEST_CASE("curl: headers are bounded", "[http]") {
  CHECK(stage_of(outcome_of("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'a') + "\r\n\r\n")) == Stage::unusable);
  CHECK(stage_of(outcome_of("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'a') + "\r\n\r\n")) == Stage::unusable);
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 10'000; ++i) many += "X-Header: value\r\n";
  CHECK(stage_of(outcome_of(many + "\r\n")) == Stage::unusable);
  std::string endless;
  for (int i = 0; i < 10'000; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(stage_of(outcome_of(endless)) == Stage::unusable);
}

TEST_CASE("curl: only the last block of headers counts, and no trailers", "[http]") {
  const Response response = answered(
      outcome_of("HTTP/1.1 103 Early Hints\r\nX-A: early\r\nLink: </a>\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nX-A: final\r\nX-Folded: one\r\n  two\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "2\r\nok\r\n0\r\nX-Trailer: late\r\n\r\n"));
  CHECK(response.status == 200);
  CHECK(response.body == "ok");
  CHECK(find_header(response.headers, "X-A") == "final");
  CHECK(find_header(response.headers, "X-Folded") == "one two");
  CHECK_FALSE(find_header(response.headers, "Link"));
  CHECK_FALSE(find_header(response.headers, "X-Trailer"));
}

TEST_CASE("curl: a call made by whoever takes the bytes of another is refused, and ends nothing else", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "text"); });
  const auto transport = make_transport();
  std::optional<Outcome> nested;
  std::string taken;
  const auto sink = [&](std::string_view piece) -> Result<void> {
    if (!nested) nested = transport->send({.url = server.url("/nested")});
    taken += piece;
    return {};
  };
  const Response response = answered(transport->send({.url = server.url("/"), .sink = sink}));
  CHECK(response.status == 200);
  CHECK(taken == "text");
  REQUIRE(nested);
  CHECK(stage_of(*nested) == Stage::nothing_sent);
  CHECK(answered(transport->send({.url = server.url("/after")})).body == "text");
}

TEST_CASE("curl: redirects are answers", "[http]") {
  HostileServer elsewhere([](const Seen&) { return answer(200, "{}"); });
  HostileServer server([&](const Seen&) { return answer(307, "", {{"Location", elsewhere.url("/")}}); });
  const Response response =
      answered(make_transport()->send({.url = server.url("/"), .headers = {{"Authorization", "Bearer wsk_secret"}}}));
  CHECK(response.status == 307);
  CHECK(elsewhere.connections() == 0);
}

TEST_CASE("curl: decoded bytes are counted, so that a compressed gibibyte ends at the bound", "[http]") {
  std::string bomb("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  for (int i = 0; i < 1024; ++i) bomb += deflated_mebibyte();
  HostileServer server([&](const Seen&) { return answer(200, bomb, {{"Content-Encoding", "gzip"}}); });
  const auto transport = make_transport();
  CHECK(stage_of(transport->send({.url = server.url("/"), .max_body_bytes = 32U << 20U})) == Stage::too_large);
  std::uint64_t taken = 0;
  const auto count = [&](std::string_view piece) -> Result<void> {
    taken += piece.size();
    return {};
  };
  CHECK(stage_of(transport->send({.url = server.url("/"), .sink = count, .max_body_bytes = 3U << 20U})) ==
        Stage::too_large);
  CHECK(taken <= 3U << 20U);
}

TEST_CASE("curl: a compressed answer comes decoded, and as it is when the caller names an encoding", "[http]") {
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  // A stored block of "abc", its CRC-32 and its length.
  packed += std::string(
      "\x01\x03\0\xfc\xff"
      "abc"
      "\xc2\x41\x24\x35\x03\0\0\0",
      16);
  HostileServer server([&](const Seen&) { return answer(200, packed, {{"Content-Encoding", "gzip"}}); });
  const auto transport = make_transport();
  CHECK(answered(transport->send({.url = server.url("/")})).body == "abc");
  const Response raw =
      answered(transport->send({.url = server.url("/"), .headers = {{"Accept-Encoding", "identity"}}}));
  CHECK(raw.body == packed);
}
