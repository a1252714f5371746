#include "api-client/base/files.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"

using ws::Failure;
using ws::test::TemporaryFolder;

TEST_CASE("write_file: replaces the whole text with the mode asked for and leaves nothing beside it", "[base]") {
  const TemporaryFolder folder;
  REQUIRE(ws::write_file(folder / "key", "old", 0600));
  REQUIRE(ws::write_file(folder / "key", "new", 0600));
  CHECK(ws::read_file(folder / "key").value() == "new");
  struct stat status {};
  REQUIRE(::stat((folder / "key").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("write_file: a folder that is not there is a failure that names the file", "[base]") {
  const TemporaryFolder folder;
  const auto written = ws::write_file(folder / "none" / "key", "text");
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == Failure::Kind::disk);
  CHECK_THAT(written.error().what, Catch::Matchers::Contains("none/key"));
}

TEST_CASE("read_file: missing and too large are told apart", "[base]") {
  const TemporaryFolder folder;
  CHECK(ws::read_file(folder / "none").error().kind == Failure::Kind::not_found);
  REQUIRE(ws::write_file(folder / "big", std::string(100, 'x')));
  CHECK(ws::read_file(folder / "big", 99).error().kind == Failure::Kind::invalid);
  CHECK(ws::read_file(folder / "big", 100));
}

TEST_CASE("make_folders: makes what is missing and accepts what is there", "[base]") {
  const TemporaryFolder folder;
  REQUIRE(ws::make_folders(folder / "a" / "b" / "c"));
  REQUIRE(ws::make_folders(folder / "a" / "b" / "c"));
  CHECK(std::filesystem::is_directory(folder / "a" / "b" / "c"));
  REQUIRE(ws::write_file(folder / "file", "x"));
  CHECK_FALSE(ws::make_folders(folder / "file"));
  CHECK_FALSE(ws::make_folders(folder / "file" / "below"));
}
