#include <chrono>
#include <optional>
#include <thread>

#include <catch2/catch.hpp>

#include "api-client/base/files.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::sync;
using namespace std::chrono_literals;

TEST_CASE("lock: who waited for a file that is removed holds the one that is there by then", "[sync-engine]") {
  const ws::test::TemporaryFolder tree;
  REQUIRE(make_folders(tree / ".ws"));
  const auto root = RootFolder::open(tree.path());
  REQUIRE(root);
  auto first = TreeLock::take(*root, 0ms);
  REQUIRE(first);
  std::optional<Result<TreeLock>> second;
  std::thread waiting([&] { second.emplace(TreeLock::take(*root, 20s)); });
  std::this_thread::sleep_for(100ms);  // by now it waits; where it does not yet, nothing is shown
  REQUIRE(std::filesystem::remove(tree / ".ws/lock"));
  { const TreeLock released = std::move(*first); }
  waiting.join();
  REQUIRE(second->has_value());
  const auto third = TreeLock::take(*root, 0ms);
  REQUIRE_FALSE(third);
  CHECK(third.error().code == "tree_locked");
}
