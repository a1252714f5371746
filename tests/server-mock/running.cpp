#include "tests/server-mock/running.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace ws::mock::test {
namespace {

ApplicationOptions on_clock(ApplicationOptions options, std::string_view clock) {
  options.sandbox.clock = MockClock::parse(clock).value();
  return options;
}

}  // namespace

Running::Running(std::string_view clock, ApplicationOptions options)
    : application_(Application::open(on_clock(std::move(options), clock)).value()),
      server_(http::Server::listen({}, *application_).value()),
      built_in_(application_->sandbox().built_in),
      thread_([this] { server_->run(); }) {}

void Running::stop() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

Json Running::send(const std::string& method, const std::string& target, const Json& body, int status) {
  const RawAnswer answer = ws::test::ask(port(), request(method, target, body, built_in_.token));
  INFO(method << " " << target << ": " << answer.body);
  CHECK(answer.status == status);
  return answer.body.empty() ? Json() : parse(answer);
}

RawRequest Running::request(const std::string& method,
                            const std::string& target,
                            const Json& body,
                            const std::string& token) const {
  return {.method = method, .target = target, .token = token, .json = body.is_null() ? "" : dump(body)};
}

std::string Running::claim(int wait_seconds, const std::string& token) const {
  const Json body = {{"worker_id", "w"}, {"lease_seconds", 30}, {"wait_seconds", wait_seconds}};
  return ws::test::render(request("POST", "/v1/agent-events:claim", body, token.empty() ? built_in_.token : token));
}

Json Running::advance(int seconds) { return send("POST", "/_mock/clock:advance", {{"seconds", seconds}}, 200); }

void Running::mention() {
  const Json document =
      send("POST", "/v1/documents", {{"title", "T"}, {"content", "x"}, {"project_id", built_in_.project_id}}, 201);
  send("POST",
       fmt::format("/v1/documents/{}/comments", document.at("id").get<std::string>()),
       {{"body", "@scout, look"}},
       201);
}

}  // namespace ws::mock::test
