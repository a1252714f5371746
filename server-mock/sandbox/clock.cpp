#include "server-mock/sandbox/clock.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/sandbox/sandbox.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/services/questions/question_store.hpp"

namespace ws::mock {
namespace {

/// One kind of thing that expires or becomes due. `next` finds the earliest time in (?1, ?2]; `due` selects those due
/// at the time ?1: an id, and an object with further members for the answer.
struct DueSource {
  std::string_view kind = {};
  const char* next = nullptr;
  const char* due = nullptr;
  /// Applies the change; null if it follows from the time alone (an expired key).
  Result<void> (*settle)(World& world) = nullptr;
};

Result<void> lapse(World& world) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_TRY(expire_leases(world));
  return work.commit();
}

// 86400000 ms: lifetime of an idempotency record (`decisions.md`, "Idempotency").
constexpr DueSource sources[] = {
    {"lease",
     "select min(lease_expires_at) from agent_events where status = 'leased' and lease_expires_at > ?1 "
     "and lease_expires_at <= ?2",
     "select id, json_object('agent_id', agent_id, 'attempt', attempt) from agent_events where status = 'leased' and "
     "lease_expires_at = ?1 "
     "order by sequence",
     lapse},
    {"event",
     "select min(available_at) from agent_events where status = 'queued' and available_at > ?1 and available_at <= ?2",
     "select id, json_object('agent_id', agent_id, 'attempt', attempt) from agent_events where status = 'queued' and "
     "available_at = ?1 order by sequence"},
    {"device_code",
     "select min(expires_at) from device_authorizations where status in ('pending', 'approved') and expires_at > ?1 "
     "and expires_at <= ?2",
     "select id, json_object('user_code', user_code) from device_authorizations where status in ('pending', "
     "'approved') and expires_at = ?1 "
     "order by id"},
    {"key",
     "select min(expires_at) from keys where revoked_at is null and expires_at > ?1 and expires_at <= ?2",
     "select id, json_object('display_prefix', display_prefix) from keys where revoked_at is null and expires_at = ?1 "
     "order by id"},
    {"idempotency_record",
     "select min(created_at) + 86400000 from idempotency_records where created_at > ?1 - 86400000 "
     "and created_at <= ?2 - 86400000",
     "select key, json_object('owner', owner) from idempotency_records where created_at = ?1 - 86400000 order by "
     "owner, key"},
    {"plan",
     "select min(expires_at) from sync_plans where commit_id is null and expires_at > ?1 and expires_at <= ?2",
     "select id, json_object('source_id', source_id) from sync_plans where commit_id is null and expires_at = ?1 order "
     "by id"},
    {"upload",
     "select min(expires_at) from uploads where asset_id = '' and expires_at > ?1 and expires_at <= ?2",
     "select id, json_object('file_name', file_name) from uploads where asset_id = '' and expires_at = ?1 order by id",
     forget_expired_uploads},
    // 5000 ms: how long a phase lasts if nobody asks for it (`organize_phase_ms` of `organize_runs.cpp`).
    {"organization",
     "select min(updated_at) + 5000 from organize_runs where status in ('queued', 'running') "
     "and updated_at > ?1 - 5000 and updated_at <= ?2 - 5000",
     "select id, json_object('asset_id', asset_id, 'phase', phase) from organize_runs "
     "where status in ('queued', 'running') and updated_at = ?1 - 5000 order by sequence",
     advance_due_runs},
    {"question",
     "select min(due_at) from questions where due_at is not null and due_at > ?1 and due_at <= ?2",
     "select id, json_object('conversation_id', conversation_id) from questions where due_at = ?1 order by id",
     complete_due_questions},
    {"test_run",
     "select min(at) from (select started_at as at, created_at from test_runs union all select finished_at, created_at "
     "from test_runs where started_at > created_at) where at > created_at and at > ?1 and at <= ?2",
     "select id, json_object('status', iif(finished_at = ?1, status, 'running')) from test_runs "
     "where started_at > created_at and ?1 in (started_at, finished_at) order by sequence"},
};

}  // namespace

Advance::Advance(Sandbox& sandbox, const MockClock& goal)
    : sandbox_(&sandbox), goal_(goal), reached_(sandbox.world->now()), fired_(Json::array()) {}

Result<Advance> Advance::begin(Sandbox& sandbox, std::chrono::milliseconds by) {
  MockClock goal = sandbox.clock;
  goal.advance(by);
  // First what became due earlier on a running clock.
  WS_TRY(lapse(*sandbox.world));
  return Advance(sandbox, goal);
}

Result<std::optional<std::int64_t>> Advance::next_due() const {
  World& world = *sandbox_->world;
  const std::int64_t end = goal_.now().time_since_epoch().count();
  std::optional<std::int64_t> least;
  const auto consider = [&](std::optional<std::int64_t> at) {
    if (at && *at > reached_ && *at <= end && (!least || *at < *least)) least = at;
  };
  for (const DueSource& source : sources) {
    WS_LET(const sqlite::CachedStatement row, world.database.cached(source.next));
    row->bind_all(reached_, end);
    WS_TRY(row->step());
    consider(row->optional_integer(0));
  }
  consider(sandbox_->pending_claims.next_end(reached_));
  return least;
}

Result<bool> Advance::step() {
  WS_LET(const std::optional<std::int64_t> at, next_due());
  if (!at) {
    sandbox_->clock = goal_;
    return false;
  }
  sandbox_->clock.advance(std::chrono::milliseconds(std::max<std::int64_t>(0, *at - sandbox_->world->now())));
  reached_ = *at;
  WS_TRY(fire(*at));
  return true;
}

Result<void> Advance::fire(std::int64_t at) {
  World& world = *sandbox_->world;
  for (const DueSource& source : sources) {
    bool any = false;
    {
      WS_LET(const sqlite::CachedStatement rows, world.database.cached(source.due));
      rows->bind(1, at);
      while (true) {
        WS_LET(const bool found, rows->step());
        if (!found) break;
        any = true;
        WS_LET(const Json more, parse_bounded(rows->text(1)));
        note(at, source.kind, rows->text(0), more);
      }
    }
    if (any && source.settle != nullptr) WS_TRY(source.settle(world));
  }
  for (const PendingClaims::Ticket ticket : sandbox_->pending_claims.ending_at(at)) {
    const auto pending = sandbox_->pending_calls.find(ticket);
    if (pending != sandbox_->pending_calls.end()) note(at, "waiting_claim", pending->second.request_id, Json::object());
  }
  return {};
}

void Advance::note(std::int64_t at, std::string_view kind, std::string_view id, const Json& more) {
  Json entry = {{"time", rfc3339(at)}, {"kind", kind}, {"id", id}};
  entry.update(more);
  fired_->push_back(std::move(entry));
}

Json Advance::answer() const {
  return {{"clock", sandbox_->clock.text()}, {"now", to_rfc3339(sandbox_->clock.now())}, {"fired", *fired_}};
}

Result<MockClock> MockClock::parse(std::string_view text) {
  constexpr std::string_view frozen = "frozen:";
  constexpr std::string_view offset = "offset:";
  MockClock clock;
  if (text == "real") return clock;
  if (text.starts_with(frozen)) {
    WS_LET(clock.frozen_, parse_rfc3339(text.substr(frozen.size())));
    if (!has(clock.now())) return fail(Failure::Kind::invalid, std::string(years));
    return clock;
  }
  if (text.starts_with(offset)) {
    text.remove_prefix(offset.size());
    const bool back = text.starts_with('-');
    if (back || text.starts_with('+')) text.remove_prefix(1);
    WS_LET(const std::chrono::milliseconds by, parse_duration(text));
    clock.offset_ = back ? -by : by;
    if (!has(clock.now())) return fail(Failure::Kind::invalid, std::string(years));
    return clock;
  }
  return fail(Failure::Kind::invalid,
              fmt::format("\"{}\" is not a clock", text),
              "use real, frozen:2026-11-20T10:00:00Z or offset:+2h");
}

bool MockClock::has(Time time) {
  constexpr Time end{std::chrono::sys_days{std::chrono::year{9900} / 1 / 1}.time_since_epoch()};
  return time.time_since_epoch().count() >= 0 && time < end;
}

Time MockClock::real_now() const {
  if (pinned_ && pinned_->at) return *pinned_->at;
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Time MockClock::now() const { return frozen_ ? *frozen_ : real_now() + offset_; }

void MockClock::advance(std::chrono::milliseconds by) {
  if (frozen_) {
    *frozen_ += by;
  } else {
    offset_ += by;
  }
}

std::string MockClock::text() const {
  if (frozen_) return "frozen:" + to_rfc3339(*frozen_);
  if (offset_.count() == 0) return "real";
  constexpr std::pair<std::int64_t, std::string_view> units[] = {
      {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}};
  const auto* unit = std::ranges::find_if(units, [&](const auto& one) { return offset_.count() % one.first == 0; });
  return fmt::format(
      "offset:{}{}{}", offset_.count() < 0 ? "-" : "+", std::abs(offset_.count()) / unit->first, unit->second);
}

}  // namespace ws::mock
