/// A tree, the service, and somebody else's tree, in a state that can be taken up again and again: the stage on which
/// `ws` is killed and lied to.
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

/// What the shim does, in its own words (tests/faults/shim.cpp); mode empty: only counting.
struct Fault {
  long point = 0;
  std::string mode = {};
  bool reads = false;  ///< opening for reading counts too
};

struct Faulted {
  Ended ended = {};
  Words calls = {};  ///< "openat PATH", one a call beneath the tree that changes something
};

/// Whether the shim can work here: x86-64, and seccomp allowed.
bool shim_works();

class FaultWorld {
 public:
  /// An untied `tree` and an untied `other` before a fresh service; `beneath` is where both lie (empty: a fresh
  /// folder).
  explicit FaultWorld(const std::filesystem::path& beneath = {});

  Ended ws(Words arguments) const { return person.ws(std::move(arguments), tree); }
  Ended ws_there(Words arguments) const { return person.ws(std::move(arguments), other); }
  Faulted ws(Words arguments, const Fault& fault) const;
  Command command(Words arguments, const Fault& fault, const std::filesystem::path& log) const;

  /// Both trees tied to one new source. Throws where that fails.
  void tie();
  /// What `reset` brings back: the tree, and the service with its journal empty.
  void save();
  void reset() const;

  /// The documents of the source by path; in place of the list of attachments each of its rows, as
  /// "attachment PATH".
  Texts served() const;
  /// How many documents and sources there are in all, archived ones included.
  std::size_t objects() const;
  /// How many files there are on the service, by the hash of their bytes.
  std::map<std::string, std::size_t> assets() const;
  /// Operations that came since the last `reset` or `forget_requests`, in order.
  Words operations() const;
  void forget_requests() const;
  std::string control(const std::string& method, const std::string& path, const std::string& json = {}) const;

  /// Every text that can still be had: in the tree, in the history by plain git, in a conflict's copies, on the
  /// service.
  std::set<std::string> kept() const;
  /// The same before the next run has tidied up: texts in `.ws/tmp` and objects that no branch holds yet count.
  std::set<std::string> kept_at_once() const;
  /// What `git fsck` says of the history, where it is not whole; empty: it is, or there was none when it was saved.
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

/// `made` or a folder's path that is too long for one test: everything below it with content, mode and kind of entry.
Texts snapshot_of(const std::filesystem::path& folder, const std::function<bool(const std::string&)>& passes);

/// Evenly spread numbers from 1 to `last`, `count` of them at most, shifted by `seed`. WS_FAULTS=all: every one;
/// WS_FAULTS=20: twenty times as many.
std::vector<long> spread(long last, long count, unsigned seed);
/// WS_SEED, or 1.
unsigned fault_seed();

}  // namespace ws::test
