#include "tests/server-mock/wire.hpp"

#include <catch2/catch.hpp>

namespace ws::mock::test {

Wire::Wire(ApplicationOptions options) {
  if (options.sandbox.clock.text() == "real") {
    options.sandbox.clock = MockClock::parse("frozen:2026-11-20T10:00:00Z").value();
  }
  application_ = Application::open(options).value();
  application_->set_base_url("http://mock.test");
}

RawAnswer Wire::say(std::string_view bytes) {
  http::Connection connection(*application_);
  std::string output;
  const bool head = bytes.starts_with("HEAD");
  while (!bytes.empty() && !connection.is_over()) {
    const auto room = connection.room();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), count, room.begin());
    bytes.remove_prefix(count);
    connection.received(count);
    while (!connection.output().empty()) {
      output += connection.output();
      connection.sent();
    }
  }
  auto answer = ws::test::take_answer(output, head ? ws::test::AnswerTo::head : ws::test::AnswerTo::get);
  REQUIRE(answer);
  return std::move(*answer);
}

RawAnswer Wire::ask(const RawRequest& request) { return say(ws::test::render(request)); }

Json Wire::get(const std::string& target, int status) {
  const RawAnswer answer = ask({.target = target, .token = token()});
  INFO(answer.body);
  CHECK(answer.status == status);
  return parse(answer);
}

RawAnswer Wire::send(const std::string& method,
                     const std::string& target,
                     const Json& body,
                     std::vector<std::string> headers) {
  return ask({.method = method,
              .target = target,
              .token = token(),
              .json = body.is_null() ? std::string() : dump(body),
              .headers = std::move(headers)});
}

Json Wire::control(const std::string& method, const std::string& target, const Json& body, int status) {
  const RawAnswer answer =
      ask({.method = method, .target = "/_mock" + target, .json = body.is_null() ? std::string() : dump(body)});
  INFO(answer.body);
  CHECK(answer.status == status);
  return answer.body.empty() ? Json() : parse(answer);
}

std::string Wire::key(const Json& wanted) { return control("POST", "/keys", wanted, 201).at("secret"); }

void Wire::advance(int seconds) { control("POST", "/clock:advance", {{"seconds", seconds}}); }

std::string Wire::new_document(const std::string& title, const std::string& content) {
  const RawAnswer answer = send("POST", "/v1/documents", {{"title", title}, {"content", content}});
  REQUIRE(answer.status == 201);
  return parse(answer).at("id");
}

Json parse(const RawAnswer& answer) {
  INFO(answer.body);
  auto parsed = parse_bounded(answer.body);
  REQUIRE(parsed);
  return std::move(*parsed);
}

std::string code_of(const RawAnswer& answer) { return find_text(parse(answer), "code").value_or(""); }

}  // namespace ws::mock::test
