/// One exchange and its end, for the tests of the transport.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <catch2/catch.hpp>

#include "api-client/http/curl.hpp"
#include "tests/support/hostile_server.hpp"

namespace ws::http {

inline std::unique_ptr<Transport> make_transport(const CurlOptions& options = {}) {
  auto made = make_curl_transport(options);
  REQUIRE(made);
  return std::move(*made);
}

/// The stage of an end without an answer; fails the test on an answer.
inline TransportError::Stage stage_of(const Outcome& outcome) {
  if (const auto* response = std::get_if<Response>(&outcome)) FAIL("answered with " << response->status);
  const auto& error = std::get<TransportError>(outcome);
  CAPTURE(error.reason.what);
  CHECK_FALSE(error.reason.what.empty());
  return error.stage;
}

inline Response answered(Outcome outcome) {
  if (const auto* error = std::get_if<TransportError>(&outcome)) FAIL(error->reason.what);
  return std::get<Response>(std::move(outcome));
}

/// What a server that sends `bytes` and closes makes of a GET.
inline Outcome outcome_of(const std::string& bytes) {
  test::HostileServer server([&](const test::Seen&) {
    return test::Script{test::SendBytes{bytes}, test::CloseConnection{}};
  });
  return make_transport()->send({.url = server.url("/")});
}

}  // namespace ws::http
