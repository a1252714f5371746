/// Two trees and a service whose state can be saved and restored: the fixture of the tests that kill `ws` or inject
/// errors.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/mock_process.hpp"
#include "tests/support/two_people.hpp"

namespace ws::test {

using Texts = std::map<std::string, std::string>;  ///< by path
using Words = std::vector<std::string>;

/// What the shim does, by the environment variables of tests/faults/shim.cpp; mode empty: only count.
struct Fault {
  long point = 0;
  std::string mode = {};
  bool reads = false;  ///< opening for reading is counted too
};

struct Faulted {
  Ended ended = {};
  Words calls = {};  ///< "openat PATH", one entry for each call that changes something in the tree
};

/// Whether the shim can run here: x86-64, and seccomp is allowed.
bool shim_works();

class FaultWorld {
 public:
  /// Two unbound folders, `tree` and `other`, and a new service; both folders are made in `beneath` (empty: a new
  /// folder).
  explicit FaultWorld(const std::filesystem::path& beneath = {});

  Ended ws(Words arguments) const { return person.ws(std::move(arguments), tree); }
  Ended ws_there(Words arguments) const { return person.ws(std::move(arguments), other); }
  Faulted ws(Words arguments, const Fault& fault) const;
  Command command(Words arguments, const Fault& fault, const std::filesystem::path& log) const;

  /// Binds both trees to one new source. Throws on failure.
  void bind_trees();
  /// Saves what `reset` restores: the tree, and the service with an empty journal.
  void save();
  void reset() const;

  /// The documents of the source by path. The list of attachments is replaced by its rows, as "attachment PATH".
  Texts served() const;
  /// The number of documents and sources, including archived ones.
  std::size_t objects() const;
  /// The number of files on the service by the hash of their bytes.
  std::map<std::string, std::size_t> assets() const;
  /// Operations requested since the last `reset` or `forget_requests`, in order.
  Words operations() const;
  void forget_requests() const;
  std::string control(const std::string& method, const std::string& path, const std::string& json = {}) const;

  /// Every text that can be recovered: from the tree, from the history with plain git, from a conflict's copies, or
  /// from the service.
  std::set<std::string> kept() const;
  /// The same before the next run has cleaned up: includes texts in `.ws/tmp` and unreachable objects.
  std::set<std::string> kept_at_once() const;
  /// The errors that `git fsck` reports for the history; empty: none, or there was no history when the state was saved.
  std::string broken_history() const;

  MockProcess server;
  Person person{server};
  std::string source = {};

 private:
  enum class Objects { reachable, all };
  std::set<std::string> kept(Objects objects) const;
  void add_assets(std::set<std::string>& texts) const;
  void add_history(std::set<std::string>& texts, Objects objects) const;

  TemporaryFolder folder_;

 public:
  std::filesystem::path tree;
  std::filesystem::path other;
};

/// Everything below a folder with content, mode and file type.
Texts snapshot_of(const std::filesystem::path& folder, const std::function<bool(const std::string&)>& passes);

/// At most `count` evenly spread numbers from 1 to `last`, shifted by `seed`. WS_FAULTS=all: all numbers; WS_FAULTS=20:
/// twenty times as many.
std::vector<long> spread(long last, long count, unsigned seed);
/// WS_SEED, or 1.
unsigned fault_seed();

}  // namespace ws::test
