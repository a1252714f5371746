/// Generates ids, codes and secrets of one world, reproducibly from its seed unless secrets are random.
///
/// Each kind has its own counter, so that one more comment does not renumber documents. A UUID is version 7 with a
/// fixed epoch plus the counter as its timestamp, so ids of a kind sort by creation. The counters are stored in the
/// database (`UnitOfWork::commit` writes them), so that a data file continues them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::mock {

/// Source of keys and codes: the seed, for tests, or the system's random generator, for a server that others can reach.
enum class Secrets { seeded, random };

class Ids {
 public:
  /// `scope`: worlds with the same seed and another scope have the same ids and other secrets.
  explicit Ids(std::uint64_t seed, Secrets secrets = Secrets::seeded, std::string scope = {})
      : seed_(seed), secrets_(secrets), scope_(std::move(scope)) {}

  /// The next UUID of a kind: "document", "node", "key".
  std::string uuid(std::string_view kind);
  /// A key: `wsk_` and 43 characters of base64url. `kind` as above: "token", "agent_token".
  std::string token(std::string_view kind);
  /// 32 random bytes as 43 characters of base64url: device codes, lease tokens.
  std::string code(std::string_view kind);
  /// `XXXX-XXXX` of letters that are hard to confuse.
  std::string user_code();

  /// Reads the counters from the database; writes those that changed; resets them.
  Result<void> load(sqlite::Database& database);
  Result<void> save(sqlite::Database& database);
  void restart();

 private:
  struct Counter {
    std::uint64_t next = 0;
    bool moved = false;
  };
  std::uint64_t count(std::string_view kind);
  std::uint64_t mix(std::string_view kind, std::uint64_t count, std::string_view scope = {}) const;
  void fill(std::span<std::uint8_t> bytes, Random& seeded) const;

  std::uint64_t seed_;
  Secrets secrets_;
  std::string scope_;
  std::map<std::string, Counter, std::less<>> counters_ = {};
  bool moved_ = false;
};

}  // namespace ws::mock
