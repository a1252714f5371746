// Random worlds for the planner: one tree, then local and remote by random edits, from a small alphabet so that clashes
// and equal edits occur. The worlds are read off a string of bytes: RapidCheck shrinks it, a seed reproduces it.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include "api-client/base/random.hpp"
#include "sync-engine/reconcile/identify.hpp"
#include "sync-engine/reconcile/reconcile.hpp"

namespace ws::sync {
namespace {

using Script = std::vector<std::uint8_t>;
using Files = std::map<std::string, Sha256>;
struct RemoteDocument {
  std::string path;
  Sha256 hash;
  std::uint64_t revision = 1;
  bool gone = false;
};
using Documents = std::map<DocumentId, RemoteDocument>;

struct World {
  BaseTree base;
  Files local;
  Documents remote;
};

/// Takes decisions off the script; past its end every decision is 0.
class Reader {
 public:
  explicit Reader(const Script& script) : script_(script) {}
  std::size_t below(std::size_t bound) { return place_ < script_.size() ? script_[place_++] % bound : 0; }
  bool more() const { return place_ < script_.size(); }

 private:
  const Script& script_;
  std::size_t place_ = 0;
};

const std::vector<std::string> names = {"a.md", "b.md", "c.md", "A.md", "d/a.md", "d/b.md", "a.md/x.md", "e.md"};

Sha256 text(std::size_t number) { return Sha256::of("text " + std::to_string(number)); }

/// Whether a path is free of twins, of a file above it and of files below it.
bool fits(const std::vector<std::string>& taken, const std::string& path) {
  const std::string key = RelativePath::parse(path)->twin_key();
  for (const std::string& other : taken) {
    const std::string other_key = RelativePath::parse(other)->twin_key();
    if (key == other_key || key.starts_with(other_key + "/") || other_key.starts_with(key + "/")) return false;
  }
  return true;
}

std::vector<std::string> paths(const Files& files) {
  std::vector<std::string> out;
  for (const auto& [path, hash] : files) out.push_back(path);
  return out;
}
std::vector<std::string> paths(const Documents& documents) {
  std::vector<std::string> out;
  for (const auto& [id, document] : documents) {
    if (!document.gone && !document.path.empty()) out.push_back(document.path);
  }
  return out;
}

void change_here(Reader& read, World& world) {
  const std::string name = names[read.below(names.size())];
  const auto there = world.local.find(name);
  switch (read.below(3)) {
    case 0:
      if (there != world.local.end()) there->second = text(read.below(5));
      return;
    case 1:
      if (there != world.local.end()) world.local.erase(there);
      return;
    default:
      if (fits(paths(world.local), name)) world.local[name] = text(read.below(5));
  }
}

void change_there(Reader& read, World& world, std::size_t& next) {
  const std::string name = names[read.below(names.size())];
  RemoteDocument* there = nullptr;
  for (auto& [id, document] : world.remote) {
    if (!document.gone && document.path == name) there = &document;
  }
  const std::size_t choice = read.below(4);
  if (choice == 3 || there == nullptr) {
    if (fits(paths(world.remote), name)) {
      world.remote[{"n" + std::to_string(next++)}] = {.path = name, .hash = text(read.below(5))};
    }
    return;
  }
  ++there->revision;
  if (choice == 0) there->hash = text(read.below(5));
  if (choice == 1) there->gone = true;
  if (choice == 2) {
    const std::string to = names[read.below(names.size())];
    if (fits(paths(world.remote), to)) there->path = to;
  }
}

World make_world(const Script& script) {
  Reader read(script);
  World world;
  std::size_t next = 0;
  const std::size_t documents = read.below(5);
  for (std::size_t i = 0; i < documents; ++i) {
    const std::string name = names[read.below(names.size())];
    if (!fits(paths(world.local), name)) continue;
    const Sha256 hash = text(read.below(5));
    const DocumentId id{"b" + std::to_string(i)};
    world.local[name] = hash;
    world.remote[id] = {.path = name, .hash = hash};
    world.base.documents.emplace(id, Entry{.path = *RelativePath::parse(name), .hash = hash, .revision = 1});
  }
  while (read.more()) {
    if (read.below(2) == 0) {
      change_here(read, world);
    } else {
      change_there(read, world, next);
    }
  }
  return world;
}

LocalTree local_of(const World& world) {
  FoundTree found;
  for (const auto& [path, hash] : world.local) found.files.push_back({*RelativePath::parse(path), hash});
  return identify(world.base, found);
}

RemoteTree remote_of(const World& world) {
  RemoteTree tree;
  for (const auto& [id, document] : world.remote) {
    const auto base = world.base.documents.find(id);
    if (document.gone) {
      if (base != world.base.documents.end()) tree.gone[id] = document.revision;
      continue;
    }
    const Entry entry{
        .path = *RelativePath::parse(document.path), .hash = document.hash, .revision = document.revision};
    if (base == world.base.documents.end() || base->second != entry) tree.changed.emplace(id, entry);
  }
  return tree;
}

/// Does a plan to a world as the engine would, and says what it found wrong. Texts that are replaced or removed here go
/// to `history`, as does every text of the base.
class Simulation {
 public:
  explicit Simulation(World& world) : world_(world) {
    for (const auto& [id, entry] : world.base.documents) history.insert(entry.hash);
  }

  std::set<Sha256> history;
  std::string wrong;

  void apply(const Plan& plan) {
    for (const Action& action : plan.actions) {
      if (action.kind != ActionKind::push_create || !action.previous_path) continue;
      take_away(action.previous_path->string(), *action.seen, action);
      put(action, *action.seen);
    }
    for (const Settled& settled : plan.settled) set_base(settled.document, settled.base);
    for (const Action& action : plan.actions) {
      if (action.kind == ActionKind::pull_delete) take_away(action.path.string(), *action.seen, action);
    }
    std::vector<const Action*> moves;
    for (const Action& action : plan.actions) {
      if (action.kind == ActionKind::pull_move) moves.push_back(&action);
    }
    apply_moves(moves);
    for (const Action& action : plan.actions) apply_here(action);
    commit(plan);
  }

 private:
  void fault(const std::string& what, const Action& action) {
    if (wrong.empty()) wrong = what + ": " + std::string(name(action.kind)) + " " + action.path.string();
  }
  void set_base(const DocumentId& id, const std::optional<Entry>& entry) {
    if (entry) {
      world_.base.documents.insert_or_assign(id, *entry);
    } else {
      world_.base.documents.erase(id);
      world_.base.placed.erase(id);
    }
  }
  /// The base of an action's document, and where its file lies.
  void settle_at(const Action& action, Entry entry) {
    entry.path = action.service_path.value_or(action.path);
    set_base(action.document, entry);
    world_.base.placed.erase(action.document);
    if (action.service_path) world_.base.placed.emplace(action.document, action.path);
  }
  void take_away(const std::string& path, const Sha256& seen, const Action& action) {
    const auto there = world_.local.find(path);
    if (there == world_.local.end() || there->second != seen) return fault("not what the plan saw", action);
    history.insert(there->second);
    world_.local.erase(there);
    if (action.kind == ActionKind::pull_delete) set_base(action.document, std::nullopt);
  }
  /// All leave before any arrives: what the order and the circles of the engine come to.
  void apply_moves(const std::vector<const Action*>& moves) {
    for (const Action* move : moves) take_away(move->previous_path->string(), *move->seen, *move);
    for (const Action* move : moves) {
      put(*move, *move->seen);
      Entry entry = world_.base.documents.at(move->document);
      entry.path = move->path;
      entry.revision = move->revision;
      if (world_.remote.at(move->document).revision == move->revision) entry = remote_entry(move->document, move->path);
      settle_at(*move, entry);
    }
  }
  void put(const Action& action, const Sha256& hash) {
    if (!fits(paths(world_.local), action.path.string())) return fault("its place is taken", action);
    world_.local[action.path.string()] = hash;
  }
  Entry remote_entry(const DocumentId& id, const RelativePath& path) const {
    const RemoteDocument& document = world_.remote.at(id);
    return {.path = path, .hash = document.hash, .revision = document.revision};
  }
  void apply_here(const Action& action) {
    const bool writes = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_update ||
                        action.kind == ActionKind::merge || action.kind == ActionKind::adopt;
    if (!writes) return;
    if (action.seen) take_away(action.path.string(), *action.seen, action);
    const Sha256 merged = Sha256::of("merged " + action.seen.value_or(Sha256{}).hex());
    put(action, action.kind == ActionKind::merge ? merged : *action.result);
    settle_at(action, remote_entry(action.document, action.path));
    if (action.kind != ActionKind::merge) return;
    RemoteDocument& document = world_.remote.at(action.document);
    history.insert(document.hash);
    document.hash = merged;
    ++document.revision;
    settle_at(action, remote_entry(action.document, action.path));
  }
  /// As the service does it: a place is free that nobody holds once all has taken effect; two items of one document are
  /// made from one revision.
  void commit(const Plan& plan) {
    std::map<DocumentId, std::uint64_t> before;
    for (const auto& [id, document] : world_.remote) before[id] = document.revision;
    const auto each = [&](ActionKind kind, auto act) {
      for (const Action& action : plan.actions) {
        if (action.kind != kind) continue;
        if (kind != ActionKind::push_create && before.at(action.document) != action.revision) {
          fault("a revision that it was not made from", action);
        }
        act(action);
      }
    };
    each(ActionKind::push_delete, [&](const Action& action) { remove_there(action); });
    each(ActionKind::push_move, [&](const Action& action) { world_.remote.at(action.document).path.clear(); });
    each(ActionKind::push_move, [&](const Action& action) {
      if (is_taken_there(action.path)) fault("its place is taken there", action);
      change_remote(action).path = action.path.string();
      settle_at(action, remote_entry(action.document, action.path));
    });
    each(ActionKind::push_update, [&](const Action& action) {
      check_kept(action);
      change_remote(action).hash = *action.result;
      settle_at(action, remote_entry(action.document, action.path));
    });
    each(ActionKind::push_create, [&](const Action& action) {
      if (is_taken_there(action.path)) fault("its place is taken there", action);
      const DocumentId id{"p" + std::to_string(world_.remote.size())};
      world_.remote[id] = {.path = action.path.string(), .hash = *action.result};
      set_base(id, remote_entry(id, action.path));
    });
  }
  void remove_there(const Action& action) {
    check_kept(action);
    change_remote(action).gone = true;
    set_base(action.document, std::nullopt);
  }
  RemoteDocument& change_remote(const Action& action) {
    RemoteDocument& document = world_.remote.at(action.document);
    ++document.revision;
    return document;
  }
  void check_kept(const Action& action) {
    if (!history.contains(world_.remote.at(action.document).hash)) fault("a text that is nowhere else", action);
  }
  bool is_taken_there(const RelativePath& path) const {
    const auto same = [&](const std::string& other) {
      return RelativePath::parse(other)->twin_key() == path.twin_key();
    };
    const std::vector<std::string> taken = paths(world_.remote);
    return std::any_of(taken.begin(), taken.end(), same);
  }

  World& world_;
};

std::set<Sha256> texts_of(const World& world) {
  std::set<Sha256> texts;
  for (const auto& [path, hash] : world.local) texts.insert(hash);
  for (const auto& [id, document] : world.remote) {
    if (!document.gone) texts.insert(document.hash);
  }
  return texts;
}

Files tree_of(const Documents& documents) {
  Files files;
  for (const auto& [id, document] : documents) {
    if (!document.gone) files[document.path] = document.hash;
  }
  return files;
}

Plan plan_of(const World& world) {
  return reconcile(world.base, local_of(world), remote_of(world), {.allow_deletes = true});
}

/// Empty: every law held.
std::string violation(const Script& script) {
  World world = make_world(script);
  const World before = world;
  const Plan plan = plan_of(world);
  Simulation simulation(world);
  simulation.apply(plan);
  if (!simulation.wrong.empty()) return "the plan cannot be done: " + simulation.wrong;
  std::set<Sha256> kept = texts_of(world);
  kept.insert(simulation.history.begin(), simulation.history.end());
  for (const Sha256& hash : texts_of(before)) {
    if (!kept.contains(hash)) return "I1: a text is lost";
  }
  const bool open = !plan.conflicts.empty() || !plan.skipped.empty();
  if (!open && world.local != tree_of(world.remote)) return "I2: the sides differ and no conflict says so";
  const Plan second = plan_of(world);
  if (!open && !second.empty()) return "I3: a second run has something to do";
  for (int round = 0; round < 2; ++round) {
    Simulation again(world);
    again.apply(plan_of(world));
    if (!again.wrong.empty()) return "a later plan cannot be done: " + again.wrong;
  }
  if (!plan_of(world).actions.empty()) return "I4: three rounds do not come to rest";
  const bool changed_here = before.local != [&] {
    Files files;
    for (const auto& [id, entry] : before.base.documents) files[entry.path.string()] = entry.hash;
    return files;
  }();
  if (!changed_here && !plan.conflicts.empty()) return "I5: only the service changed, and it is a conflict";
  const auto guard = guard_of(plan, before.base.documents.size(), 0);
  const auto guarded = reconcile(before.base, local_of(before), remote_of(before)).guard;
  if (guard.has_value() != guarded.has_value()) return "I11: the guard is not what the plan says";
  return {};
}

bool any_moved(const World& world) {
  for (const auto& [id, entry] : world.base.documents) {
    if (world.remote.at(id).path != entry.path.string()) return true;
  }
  return false;
}

/// The script with every byte left out, or made 0, that the violation does not need.
Script smallest(Script script) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = script.size(); i-- > 0;) {
      Script without = script;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      Script zeroed = script;
      zeroed[i] = 0;
      for (Script* candidate : {&without, &zeroed}) {
        if (*candidate == script || violation(*candidate).empty()) continue;
        script = *candidate;
        smaller = true;
        break;
      }
    }
  }
  return script;
}

std::string render(const World& world) {
  std::string out;
  for (const auto& [id, entry] : world.base.documents) {
    out += "base   " + id.text + " " + entry.path.string() + " " + entry.hash.hex().substr(0, 4) + "\n";
  }
  for (const auto& [path, hash] : world.local) out += "local  " + path + " " + hash.hex().substr(0, 4) + "\n";
  for (const auto& [id, document] : world.remote) {
    out += "remote " + id.text + " " + document.path + " " + document.hash.hex().substr(0, 4) + " " +
           std::to_string(document.revision) + (document.gone ? " gone\n" : "\n");
  }
  const Plan plan = plan_of(world);
  for (const Action& action : plan.actions) {
    out += "plan   " + std::string(name(action.kind)) + " " + action.document.text + " " + action.path.string() + "\n";
  }
  for (const Conflict& conflict : plan.conflicts) {
    out += "plan   conflict " + std::string(name(conflict.kind)) + " " + conflict.path.string() + "\n";
  }
  return out;
}

}  // namespace

namespace {

/// A number from the environment: `WS_CASES` for a soak, `WS_SEED` for other worlds.
std::uint64_t number(const char* name, std::uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("planner: random worlds converge, lose nothing and stay in step", "[sync-engine][property]") {
  SeededRandom random(number("WS_SEED", 20261120));
  const std::uint64_t cases = number("WS_CASES", 100'000);
  for (std::uint64_t round = 0; round < cases; ++round) {
    Script script(4 + random.below(44));
    for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
    if (violation(script).empty()) continue;
    script = smallest(std::move(script));
    FAIL("round " << round << ": " << violation(script) << "\n" << render(make_world(script)));
  }
}

TEST_CASE("planner: RapidCheck finds no world that breaks a law", "[sync-engine][property]") {
  CHECK(rc::check([](const Script& script) {
    const std::string broken = violation(script);
    if (!broken.empty()) RC_LOG() << broken;
    RC_ASSERT(broken.empty());
  }));
}

TEST_CASE("planner: the same change on both sides never conflicts", "[sync-engine][property]") {
  SeededRandom random(7);
  for (int round = 0; round < 20'000; ++round) {
    Script script(4 + random.below(30));
    for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
    World world = make_world(script);
    if (any_moved(world)) continue;       // a rename here is seen by its text, which is not the planner's business
    world.local = tree_of(world.remote);  // whatever the service has, is here too
    const Plan plan = plan_of(world);
    INFO("round " << round << "\n" << render(world));
    REQUIRE(plan.conflicts.empty());
    for (const Action& action : plan.actions) CHECK_FALSE(is_push(action.kind));
    Simulation simulation(world);
    simulation.apply(plan);
    CHECK(simulation.wrong.empty());
    CHECK(world.local == tree_of(world.remote));
  }
}

TEST_CASE("planner: a change of one document leaves every other alone", "[sync-engine][property]") {
  SeededRandom random(11);
  for (int round = 0; round < 20'000; ++round) {
    Script script(2 + random.below(10));
    for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
    World world = make_world(Script(script.begin(), script.begin() + 2));
    for (const std::string& name : names) {
      if (!world.local.contains(name)) continue;
      World changed = world;
      changed.local[name] = Sha256::of("edited");
      const Plan plan = plan_of(changed);
      REQUIRE(plan.actions.size() == 1);
      CHECK(plan.actions[0].path.text() == name);
      CHECK(plan.actions[0].kind == ActionKind::push_update);
    }
  }
}

TEST_CASE("planner: the guard counts as promised", "[sync-engine]") {
  const auto deletes = [](std::size_t tracked, std::size_t deleted) {
    Plan plan;
    for (std::size_t i = 0; i < deleted; ++i) {
      plan.actions.push_back({.kind = ActionKind::push_delete, .path = *RelativePath::parse("n" + std::to_string(i))});
    }
    return guard_of(plan, tracked, 0).has_value();
  };
  CHECK_FALSE(deletes(1, 1));
  CHECK(deletes(2, 2));
  CHECK_FALSE(deletes(20, 10));
  CHECK(deletes(20, 11));
  CHECK_FALSE(deletes(44, 11));  // a quarter is not more than a quarter
  CHECK(deletes(43, 11));
  CHECK_FALSE(deletes(1000, 250));
  CHECK(deletes(1000, 251));
}

}  // namespace ws::sync
