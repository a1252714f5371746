/// What each request changed in a world, and a hash of the state after it.
///
/// Temporary triggers write each changed row to a temporary table, in the same transaction, so a change that is rolled
/// back leaves nothing. The hash is a chain: the hash before, and the rows that changed. Two worlds that began equal
/// have equal hashes as long as they are equal. The search index is not part of it: it is rebuilt from the documents.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::trace {

/// `{table: [row, ...]}`: all rows, sorted.
Result<Json> read_tables(World& world);

class Changes {
 public:
  /// Watches the sandbox from now on, if it does not yet. Call it before each request.
  Result<void> before(Sandbox& sandbox);

  struct Found {
    std::string hash = {};
    JsonBox rows = {};  ///< `[{table, before, after}]`; null if the whole state was replaced (a snapshot was restored)
  };
  /// What happened since `before`.
  Result<Found> after(Sandbox& sandbox);
  /// The hash that the present state is known to have; changes until now are forgotten.
  Result<void> begin_with(Sandbox& sandbox, const std::string& hash);
  /// Of the sandbox with this id; empty: not watched.
  std::string hash(const std::string& sandbox) const;

 private:
  struct Watched {
    const World* world = nullptr;
    std::uint64_t restores = 0;  // `World::restore` opens another connection, without the triggers
    std::string hash = {};
    bool fits(const Sandbox& sandbox) const;
  };
  /// Without a hash.
  Result<void> watch(Sandbox& sandbox, Watched& watched);
  Result<void> begin(Sandbox& sandbox, Watched& watched);

  std::map<std::string, Watched> watched_ = {};
};

}  // namespace ws::mock::trace
