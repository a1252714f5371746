#include "server-mock/http/server/connection.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/raw_http.hpp"

using namespace ws::mock::http;
using ws::test::AnswerTo;
using ws::test::RawAnswer;
using ws::test::take_answer;

namespace {

/// Answers with what it has parsed.
class Echo final : public Handler {
 public:
  explicit Echo(std::size_t body_limit = 1000, std::size_t answer_bytes = 0)
      : body_limit_(body_limit), answer_bytes_(answer_bytes) {}
  std::size_t body_limit(const Request&) override { return body_limit_; }
  Response handle(const Request& request) override {
    std::string seen(request.method);
    seen.append(" ")
        .append(request.path)
        .append("?")
        .append(request.query)
        .append(" [")
        .append(request.body)
        .append("]");
    for (const Header& header : request.headers) {
      if (header.name.starts_with("X-")) seen.append(" ").append(header.name).append("=").append(header.value);
    }
    seen.resize(std::max(seen.size(), answer_bytes_), '.');
    Response response;
    response.body("text/plain", seen);
    return response;
  }
  Response refuse(const MalformedRequest& why) override {
    Response response(why.status);
    response.body("text/plain", std::string(why.reason));
    return response;
  }

 private:
  std::size_t body_limit_;
  std::size_t answer_bytes_;
};

struct Talk {
  std::string output = {};
  bool is_over = false;
};

/// Feeds the bytes as far as the connection reads; returns the responses.
std::string send_all(Connection& connection, std::string_view bytes) {
  std::string output;
  while (!bytes.empty() && !connection.is_over()) {
    const auto room = connection.room();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), count, room.begin());
    bytes.remove_prefix(count);
    connection.received(count);
    output += connection.output();
    if (!output.empty()) connection.sent();
  }
  return output;
}

/// The responses when the bytes arrive `piece` at a time.
Talk talk(std::string_view bytes, std::size_t piece = 1'000'000) {
  Echo echo;
  Connection connection(echo);
  Talk result;
  while (!bytes.empty() && !connection.is_over()) {
    const auto room = connection.room();
    const std::size_t count = std::min({piece, room.size(), bytes.size()});
    std::copy_n(bytes.begin(), count, room.begin());
    bytes.remove_prefix(count);
    connection.received(count);
    while (!connection.output().empty()) {
      result.output += connection.output();
      connection.sent();
    }
  }
  result.is_over = connection.is_over();
  return result;
}

std::vector<RawAnswer> answers(std::string output, AnswerTo request = AnswerTo::get) {
  std::vector<RawAnswer> all;
  while (auto answer = take_answer(output, request)) all.push_back(std::move(*answer));
  CHECK(output.empty());
  return all;
}

std::vector<std::string> bodies(const std::string& output) {
  std::vector<std::string> all;
  for (const RawAnswer& answer : answers(output)) all.push_back(answer.body);
  return all;
}

}  // namespace

TEST_CASE("connection: requests are answered in order, however their bytes are split", "[server-mock]") {
  const std::string bytes =
      "\r\nGET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-One: 1\r\n\r\nhello"
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX-Two: 2\r\n\r\n"
      "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-Trailer: t\r\n\r\n"
      "GET http://h/d HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::size_t piece = GENERATE(1U, 2U, 3U, 7U, 64U, 1'000'000U);
  CAPTURE(piece);
  const Talk result = talk(bytes, piece);
  CHECK(bodies(result.output) ==
        std::vector<std::string>{
            "GET /a?x=1 []", "POST /b? [hello] X-One=1", "POST /c? [abcdefg] X-Two=2", "GET /d? []"});
  CHECK_FALSE(result.is_over);
}

TEST_CASE("connection: a body larger than the first buffer keeps its head", "[server-mock]") {
  const std::string filler(800, 'f');
  const std::string body(900, 'b');
  std::string head = "POST /big HTTP/1.1\r\nHost: h\r\nX-Mark: m\r\n";
  for (int i = 0; i < 4; ++i) head += "Y-Filler: " + filler + "\r\n";
  const bool chunked = GENERATE(false, true);
  const std::string bytes = chunked ? head + "Transfer-Encoding: chunked\r\n\r\n384\r\n" + body + "\r\n0\r\n\r\n"
                                    : head + "Content-Length: 900\r\n\r\n" + body;
  CHECK(bodies(talk(bytes, 100).output) == std::vector<std::string>{"POST /big? [" + body + "] X-Mark=m"});
}

TEST_CASE("connection: every answer has a Date, and not two", "[server-mock]") {
  for (const char* bytes : {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "nonsense\r\n\r\n"}) {
    CAPTURE(bytes);
    const std::string output = talk(bytes).output;
    CHECK_THAT(answers(output).at(0).header("date"),
               Catch::Matchers::Matches("(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} "
                                        "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"));
    CHECK(output.find("Date: ") == output.rfind("Date: "));
  }
}

TEST_CASE("connection: an absolute target is the same as its path, with or without one", "[server-mock]") {
  const auto say = [](const std::string& target, const std::string& host = "h") {
    return bodies(talk("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").output).at(0);
  };
  CHECK(say("http://h/d?x=1") == "GET /d?x=1 []");
  CHECK(say("http://h") == "GET /? []");
  CHECK(say("http://h?x=1") == "GET /?x=1 []");
  CHECK(say("HTTP://H/d", "h") == "GET /d? []");
  CHECK(say("http://h/d", "other") == "The request's target and its Host name different servers");
}

TEST_CASE("connection: an Expect in HTTP/1.0 is ignored", "[server-mock]") {
  for (const char* expectation : {"100-continue", "tea"}) {
    CAPTURE(expectation);
    const std::string output =
        talk("POST /x HTTP/1.0\r\nHost: h\r\nContent-Length: 2\r\nExpect: " + std::string(expectation) + "\r\n\r\nok")
            .output;
    CHECK_THAT(output, Catch::Matchers::StartsWith("HTTP/1.1 200 "));
  }
}

TEST_CASE("connection: Expect: 100-continue is answered once", "[server-mock]") {
  Echo echo;
  Connection connection(echo);
  const auto say = [&](std::string_view bytes) {
    std::ranges::copy(bytes, connection.room().begin());
    connection.received(bytes.size());
    std::string output = connection.output();
    connection.sent();
    return output;
  };
  CHECK(say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n") ==
        "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(bodies(say("ok")) == std::vector<std::string>{"POST /? [ok]"});
  CHECK(say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
            .starts_with("HTTP/1.1 413"));
}

TEST_CASE("connection: HEAD has the length of GET and no body", "[server-mock]") {
  const auto all = answers(talk("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n").output, AnswerTo::head);
  REQUIRE(all.size() == 1);
  CHECK(all[0].header("content-length") == std::to_string(std::string("HEAD /x? []").size()));
}

TEST_CASE("connection: ambiguous messages are refused and close the connection", "[server-mock]") {
  const std::string host = "Host: h\r\n";
  const std::string bytes = GENERATE_COPY(
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: +5\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 5x\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Content-Length : 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 5, 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 0x5\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Content-Length:\r\n\r\nhello",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host +
          "Transfer-Encoding:\x0b"
          "chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
      "GET / HTTP/1.1\r\n" + host + "X-Folded: a\r\n b\r\n\r\n",
      "GET / HTTP/1.1\r\n" + host + "X-Bare: a\rb\r\n\r\n",
      "GET / HTTP/1.1\r\n" + host + "X-Bare: a\nX: b\r\n\r\n",
      "GET / HTTP/1.1\nHost: h\n\n",
      "GET / HTTP/1.1\r\n" + host + std::string("X-Nul: a\0b\r\n\r\n", 14),
      "GET / HTTP/1.1\r\n" + host + ": nameless\r\n\r\n",
      "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
      "GET /a b HTTP/1.1\r\n" + host + "\r\n",
      "GET nothing HTTP/1.1\r\n" + host + "\r\n",
      "GET / HTTP/2.0\r\n" + host + "\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01\x02\x01\x01\r\n\r\n");
  CAPTURE(bytes);
  const std::size_t piece = GENERATE(1U, 1'000'000U);
  const Talk result = talk(bytes + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n", piece);
  const auto all = answers(result.output);
  REQUIRE(all.size() == 1);
  CHECK(all[0].status == 400);
  CHECK(all[0].header("connection") == "close");
  CHECK(result.is_over);
}

TEST_CASE("connection: a head over the limit is 431, a body over the limit 413, declared or not", "[server-mock]") {
  const std::string large(70'000, 'x');
  CHECK(answers(talk("GET / HTTP/1.1\r\nHost: h\r\nX: " + large + "\r\n\r\n", 1000).output).at(0).status == 431);
  CHECK(answers(talk("GET /" + large + " HTTP/1.1\r\nHost: h\r\n\r\n").output).at(0).status == 431);
  CHECK(answers(talk("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n").output).at(0).status == 413);
  const std::string chunk = "1f4\r\n" + std::string(500, 'c') + "\r\n";
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(answers(talk(chunked + chunk + chunk + "0\r\n\r\n").output).at(0).status == 200);
  CHECK(answers(talk(chunked + chunk + chunk + "1\r\nc\r\n0\r\n\r\n").output).at(0).status == 413);
  CHECK(answers(talk(chunked + "1;" + large + "\r\nc\r\n0\r\n\r\n", 1000).output).at(0).status == 400);
}

TEST_CASE("connection: incomplete requests of all clients together are bounded", "[server-mock]") {
  const auto length = GENERATE(std::string("Content-Length: 16000\r\n\r\n"), std::string("X: "));  // a body; a head
  CAPTURE(length);
  constexpr std::size_t most = 100'000;
  constexpr std::size_t clients = 40;
  Echo echo{16'000};
  Budget budget(most);
  std::vector<std::unique_ptr<Connection>> all;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < clients; ++i) {
    Connection& one = *all.emplace_back(std::make_unique<Connection>(echo, Limits(), &budget));
    const std::string answer = send_all(one, "POST / HTTP/1.1\r\nHost: h\r\n" + length + std::string(15'000, 'x'));
    CHECK(budget.held_bytes() < most + clients * 8192);
    if (answer.empty()) continue;
    CHECK(answer.starts_with("HTTP/1.1 503"));
    CHECK(one.is_over());
    ++refused;
  }
  CHECK(refused >= clients - most / 15'000);
  CHECK(refused < clients);
  Connection small(echo, {}, &budget);  // who asks for little is served meanwhile
  CHECK(send_all(small, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 200"));
  all.clear();
  CHECK(budget.held_bytes() < 4096);
}

TEST_CASE("connection: unread responses of all clients together are bounded", "[server-mock]") {
  Echo echo{1000, 50'000};
  Budget budget(100'000);
  std::vector<std::unique_ptr<Connection>> all;
  for (int i = 0; i < 10; ++i) {
    Connection& one = *all.emplace_back(std::make_unique<Connection>(echo, Limits(), &budget));
    const std::string_view request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    std::ranges::copy(request, one.room().begin());
    one.received(request.size());
    const bool refused = one.output().starts_with("HTTP/1.1 503");
    CHECK(refused == (i >= 3));
  }
  CHECK(budget.held_bytes() < 200'000);
  all.front()->sent();
  all.clear();
  CHECK(budget.held_bytes() == 0);
}

TEST_CASE("connection: closes when asked to, and with HTTP/1.0 unless asked not to", "[server-mock]") {
  CHECK(talk("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").is_over);
  CHECK(talk("GET / HTTP/1.0\r\n\r\n").is_over);
  const Talk kept = talk("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK_FALSE(kept.is_over);
  CHECK(answers(kept.output).at(0).header("connection") == "keep-alive");
}

TEST_CASE("connection: an unknown expectation is 417", "[server-mock]") {
  CHECK(answers(talk("GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n").output).at(0).status == 417);
}

TEST_CASE("connection: a header value cannot split an answer", "[server-mock]") {
  Response response;
  response.header("X-Echo", "a\r\nSet-Cookie: b");
  CHECK(response.headers() == "X-Echo: a  Set-Cookie: b\r\n");
}

TEST_CASE("connection: the framing of chunks takes no memory, and their extensions are bounded as a head is",
          "[server-mock]") {
  Echo echo(std::size_t{1} << 20U);
  Budget budget(std::size_t{256} << 20U);
  Connection connection(echo, Limits{}, &budget);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string plain = head;
  for (int i = 0; i < 50'000; ++i) plain += "1\r\nx\r\n";
  CHECK(send_all(connection, plain).empty());
  CHECK(budget.held_bytes() < std::size_t{512} << 10U);
  CHECK(send_all(connection, "0\r\n\r\n").substr(0, 12) == "HTTP/1.1 200");
  std::string extended = head;
  for (int i = 0; i < 100; ++i) extended += "1;" + std::string(1000, 'e') + "\r\nx\r\n";
  CHECK(send_all(connection, extended).substr(0, 12) == "HTTP/1.1 431");
  Connection other(echo, Limits{}, &budget);
  std::string trailers = head + "1\r\nx\r\n0\r\n";
  for (int i = 0; i < 3000; ++i) trailers += "X-Trailer: " + std::string(100, 't') + "\r\n";
  CHECK(send_all(other, trailers).substr(0, 10) == "HTTP/1.1 4");
}
