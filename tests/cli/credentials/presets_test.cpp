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
  CHECK(login_with_scope(key({"documents:read"}), "sync:write").text() ==
        "ws login --base-url https://w.example --for sync");
  CHECK(login_with_scope(key(preset("read").scopes), "documents:write").text() ==
        "ws login --base-url https://w.example --for notes");
}

TEST_CASE("presets: else scope by scope, in the key's own profile", "[cli]") {
  CHECK(login_with_scope(key({"tests:read"}, "work"), "documents:read").text() ==
        "ws login --base-url https://w.example --profile work --scopes tests:read,documents:read");
}

TEST_CASE("presets: more than one key can have needs a second profile", "[cli]") {
  CHECK(login_with_scope(key(preset("notes").scopes), "tests:run").text() ==
        "ws login --base-url https://w.example --profile default-2 --scopes tests:run");
}
