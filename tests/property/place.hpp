/// One folder tied to the service: what people do in it, what the engine does to it, and what lies there.
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

/// A file as `lstat` has it, with its text. A link's text is where it leads.
struct FileFacts {
  std::string text = {};
  std::int64_t changed_ns = 0;  ///< mtime
  std::int64_t touched_ns = 0;  ///< ctime
  std::uint64_t inode = 0;
  unsigned mode = 0;
  bool operator==(const FileFacts&) const = default;
};
using Files = std::map<std::string, FileFacts>;  ///< by path below the folder

/// What the engine is told to do.
struct Order {
  enum class Kind { run, pull, push_and_commit, status } kind = Kind::run;
  sync::RunOptions options = {};
  Weather weather = {};
  std::uint64_t stop_at = 0;  ///< a signal comes with the n-th word of progress; 0: none
};

class Place {
 public:
  Place(Service& service, std::uint64_t seed);

  Result<sync::Report> carry_out(const Order& order);
  /// The same with an engine of the caller's.
  static Result<sync::Report> carry_out(sync::SyncEngine& engine, const Order& order);
  /// `work` with an engine over this folder, and a client and a transport of its own, as each command has.
  Result<void> with_engine(const Order& order, const std::function<void(sync::SyncEngine& engine)>& work);
  Result<void> resolve(const sync::Conflict& conflict, sync::Keep keep);

  const std::filesystem::path& root() const { return root_; }
  const std::filesystem::path& outside() const { return outside_; }
  std::filesystem::path own(const std::string& name) const { return root_ / ".ws" / name; }
  Network& network() { return network_; }

  /// Everything below the folder but `.ws`.
  Files files() const;
  Files files_outside() const;
  /// Everything in `.ws` but what a status may write: the stat cache and the lock.
  Files own_files() const;
  std::map<std::string, std::string> tree() const;  ///< texts of the Markdown files
  /// Whether a text can be brought back: from the history as plain git reads it, or from a conflict's record.
  bool remembers(const std::string& text) const;
  std::set<std::string> spare_texts() const;  ///< in `.ws/tmp`: what a killed run had in hand
  std::map<sync::DocumentId, sync::BaseRow> base() const;
  std::vector<std::string> conflicts() const;  ///< "revision a.md", in order
  bool hides_files() const;                    ///< by a `.wsignore`

  /// A link that leads out, hidden files, a file that is no Markdown: nothing of it is the engine's business.
  void add_strangers();
  void set_max_file_bytes(std::uint64_t bytes);

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
