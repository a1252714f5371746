#include "api-client/base/files.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
  // The reason is that of the attempt that failed, not that of the folders below, which are missing because of it.
  const auto refused = ws::make_folders(folder / std::string(300, 'x') / "below");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("File name too long") != std::string::npos);
}

namespace {

/// The umask of a test; afterwards it is as before.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777U;
}

}  // namespace

TEST_CASE("write_file: a new file gets the umask, a replaced one keeps its mode, a given mode is exact", "[base]") {
  const TemporaryFolder folder;
  for (const mode_t mask : {077U, 022U, 002U}) {
    const Umask set(mask);
    std::filesystem::remove(folder / "new");
    REQUIRE(ws::write_file(folder / "new", "x"));
    CHECK(mode_of(folder / "new") == (0666U & ~mask));
    for (const unsigned mode : {0600U, 0640U, 0664U}) {
      REQUIRE(::chmod((folder / "new").c_str(), mode) == 0);
      REQUIRE(ws::write_file(folder / "new", "y"));
      CHECK(mode_of(folder / "new") == mode);
    }
    REQUIRE(ws::write_file(folder / "new", "secret", 0600));
    CHECK(mode_of(folder / "new") == 0600U);
    std::filesystem::remove_all(folder / "made");
    REQUIRE(ws::make_folders(folder / "made" / "below"));
    CHECK(mode_of(folder / "made" / "below") == (0777U & ~mask));
  }
}

TEST_CASE("read_file: a FIFO that nobody writes to is refused at once, a connected pipe only where it is wanted",
          "[base]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  const auto refused = ws::read_file(folder / "fifo");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Failure::Kind::disk);
  CHECK_THAT(refused.error().what, Catch::Matchers::Contains("fifo is not a regular file"));
  CHECK(ws::read_file(folder / "fifo", 100, ws::Source::connected) == "");

  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "key", 3) == 3);
  ::close(ends[1]);
  const std::filesystem::path name = "/proc/self/fd/" + std::to_string(ends[0]);
  CHECK_FALSE(ws::read_file(name));
  CHECK(ws::read_file(name, 100, ws::Source::connected) == "key");
  ::close(ends[0]);
}

TEST_CASE("path_through: stays with the folder when its name goes, and is shown by the name it has", "[base]") {
  const TemporaryFolder folder;
  REQUIRE(ws::make_folders(folder / "old"));
  const int opened = ::open((folder / "old").c_str(), O_RDONLY | O_DIRECTORY);
  const auto through = ws::path_through(opened, folder / "old");
  std::filesystem::rename(folder / "old", folder / "new");
  REQUIRE(ws::write_file(through / "a", "text"));
  CHECK(ws::read_file(folder / "new" / "a") == "text");
  CHECK(ws::shown_path(through / "a") == (std::filesystem::canonical(folder / "new") / "a").string());
  ::close(opened);
}
