#include "server-mock/store/world.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "api-client/base/uuid.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"
#include "server-mock/store/schema.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock;

namespace {

const SystemClock system_clock;

std::unique_ptr<World> open(const std::string& path = ":memory:", std::uint64_t seed = 1) {
  auto world = World::open(path, {.seed = seed}, system_clock);
  if (!world) FAIL(world.error().what);
  return std::move(*world);
}

std::int64_t count_users(World& world) {
  auto row = world.database.prepare("select count(*) from users");
  REQUIRE(*row->step());
  return row->integer(0);
}

Result<void> add_user(World& world) {
  return world.database.execute(
      "insert into users (id, email, display_name, created_at) values (hex(randomblob(8)), "
      "hex(randomblob(8)), 'x', 0)");
}

}  // namespace

TEST_CASE("ids: the same seed gives the same ids, another seed others", "[server-mock]") {
  Ids one(1);
  Ids same(1);
  Ids other(2);
  const std::string first = one.uuid("document");
  CHECK(is_uuid(first));
  CHECK(first[14] == '7');
  CHECK(same.uuid("document") == first);
  CHECK(other.uuid("document") != first);
  CHECK(one.uuid("document") > first);
  CHECK(one.token("token").size() == 47);
  CHECK(one.user_code().size() == 9);
}

TEST_CASE("ids: each kind counts by itself", "[server-mock]") {
  Ids one(1);
  Ids other(1);
  for (int i = 0; i < 5; ++i) other.uuid("comment");
  CHECK(one.uuid("document") == other.uuid("document"));
  CHECK(one.uuid("comment") != other.uuid("comment"));
}

TEST_CASE("world: a data file continues where it ended, ids too", "[server-mock]") {
  const ws::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "world.db").string();
  std::string token;
  std::string last_id;
  {
    auto world = open(path);
    CHECK(*world->is_empty());
    token = reset(*world, StartWith::seed)->token;
    auto work = UnitOfWork::begin(*world);
    last_id = world->ids.uuid("document");
    REQUIRE(work->commit());
  }
  auto world = open(path);
  CHECK_FALSE(*world->is_empty());
  CHECK(find_built_in(*world)->token == token);
  CHECK(world->ids.uuid("document") > last_id);
}

TEST_CASE("world: a file of a newer version is refused and left as it is", "[server-mock]") {
  const ws::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "world.db").string();
  REQUIRE(open(path)->database.execute("pragma user_version = 9999"));
  const auto world = World::open(path, {}, system_clock);
  REQUIRE_FALSE(world);
  CHECK(world.error().kind == Failure::Kind::disk);
}

TEST_CASE("unit of work: whole or not at all, nested too", "[server-mock]") {
  auto world = open();
  {
    auto outer = UnitOfWork::begin(*world);
    REQUIRE(add_user(*world));
    {
      auto inner = UnitOfWork::begin(*world);
      REQUIRE(add_user(*world));
    }
    CHECK(count_users(*world) == 1);
    {
      auto inner = UnitOfWork::begin(*world);
      REQUIRE(add_user(*world));
      REQUIRE(inner->commit());
    }
    REQUIRE(outer->commit());
  }
  CHECK(count_users(*world) == 2);
  {
    auto outer = UnitOfWork::begin(*world);
    auto inner = UnitOfWork::begin(*world);
    REQUIRE(add_user(*world));
    REQUIRE(inner->commit());
  }
  CHECK(count_users(*world) == 2);
}

TEST_CASE("built-in world: the same for the same seed, after any history", "[server-mock]") {
  auto world = open();
  const BuiltIn first = *reset(*world, StartWith::seed);
  world->ids.uuid("document");
  const BuiltIn again = *reset(*world, StartWith::seed);
  CHECK(again.token == first.token);
  CHECK(again.project_id == first.project_id);
  CHECK(count_users(*world) == 2);
  const BuiltIn empty = *reset(*world, StartWith::empty);
  CHECK(empty.token == first.token);
  CHECK(empty.workspace_id == first.workspace_id);
  CHECK(count_users(*world) == 1);
  auto other = open(":memory:", 7);
  CHECK(reset(*other, StartWith::seed)->token != first.token);
}

TEST_CASE("assumptions: only known keys and values", "[server-mock]") {
  Assumptions assumptions;
  CHECK(assumptions.value("pull_filter") == "honoured");
  CHECK(assumptions.set("pull_filter=ignored"));
  CHECK(assumptions.is("pull_filter", "ignored"));
  CHECK_FALSE(assumptions.set("pull_filter=maybe"));
  CHECK_FALSE(assumptions.set("nonsense=1"));
  CHECK_FALSE(assumptions.set("nonsense"));
}
