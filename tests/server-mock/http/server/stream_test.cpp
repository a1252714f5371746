#include <atomic>

#include <catch2/catch.hpp>

#include "server-mock/http/message.hpp"
#include "tests/server-mock/http/server/scripted_server.hpp"
#include "tests/support/raw_http.hpp"

using namespace ws::mock::http;
using namespace ws::mock::test;
using namespace std::chrono_literals;
using ws::test::RawConnection;

namespace {

struct Seen {
  std::atomic<std::size_t> taken = 0;
  std::atomic<std::size_t> largest = 0;
  std::atomic<int> finished = 0;
  std::atomic<int> gone = 0;
};

/// Counts bytes, up to a limit.
class Counting final : public BodySink {
 public:
  Counting(Seen& seen, std::size_t limit) : seen_(seen), limit_(limit) {}
  ~Counting() override { ++seen_.gone; }
  bool wants_more() const override { return taken_ <= limit_; }
  void take(std::string_view piece) override {
    taken_ += piece.size();
    seen_.taken += piece.size();
    seen_.largest = std::max<std::size_t>(seen_.largest, piece.size());
    for (const char c : piece) sum_ = sum_ * 31 + static_cast<unsigned char>(c);
  }
  std::uint64_t taken_bytes() const override { return taken_; }
  Response finish(const Request& head) {
    ++seen_.finished;
    if (!wants_more()) return Response(413);
    return text_answer(std::string(head.method) + " " + std::string(head.path) + " " + std::to_string(taken_) + " " +
                       std::to_string(sum_));
  }

 private:
  Seen& seen_;
  std::size_t limit_;
  std::size_t taken_ = 0;
  std::uint64_t sum_ = 0;
};

/// Refuses the body.
class Refusing final : public BodySink {
 public:
  bool wants_more() const override { return false; }
  void take(std::string_view) override { FAIL("a refusing sink was given something"); }
  std::uint64_t taken_bytes() const override { return 0; }
};

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  return text;
}

std::string expected(const std::string& body) {
  std::uint64_t sum = 0;
  for (const char c : body) sum = sum * 31 + static_cast<unsigned char>(c);
  return "PUT /up " + std::to_string(body.size()) + " " + std::to_string(sum);
}

std::string chunked(std::string_view body, std::size_t piece) {
  std::string text;
  char size[32];
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) {
    const std::string_view chunk = body.substr(0, piece);
    std::snprintf(size, sizeof size, "%zx;x=y\r\n", chunk.size());
    text.append(size).append(chunk).append("\r\n");
  }
  return text + "0\r\nX-Trailer: t\r\n\r\n";
}

Script taking(Seen& seen, std::size_t limit = 100'000'000) {
  Script script;
  script.answer = [](const Request& request) {
    if (request.sink == nullptr) return text_answer("hello");
    auto* counting = dynamic_cast<Counting*>(request.sink);
    return counting == nullptr ? Response(410) : counting->finish(request);
  };
  script.sink = [&seen, limit](const Request& head) -> std::unique_ptr<BodySink> {
    if (head.method != "PUT") return nullptr;
    if (head.path == "/refused") return std::make_unique<Refusing>();
    return std::make_unique<Counting>(seen, limit);
  };
  return script;
}

/// `size` bytes of a pattern; `breaks_at`: cannot be read further.
class Pattern final : public BodySource {
 public:
  explicit Pattern(std::string text, std::size_t breaks_at = std::string::npos)
      : text_(std::move(text)), breaks_at_(std::min(breaks_at, text_.size())) {}
  std::uint64_t size_bytes() const override { return text_.size(); }
  std::size_t read(std::span<char> room) override {
    const std::size_t count = std::min(room.size(), breaks_at_ - at_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), count, room.begin());
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t breaks_at_;
  std::size_t at_ = 0;
};

Script giving(const std::string& text, std::size_t breaks_at = std::string::npos) {
  Script script;
  script.answer = [text, breaks_at](const Request& request) {
    if (request.path == "/small") return text_answer("small");
    Response response;
    response.body("application/octet-stream", std::make_unique<Pattern>(text, breaks_at));
    return response;
  };
  return script;
}

}  // namespace

TEST_CASE("stream: a sink gets the body in small pieces, with a length or in chunks, and the connection goes on",
          "[server-mock]") {
  Seen seen;
  Script script = taking(seen);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  const std::size_t size = GENERATE(0U, 1U, 1000U, 65'536U, 3'000'000U);
  const std::size_t piece = GENERATE(0U, 10U, 5000U, 200'000U);
  if (piece == 10 && size > 100'000) return;
  CAPTURE(size, piece);
  const std::string body = pattern(size);
  std::string bytes = "PUT /up HTTP/1.1\r\nHost: h\r\n";
  if (piece == 0) {
    bytes += "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body;
  } else {
    bytes += "Transfer-Encoding: chunked\r\n\r\n" + chunked(body, piece);
  }
  connection.send(bytes + "GET /next HTTP/1.1\r\nHost: h\r\n\r\n" + bytes);
  CHECK(connection.read().value().body == expected(body));
  CHECK(connection.read().value().body == "hello");
  CHECK(connection.read().value().body == expected(body));
  CHECK(seen.largest <= std::size_t{128} << 10U);
  CHECK(seen.gone == 2);
}

TEST_CASE("stream: a body that is cut off is never finished, and its sink is gone", "[server-mock]") {
  Seen seen;
  Script script = taking(seen);
  ScriptedServer server(script);
  const auto* framing = GENERATE("Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfff0\r\n");
  {
    RawConnection connection(server.port());
    connection.send(std::string("PUT /up HTTP/1.1\r\nHost: h\r\n") + framing + pattern(5000));
    while (seen.taken < 5000) std::this_thread::yield();
  }
  while (seen.gone == 0) std::this_thread::yield();
  CHECK(seen.finished == 0);
}

TEST_CASE("stream: chunks that are no chunks end the upload with 400", "[server-mock]") {
  Seen seen;
  Script script = taking(seen);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  connection.send("PUT /up HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloxx\r\n");
  CHECK(connection.read().value().status == 400);
  CHECK(connection.ends());
  CHECK(seen.finished == 0);
  CHECK(seen.gone == 1);
}

TEST_CASE("stream: an upload that is too large is answered before it ends, and the answer arrives", "[server-mock]") {
  Seen seen;
  Script script = taking(seen, 1000);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  const std::string body = pattern(20'000'000);
  const bool in_chunks = GENERATE(false, true);
  // Sends everything before it reads, as simple clients do.
  if (in_chunks) {
    connection.send("PUT /up HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(body, 60'000));
  } else {
    connection.send("PUT /up HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n" + body);
  }
  const auto answer = connection.read();
  REQUIRE(answer);
  CHECK(answer->status == 413);
  CHECK(answer->header("connection") == "close");
  CHECK(seen.taken < 1'000'000);
}

TEST_CASE("stream: Expect: 100-continue is answered with 100, or with the final status before the body",
          "[server-mock]") {
  Seen seen;
  Script script = taking(seen);
  ScriptedServer server(script);
  RawConnection welcome(server.port());
  welcome.send("PUT /up HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  CHECK(welcome.read(ws::test::AnswerTo::head).value().status == 100);
  welcome.send("abc");
  CHECK(welcome.read().value().body == expected("abc"));
  RawConnection refused(server.port());
  refused.send("PUT /refused HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n");
  CHECK(refused.read().value().status == 410);
  CHECK(refused.ends());
}

TEST_CASE("stream: a progressing upload may take long, a stalled one times out", "[server-mock]") {
  Seen seen;
  Script script = taking(seen);
  ScriptedServer server(script, {.idle = 1s, .slow = 1s});
  RawConnection still(server.port());
  still.send("PUT /up HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\nabc");
  RawConnection steady(server.port());
  const std::string body = pattern(300'000);
  steady.send("PUT /up HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n");
  for (std::size_t at = 0; at < body.size(); at += 10'000) {
    steady.send(std::string_view(body).substr(at, 10'000));
    CHECK_FALSE(steady.ends(50ms));
  }
  CHECK(steady.read().value().body == expected(body));
  const auto answer = still.read();
  REQUIRE(answer);
  CHECK(answer->status == 408);
}

TEST_CASE("stream: a source is sent whole, and what is pipelined behind it follows", "[server-mock]") {
  const std::string text = pattern(GENERATE(0U, 1U, 65'536U, 5'000'000U));
  Script script = giving(text);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  connection.send(
      "GET /large HTTP/1.1\r\nHost: h\r\n\r\nHEAD /large HTTP/1.1\r\nHost: h\r\n\r\nGET /small HTTP/1.1\r\nHost: "
      "h\r\n\r\n");
  CHECK(connection.read().value().body == text);
  const auto head = connection.read(ws::test::AnswerTo::head);
  CHECK(head.value().header("content-length") == std::to_string(text.size()));
  CHECK(connection.read().value().body == "small");
}

TEST_CASE("stream: a source that breaks ends the connection short of its length", "[server-mock]") {
  Script script = giving(pattern(300'000), 100'000);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  connection.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\nGET /small HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto rest = connection.read_rest();
  CHECK(rest.end == RawConnection::End::closed);
  CHECK(rest.bytes.size() > 100'000);
  CHECK(rest.bytes.size() < 101'000);
}

TEST_CASE("stream: a source can be truncated on its way", "[server-mock]") {
  Script script;
  script.answer = [](const Request&) {
    Response response;
    response.body("text/plain", std::make_unique<Pattern>(pattern(500'000)));
    response.set_wire_fault({.truncate_at = 70'000});
    return response;
  };
  ScriptedServer server(script);
  RawConnection connection(server.port());
  connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto rest = connection.read_rest();
  CHECK(rest.bytes.size() - rest.bytes.find("\r\n\r\n") - 4 == 70'000);
}
