#include "cli/credentials/credential_store.hpp"

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "api-client/base/files.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

StoredCredential credential(const std::string& profile, const std::string& key_id, const std::string& base_url) {
  return {.profile = profile,
          .base_url = base_url,
          .origin = base_url,
          .key_id = key_id,
          .scopes = {"sync:read"},
          .workspace_id = "w-" + profile,
          .secret = "wsk_" + key_id};
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return found.st_mode & 0777U;
}

}  // namespace

TEST_CASE("file store: what is put is there again, for the owner alone", "[cli]") {
  const test::TemporaryFolder folder;
  CredentialStore store(folder / "ws");
  CHECK(store.load()->empty());
  REQUIRE(store.put(credential("a", "1", "https://a.example")));
  REQUIRE(store.put(credential("b", "2", "https://b.example")));
  const auto all = store.load();
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK(all->back().secret == "wsk_2");
  CHECK(all->back().current);
  CHECK_FALSE(all->front().current);
  CHECK(mode_of(folder / "ws") == 0700);
  CHECK(mode_of(folder / "ws/credentials") == 0600);
}

TEST_CASE("file store: a login in the same place takes the place of the one before", "[cli]") {
  const test::TemporaryFolder folder;
  CredentialStore store(folder / "ws");
  REQUIRE(store.put(credential("a", "1", "https://a.example")));
  REQUIRE(store.put(credential("a", "2", "https://a.example")));
  REQUIRE(store.load()->size() == 1);
  CHECK(store.load()->front().key_id == "2");
}

TEST_CASE("file store: a file that others can read is refused", "[cli]") {
  const test::TemporaryFolder folder;
  CredentialStore store(folder / "ws");
  REQUIRE(store.put(credential("a", "1", "https://a.example")));
  const unsigned mode = GENERATE(0640U, 0604U, 0666U);
  REQUIRE(::chmod((folder / "ws/credentials").c_str(), mode) == 0);
  const auto all = store.load();
  REQUIRE_FALSE(all);
  CHECK(all.error().kind == Failure::Kind::disk);
  CHECK(all.error().hint.find("chmod 600") != std::string::npos);
  CHECK(all.error().what.find("wsk_") == std::string::npos);
}

TEST_CASE("file store: a link in its place is refused", "[cli]") {
  const test::TemporaryFolder folder;
  CredentialStore store(folder / "ws");
  REQUIRE(store.put(credential("a", "1", "https://a.example")));
  std::filesystem::rename(folder / "ws/credentials", folder / "elsewhere");
  std::filesystem::create_symlink(folder / "elsewhere", folder / "ws/credentials");
  CHECK(store.load().error().kind == Failure::Kind::disk);
}

TEST_CASE("file store: a newer format and a damaged file are refused and kept", "[cli]") {
  const test::TemporaryFolder folder;
  CredentialStore store(folder / "ws");
  REQUIRE(make_folders(folder / "ws", 0700));
  const std::string text = GENERATE(as<std::string>{}, R"({"v": 2, "credentials": []})", "{", "[]", "");
  CAPTURE(text);
  REQUIRE(write_file(folder / "ws/credentials", text, 0600));
  CHECK(store.put(credential("a", "1", "https://a.example")).error().kind == Failure::Kind::disk);
  CHECK(read_file(folder / "ws/credentials") == text);
}

TEST_CASE("file store: one can be forgotten, another made current", "[cli]") {
  const test::TemporaryFolder folder;
  CredentialStore store(folder / "ws");
  REQUIRE(store.put(credential("a", "1", "https://a.example")));
  REQUIRE(store.put(credential("b", "2", "https://b.example")));
  REQUIRE(store.make_current("1"));
  CHECK(store.load()->front().current);
  CHECK_FALSE(store.load()->back().current);
  REQUIRE(store.remove("2"));
  CHECK(store.load()->size() == 1);
  CHECK(store.make_current("9").error().kind == Failure::Kind::not_found);
}

TEST_CASE("file store: logins at the same moment are all kept", "[cli]") {
  const ws::test::TemporaryFolder folder;
  std::vector<std::thread> logins;
  std::atomic<int> kept = 0;
  for (int i = 0; i < 12; ++i) {
    logins.emplace_back([&, i] {
      CredentialStore store(folder.path());
      if (store.put(credential("p" + std::to_string(i), std::to_string(i), "https://a.example"))) ++kept;
    });
  }
  for (std::thread& one : logins) one.join();
  CHECK(kept == 12);
  CHECK(CredentialStore(folder.path()).load()->size() == 12);
}

TEST_CASE("choose: a key goes to its own origin only", "[cli]") {
  std::vector<StoredCredential> all = {credential("a", "1", "https://a.example"),
                                       credential("b", "2", "https://b.example")};
  CHECK(choose(all, {.origin = "https://a.example"})->key_id == "1");
  CHECK_FALSE(choose(all, {.origin = "https://c.example"}));
  CHECK_FALSE(choose(all, {.origin = "https://a.example", .profile = "b"}));
  CHECK(choose(all, {.workspace_id = "w-a"})->key_id == "1");
  CHECK(choose(all, {})->key_id == "2");
  all.front().current = true;
  CHECK(choose(all, {})->key_id == "1");
  all.front().current = false;
  all.front().profile = "default";
  CHECK(choose(all, {})->key_id == "1");
}
