#include "api-client/base/clock.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using ws::parse_duration;
using ws::parse_rfc3339;
using ws::to_rfc3339;

TEST_CASE("rfc 3339: a time survives the way to text and back", "[base]") {
  for (const char* text : {"2026-11-20T10:00:00.000Z", "1970-01-01T00:00:00.001Z", "2000-02-29T23:59:59.999Z"}) {
    CAPTURE(text);
    const auto time = parse_rfc3339(text);
    REQUIRE(time);
    CHECK(to_rfc3339(*time) == text);
  }
}

TEST_CASE("rfc 3339: every part of a time has its place, before 1970 and after 9999 too", "[base]") {
  using namespace std::chrono;
  CHECK(to_rfc3339(ws::Time{sys_days{1969y / 12 / 31}} + 23h + 4min + 5s + 67ms) == "1969-12-31T23:04:05.067Z");
  CHECK(to_rfc3339(ws::Time{sys_days{year{12345} / 1 / 2}} + 1ms) == "12345-01-02T00:00:00.001Z");
}

TEST_CASE("rfc 3339: offsets, missing and long fractions are read", "[base]") {
  CHECK(to_rfc3339(parse_rfc3339("2026-11-20T10:00:00+02:00").value()) == "2026-11-20T08:00:00.000Z");
  CHECK(to_rfc3339(parse_rfc3339("2026-11-20t10:00:00.1239z").value()) == "2026-11-20T10:00:00.123Z");
}

TEST_CASE("rfc 3339: what is no time is refused", "[base]") {
  for (const char* text : {"",
                           "2026-11-20",
                           "2026-02-30T00:00:00Z",
                           "2026-11-20T24:00:00Z",
                           "2026-11-20T10:00:00",
                           "2026-11-20T10:00:00.Z",
                           "2026-11-20T10:00:00Zx",
                           "2026-11-20T10:60:00Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_rfc3339(text));
  }
}

TEST_CASE("durations: units are read, nonsense is refused", "[base]") {
  CHECK(parse_duration("90s").value() == 90s);
  CHECK(parse_duration("15m").value() == 15min);
  CHECK(parse_duration("2h").value() == 2h);
  CHECK(parse_duration("90d").value() == 2160h);
  CHECK(parse_duration("250ms").value() == 250ms);
  CHECK(parse_duration("0.5").value() == 500ms);
  for (const char* text : {"", "s", "-1s", "5 s", "5y", "1e400"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}
