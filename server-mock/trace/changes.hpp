/// Records what each request changed in a world, and a hash of the state after it.
///
/// Temporary triggers copy each changed row to a temporary table in the same transaction, so a change that is rolled
/// back leaves no record. The hash is a chain over the previous hash and the changed rows: two worlds that began equal
/// have equal hashes as long as they are equal. The search index is not included: it is rebuilt from the documents. Nor
/// is what shows the secret of a key: of fixed ones a trace has others (`SecretNames`).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::trace {

class Changes {
 public:
  /// Starts watching the sandbox if it is not watched yet. Call it before each request.
  Result<void> before(Sandbox& sandbox);

  struct Found {
    std::string hash = {};
    JsonBox rows = {};  ///< `[{table, before, after}]`; null if the whole state was replaced (a snapshot was restored)
  };
  /// The changes since `before`.
  Result<Found> after(Sandbox& sandbox);
  /// Sets the known hash of the present state; earlier changes are forgotten.
  Result<void> set_hash(Sandbox& sandbox, const std::string& hash);
  /// The hash of the sandbox with this id; empty: not watched.
  std::string hash(const std::string& sandbox) const;

 private:
  struct Watched {
    const World* world = nullptr;
    std::uint64_t restores =
        0;  // value of `World::restore_count`: a restore opens another connection, which has no triggers
    std::string hash = {};
    bool fits(const Sandbox& sandbox) const;
  };
  /// Starts watching without a hash.
  Result<void> watch(Sandbox& sandbox, Watched& watched);
  Result<void> begin(Sandbox& sandbox, Watched& watched);

  std::map<std::string, Watched> watched_ = {};
};

}  // namespace ws::mock::trace
