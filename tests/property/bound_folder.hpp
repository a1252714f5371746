/// One folder bound to the service, with the users' and the engine's operations on it, and its state.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/random.hpp"
#include "sync-engine/engine.hpp"
#include "sync-engine/state/state_store.hpp"
#include "tests/property/network.hpp"
#include "tests/property/service.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ws::property {

/// The facts of `lstat` about a file, with its text. The text of a link is its target.
struct FileFacts {
  std::string text = {};
  std::int64_t changed_ns = 0;  ///< mtime
  std::int64_t touched_ns = 0;  ///< ctime
  std::uint64_t inode = 0;
  unsigned mode = 0;
  bool operator==(const FileFacts&) const = default;
};
using Files = std::map<std::string, FileFacts>;  ///< by path below the folder

/// The command given to the engine.
struct Order {
  enum class Kind { run, pull, push_and_commit, push, commit, status } kind = Kind::run;
  sync::RunOptions options = {};
  FaultRate fault_rate = {};
  std::uint64_t stop_at = 0;  ///< a signal arrives with progress message number N; 0: none
  bool only_reads = false;    ///< with the key of a viewer
};

class BoundFolder {
 public:
  BoundFolder(Service& service, std::uint64_t seed);

  Result<sync::Report> carry_out(const Order& order);
  /// The same with an engine of the caller.
  static Result<sync::Report> carry_out(sync::SyncEngine& engine, const Order& order);
  /// Calls `work` with a new engine on this folder, with its own client and transport, as each command has.
  Result<void> with_engine(const Order& order, const std::function<void(sync::SyncEngine& engine)>& work);
  Result<void> resolve(const sync::Conflict& conflict, sync::Keep keep);

  const std::filesystem::path& root() const { return root_; }
  const std::filesystem::path& outside() const { return outside_; }
  std::filesystem::path own(const std::string& name) const { return root_ / ".ws" / name; }
  Network& network() { return network_; }

  /// Everything below the folder except `.ws`.
  Files files() const;
  Files files_outside() const;
  /// Everything in `.ws` except what a status may write: the stat cache and the lock.
  Files own_files() const;
  std::map<std::string, std::string> tree() const;      ///< texts of the Markdown files
  std::map<std::string, std::string> pictures() const;  ///< bytes of the files that end with ".png"
  /// Whether a text can be recovered: from the history with plain git, or from a conflict's record.
  bool remembers(const std::string& text) const;
  /// Those of the texts that cannot.
  std::set<std::string> forgotten(std::set<std::string> texts) const;
  std::set<sync::git::ObjectId> kept_for_undo() const;  ///< texts that recorded operations name
  std::set<std::string> spare_texts() const;            ///< in `.ws/tmp`: texts that a killed run was writing
  std::map<sync::DocumentId, sync::BaseRow> base() const;
  std::size_t operations() const;              ///< how many `log --runs` shows
  std::vector<std::string> conflicts() const;  ///< "revision a.md", in order
  bool hides_files() const;                    ///< whether a `.wsignore` hides files

  /// Adds a link to the outside, hidden files, and a file that is not Markdown: the engine must not touch them.
  void add_strangers();
  void set_max_file_bytes(std::uint64_t bytes);
  /// Replaces `.ws/config.yaml`.
  void configure(const std::string& yaml);
  std::string config() const;

 private:
  Service& service_;
  ws::test::TemporaryFolder home_;
  std::filesystem::path root_;
  std::filesystem::path outside_;
  Network network_;
  SeededRandom random_;
  std::atomic<bool> stop_ = false;
  std::uint64_t words_ = 0;
};

}  // namespace ws::property
