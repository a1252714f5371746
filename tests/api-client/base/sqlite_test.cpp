#include "api-client/base/sqlite.hpp"

#include <utility>

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.hpp"

using ws::Failure;
using ws::sqlite::Database;
using ws::sqlite::Transaction;

namespace {

Database numbers() {
  auto database = Database::open(":memory:").value();
  REQUIRE(database.execute("create table numbers (value integer not null, word text)"));
  return database;
}

std::int64_t count(Database& database) {
  auto statement = database.prepare("select count(*) from numbers").value();
  REQUIRE(statement.step().value());
  return statement.integer(0);
}

}  // namespace

TEST_CASE("sqlite: values come back as they were bound", "[base]") {
  auto database = numbers();
  auto insert = database.prepare("insert into numbers values (?, ?)").value();
  REQUIRE(insert.bind_all(7, std::string("sie\0ben", 7)).run());
  REQUIRE(insert.bind_all(std::int64_t{8}, std::optional<std::string>{}).run());
  auto rows = database.prepare("select value, word from numbers order by value").value();
  REQUIRE(rows.step().value());
  CHECK(rows.integer(0) == 7);
  CHECK(rows.string(1) == std::string("sie\0ben", 7));
  REQUIRE(rows.step().value());
  CHECK_FALSE(rows.optional_string(1));
  CHECK_FALSE(rows.step().value());
}

TEST_CASE("sqlite: a transaction that is not committed leaves nothing", "[base]") {
  auto database = numbers();
  {
    auto transaction = Transaction::begin(database).value();
    REQUIRE(database.execute("insert into numbers values (1, 'a')"));
  }
  CHECK(count(database) == 0);
  auto transaction = Transaction::begin(database).value();
  REQUIRE(database.execute("insert into numbers values (1, 'a')"));
  REQUIRE(transaction.commit());
  CHECK(count(database) == 1);
}

TEST_CASE("sqlite: a database in memory grows, shrinks, rolls back and is copied", "[base]") {
  auto database = numbers();
  const std::string word(10'000, 'w');
  const auto fill = [&](Database& target, int rows) {
    auto insert = target.prepare("insert into numbers values (?, ?)").value();
    for (int i = 0; i < rows; ++i) REQUIRE(insert.bind_all(i, word + std::to_string(i)).run());
  };
  const auto sum = [](Database& target) {
    auto statement = target.prepare("select sum(value), sum(length(word)) from numbers").value();
    REQUIRE(statement.step().value());
    return std::pair(statement.integer(0), statement.integer(1));
  };
  fill(database, 300);
  const auto before = sum(database);
  CHECK(before == std::pair<std::int64_t, std::int64_t>(44'850, 3'000'790));
  {
    auto transaction = Transaction::begin(database).value();
    fill(database, 500);
    REQUIRE(database.execute("delete from numbers where value % 3 = 0; update numbers set word = 'x' || word"));
  }
  CHECK(sum(database) == before);
  auto copy = Database::open(":memory:").value();
  REQUIRE(database.copy_to(copy));
  REQUIRE(database.execute("delete from numbers where value >= 10; vacuum"));
  CHECK(count(database) == 10);
  fill(database, 300);
  CHECK(count(database) == 310);
  CHECK(sum(copy) == before);
  auto whole = copy.prepare("pragma integrity_check").value();
  REQUIRE(whole.step().value());
  CHECK(whole.string(0) == "ok");
}

TEST_CASE("sqlite: a cached statement lent twice does not disturb itself", "[base]") {
  auto database = numbers();
  REQUIRE(database.execute("insert into numbers values (1, 'a'), (2, 'b')"));
  static constexpr const char* sql = "select value from numbers order by value";
  auto outer = database.cached(sql).value();
  REQUIRE(outer->step().value());
  {
    auto inner = database.cached(sql).value();
    REQUIRE(inner->step().value());
    CHECK(inner->integer(0) == 1);
  }
  REQUIRE(outer->step().value());
  CHECK(outer->integer(0) == 2);
}

TEST_CASE("sqlite: writes into watched tables are counted, however they are written", "[base]") {
  auto database = numbers();
  static constexpr std::string_view watched[] = {"numbers", "names"};
  REQUIRE(
      database.execute("create table other (value integer); create table names (id text primary key) without rowid;"
                       "create temp trigger spill after delete on other begin delete from numbers; end"));
  database.watch(watched);
  std::uint64_t seen = database.watched_writes();
  const auto counts = [&](const char* sql) {
    auto statement = database.cached(sql);
    REQUIRE(statement);
    REQUIRE((*statement)->run());
    const bool is_prepared = std::exchange(seen, database.watched_writes()) != seen;
    REQUIRE(database.execute(sql));
    const bool is_direct = std::exchange(seen, database.watched_writes()) != seen;
    CHECK(is_direct == is_prepared);
    return is_prepared;
  };
  CHECK(counts("insert into numbers values (1, 'one')"));
  CHECK(counts("update numbers set word = 'two'"));
  CHECK(counts("insert or replace into names values ('a')"));
  CHECK_FALSE(counts("insert into other values (1), (2)"));
  CHECK_FALSE(counts("select * from names"));
  const auto runs = [&](const char* sql) {
    REQUIRE(database.cached(sql).value()->run());
    return std::exchange(seen, database.watched_writes()) != seen;
  };
  CHECK(runs("delete from other where value = 1"));  // by the trigger
  CHECK_FALSE(runs("delete from numbers where value = 1"));
  CHECK_FALSE(runs("delete from other where value = 7"));
  REQUIRE(runs("insert into numbers values (5, 'five')"));
  {
    auto first = database.cached("update numbers set word = 'six' returning value").value();
    REQUIRE(first->step().value());
  }
  CHECK(std::exchange(seen, database.watched_writes()) != seen);
}

TEST_CASE("sqlite: failures say what was tried and of which kind it was", "[base]") {
  auto database = numbers();
  const auto wrong = database.prepare("select nothing from nowhere");
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().what, Catch::Matchers::Contains("nowhere"));
  const ws::test::TemporaryFolder folder;
  const auto missing = Database::open((folder / "none" / "x.db").string());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == Failure::Kind::disk);
  auto insert = database.prepare("insert into numbers values (?, ?)").value();
  CHECK_FALSE(insert.bind_all(nullptr, "null is refused").run());
}
