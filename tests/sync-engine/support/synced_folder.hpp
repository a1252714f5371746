/// A folder tied to a fake service, and the ways to change and look at it in one line.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "sync-engine/engine.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/sync-engine/support/fake_remote.hpp"

namespace ws::sync::test {

class FixedClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time = Time(std::chrono::milliseconds(1'795'000'000'000));
};

class SyncedFolder {
 public:
  explicit SyncedFolder(FakeRemote& remote, std::uint64_t seed = 1);

  void write(const std::string& path, const std::string& text);
  void remove(const std::string& path);
  std::optional<std::string> read(const std::string& path) const;
  /// Every file that is not hidden, by path.
  std::map<std::string, std::string> tree() const;
  const std::filesystem::path& path() const { return folder_.path(); }
  FixedClock& clock() { return clock_; }

  /// A fresh engine each time, as each command has.
  SyncEngine engine(EngineOptions options = {});
  Report run(const RunOptions& options = {});
  Report status(const RunOptions& options = {});

 private:
  FakeRemote& remote_;
  ws::test::TemporaryFolder folder_;
  FixedClock clock_;
  SeededRandom random_;
};

using Lines = std::vector<std::string>;
using Tree = std::map<std::string, std::string>;  ///< texts by path

/// "push_create a.md", "conflict b.md" ...: what a report says, a line each.
Lines lines(const Report& report);

}  // namespace ws::sync::test
