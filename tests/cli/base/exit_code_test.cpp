#include "cli/base/exit_code.hpp"

#include <csignal>
#include <set>

#include <catch2/catch.hpp>

using namespace ws;
using cli::ExitCode;

namespace {

ExitCode exit_of(Failure::Kind kind) { return cli::exit_code_of({.kind = kind}, 0); }

Failure answered(Failure::Kind kind, int status, std::string code = {}) {
  return {.kind = kind, .code = std::move(code), .call = {.http_status = status}};
}

}  // namespace

TEST_CASE("exit code: every kind of failure has its own", "[cli]") {
  CHECK(exit_of(Failure::Kind::internal) == ExitCode::unexpected);
  CHECK(exit_of(Failure::Kind::usage) == ExitCode::usage);
  CHECK(exit_of(Failure::Kind::auth) == ExitCode::auth);
  CHECK(exit_of(Failure::Kind::forbidden) == ExitCode::forbidden);
  CHECK(exit_of(Failure::Kind::not_found) == ExitCode::not_found);
  CHECK(exit_of(Failure::Kind::conflict) == ExitCode::conflict);
  CHECK(exit_of(Failure::Kind::pending) == ExitCode::pending);
  CHECK(exit_of(Failure::Kind::rate_limited) == ExitCode::rate_limited);
  CHECK(exit_of(Failure::Kind::service) == ExitCode::server);
  CHECK(exit_of(Failure::Kind::unreachable) == ExitCode::network);
  CHECK(exit_of(Failure::Kind::unknown_outcome) == ExitCode::unknown_outcome);
  CHECK(exit_of(Failure::Kind::partial) == ExitCode::partial);
  CHECK(exit_of(Failure::Kind::disk) == ExitCode::local);
  CHECK(exit_of(Failure::Kind::integrity) == ExitCode::integrity);
}

TEST_CASE("exit code: invalid input is 2 before anything was sent and 3 from the server", "[cli]") {
  CHECK(exit_of(Failure::Kind::invalid) == ExitCode::usage);
  CHECK(cli::exit_code_of(answered(Failure::Kind::invalid, 422), 0) == ExitCode::refused);
}

TEST_CASE("exit code: a cancelled command ends as its signal says", "[cli]") {
  CHECK(cli::exit_code_of({.kind = Failure::Kind::cancelled}, SIGINT) == ExitCode::interrupted);
  CHECK(cli::exit_code_of({.kind = Failure::Kind::cancelled}, SIGTERM) == ExitCode::terminated);
}

TEST_CASE("exit code: the device grant's refusals share a status and not an exit", "[cli]") {
  CHECK(cli::exit_code_of(answered(Failure::Kind::invalid, 400, "access_denied"), 0) == ExitCode::forbidden);
  CHECK(cli::exit_code_of(answered(Failure::Kind::invalid, 400, "expired_token"), 0) == ExitCode::auth);
  CHECK(cli::exit_code_of(answered(Failure::Kind::invalid, 400, "invalid_grant"), 0) == ExitCode::auth);
}

TEST_CASE("exit code: the list for machines holds each number once", "[cli]") {
  std::set<int> numbers;
  for (const auto& one : cli::exit_codes()) numbers.insert(cli::number(one.code));
  CHECK(numbers == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 130, 141, 143});
}
