/// A stage that is set up once, and put back for each row of a table.
#pragma once

#include <filesystem>
#include <utility>

#include "tests/cli/workflow/stage.hpp"

namespace ws::test {

/// The folder `stage` and all that the service holds, as both are when this is made. The files that come back have the
/// same bytes and are other files: a tree has to sync once before it knows them as it knew those.
class Rewound {
 public:
  Rewound(const MockProcess& server, std::filesystem::path stage) : server_(server), stage_(std::move(stage)) {
    control(server_, "PUT", "/snapshots/start", "");
    copy(stage_, saved_.path());
  }
  void rewind() const {
    control(server_, "POST", "/snapshots/start:restore", "");
    for (const auto& entry : std::filesystem::directory_iterator(stage_)) std::filesystem::remove_all(entry.path());
    copy(saved_.path(), stage_);
  }

 private:
  static void copy(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::filesystem::copy(
        from, to, std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  }

  const MockProcess& server_;
  std::filesystem::path stage_;
  TemporaryFolder saved_;
};

}  // namespace ws::test
