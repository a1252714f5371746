/// Identifiers, codes and secrets of one world: the same for the same seed, unless its secrets are random.
///
/// Each kind counts by itself, so that one comment more never renumbers the documents. A UUID is version 7 with a fixed
/// epoch plus the counter as its time: within a kind they sort in the order in which they were made. The counters are
/// kept in the database (`UnitOfWork::commit` writes them), so a world on disk goes on where it was.
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

/// Where keys and codes come from: the seed, for tests, or the system, for a server that others can call.
enum class Secrets { seeded, random };

class Ids {
 public:
  explicit Ids(std::uint64_t seed, Secrets secrets = Secrets::seeded) : seed_(seed), secrets_(secrets) {}

  /// The next UUID of a kind: "document", "node", "key".
  std::string uuid(std::string_view kind);
  /// A key: `wsk_` and 43 characters of base64url. `kind` as above: "token", "agent_token".
  std::string token(std::string_view kind);
  /// 32 random bytes as 43 characters of base64url: device codes, lease tokens.
  std::string code(std::string_view kind);
  /// `XXXX-XXXX` of letters that nobody mixes up.
  std::string user_code();

  /// Takes the counters from the database, writes those that moved back to it, starts anew.
  Result<void> load(sqlite::Database& database);
  Result<void> save(sqlite::Database& database);
  void restart();

 private:
  struct Counter {
    std::uint64_t next = 0;
    bool moved = false;
  };
  std::uint64_t count(std::string_view kind);
  std::uint64_t mix(std::string_view kind, std::uint64_t count) const;
  void fill(std::span<std::uint8_t> bytes, Random& seeded) const;

  std::uint64_t seed_;
  Secrets secrets_;
  std::map<std::string, Counter, std::less<>> counters_ = {};
  bool moved_ = false;
};

}  // namespace ws::mock
