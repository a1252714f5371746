// Answers without an end, to the real `ws`: each ends at a bound that is said, in little memory.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/bounds/freezing_texts.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

namespace ws::test {
namespace {

constexpr long max_kib = 200L << 10U;
constexpr const char* head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
constexpr const char* chunked = "Transfer-Encoding: chunked\r\n\r\n";

/// A chunk of HTTP that says its size.
std::string chunk(const std::string& bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

struct EndlessAnswer {
  const char* name = "";
  std::string begin = {};
  SendForever forever = {};
  int exit = 1;
  const char* said = "";
};

std::vector<EndlessAnswer> endless_answers() {
  const std::string h(head);
  const std::string c(chunked);
  const std::string unpacked_head = h + "Content-Encoding: ";
  return {
      {"1xx answers", "", {repeated("HTTP/1.1 103 Early Hints\r\n\r\n", 10'000)}, 1, "65536 bytes of headers"},
      {"headers", h, {repeated("X-Header: value\r\n", 10'000)}, 1, "65536 bytes of headers"},
      {"one header", h + "X: ", {std::string(10'000, 'x')}, 1, "65536 bytes of headers"},
      {"trailers", h + c + chunk("{}") + "0\r\n", {repeated("X-Trailer: v\r\n", 10'000)}, 1, "65536 bytes of headers"},
      {"the body", h + c, {chunk(std::string(1 << 20U, ' '))}, 1, "33554432 bytes"},
      {"one text", h + c + chunk("{\"data\": \""), {chunk(std::string(1 << 20U, 'x'))}, 1, "33554432 bytes"},
      {"a body up to the close", h + "\r\n", {std::string(1 << 20U, ' ')}, 1, "33554432 bytes"},
      {"empty chunks of one byte", h + c, {chunk(" "), std::chrono::milliseconds{20}}, 11, "did not answer in time"},
      {"a chunk extension",
       h + c + "1;",
       {std::string(10'000, 'x'), std::chrono::milliseconds{1}},
       11,
       "did not answer in time"},
      {"a body that drips",
       h + "Content-Length: 1000000\r\n\r\n",
       {" ", std::chrono::milliseconds{50}},
       11,
       "did not answer in time"},
      {"headers that drip", h, {"X: y\r\n", std::chrono::milliseconds{50}}, 11, "did not answer in time"},
      {"layers of packing",
       unpacked_head + repeated("gzip, ", 600) + "gzip\r\n" + c,
       {chunk("x")},
       1,
       "more than 5 content encodings"},
      {"packed nothing",
       unpacked_head + "deflate\r\n" + c,
       {chunk(repeated(std::string("\0\0\0\xff\xff", 5), 10'000))},
       11,
       "did not answer in time"},
  };
}

}  // namespace

TEST_CASE("endless answers: a call ends at the bound, and says it", "[cli][bounds]") {
  for (const EndlessAnswer& one : endless_answers()) {
    CAPTURE(one.name);
    const HostileServer server([&](const Seen&) { return Script{SendBytes{one.begin}, one.forever}; });
    const Ended ended = At(server.origin()).ws({"docs", "get", nobody, "--timeout", "4", "--no-retry"});
    CAPTURE(ended.err);
    CHECK(ended.exit == one.exit);
    CHECK(ended.err.find(one.said) != std::string::npos);
    CHECK(ended.peak_kib < max_kib);
    CHECK(ended.out.empty());
  }
}

TEST_CASE("endless answers: a download that drips for ever is as good as silent", "[cli][bounds]") {
  const HostileServer server([](const Seen& seen) {
    if (seen.target.find("/content") == std::string::npos) {
      return answer(200, R"({"id":")" + std::string(nobody) + R"(","name":"it","size_bytes":1000000})");
    }
    return Script{SendBytes{"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"},
                  SendForever{"x", std::chrono::milliseconds{200}}};
  });
  const At person(server.origin());
  const Ended ended =
      person.ws({"files", "download", nobody, "-o", "it", "--timeout", "2", "--no-retry"}, person.home());
  CAPTURE(ended.err);
  CHECK(ended.exit == 11);
  CHECK(ended.err.find("slower than 16 bytes a second") != std::string::npos);
}

TEST_CASE("endless answers: no redirect is followed, and none goes round", "[cli][bounds]") {
  const HostileServer server([](const Seen& seen) { return answer(302, "", {{"Location", seen.target}}); });
  CHECK(At(server.origin()).ws({"docs", "get", nobody}).exit == 1);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("endless answers: the pages of a list end, whatever the cursors are", "[cli][bounds]") {
  std::atomic<int> page{0};
  const std::string filler(1 << 20U, 'x');
  const HostileServer server([&](const Seen&) {
    // Ten items of 1 MiB a page: the joined document is over its bound after 26 pages.
    std::string items;
    for (int i = 0; i < 10; ++i) items += (i == 0 ? "" : ",") + std::string("{\"title\":\"") + filler + "\"}";
    return answer(200, "{\"data\":[" + items + "],\"next_cursor\":\"" + std::to_string(++page) + "\"}");
  });
  const At person(server.origin());
  const Ended joined = person.ws({"docs", "list", "--all", "--json"});
  CAPTURE(joined.err);
  CHECK(joined.exit == 1);
  CHECK(joined.err.find("256 MiB in one document") != std::string::npos);
  CHECK(joined.err.find("ndjson") != std::string::npos);
  CHECK(page.load() == 26);
}

TEST_CASE("endless answers: a pull ends at the bound of an item, and of its list of pages", "[cli][bounds]") {
  const std::string source = std::string(R"("source_id":")") + nobody + R"(","revision":7,"since_revision":0)";
  const std::string item_begins =
      head + std::string(chunked) + chunk("{" + source + R"(,"data":[{"document_id":"x","content":")");
  std::atomic<int> way{0};
  const HostileServer server([&](const Seen& seen) -> Script {
    if (seen.target.find("pull") == std::string::npos) {
      return answer(200, R"({"id":")" + std::string(nobody) + R"(","revision":1,"name":"n"})");
    }
    if (way == 0) return {SendBytes{item_begins}, SendForever{chunk(std::string(1 << 20U, 'x'))}};
    return answer(200, "{" + source + R"(,"data":[],"next_cursor":")" + std::string(5000, 'c') + "\"}");
  });
  const At person(server.origin());
  REQUIRE(person.ws({"sync", "init", "--source", nobody, "tree", "--yes"}, person.home()).exit == 0);
  const Ended item = person.ws({"sync"}, person.home() / "tree");
  CAPTURE(item.err);
  CHECK(item.exit == 1);
  CHECK(item.err.find("does not end within 67108864 bytes") != std::string::npos);
  CHECK(item.peak_kib < max_kib);
  way = 1;
  const Ended cursor = person.ws({"sync"}, person.home() / "tree");
  CAPTURE(cursor.err);
  CHECK(cursor.exit == 1);
  CHECK(cursor.err.find("a next_cursor of more than 4096 bytes") != std::string::npos);
}

}  // namespace ws::test
