#include "cli/state/idempotency_journal.hpp"

#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "api-client/base/files.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::cli;
using test::TemporaryFolder;

namespace {

const KeyedCreate wish{.operation = "docs.create", .origin = "https://a.example:443", .fingerprint = "f1"};
const Time noon = test::FakeClock().now();

IdempotencyJournal open(const TemporaryFolder& folder) {
  auto journal = IdempotencyJournal::open(folder.path() / "ws");
  REQUIRE(journal);
  return std::move(*journal);
}

std::string key_found(IdempotencyJournal& journal, const KeyedCreate& create = wish) {
  const auto found = journal.find(create);
  REQUIRE(found);
  return *found ? (*found)->key : "";
}

}  // namespace

TEST_CASE("journal: what was begun and never settled is found by what it was, in another process too", "[cli]") {
  const TemporaryFolder folder;
  {
    auto journal = open(folder);
    CHECK(key_found(journal).empty());
    REQUIRE(journal.begin(wish, "k1", false, noon) == Recorded::first_time);
  }
  auto journal = open(folder);
  CHECK(key_found(journal) == "k1");
  KeyedCreate other = wish;
  other.fingerprint = "f2";
  CHECK(key_found(journal, other).empty());
  CHECK(journal.begin(wish, "k1", true, noon) == Recorded::again);
}

TEST_CASE("journal: a settled create is over, unless a stable key stands for it", "[cli]") {
  const TemporaryFolder folder;
  auto journal = open(folder);
  REQUIRE(journal.begin(wish, "fresh", false, noon));
  REQUIRE(journal.settle("fresh", noon));
  CHECK(key_found(journal).empty());
  REQUIRE(journal.begin(wish, "kept", true, noon));
  REQUIRE(journal.settle("kept", noon));
  CHECK(key_found(journal) == "kept");
  REQUIRE(journal.begin(wish, "open", false, noon));
  CHECK(key_found(journal) == "open");  // what is open comes first
  REQUIRE(journal.forget("open"));
  CHECK(key_found(journal) == "kept");
}

TEST_CASE("journal: settled rows go after a day, open ones stay", "[cli]") {
  const TemporaryFolder folder;
  auto journal = open(folder);
  KeyedCreate open_one = wish;
  open_one.fingerprint = "open";
  REQUIRE(journal.begin(wish, "settled", true, noon));
  REQUIRE(journal.settle("settled", noon));
  REQUIRE(journal.begin(open_one, "open", false, noon));
  KeyedCreate later = wish;
  later.fingerprint = "later";
  REQUIRE(journal.begin(later, "later", false, noon + std::chrono::hours{25}));
  CHECK(key_found(journal).empty());
  CHECK(key_found(journal, open_one) == "open");
  REQUIRE(journal.begin(later, "much later", false, noon + std::chrono::days{91}));
  CHECK(key_found(journal, open_one).empty());
}

TEST_CASE("journal: many at once all get their rows, and nobody else may read them", "[cli]") {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&folder, &failures, i] {
      auto journal = IdempotencyJournal::open(folder.path() / "ws");
      if (!journal || !journal->begin(wish, "k" + std::to_string(i), false, noon)) ++failures;
      if (journal && !journal->settle("k" + std::to_string(i), noon)) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  struct stat status {};
  REQUIRE(::stat((folder.path() / "ws" / "idempotency.db").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
}

TEST_CASE("journal: one that cannot be read is a failure with a name", "[cli]") {
  const TemporaryFolder folder;
  REQUIRE(make_folders(folder.path() / "ws"));
  REQUIRE(write_file(folder.path() / "ws" / "idempotency.db", "this is no database, whatever it is called"));
  const auto journal = IdempotencyJournal::open(folder.path() / "ws");
  REQUIRE_FALSE(journal);
  CHECK(journal.error().kind == Failure::Kind::disk);
}
