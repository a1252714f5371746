#include "cli/credentials/keyring.hpp"

#include <chrono>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "cli/credentials/credential_store.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

/// A keyring over a file, instead of a desktop's.
struct FakeKeyring {
  explicit FakeKeyring(const std::string& mode = "") {
    ::setenv("FAKE_SECRET_FILE", (folder / "secrets").c_str(), 1);
    ::setenv("FAKE_SECRET_MODE", mode.c_str(), 1);
  }
  Result<Keyring> open() const { return Keyring::open(WS_FAKE_SECRET "/libsecret-1.so.0"); }
  test::TemporaryFolder folder;
};

}  // namespace

TEST_CASE("keyring: a secret is stored, looked up and removed", "[cli]") {
  const FakeKeyring fake;
  const auto keyring = fake.open();
  REQUIRE(keyring);
  REQUIRE(keyring->check());
  CHECK(keyring->look_up("one").error().kind == Failure::Kind::not_found);
  REQUIRE(keyring->store("one", "ws key", "wsk_secret"));
  CHECK(*keyring->look_up("one") == "wsk_secret");
  REQUIRE(keyring->remove("one"));
  CHECK(keyring->look_up("one").error().kind == Failure::Kind::not_found);
}

TEST_CASE("keyring: one that refuses says why, and what else there is", "[cli]") {
  const FakeKeyring fake("refuse");
  const auto stored = fake.open()->store("one", "ws key", "wsk_secret");
  REQUIRE_FALSE(stored);
  CHECK(stored.error().what.find("nobody provides org.freedesktop.secrets") != std::string::npos);
  CHECK(stored.error().hint.find("--store file") != std::string::npos);
}

TEST_CASE("keyring: one that never answers is given up after 3 s", "[cli]") {
  const FakeKeyring fake("hang");
  const auto began = std::chrono::steady_clock::now();
  const auto found = fake.open()->look_up("one");
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == Failure::Kind::disk);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{10});
}

TEST_CASE("keyring: a library that is missing is a failure, not a crash", "[cli]") {
  const auto keyring = Keyring::open("libsecret-that-is-missing.so.0");
  REQUIRE_FALSE(keyring);
  CHECK(keyring.error().hint.find("--store file") != std::string::npos);
}

TEST_CASE("keyring: it is likely only where there is a session bus", "[cli]") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(Keyring::is_likely(Environment()));
  CHECK(Keyring::is_likely(Environment::of({{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/x"}})));
  CHECK_FALSE(Keyring::is_likely(Environment::of({{"XDG_RUNTIME_DIR", folder.path().string()}})));
}
