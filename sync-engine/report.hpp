/// What a command of the sync engine did, row by row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/model.hpp"

namespace ws::sync {

/// What became of one row of the plan.
struct Row {
  enum class State { planned, done, failed };
  Action action;
  State state = State::planned;
  std::optional<Failure> error = {};
  bool operator==(const Row&) const = default;
};

struct Report {
  std::string source_id = {};
  std::uint64_t base_revision = 0;  ///< of the source, before the call
  std::uint64_t revision = 0;       ///< and as far as it is known now
  std::vector<Row> rows = {};
  std::vector<Conflict> conflicts = {};  ///< this tree's own that are open
  std::vector<Skipped> skipped = {};
  std::vector<Detached> detached = {};
  std::optional<Guard> guard = {};       ///< set: the guard stopped the call, nothing was changed
  std::optional<Failure> ended_by = {};  ///< what ended the call early, after some rows were done
  bool clean = true;                     ///< nothing to do, or all of it done, and no conflict open
};

/// `cli.md`: {v: 1, source_id, base_revision, revision, actions, conflicts, skipped, detached, counts, clean}.
Json to_json(const Report& report);

}  // namespace ws::sync
