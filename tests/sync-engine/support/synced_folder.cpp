#include "tests/sync-engine/support/synced_folder.hpp"

#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

namespace ws::sync::test {

namespace fs = std::filesystem;

namespace {

/// In memory where there is such a place: an engine waits for the disk a dozen times a run.
fs::path quick_folder() { return fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path(); }

}  // namespace

SyncedFolder::SyncedFolder(FakeRemote& remote, std::uint64_t seed)
    : remote_(remote), folder_(quick_folder()), random_(seed) {
  const auto binding =
      init({.folder = folder_.path(), .base_url = "http://127.0.0.1:1", .origin = "http://127.0.0.1:1"},
           remote_,
           clock_,
           random_);
  REQUIRE(binding);
}

void SyncedFolder::write(const std::string& path, const std::string& text) {
  fs::create_directories((folder_ / path).parent_path());
  std::ofstream(folder_ / path, std::ios::binary) << text;
}

void SyncedFolder::remove(const std::string& path) { REQUIRE(fs::remove_all(folder_ / path) > 0); }

std::optional<std::string> SyncedFolder::read(const std::string& path) const {
  std::ifstream stream(folder_ / path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::map<std::string, std::string> SyncedFolder::tree() const {
  std::map<std::string, std::string> tree;
  for (auto it = fs::recursive_directory_iterator(folder_.path()); it != fs::recursive_directory_iterator(); ++it) {
    if (it->path().filename().string().front() == '.') {
      it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file()) continue;
    const std::string path = fs::relative(it->path(), folder_.path()).string();
    tree[path] = *read(path);
  }
  return tree;
}

SyncEngine SyncedFolder::engine(EngineOptions options) {
  auto engine = SyncEngine::open(folder_.path(), &remote_, clock_, std::move(options));
  if (!engine) FAIL(engine.error().what);
  return std::move(*engine);
}

Report SyncedFolder::run(const RunOptions& options) {
  auto report = engine().run(options);
  if (!report) FAIL(report.error().what);
  return *report;
}

Report SyncedFolder::status(const RunOptions& options) {
  auto report = engine().status(options);
  if (!report) FAIL(report.error().what);
  return *report;
}

std::vector<std::string> lines(const Report& report) {
  std::vector<std::string> out;
  for (const Row& row : report.rows) {
    std::string line = std::string(name(row.action.kind)) + " " + row.action.path.string();
    if (row.state == Row::State::failed) line += " failed: " + row.error->what;
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace ws::sync::test
