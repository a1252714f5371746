#include "server-mock/store/ids.hpp"

#include <array>

#include "api-client/base/clock.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::mock {
namespace {

constexpr Time epoch = Time{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

std::string base64url(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (const std::uint8_t byte : bytes) {
    buffer = (buffer << 8U) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += alphabet[(buffer >> bits) & 63U];
    }
  }
  if (bits > 0) text += alphabet[(buffer << (6U - bits)) & 63U];
  return text;
}

}  // namespace

std::uint64_t Ids::count(std::string_view kind) {
  auto counter = counters_.find(kind);
  if (counter == counters_.end()) counter = counters_.emplace(std::string(kind), Counter{}).first;
  counter->second.moved = true;
  moved_ = true;
  return counter->second.next++;
}

std::uint64_t Ids::mix(std::string_view kind, std::uint64_t count, std::string_view scope) const {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a: the same on every machine
  for (const std::string_view part : {kind, scope}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  SeededRandom seeded(seed_);
  const std::uint64_t start = SeededRandom(seeded.next() ^ hash).next();
  return SeededRandom(start + count).next();
}

std::string Ids::uuid(std::string_view kind) {
  const std::uint64_t number = count(kind);
  SeededRandom random(mix(kind, number));
  return make_uuid_v7(epoch + std::chrono::milliseconds(number), random);
}

std::string Ids::token(std::string_view kind) { return "wsk_" + code(kind); }

std::string Ids::code(std::string_view kind) {
  SeededRandom seeded(mix(kind, count(kind), scope_));
  std::array<std::uint8_t, 32> bytes{};
  fill(bytes, seeded);
  return base64url(bytes);
}

/// The counter advances in either case, so that random secrets do not change other ids.
void Ids::fill(std::span<std::uint8_t> bytes, Random& seeded) const {
  SystemRandom system;
  (secrets_ == Secrets::random ? static_cast<Random&>(system) : seeded).fill(bytes);
}

std::string Ids::user_code() {
  constexpr std::string_view letters = "BCDFGHJKLMNPQRSTVWXZ";  // `decisions.md`, "Device authorization"
  SeededRandom seeded(mix("user_code", count("user_code"), scope_));
  SystemRandom system;
  Random& random = secrets_ == Secrets::random ? static_cast<Random&>(system) : seeded;
  std::string text;
  for (int i = 0; i < 8; ++i) {
    if (i == 4) text += '-';
    text += letters[random.below(letters.size())];
  }
  return text;
}

Result<void> Ids::load(sqlite::Database& database) {
  restart();
  WS_LET(const sqlite::CachedStatement rows, database.cached("select kind, next from id_counters"));
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return {};
    counters_.emplace(rows->string(0), Counter{.next = static_cast<std::uint64_t>(rows->integer(1))});
  }
}

Result<void> Ids::save(sqlite::Database& database) {
  if (!moved_) return {};
  WS_LET(const sqlite::CachedStatement put,
         database.cached("insert or replace into id_counters (kind, next) values (?, ?)"));
  for (auto& [kind, counter] : counters_) {
    if (!counter.moved) continue;
    put->bind_all(kind, static_cast<std::int64_t>(counter.next));
    WS_TRY(put->run());
    counter.moved = false;
  }
  moved_ = false;
  return {};
}

void Ids::restart() {
  counters_.clear();
  moved_ = false;
}

}  // namespace ws::mock
