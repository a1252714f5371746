#include "tests/sync-engine/reconcile/planner_simulation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "api-client/base/utf8.hpp"

namespace ws::sync::test {
namespace {

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
      if (const auto file = world_.local.find(action.previous_path->string()); file != world_.local.end())
        carried_ = file->second.inode;
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
    note_files();
  }

 private:
  /// As the engine notes them after a run: of the documents that are as the base has them.
  void note_files() {
    for (const auto& [document, entry] : world_.base.documents) {
      const auto file = world_.local.find(world_.base.disk_path(document).string());
      if (file != world_.local.end() && file->second.hash == entry.hash) world_.inodes[document] = file->second.inode;
    }
  }
  void fault(const std::string& what, const Action& action) {
    if (wrong.empty()) wrong = what + ": " + std::string(name(action.kind)) + " " + action.path.string();
  }
  void set_base(const DocumentId& id, const std::optional<Entry>& entry) {
    if (entry) {
      world_.base.documents.insert_or_assign(id, *entry);
    } else {
      world_.base.documents.erase(id);
      world_.base.displaced_to.erase(id);
    }
  }
  /// The base of an action's document, and where its file lies.
  void settle_at(const Action& action, Entry entry) {
    entry.path = action.service_path.value_or(action.path);
    set_base(action.document, entry);
    world_.base.displaced_to.erase(action.document);
    if (action.service_path) world_.base.displaced_to.emplace(action.document, action.path);
  }
  void take_away(const std::string& path, const Sha256& seen, const Action& action) {
    const auto there = world_.local.find(path);
    if (there == world_.local.end() || there->second.hash != seen) return fault("not what the plan saw", action);
    history.insert(there->second.hash);
    world_.local.erase(there);
    if (action.kind == ActionKind::pull_delete) set_base(action.document, std::nullopt);
  }
  /// All leave before any arrives: what the order and the circles of the engine come to.
  void apply_moves(const std::vector<const Action*>& moves) {
    std::map<const Action*, std::uint64_t> numbers;
    for (const Action* move : moves) {
      const auto file = world_.local.find(move->previous_path->string());
      if (file != world_.local.end()) numbers[move] = file->second.inode;
      take_away(move->previous_path->string(), *move->seen, *move);
    }
    for (const Action* move : moves) {
      carried_ = numbers[move];
      put(*move, *move->seen);
      Entry entry = world_.base.documents.at(move->document);
      entry.path = move->path;
      entry.revision = move->revision;
      if (world_.remote.at(move->document).revision == move->revision.number)
        entry = remote_entry(move->document, move->path);
      settle_at(*move, entry);
    }
  }
  void put(const Action& action, const Sha256& hash) {
    // A hidden file is out of the planner's sight: one that is in the way fails as a row of its own.
    std::vector<std::string> visible = local_paths(world_);
    std::erase_if(visible, [&](const std::string& path) { return world_.ignored.contains(path); });
    if (!fits(visible, action.path.string())) return fault("its place is taken", action);
    world_.local[action.path.string()] = {hash, carried_ != 0 ? carried_ : world_.next++};
    carried_ = 0;
  }
  Entry remote_entry(const DocumentId& id, const RelativePath& path) const {
    const RemoteDocument& document = world_.remote.at(id);
    return {.path = path, .hash = document.hash, .revision = {document.revision}};
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
    made_from_[action.document] = document.revision++;
    settle_at(action, remote_entry(action.document, action.path));
  }
  /// As the service does it: a place is free that nobody holds once all has taken effect; two items of one document are
  /// made from one revision.
  void commit(const Plan& plan) {
    std::map<DocumentId, std::uint64_t> before;
    for (const auto& [id, document] : world_.remote) before[id] = document.revision;
    // What a merge sends goes out with this very commit: a move beside it is made from the same revision.
    for (const auto& [id, revision] : made_from_) before[id] = revision;
    made_from_.clear();
    const auto each = [&](ActionKind kind, auto act) {
      for (const Action& action : plan.actions) {
        if (action.kind != kind) continue;
        if (kind != ActionKind::push_create && before.at(action.document) != action.revision.number) {
          fault("a revision that it was not made from", action);
        }
        act(action);
      }
    };
    each(ActionKind::push_delete, [&](const Action& action) { remove_there(action); });
    each(ActionKind::push_move, [&](const Action& action) { world_.remote.at(action.document).path.clear(); });
    each(ActionKind::push_move, [&](const Action& action) {
      if (is_taken_there(action.path)) fault("its place is taken there", action);
      change_remote(action).path = utf8::nfc(action.path.text());
      settle_at(action, remote_entry(action.document, action.path));
    });
    each(ActionKind::push_update, [&](const Action& action) {
      check_kept(action);
      change_remote(action).hash = *action.result;
      settle_at(action, remote_entry(action.document, action.path));
    });
    each(ActionKind::push_create, [&](const Action& action) {
      if (is_taken_there(action.path)) fault("its place is taken there", action);
      const DocumentId id{"p" + std::to_string(world_.next++)};
      world_.remote[id] = {.path = utf8::nfc(action.path.text()), .hash = *action.result};
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
    const std::vector<std::string> taken = remote_paths(world_);
    return std::any_of(taken.begin(), taken.end(), same);
  }

  World& world_;
  std::map<DocumentId, std::uint64_t> made_from_;  ///< of the merges that this commit sends
  std::uint64_t carried_ = 0;                      ///< the number of a file that is on its way
};

}  // namespace

Simulated simulate(World& world, const Plan& plan) {
  Simulation simulation(world);
  simulation.apply(plan);
  return {.history = std::move(simulation.history), .wrong = std::move(simulation.wrong)};
}

}  // namespace ws::sync::test
