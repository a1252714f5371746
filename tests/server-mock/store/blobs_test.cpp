#include "server-mock/store/blobs.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock;
using ws::test::TemporaryFolder;

namespace {

void put(Blobs& blobs, const std::string& name, std::string_view bytes) {
  BlobWriter writer = blobs.begin().value();
  REQUIRE(writer.write(bytes.substr(0, 3)));
  REQUIRE(writer.write(bytes.substr(std::min<std::size_t>(3, bytes.size()))));
  CHECK(writer.size_bytes() == bytes.size());
  REQUIRE(blobs.keep(writer, name));
}

std::string read(const BlobReader& reader, std::uint64_t at = 0, std::size_t most = 100) {
  std::string text(most, '\0');
  text.resize(reader.read(at, text).value());
  return text;
}

std::string read(const Blobs& blobs, const std::string& name) {
  const auto reader = blobs.open(name);
  return reader ? read(*reader) : "none";
}

std::size_t count_files(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) return 0;
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("blobs: what was kept is read from anywhere, with a data file and without", "[server-mock]") {
  const TemporaryFolder folder;
  Blobs blobs(GENERATE(true, false) ? ":memory:" : (folder / "world.db").string());
  put(blobs, "one", "hello world");
  put(blobs, "two", "other");
  const BlobReader one = blobs.open("one").value();
  CHECK(read(one) == "hello world");
  CHECK(read(one, 6, 3) == "wor");
  CHECK(read(one, 11).empty());
  put(blobs, "one", "newer");
  CHECK(read(blobs, "one") == "newer");
  CHECK(read(blobs, "two") == "other");
}

TEST_CASE("blobs: a removed blob can still be read by open readers", "[server-mock]") {
  const TemporaryFolder folder;
  Blobs blobs(GENERATE(true, false) ? ":memory:" : (folder / "world.db").string());
  put(blobs, "one", "hello");
  put(blobs, "two", "hello");
  put(blobs, "three", "hello");
  const BlobReader reading = blobs.open("one").value();
  blobs.remove("one");
  blobs.remove("never there");
  REQUIRE(blobs.keep_only({"three"}));
  CHECK(read(reading) == "hello");
  CHECK_FALSE(blobs.open("one"));
  CHECK_FALSE(blobs.open("two"));
  CHECK(read(blobs, "three") == "hello");
}

TEST_CASE("blobs: with a data file they persist, and partial files are removed", "[server-mock]") {
  const TemporaryFolder folder;
  const std::string data = folder / "world.db";
  const std::filesystem::path files = folder / "world.db.assets";
  {
    Blobs blobs(data);
    CHECK_FALSE(std::filesystem::exists(files));
    put(blobs, "kept", "hello");
    put(blobs, "orphan", "hello");
    {
      BlobWriter given_up = blobs.begin().value();
      REQUIRE(given_up.write("half"));
      CHECK(count_files(files) == 3);
    }
    CHECK(count_files(files) == 2);
  }
  std::ofstream(files / "7.part") << "a crash left this";
  Blobs again(data);
  REQUIRE(again.keep_only({"kept"}));
  CHECK(read(again, "kept") == "hello");
  CHECK(count_files(files) == 1);
}

TEST_CASE("blobs: a folder that cannot be written is a failure that names it", "[server-mock]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "world.db.assets") << "a file";
  Blobs blobs((folder / "world.db").string());
  const auto writer = blobs.begin();
  REQUIRE_FALSE(writer);
  CHECK(writer.error().kind == Failure::Kind::disk);
  CHECK_THAT(writer.error().what, Catch::Matchers::Contains("world.db.assets"));
}
