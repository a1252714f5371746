#include "cli/credentials/presets.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

StoredCredential key(std::vector<std::string> scopes, std::string profile = "default") {
  return {.profile = std::move(profile), .base_url = "https://w.example", .scopes = std::move(scopes)};
}

const Preset& preset(std::string_view name) { return *std::ranges::find(presets(), name, &Preset::name); }

}  // namespace

TEST_CASE("presets: each is what one key can have, of scopes that there are", "[cli]") {
  CHECK(presets().front().name == "notes");
  CHECK(preset("notes").scopes.size() == 12);
  for (const Preset& one : presets()) {
    CHECK(one.scopes.size() <= contract::max_scopes_per_authorization);
    for (const std::string& scope : one.scopes) {
      CHECK(std::ranges::find(contract::all_scopes, scope) != contract::all_scopes.end());
    }
  }
}

TEST_CASE("presets: a missing scope comes by the smallest preset that holds all", "[cli]") {
  CHECK(login_with_scope(key({"documents:read"}), "sync:write", {}).text() ==
        "ws login --base-url https://w.example --for sync");
  CHECK(login_with_scope(key(preset("read").scopes), "documents:write", {}).text() ==
        "ws login --base-url https://w.example --for notes");
}

TEST_CASE("presets: else scope by scope, in the key's own profile", "[cli]") {
  CHECK(login_with_scope(key({"tests:read"}, "work"), "documents:read", {}).text() ==
        "ws login --base-url https://w.example --profile work --scopes tests:read,documents:read");
}

TEST_CASE("presets: the same again asks for nothing more", "[cli]") {
  CHECK(login_like(key({"sync:read"})).text() == "ws login --base-url https://w.example --scopes sync:read");
  CHECK(login_like(key(preset("team").scopes, "work")).text() ==
        "ws login --base-url https://w.example --profile work --for team");
  CHECK(login_like(key({})).text() == "ws login --base-url https://w.example");
}

TEST_CASE("presets: more than one key can have needs a second profile", "[cli]") {
  const StoredCredential full = key(preset("notes").scopes);
  CHECK(login_with_scope(full, "tests:run", {}).text() ==
        "ws login --base-url https://w.example --profile default-more --scopes tests:run");
  CHECK(login_with_scope(full, "tests:run", {key({"tests:read"}, "default-more")}).text() ==
        "ws login --base-url https://w.example --profile default-more --scopes tests:read,tests:run");
}

TEST_CASE("presets: a second key is used in place of none, unless it is asked for", "[cli]") {
  const StoredCredential first = key({"tests:read"}, "work");
  const StoredCredential second = key({"tests:run"}, "work-more");
  CHECK(choose({first, second}, {})->profile == "work");
  CHECK(choose({first, second}, {.profile = "work-more"})->profile == "work-more");
  CHECK(choose({second}, {})->profile == "work-more");
  CHECK(find_second_key({first, second}, first)->scopes == second.scopes);
  StoredCredential elsewhere = second;
  elsewhere.workspace_id = "another";
  CHECK(find_second_key({first, elsewhere}, first) == nullptr);
}

TEST_CASE("presets: a profile that has a key is not proposed", "[cli]") {
  const std::vector<StoredCredential> stored = {key({}, "ada"), key({}, "ada-2")};
  CHECK(free_profile(stored, "https://w.example", "ada") == "ada-3");
  CHECK(free_profile(stored, "https://other.example", "ada") == "ada");
}
