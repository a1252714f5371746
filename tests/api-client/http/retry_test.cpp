#include "api-client/http/retry.hpp"

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace ws;
using namespace ws::http;
using contract::RetryClass;
using Kind = Failure::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr RetryClass every_class[] = {RetryClass::read,
                                      RetryClass::keyed,
                                      RetryClass::revision,
                                      RetryClass::sync,
                                      RetryClass::repeatable,
                                      RetryClass::lease,
                                      RetryClass::unsafe,
                                      RetryClass::poll};

/// The exit codes of `cli.md`, by which its table speaks.
int exit_of(Kind kind) {
  switch (kind) {
    case Kind::internal: return 1;
    case Kind::usage: return 2;
    case Kind::invalid: return 3;
    case Kind::auth: return 4;
    case Kind::forbidden: return 5;
    case Kind::not_found: return 6;
    case Kind::conflict: return 7;
    case Kind::pending: return 8;
    case Kind::rate_limited: return 9;
    case Kind::service: return 10;
    case Kind::unreachable: return 11;
    case Kind::unknown_outcome: return 12;
    case Kind::partial: return 13;
    case Kind::disk: return 14;
    case Kind::integrity: return 15;
    case Kind::cancelled: return 130;
  }
  return -1;
}

/// A cell as `cli.md` writes it: repeated or not, the exit, what is known.
struct Cell {
  bool again;
  int exit;
  Applied applied = Applied::no;
};
struct Row {
  RetryClass retry;
  Cell nothing_sent, no_answer, server_error, unavailable, rate_limited, unusable;
};

constexpr auto unknown = Applied::unknown;
// cli.md, "Retry classes and outcomes", read row by row.
const std::vector<Row> rows = {
    {RetryClass::read, {true, 11}, {true, 11}, {true, 10}, {true, 10}, {true, 9}, {false, 1}},
    {RetryClass::keyed,
     {true, 11},
     {true, 12, unknown},
     {true, 10, unknown},
     {true, 10},
     {true, 9},
     {false, 12, unknown}},
    {RetryClass::revision,
     {true, 11},
     {true, 12, unknown},
     {true, 10, unknown},
     {true, 10},
     {true, 9},
     {false, 12, unknown}},
    {RetryClass::sync,
     {true, 11},
     {true, 12, unknown},
     {true, 10, unknown},
     {true, 10},
     {true, 9},
     {false, 12, unknown}},
    {RetryClass::repeatable,
     {true, 11},
     {true, 12, unknown},
     {true, 10, unknown},
     {true, 10},
     {true, 9},
     {false, 12, unknown}},
    {RetryClass::lease,
     {true, 11},
     {true, 12, unknown},
     {true, 10, unknown},
     {true, 10},
     {true, 9},
     {false, 12, unknown}},
    {RetryClass::unsafe,
     {true, 11},
     {false, 12, unknown},
     {false, 10, unknown},
     {true, 10},
     {true, 9},
     {false, 12, unknown}},
    {RetryClass::poll, {true, 11}, {true, 11}, {true, 10}, {true, 10}, {true, 9}, {false, 1}},
};

void check_cell(RetryClass retry, Ending ending, const Cell& cell) {
  for (int sends = 1; sends <= 3; ++sends) {
    CAPTURE(name(retry), static_cast<int>(ending), sends);
    const Attempt attempt{.retry = retry, .ending = ending, .sends = sends};
    const Decision decision = decide(attempt, {}, 0.5);
    CHECK(decision.again == (cell.again && sends < 3));
    CHECK(exit_of(decision.kind) == cell.exit);
    CHECK(decision.applied == cell.applied);
    if (decision.again) {
      CHECK(decision.delay == milliseconds{250 << (sends - 1)});
    } else {
      CHECK(decision.delay == milliseconds{0});
    }
    // Repeated where it is repeated at all, then the exit of the row.
    const Decision spent = decide(attempt, {.retries_left = 0}, 0.5);
    CHECK(spent.again == (cell.again && sends < 3 && (retry == RetryClass::lease || retry == RetryClass::poll)));
    CHECK(exit_of(spent.kind) == cell.exit);
    CHECK(spent.applied == cell.applied);
  }
}

}  // namespace

TEST_CASE("retry: every cell of the table, sends 1 to 3", "[http]") {
  for (const Row& row : rows) {
    check_cell(row.retry, Ending::nothing_sent, row.nothing_sent);
    check_cell(row.retry, Ending::no_answer, row.no_answer);
    check_cell(row.retry, Ending::server_error, row.server_error);
    check_cell(row.retry, Ending::unavailable, row.unavailable);
    check_cell(row.retry, Ending::rate_limited, row.rate_limited);
    check_cell(row.retry, Ending::unusable, row.unusable);
    check_cell(row.retry, Ending::tls, {false, 11});
  }
}

TEST_CASE("retry: success, refusal and cancellation are final", "[http]") {
  for (const RetryClass retry : every_class) {
    for (const Ending ending : {Ending::success, Ending::refused, Ending::cancelled}) {
      CHECK_FALSE(decide({.retry = retry, .ending = ending}, {}, 0.5).again);
    }
    CHECK(decide({.retry = retry, .ending = Ending::cancelled}, {}, 0.5).kind == Kind::cancelled);
  }
  CHECK(decide({.retry = RetryClass::read, .ending = Ending::cancelled}, {}, 0).applied == Applied::no);
  CHECK(decide({.retry = RetryClass::keyed, .ending = Ending::cancelled}, {}, 0).applied == Applied::unknown);
  CHECK(decide({.retry = RetryClass::keyed, .ending = Ending::cancelled}, {}, 0).retryable);
  CHECK_FALSE(decide({.retry = RetryClass::unsafe, .ending = Ending::cancelled}, {}, 0).retryable);
}

TEST_CASE("retry: a key in flight is waited for, and ends as a conflict of unknown outcome", "[http]") {
  const Attempt attempt{.retry = RetryClass::keyed, .ending = Ending::in_flight, .retry_after = seconds{1}};
  const Decision decision = decide(attempt, {}, 0.999);
  CHECK(decision.again);
  CHECK(decision.delay == seconds{1});
  const Decision last = decide({.retry = RetryClass::keyed, .ending = Ending::in_flight, .sends = 3}, {}, 0.5);
  CHECK_FALSE(last.again);
  CHECK(last.kind == Kind::conflict);
  CHECK(last.applied == Applied::unknown);
  CHECK(last.retryable);
  CHECK_FALSE(decide({.retry = RetryClass::unsafe, .ending = Ending::in_flight}, {}, 0.5).again);
}

TEST_CASE("retry: a call in doubt never ends as nothing applied", "[http]") {
  for (const RetryClass retry : {RetryClass::keyed, RetryClass::revision, RetryClass::sync, RetryClass::repeatable}) {
    CHECK(leaves_doubt(retry, Ending::no_answer));
    CHECK(leaves_doubt(retry, Ending::server_error));
    CHECK_FALSE(leaves_doubt(retry, Ending::nothing_sent));
    CHECK_FALSE(leaves_doubt(retry, Ending::rate_limited));
    for (const Ending ending : {Ending::nothing_sent, Ending::tls}) {
      const Decision last = decide({.retry = retry, .ending = ending, .sends = 3, .in_doubt = true}, {}, 0.5);
      CHECK(last.kind == Kind::unknown_outcome);
      CHECK(last.applied == Applied::unknown);
    }
    for (const Ending ending : {Ending::rate_limited, Ending::unavailable, Ending::refused}) {
      const Decision last = decide({.retry = retry, .ending = ending, .sends = 3, .in_doubt = true}, {}, 0.5);
      CHECK(last.applied == Applied::unknown);
      CHECK(last.kind != Kind::unknown_outcome);
    }
  }
  CHECK_FALSE(leaves_doubt(RetryClass::read, Ending::no_answer));
  CHECK_FALSE(leaves_doubt(RetryClass::poll, Ending::server_error));
}

TEST_CASE("retry: a lease is fought for until it ends", "[http]") {
  const Attempt attempt{.retry = RetryClass::lease, .ending = Ending::no_answer, .sends = 40};
  const RetryBudget held{.retries_left = 0, .lease_left = seconds{30}};
  CHECK(decide(attempt, held, 0.5).again);
  CHECK(decide(attempt, held, 0.5).delay == seconds{4});
  CHECK_FALSE(decide(attempt, {.lease_left = seconds{4}}, 0.5).again);
  CHECK_FALSE(decide(attempt, {.lease_left = seconds{-1}}, 0.0).again);
  CHECK(decide(attempt, {.lease_left = seconds{4}}, 0.5).kind == Kind::unknown_outcome);
  CHECK_FALSE(decide(attempt, {}, 0.5).again);  // without a known end: three sends like everybody
}

TEST_CASE("retry: only writes without any guard are not retryable once they may have been seen", "[http]") {
  for (const RetryClass retry : every_class) {
    CAPTURE(name(retry));
    const auto retryable = [&](Ending ending) { return decide({.retry = retry, .ending = ending}, {}, 0.5).retryable; };
    CHECK(retryable(Ending::nothing_sent));
    CHECK(retryable(Ending::rate_limited));
    CHECK(retryable(Ending::unavailable));
    CHECK(retryable(Ending::no_answer) == (retry != RetryClass::unsafe));
    CHECK(retryable(Ending::server_error) == (retry != RetryClass::unsafe));
    CHECK_FALSE(retryable(Ending::tls));
    CHECK_FALSE(retryable(Ending::unusable));
    CHECK_FALSE(retryable(Ending::refused));
  }
}

TEST_CASE("retry: the delay is full jitter of a doubling ceiling, up to 8 s", "[http]") {
  const RetryBudget many{.sends_per_call = 100};
  const int ceilings[] = {500, 1000, 2000, 4000, 8000, 8000, 8000};
  for (int sends = 1; sends <= 7; ++sends) {
    const Attempt attempt{.ending = Ending::no_answer, .sends = sends};
    CHECK(decide(attempt, many, 0.0).delay == milliseconds{0});
    CHECK(decide(attempt, many, 0.999999).delay == milliseconds{ceilings[sends - 1] - 1});
  }
  CHECK(decide({.ending = Ending::no_answer, .sends = 99}, many, 0.5).delay == seconds{4});
}

TEST_CASE("retry: never sooner than the server asks, and not at all when it asks for too long", "[http]") {
  const auto after = [](Ending ending, milliseconds asked, double random) {
    return decide({.ending = ending, .sends = 1, .retry_after = asked}, {}, random);
  };
  CHECK(after(Ending::rate_limited, seconds{7}, 0.9).delay == seconds{7});
  CHECK(after(Ending::rate_limited, milliseconds{100}, 0.5).delay == milliseconds{250});
  CHECK(after(Ending::unavailable, seconds{60}, 0.5).again);
  CHECK_FALSE(after(Ending::unavailable, milliseconds{60'001}, 0.5).again);
  CHECK(after(Ending::unavailable, seconds{61}, 0.5).kind == Kind::service);
  CHECK(after(Ending::rate_limited, seconds{61}, 0.5).kind == Kind::rate_limited);
  CHECK(after(Ending::rate_limited, seconds{61}, 0.5).retryable);
  CHECK(after(Ending::server_error, seconds{3}, 0.5).delay == seconds{3});
}

TEST_CASE("retry: Retry-After in every form a server may choose", "[http]") {
  const Time now = *parse_rfc3339("1994-11-06T08:49:30.000Z");
  struct Form {
    std::string value;
    std::optional<milliseconds> expected;
  };
  const auto a_year = std::chrono::days{365};
  const Form form = GENERATE_COPY(Form{"0", seconds{0}},
                                  Form{"120", seconds{120}},
                                  Form{" 5 ", seconds{5}},
                                  Form{"-1", seconds{0}},
                                  Form{"-99999999999999999999999", seconds{0}},
                                  Form{"31536001", a_year},
                                  Form{"99999999999999999999999999", a_year},
                                  Form{"9223372036854775807", a_year},
                                  Form{"Sun, 06 Nov 1994 08:49:37 GMT", seconds{7}},
                                  Form{"Sunday, 06-Nov-94 08:49:37 GMT", seconds{7}},
                                  Form{"Sun Nov  6 08:49:37 1994", seconds{7}},
                                  Form{"Sun Nov 16 08:49:30 1994", std::chrono::days{10}},
                                  Form{"Sun, 06 Nov 1994 08:49:00 GMT", seconds{0}},
                                  Form{"Thu, 01 Jan 1970 00:00:00 GMT", seconds{0}},
                                  Form{"Fri, 31 Dec 9999 23:59:59 GMT", a_year},
                                  Form{"Sun, 31 Feb 1994 08:49:37 GMT", std::nullopt},
                                  Form{"Sun, 06 Nov 1994 25:49:37 GMT", std::nullopt},
                                  Form{"Sun, 06 Nov 1994 08:49:37 CET", std::nullopt},
                                  Form{"Sun, 06 Nov 99999999999999 08:49:37 GMT", std::nullopt},
                                  Form{"", std::nullopt},
                                  Form{"  ", std::nullopt},
                                  Form{"-", std::nullopt},
                                  Form{"1.5", std::nullopt},
                                  Form{"soon", std::nullopt},
                                  Form{"5 seconds", std::nullopt});
  CAPTURE(form.value);
  CHECK(parse_retry_after(form.value, now) == form.expected);
}
