// Which parts of a message are secrets: declared once, and found wherever they stand.
#include "api-client/contract/secrets.hpp"

#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws;
using namespace ws::contract;

namespace {

const std::string canary = "canary-314159265";

Json redacted_of(Json value) {
  redact(value);
  return value;
}

}  // namespace

TEST_CASE("secrets: every member that is marked is replaced, and every other stays", "[contract]") {
  std::map<std::string_view, std::set<bool>> marks;
  for (const Schema* schema : schemas()) {
    for (const Field& field : schema->fields) {
      CAPTURE(schema->name, field.name);
      const bool is_secret = !field.secret.empty();
      marks[field.name].insert(is_secret);
      CHECK(secret_kind(field.name) == field.secret);
      const std::string name(field.name);
      const Json nested = Json{{"data", Json::array({Json{{name, canary}}})}};
      CHECK((dump(redacted_of(nested)).find(canary) == std::string::npos) == is_secret);
      const Json deep = Json{{name, Json{{"x", Json::array({canary})}}}};
      CHECK((dump(redacted_of(deep)).find(canary) == std::string::npos) == is_secret);
    }
  }
  for (const auto& [name, all] : marks) {
    CAPTURE(name);
    CHECK(all.size() == 1);  // a name is a secret everywhere or nowhere
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

TEST_CASE("secrets: in free-form members, names that say so and values that look like keys are replaced",
          "[contract]") {
  const Json before = {{"result",
                        {{"password", "short"},
                         {"note", "wsk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"},
                         {"header", "Bearer x"},
                         {"random", "q8Zr2LkP0vTn5YwXc3Jd7Hs1"},
                         {"text", "The words of a person, with 1 number."},
                         {"day", "2026-11-20T10:00:00.000Z"},
                         {"hash", std::string(64, 'a')},
                         {"count", 7},
                         {"none", nullptr}}}};
  const Json after = {{"result",
                       {{"password", redacted},
                        {"note", redacted},
                        {"header", redacted},
                        {"random", redacted},
                        {"text", "The words of a person, with 1 number."},
                        {"day", "2026-11-20T10:00:00.000Z"},
                        {"hash", std::string(64, 'a')},
                        {"count", 7},
                        {"none", nullptr}}}};
  CHECK(redacted_of(before) == after);
}

TEST_CASE("secrets: a 422 does not repeat the secret that it is about", "[contract]") {
  const Json before = {{"detail",
                        Json::array({{{"loc", {"body", "lease_token"}}, {"input", "short"}},
                                     {{"loc", {"body", "title"}}, {"input", "shown"}}})}};
  CHECK(redacted_of(before).at("detail").at(0).at("input") == redacted);
  CHECK(redacted_of(before).at("detail").at(1).at("input") == "shown");
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
