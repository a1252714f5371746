#include "tests/faults/scenarios.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

namespace ws::test {

void must_end(const Ended& ended, int exit) {
  if (ended.exit != exit) throw std::runtime_error("exit " + std::to_string(ended.exit) + ": " + ended.out + ended.err);
}

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds two_ticks{10};

const std::string ten_lines = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

/// The ten lines with `line` replaced.
std::string edited(const std::string& line, const std::string& now) {
  std::string text = ten_lines;
  return text.replace(text.find(line + "\n"), line.size(), now);
}

/// Fills both sides with the same files and syncs them.
void fill(FaultWorld& world) {
  world.bind_trees();
  for (const char* name : {"edit.md", "merge.md", "gone.md", "move.md", "clash.md", "folder/one.md", "folder/two.md"}) {
    write_text(world.tree / name, std::string("# ") + name + "\n" + ten_lines);
  }
  must_end(world.ws(sync_command), 0);
  must_end(world.ws_there(sync_command), 0);
}

/// One change of each kind on the other side.
void change_there(FaultWorld& world) {
  write_text(world.other / "edit.md", "# edit.md\n" + edited("two", "TWO there"));
  write_text(world.other / "merge.md", "# merge.md\n" + edited("two", "TWO there"));
  write_text(world.other / "new/there.md", "made there\n");
  fs::remove(world.other / "gone.md");
  fs::rename(world.other / "move.md", world.other / "moved.md");
  fs::rename(world.other / "folder", world.other / "renamed");
  must_end(world.ws_there(sync_command), 0);
}

void prepare_pull(FaultWorld& world) {
  fill(world);
  change_there(world);
  write_text(world.tree / "merge.md", "# merge.md\n" + edited("nine", "NINE here"));
}

void prepare_push(FaultWorld& world) {
  fill(world);
  write_text(world.tree / "edit.md", "# edit.md\n" + edited("two", "TWO here"));
  write_text(world.tree / "new/here.md", "made here\n");
  fs::remove(world.tree / "gone.md");
  fs::rename(world.tree / "move.md", world.tree / "moved.md");
}

void collide(FaultWorld& world) {
  write_text(world.other / "clash.md", "# clash.md\n" + edited("five", "FIVE there"));
  must_end(world.ws_there(sync_command), 0);
  write_text(world.tree / "clash.md", "# clash.md\n" + edited("five", "FIVE here"));
}

void prepare_run(FaultWorld& world) {
  fill(world);
  write_text(world.other / "edit.md", "# edit.md\n" + edited("two", "TWO there"));
  write_text(world.other / "merge.md", "# merge.md\n" + edited("two", "TWO there"));
  write_text(world.other / "new/there.md", "made there\n");
  collide(world);
  write_text(world.tree / "merge.md", "# merge.md\n" + edited("nine", "NINE here"));
  write_text(world.tree / "new/here.md", "made here\n");
  fs::remove(world.tree / "gone.md");
}

void prepare_resolve(FaultWorld& world) {
  fill(world);
  collide(world);
  must_end(world.ws(sync_command), 7);
}

Scenario resolve_by(const std::string& keep) {
  return {.name = "resolve " + keep,
          .prepare = prepare_resolve,
          .steps = {{.arguments = {"sync", "resolve", "clash.md", "--keep", keep}, .exit = 0, .again = {6}}}};
}

const std::vector<std::string> clashing = {"one.md", "two.md", "sub/three.md"};

void prepare_resolve_several(FaultWorld& world) {
  world.bind_trees();
  for (const std::string& name : clashing) write_text(world.tree / name, "# " + name + "\n" + ten_lines);
  write_text(world.tree / "name.md", "a name\n");
  must_end(world.ws(sync_command), 0);
  must_end(world.ws_there(sync_command), 0);
  for (const std::string& name : clashing) {
    write_text(world.other / name, "# " + name + "\n" + edited("five", "FIVE there, " + name));
    write_text(world.tree / name, "# " + name + "\n" + edited("five", "FIVE here, " + name));
  }
  fs::rename(world.other / "name.md", world.other / "there.md");
  fs::rename(world.tree / "name.md", world.tree / "here.md");
  must_end(world.ws_there(sync_command), 0);
  must_end(world.ws(sync_command), 7);
}

/// Resolves several text conflicts and one path conflict with one command.
Scenario resolve_several_by(const std::string& keep) {
  return {.name = "resolve several " + keep,
          .prepare = prepare_resolve_several,
          .steps = {{.arguments = {"sync", "resolve", "--all", "--keep", keep}, .exit = 0, .again = {7}}}};
}

Scenario restoring() {
  // The state to restore is named by its commit, which is known only at run time: "AT" is replaced by it.
  return {.name = "restore",
          .prepare =
              [](FaultWorld& world) {
                fill(world);
                write_text(world.tree / "edit.md", "a later text\n");
                must_end(world.ws(sync_command), 0);
                write_text(world.tree / "edit.md", "not synced yet\n");
              },
          .steps = {{.arguments = {"sync", "restore", "edit.md", "--at", "AT"}}}};
}

/// A note that is renamed with little more than links in it, and one that collides at its new name: what is written
/// into them has another number than the file that was renamed.
void prepare_renamed(FaultWorld& world) {
  fill(world);
  write_text(world.tree / ".ws/config.yaml", "links: keep\n");
  write_text(world.tree / "n.md", "[e](edit.md)\n[m](move.md)\n");
  must_end(world.ws(sync_command), 0);
  must_end(world.ws_there(sync_command), 0);
  collide(world);
  must_end(world.ws(sync_command), 7);
  fs::create_directories(world.tree / "d");
  fs::rename(world.tree / "n.md", world.tree / "d/n.md");
}

Scenario writing_into_renamed() {
  return {.name = "texts of renamed notes",
          .prepare = prepare_renamed,
          .steps = {{.arguments = sync_command, .exit = 7},
                    {.arguments = {"sync", "resolve", "clash.md", "--markers"}, .exit = 7, .again = {2}}},
          .last_exit = 7};
}

/// More files than are written without a thread.
void write_many(const fs::path& tree) {
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i);
    write_text(tree / ("many" + std::to_string(i % 3)) / (name + ".md"), "# " + name + "\n" + ten_lines);
  }
}

void prepare_pull_of_many(FaultWorld& world) {
  fill(world);
  write_many(world.other);
  must_end(world.ws_there(sync_command), 0);
}

void prepare_undo_of_many(FaultWorld& world) {
  fill(world);
  write_many(world.tree);
  must_end(world.ws(sync_command), 0);
  for (int i = 0; i < 3; ++i) fs::remove_all(world.tree / ("many" + std::to_string(i)));
  must_end(world.ws({"sync", "run", "--allow-deletes"}), 0);
}

/// A run with one change of each kind on both sides, which is then undone.
void prepare_undo(FaultWorld& world) {
  fill(world);
  write_text(world.other / "clash.md", "# clash.md\n" + edited("two", "TWO there"));
  must_end(world.ws_there(sync_command), 0);
  write_text(world.tree / "edit.md", "# edit.md\n" + edited("two", "TWO here"));
  write_text(world.tree / "new/here.md", "made here\n");
  fs::remove(world.tree / "gone.md");
  fs::rename(world.tree / "move.md", world.tree / "moved.md");
  fs::rename(world.tree / "folder/one.md", world.tree / "folder/x");
  fs::rename(world.tree / "folder/two.md", world.tree / "folder/one.md");
  fs::rename(world.tree / "folder/x", world.tree / "folder/two.md");
  must_end(world.ws(sync_command), 0);
  write_text(world.tree / "edit.md", "# edit.md\n" + edited("two", "TWO here") + "and more, not sent\n");
}

/// A decision which is then undone: the conflicts are open again.
void decide_conflicts(FaultWorld& world, const std::string& keep) {
  fill(world);
  fs::remove(world.other / "edit.md");
  collide(world);
  write_text(world.tree / "edit.md", "# edit.md\n" + edited("two", "TWO here"));
  must_end(world.ws(sync_command), 7);
  must_end(world.ws({"sync", "resolve", "--all", "--keep", keep}), 0);
}
void prepare_undo_of_mine(FaultWorld& world) { decide_conflicts(world, "local"); }
void prepare_undo_of_both(FaultWorld& world) { decide_conflicts(world, "both"); }

const std::string own_text = "on a branch of my own\n";

/// Texts of every kind that a history contains: synced and replaced, in an open conflict, on a branch that was made
/// with plain git.
void prepare_gc(FaultWorld& world) {
  fill(world);
  for (const char* text : {"second\n", own_text.c_str(), "fourth\n"}) {
    write_text(world.tree / "edit.md", text);
    must_end(world.ws(sync_command), 0);
    if (text != own_text) continue;
    const std::string history = (world.tree / ".ws" / "history.git").string();
    must_end(run_command({.arguments = {"git", "--git-dir=" + history, "branch", "my-own", "main"}}), 0);
  }
  collide(world);
  must_end(world.ws(sync_command), 7);
}

Scenario collecting(const std::string& name, const std::string& keep) {
  return {.name = name,
          .prepare = prepare_gc,
          .steps = {{.arguments = {"sync", "gc", "--keep", keep, "--yes"}}},
          .last_exit = 7,
          .forgets = keep == "0",
          .promised = {own_text}};
}

/// The oldest commit that contains edit.md.
std::string oldest_state(const FaultWorld& world) {
  const Ended log = world.ws({"sync", "log", "edit.md", "--format", "ids"});
  std::string ids = log.out;
  while (!ids.empty() && ids.back() == '\n') ids.pop_back();
  return ids.substr(ids.rfind('\n') + 1);
}

/// A run with nothing to do takes the lock and reads; any other call would be a change.
bool is_a_look(const std::string& call) {
  const auto about = [&](const std::string& name) { return call.find(name) != std::string::npos; };
  const auto opens = [&](const std::string& database) {
    const std::string log = database + "-wal";
    return about(database + "-shm") ||
           (call.starts_with("open") && (call.ends_with(database) || call.ends_with(log))) ||
           ((call.starts_with("unlink") || call.starts_with("fchown")) && call.ends_with(log));
  };
  return about("/.ws/lock") || opens("/.ws/state.db") || call.starts_with("mkdir");
}

std::string shown(std::string text) {
  std::ranges::replace(text, '\n', '|');
  return text.substr(0, 400);
}

Words missing(const std::set<std::string>& wanted, const std::set<std::string>& there) {
  Words wrong;
  for (const std::string& text : wanted) {
    if (!there.contains(text)) wrong.push_back("lost: " + shown(text));
  }
  return wrong;
}

void compare(const Texts& wanted, const Texts& found, const std::string& side, Words& wrong) {
  for (const auto& [path, text] : wanted) {
    const auto there = found.find(path);
    if (there == found.end()) wrong.push_back(side + " lacks " + path);
    if (there != found.end() && there->second != text)
      wrong.push_back(side + " has another " + path + ": " + shown(there->second));
  }
  for (const auto& [path, text] : found) {
    if (!wanted.contains(path)) wrong.push_back(side + " has too much: " + path);
  }
}

void expect_exit(const Ended& ended, const std::set<int>& expected, const std::string& what, Words& wrong) {
  if (expected.contains(ended.exit)) return;
  wrong.push_back(what + " ended with " + std::to_string(ended.exit) + ": " + shown(ended.out + ended.err));
}

bool is_tied(const FaultWorld& world) { return fs::exists(world.tree / ".ws" / "source.json"); }

/// The ids of the sources created by `init`.
Words sources_made(const FaultWorld& world) {
  const nlohmann::json state = nlohmann::json::parse(world.control("GET", "state"));
  Words ids;
  for (const auto& row : state.at("tables").at("sync_sources")) {
    if (row.at("name") == "notes") ids.push_back(row.at("id"));
  }
  return ids;
}

/// Reports files that exist on the service more often than expected; `told` is the output of the runs since then.
void compare_assets(const std::map<std::string, std::size_t>& wanted,
                    const std::map<std::string, std::size_t>& found,
                    const std::string& told,
                    Words& wrong) {
  const bool is_told = told.find("may have it twice") != std::string::npos;
  for (const auto& [hash, count] : found) {
    const auto known = wanted.find(hash);
    const std::size_t most = (known == wanted.end() ? 0 : known->second) + (is_told ? 1 : 0);
    if (count > most) wrong.push_back("assets of the bytes " + hash + ": " + std::to_string(count));
  }
  for (const auto& [hash, count] : wanted) {
    if (!found.contains(hash)) wrong.push_back("no asset has the bytes " + hash);
  }
}

/// Follows the message about a source that may have been created.
Ended clear_up_doubt(const FaultWorld& world) {
  const Words made = sources_made(world);
  if (!made.empty()) return world.ws({"sync", "init", "--source", made.front()});
  fs::remove(world.tree / ".ws" / "source.pending");
  return world.ws({"sync", "init", "--name", "notes"});
}

nlohmann::json json_of(const FaultWorld& world, Words arguments) {
  arguments.emplace_back("--json");
  const Ended ended = world.ws(std::move(arguments));
  must_end(ended, 0);
  return nlohmann::json::parse(ended.out);
}

/// The runs after `last` that are in effect, the newest first.
std::vector<long> runs_after(const FaultWorld& world, long last) {
  std::vector<long> ids;
  for (const auto& run : json_of(world, {"sync", "log", "--runs"}).at("data")) {
    const bool is_in_effect = run.at("undoes").is_null() && !run.at("taken_back").get<bool>();
    if (is_in_effect && run.at("run").get<long>() > last) ids.push_back(run.at("run").get<long>());
  }
  return ids;
}

std::set<std::string> rows_of(const FaultWorld& world, const std::vector<long>& runs) {
  std::set<std::string> rows;
  for (const long run : runs) {
    for (const auto& row : json_of(world, {"sync", "show", std::to_string(run)}).at("rows")) {
      const std::string from =
          row.at("previous_path").is_null() ? "" : row.at("previous_path").get<std::string>() + " ";
      rows.insert(row.at("action").get<std::string>() + " " + from + row.at("path").get<std::string>());
    }
  }
  return rows;
}

Words undo_of(long run) { return {"sync", "undo", std::to_string(run), "--allow-deletes"}; }

/// Takes the scenario's runs back; every other call is killed once on the way.
Words wrong_after_undo(const FaultWorld& world, const Undisturbed& undisturbed) {
  static long turn = 0;
  Words wrong;
  const std::vector<long> runs = runs_after(world, undisturbed.last_run);
  const std::set<std::string> rows = rows_of(world, runs);
  for (const std::string& row : undisturbed.rows) {
    if (!rows.contains(row)) wrong.push_back("no run recorded: " + row);
  }
  for (const std::string& row : rows) {
    if (!undisturbed.rows.contains(row)) wrong.push_back("a run recorded too much: " + row);
  }
  for (const long run : runs) {
    constexpr long stride = 7'919;
    if (++turn % 2 == 0 && undisturbed.undo_calls > 0) {
      const Fault fault{.point = 1 + turn * stride % undisturbed.undo_calls, .mode = "kill-before"};
      const Faulted killed = world.ws(undo_of(run), fault);
      if (killed.ended.exit == 128 + 9 && !killed.calls.empty())
        wrong.push_back("(the undo was killed at " + killed.calls.back() + ")");
    }
    expect_exit(world.ws(undo_of(run)), undisturbed.undo_exits, "undo", wrong);
  }
  compare(undisturbed.undone_tree, texts_of(world.tree), "the tree taken back", wrong);
  compare(undisturbed.undone_served, world.served(), "the service taken back", wrong);
  // Where all else is right the place of the kill is of no interest.
  const auto is_place = [](const std::string& each) { return each.starts_with("(the undo"); };
  if (std::ranges::all_of(wrong, is_place)) wrong.clear();
  return wrong;
}

/// Finds the id of the source that `init` created.
void learn_source(FaultWorld& world) {
  if (is_tied(world))
    world.source = nlohmann::json::parse(read_text(world.tree / ".ws" / "source.json")).at("source_id");
}

}  // namespace

std::vector<Scenario> all_scenarios() {
  return {
      {.name = "init",
       .prepare = [](FaultWorld& world) { write_text(world.tree / "a.md", "a text\n"); },
       .steps = {{.arguments = {"sync", "init", "--name", "notes"}, .exit = 0, .again = {2, 12}}}},
      {.name = "pull", .prepare = prepare_pull, .steps = {{.arguments = {"sync", "pull"}}}, .undoes = true},
      {.name = "push",
       .prepare = prepare_push,
       .steps = {{.arguments = {"sync", "push"}}, {.arguments = {"sync", "commit"}}},
       .undoes = true},
      {.name = "run",
       .prepare = prepare_run,
       .steps = {{.arguments = sync_command, .exit = 7}},
       .last_exit = 7,
       .undoes = true},
      resolve_by("local"),
      resolve_by("remote"),
      resolve_by("both"),
      resolve_several_by("local"),
      resolve_several_by("remote"),
      restoring(),
      writing_into_renamed(),
      {.name = "pull of many", .prepare = prepare_pull_of_many, .steps = {{.arguments = sync_command}}},
      {.name = "undo of many",
       .prepare = prepare_undo_of_many,
       .steps = {{.arguments = {"sync", "undo", "3", "--allow-deletes"}}}},
      {.name = "undo", .prepare = prepare_undo, .steps = {{.arguments = {"sync", "undo", "2", "--allow-deletes"}}}},
      {.name = "undo of a decision",
       .prepare = prepare_undo_of_mine,
       .steps = {{.arguments = {"sync", "undo", "2", "--allow-deletes"}, .exit = 7, .again = {13}}},
       .last_exit = 7},
      {.name = "undo of both",
       .prepare = prepare_undo_of_both,
       .steps = {{.arguments = {"sync", "undo", "2", "--allow-deletes"}, .exit = 7, .again = {13}}},
       .last_exit = 7},
      collecting("gc", "0"),
      collecting("gc of nothing", "90d"),
      {.name = "alone", .prepare = prepare_push, .steps = {{.arguments = sync_command}}, .undoes = true},
  };
}

const Scenario& scenario_named(const std::string& name) {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> joined = all_scenarios();
    std::ranges::move(attachment_scenarios(), std::back_inserter(joined));
    return joined;
  }();
  return *std::ranges::find(all, name, &Scenario::name);
}

Words arguments_of(const FaultWorld& world, const ScenarioStep& step) {
  Words arguments = step.arguments;
  if (std::ranges::find(arguments, "AT") != arguments.end()) {
    std::ranges::replace(arguments, std::string("AT"), oldest_state(world));
  }
  return arguments;
}

Undisturbed run_undisturbed(FaultWorld& world, const Scenario& scenario) {
  scenario.prepare(world);
  world.save();
  world.reset();
  Undisturbed done{.forgets = scenario.forgets};
  done.before = world.kept();
  if (scenario.undoes) done.last_run = runs_after(world, 0).empty() ? 0 : runs_after(world, 0).front();
  for (const ScenarioStep& step : scenario.steps) {
    Faulted ran = world.ws(arguments_of(world, step), Fault{});
    must_end(ran.ended, step.exit);
    done.calls.push_back(std::move(ran.calls));
  }
  learn_source(world);
  done.written = world.kept();
  must_end(world.ws(sync_command), scenario.last_exit);
  done.kept = world.kept();
  done.written.merge(world.kept());
  done.written.insert(done.before.begin(), done.before.end());
  if (scenario.forgets) {
    if (std::ranges::includes(done.kept, done.before)) throw std::runtime_error("nothing was forgotten");
    std::erase_if(done.before, [&](const std::string& text) { return !done.kept.contains(text); });
  }
  for (const std::string& text : scenario.promised) {
    if (!done.kept.contains(text)) throw std::runtime_error("lost: " + text);
  }
  done.calls_of_nothing = world.ws(sync_command, Fault{}).calls;
  done.tree = texts_of(world.tree);
  done.served = world.served();
  done.objects = world.objects();
  done.assets = world.assets();
  if (!scenario.undoes) return done;
  const std::vector<long> runs = runs_after(world, done.last_run);
  done.rows = rows_of(world, runs);
  for (const long run : runs) {
    const Faulted undone = world.ws(undo_of(run), Fault{});
    done.undo_exits.insert({0, undone.ended.exit});
    done.undo_calls = std::max(done.undo_calls, static_cast<long>(undone.calls.size()));
  }
  done.undone_tree = texts_of(world.tree);
  done.undone_served = world.served();
  return done;
}

Faulted run_disturbed(const FaultWorld& world, const Scenario& scenario, std::size_t step, const Fault& fault) {
  world.reset();
  for (std::size_t i = 0; i < step; ++i)
    must_end(world.ws(arguments_of(world, scenario.steps[i])), scenario.steps[i].exit);
  return world.ws(arguments_of(world, scenario.steps[step]), fault);
}

Words wrong_at_once(const FaultWorld& world, const Undisturbed& undisturbed) {
  Words wrong = missing(undisturbed.before, undisturbed.forgets ? world.kept() : world.kept_at_once());
  if (std::string broken = world.broken_history(); !broken.empty()) wrong.push_back(std::move(broken));
  for (const auto& [path, text] : texts_of(world.tree)) {
    if (!undisturbed.written.contains(text)) wrong.push_back("neither old nor new: " + path + ": " + shown(text));
  }
  return wrong;
}

Words wrong_after_rerun(FaultWorld& world, const Scenario& scenario, const Undisturbed& undisturbed, std::size_t step) {
  Words wrong;
  std::string told;
  for (std::size_t i = step; i < scenario.steps.size(); ++i) {
    std::set<int> expected = scenario.steps[i].again;
    expected.insert(scenario.steps[i].exit);
    const std::string what = scenario.steps[i].arguments[1] + " again";
    const Ended again = world.ws(arguments_of(world, scenario.steps[i]));
    expect_exit(again, expected, what, wrong);
    told += again.err;
    if (again.exit == 12) expect_exit(clear_up_doubt(world), {0}, what + ", as it said", wrong);
  }
  learn_source(world);
  // A file written within the last clock tick is not cached by a scan, so the next scan reads it again.
  std::this_thread::sleep_for(two_ticks);
  const Ended synced = world.ws(sync_command);
  expect_exit(synced, {scenario.last_exit}, "sync", wrong);
  if (scenario.parts) {
    std::this_thread::sleep_for(two_ticks);
    expect_exit(world.ws(sync_command), {scenario.last_exit}, "the second sync", wrong);
  }
  compare_assets(undisturbed.assets, world.assets(), told + synced.err, wrong);
  compare(undisturbed.tree, texts_of(world.tree), "the tree", wrong);
  compare(undisturbed.served, world.served(), "the service", wrong);
  if (world.objects() != undisturbed.objects)
    wrong.push_back("objects on the service: " + std::to_string(world.objects()));
  const std::set<std::string> kept = world.kept();
  Words lost = missing(undisturbed.before, kept);
  wrong.insert(wrong.end(), lost.begin(), lost.end());
  if (std::string broken = world.broken_history(); !broken.empty()) wrong.push_back(std::move(broken));
  if (scenario.forgets && kept != undisturbed.kept) wrong.emplace_back("not all that goes is gone");
  world.forget_requests();
  const Faulted third = world.ws(sync_command, Fault{});
  expect_exit(third.ended, {scenario.last_exit}, "the third run", wrong);
  const std::set<std::string> reads = {"sync.pull", "sync.source_get", "sync.conflict_get"};
  for (const std::string& operation : world.operations()) {
    if (!reads.contains(operation)) wrong.push_back("the third run asked for " + operation);
  }
  for (const std::string& call : third.calls) {
    if (!is_a_look(call)) wrong.push_back("the third run did " + call);
  }
  if (!scenario.undoes || !wrong.empty()) return wrong;
  return wrong_after_undo(world, undisturbed);
}

Words wrong_after_edits(FaultWorld& world) {
  Words wrong;
  for (const auto& [path, text] : texts_of(world.tree)) write_text(world.tree / path, "edited later: " + path + "\n");
  const Texts edited = texts_of(world.tree);
  expect_exit(world.ws(sync_command), {0}, "sync after edits", wrong);
  compare(edited, texts_of(world.tree), "the tree", wrong);
  compare(edited, world.served(), "the service", wrong);
  return wrong;
}

}  // namespace ws::test
