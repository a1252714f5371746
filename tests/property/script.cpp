#include "tests/property/script.hpp"

#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "api-client/base/random.hpp"
#include "tests/property/coverage.hpp"

namespace ws::property {
namespace {

struct Share {
  StepKind kind;
  unsigned weight;
  const char* name;
};

constexpr Share shares[] = {
    {StepKind::edit, 8, "edit"},
    {StepKind::same_size_edit, 3, "same_size_edit"},
    {StepKind::create, 9, "create"},
    {StepKind::remove, 4, "remove"},
    {StepKind::rename_file, 5, "rename_file"},
    {StepKind::rename_and_edit, 3, "rename_and_edit"},
    {StepKind::rename_folder, 3, "rename_folder"},
    {StepKind::remove_folder, 1, "remove_folder"},
    {StepKind::swap, 3, "swap"},
    {StepKind::recase, 2, "recase"},
    {StepKind::touch, 2, "touch"},
    {StepKind::become_folder, 2, "become_folder"},
    {StepKind::become_file, 2, "become_file"},
    {StepKind::ignore, 1, "ignore"},
    {StepKind::sync, 14, "sync"},
    {StepKind::picture, 10, "picture"},
    {StepKind::edit_picture, 4, "edit_picture"},
    {StepKind::rename_picture, 5, "rename_picture"},
    {StepKind::remove_picture, 4, "remove_picture"},
    {StepKind::picture_becomes_folder, 1, "picture_becomes_folder"},
    {StepKind::show, 8, "show"},
    {StepKind::unshow, 3, "unshow"},
    {StepKind::setting, 4, "setting"},
    {StepKind::command, 10, "command"},
    {StepKind::rule, 0, "rule"},
    {StepKind::agree, 0, "agree"},
    {StepKind::meet, 0, "meet"},
    {StepKind::leave_around, 0, "leave_around"},
    {StepKind::decide_around, 0, "decide_around"},
};

bool is_of_vault(StepKind kind) { return kind >= StepKind::picture; }

std::uint64_t total_weight(bool vault) {
  std::uint64_t total = 0;
  for (const Share& share : shares) total += vault || !is_of_vault(share.kind) ? share.weight : 0;
  return total;
}

/// Mixes the seed first: the generator only increments it, so the next seed would give this script without its first
/// step.
SeededRandom random_of(std::uint64_t seed) { return SeededRandom(SeededRandom(seed).next()); }

/// Every random choice of a step.
void roll(Step& step, SeededRandom& random) {
  const std::uint64_t bytes = random.next();
  step.who = static_cast<std::uint8_t>(bytes);
  step.what = static_cast<std::uint8_t>(bytes >> 8U);
  step.where = static_cast<std::uint8_t>(bytes >> 16U);
  step.how = static_cast<std::uint8_t>(bytes >> 24U);
}

void add_random(Script& script, SeededRandom& random, std::size_t count, bool vault) {
  const std::uint64_t total = total_weight(vault);
  for (std::size_t i = 0; i < count; ++i) {
    Step step;
    std::uint64_t place = random.below(total);
    for (const Share& share : shares) {
      step.kind = share.kind;
      if (place < share.weight) break;
      place -= share.weight;
    }
    roll(step, random);
    script.push_back(step);
  }
}

/// The command after a meeting, by the `where` of its step; what comes before it, to have something to do; and what
/// comes around the changes.
struct Ending {
  StepKind kind = StepKind::sync;
  std::uint8_t where = 0;
  bool after_run = false;
  bool after_undo = false;
  std::optional<StepKind> around = {};
  std::optional<std::uint8_t> how = {};
};
constexpr Ending endings[] = {
    {.where = 0},
    {.where = 1},
    {.where = 2},
    {.where = 3},
    {.where = 4},
    {.where = 5},
    {.where = 6},
    {.kind = StepKind::command, .where = 1},
    {.kind = StepKind::command, .where = 2},
    {.kind = StepKind::command, .where = 3},
    {.kind = StepKind::command, .where = command::undo, .after_run = true},
    {.kind = StepKind::command, .where = command::redo, .after_run = true, .after_undo = true},
    {.kind = StepKind::command, .where = command::undo_all, .after_run = true},
    {.kind = StepKind::command, .where = command::resolve, .after_run = true},
    {.kind = StepKind::command, .where = command::resolve, .after_run = true, .how = command::decide_all},
    {.kind = StepKind::command, .where = command::resolve, .around = StepKind::decide_around},
    {.around = StepKind::decide_around},
    {.kind = StepKind::command, .where = command::leave, .after_run = true, .how = command::leave_met},
    {.kind = StepKind::command, .where = command::leave},
    {.kind = StepKind::command, .where = command::leave, .around = StepKind::leave_around, .how = command::take_all},
    {.around = StepKind::leave_around}};

// One story in five of a survey is not directed: a number of endings that five divides would leave out the same pairs
// with the same endings for ever.
static_assert(std::size(endings) % 5 != 0);

constexpr std::uint64_t together = 12;
std::uint64_t batches_of_pairs() { return (pairs().size() + together - 1) / together; }

/// Some pairs of changes in one folder, and a command. Stories with seeds one after another go through each pair with
/// each command alike.
void add_meeting(Script& script, SeededRandom& random, std::uint64_t number) {
  constexpr std::uint64_t stride = 97;  // what meets at once are not neighbours
  const std::uint64_t batches = batches_of_pairs();
  const std::uint64_t batch = number % batches;
  const Ending& ending = endings[(batch + number / batches) % std::size(endings)];
  const bool changes_rules = random.below(2) == 0;
  Step step;
  roll(step, random);
  const std::uint8_t who = step.who;
  const auto add = [&](StepKind kind) {
    roll(step, random);
    step.who = who;
    step.kind = kind;
    script.push_back(step);
    return &script.back();
  };
  const auto run = [&] {
    Step* const sync = add(StepKind::sync);
    sync->where = 0;
    sync->how &= 0xFEU;  // confirms deletes
  };
  add(StepKind::agree);
  const bool removes_rule = changes_rules && random.below(2) == 0;
  if (changes_rules) add(StepKind::rule);
  if (removes_rule) run();
  if (random.below(4) != 0) add(StepKind::setting);
  for (std::uint64_t i = 0; i < together; ++i) {
    const std::uint64_t pair = (batch * together + i) * stride % pairs().size();
    Step* const met = add(StepKind::meet);
    met->what = static_cast<std::uint8_t>(pair);
    met->where = static_cast<std::uint8_t>(pair >> 8U);
  }
  if (ending.around) add(*ending.around);
  if (removes_rule) add(StepKind::rule);
  if (ending.after_run) run();
  if (ending.after_undo) add(StepKind::command)->where = command::undo;
  Step* const last = add(ending.kind);
  last->where = ending.where;
  if (random.below(4) != 0) last->how &= 0xFEU;
  if (ending.how) last->how = *ending.how;
}

}  // namespace

Script make_script(std::uint64_t seed, std::size_t most, bool vault) {
  SeededRandom random = random_of(seed);
  Script script;
  add_random(script, random, 3 + random.below(most - 2), vault);
  return script;
}

Script make_meetings(std::uint64_t seed) {
  SeededRandom random = random_of(seed);
  Script script;
  for (std::uint64_t number = 2 * seed; number < 2 * seed + 2; ++number) {
    add_meeting(script, random, number);
    add_random(script, random, random.below(3), true);
  }
  return script;
}

std::uint64_t stories_of_all_pairs() { return (batches_of_pairs() + 1) / 2; }

std::string render(const Step& step) {
  const char* name = "";
  for (const Share& share : shares) {
    if (share.kind == step.kind) name = share.name;
  }
  return fmt::format("{} {} {} {} {}", step.who, name, step.what, step.where, step.how);
}

}  // namespace ws::property
