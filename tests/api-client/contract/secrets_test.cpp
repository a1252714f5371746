// Which parts of a message are secrets: declared once, and found wherever they stand.
#include "api-client/contract/secrets.hpp"

#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws;
using namespace ws::contract;

TEST_CASE("secrets: a name is a secret everywhere or nowhere, as it is marked", "[contract]") {
  std::map<std::string_view, std::set<bool>> marks;
  for (const Schema* schema : schemas()) {
    for (const Field& field : schema->fields) {
      CAPTURE(schema->name, field.name);
      marks[field.name].insert(!field.secret.empty());
      CHECK(secret_kind(field.name) == field.secret);
    }
  }
  for (const auto& [name, all] : marks) {
    CAPTURE(name);
    CHECK(all.size() == 1);
  }
  for (const char* name : {"secret",
                           "device_code",
                           "user_code",
                           "verification_uri_complete",
                           "lease_token",
                           "source_event_lease_token",
                           "upload_url",
                           "upload_headers"}) {
    CAPTURE(name);
    CHECK(marks.at(name) == std::set<bool>{true});
  }
}

TEST_CASE("secrets: of a query or form the secrets are replaced, and nothing else", "[contract]") {
  CHECK(redact_pairs("user_code=BCDF-GHJK&action=approve&limit=2") == "user_code=[redacted]&action=approve&limit=2");
  CHECK(redact_pairs("access_token=x&&y") == "access_token=[redacted]&&y");
  CHECK(redact_pairs("cursor=q8Zr2LkP0vTn5YwXc3Jd7Hs1") == "cursor=q8Zr2LkP0vTn5YwXc3Jd7Hs1");
}

TEST_CASE("secrets: no header is both a credential and shown", "[contract]") {
  for (const std::string_view name : credential_headers()) CHECK_FALSE(is_shown_header(name));
  CHECK(is_credential_header("Authorization"));
  CHECK(is_shown_header("Content-Type"));
  CHECK_FALSE(is_shown_header("X-Api-Key"));
}

TEST_CASE("secrets: of a header that nobody describes, only what may be a key is hidden", "[contract]") {
  CHECK(hides_header("Authorization", "x"));
  CHECK(hides_header("X-Api-Key", "x"));
  CHECK(hides_header("X-Session", "q8Zr2LkP0vTn5YwXc3Jd7Hs1"));
  CHECK_FALSE(hides_header("X-Build", "nightly 12"));
  CHECK_FALSE(hides_header("If-Match", "\"q8Zr2LkP0vTn5YwXc3Jd7Hs1\""));
}
