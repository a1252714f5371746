#include "tests/property/story.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "tests/property/kill_at_step.hpp"
#include "tests/property/meetings.hpp"
#include "tests/property/refusals.hpp"
#include "tests/property/vault_actions.hpp"

namespace ws::property {
namespace {

namespace fs = std::filesystem;

std::string shown(const Result<sync::Report>& report) {
  if (!report) return "failed: " + report.error().what;
  std::string out = report->clean ? "clean" : "not clean";
  if (report->guard) out += ", the guard";
  if (report->ended_by) out += ", ended by: " + report->ended_by->what;
  for (const sync::Row& row : report->rows) {
    out += fmt::format("\n      {} {}", name(row.action.kind), row.action.path.text());
    if (row.action.previous_path) out += " <- " + row.action.previous_path->string();
    if (row.action.kind == sync::ActionKind::conflict) out += " " + std::string(row.action.reason);
    if (row.error) out += " failed: " + row.error->what;
  }
  return out;
}

bool is_quiet(const sync::Report& report) {
  return std::none_of(report.rows.begin(), report.rows.end(), [](const sync::Row& row) {
    return row.action.kind != sync::ActionKind::conflict && row.state == sync::Row::State::done;
  });
}

/// Rounds that may still change something after all other activity has stopped: README.md, I4.
constexpr unsigned max_rounds = 3;

/// Mostly one of those that met; else one of its files; chosen by the step; empty: there is none.
std::optional<sync::RelativePath> chosen_file(const BoundFolder& place,
                                              const std::vector<std::string>& met,
                                              const Step& step) {
  if (!met.empty() && step.how % 8 != 0) {
    const auto path = sync::RelativePath::parse(met[step.what % met.size()]);
    return path ? std::optional(*path) : std::nullopt;
  }
  const auto files = step.how % 4 == 0 ? place.pictures() : place.tree();
  if (files.empty()) return std::nullopt;
  const auto& [name, text] = *std::next(files.begin(), step.what % static_cast<std::ptrdiff_t>(files.size()));
  const auto path = sync::RelativePath::parse(name);
  return path ? std::optional(*path) : std::nullopt;
}

constexpr const char* no_conflict = "no conflict";
constexpr const char* no_file = "no file";

/// What the engine says to the command. `moved`: what it renamed.
std::string give(sync::SyncEngine& engine,
                 const BoundFolder& place,
                 const std::vector<std::string>& met,
                 Feature what,
                 const Step& step,
                 sync::links::Renames& moved) {
  const auto said = [](const auto& result, const std::string& done) {
    return done + (result ? std::string() : " refused: " + result.error().what);
  };
  const auto path = chosen_file(place, met, step);
  if (what == Feature::links_fix) return said(engine.fix_links({}, false), "links fix");
  if (what == Feature::undo || what == Feature::redo) {
    const bool redo = what == Feature::redo;
    const auto undone = engine.undo({.redo = redo, .allow_deletes = true});
    return said(undone, redo ? "redo" : "undo") + (undone ? " " + shown(undone->report) : std::string());
  }
  if (what == Feature::resolve) {
    const auto open = engine.conflicts();
    if (!open || open->empty()) return no_conflict;
    constexpr std::array kept = {sync::Keep::local, sync::Keep::remote, sync::Keep::both};
    const bool is_all = step.how % 2 == command::decide_all;
    std::string told;
    for (std::size_t i = 0; i < open->size(); ++i) {
      if (!is_all && i != step.what % open->size()) continue;
      const sync::Conflict& conflict = (*open)[i];
      const sync::Keep keep = kept[(step.how / 2 + i) % kept.size()];
      told += said(engine.resolve(conflict, keep), "resolve " + conflict.path.string()) + "; ";
    }
    return told;
  }
  if (what == Feature::leave && step.how % 3 == command::leave_met && !met.empty()) {
    std::string told;
    for (const std::string& each : met) {
      const auto left = sync::RelativePath::parse(each);
      if (left) told += said(engine.leave({.places = {*left}}), "leave " + each) + "; ";
    }
    return told;
  }
  if (what == Feature::leave && step.how % 3 == command::take_all) {
    const auto taken = engine.take({.all = true});
    return said(taken, "take") + (taken && taken->report ? " " + shown(*taken->report) : std::string());
  }
  if (!path) return no_file;
  if (what == Feature::leave) {
    const auto folder = sync::RelativePath::parse(path->folder());
    const sync::RelativePath& left = folder && step.how % 3 == 1 ? *folder : *path;
    return said(engine.leave({.places = {left}}), "leave " + left.string());
  }
  if (what == Feature::restore) return said(engine.restore(*path), "restore " + path->string());
  const std::string name = path->string();
  const auto to = sync::RelativePath::parse((step.how % 3 == 0 ? "d/moved" : "moved") + name.substr(name.rfind('.')));
  const auto done = engine.move(*path, *to, false);
  if (done) moved = done->moved;
  return said(done, "mv " + name + " " + to->string());
}

bool is_of_meeting(const Step& step) {
  return step.kind == StepKind::meet || step.kind == StepKind::leave_around || step.kind == StepKind::decide_around;
}

Feature feature_of(const Order& order) {
  switch (order.kind) {
    case Order::Kind::pull: return Feature::pull;
    case Order::Kind::push: return Feature::push;
    case Order::Kind::commit:
    case Order::Kind::push_and_commit: return Feature::commit;
    case Order::Kind::run:
    case Order::Kind::status: break;
  }
  if (order.only_reads) return Feature::viewer;
  return order.options.hold_deletes ? Feature::watch : Feature::run;
}

std::string tree_text(const std::map<std::string, std::string>& tree) {
  std::string out;
  for (const auto& [path, text] : tree) out += path + "=" + text + "|";
  return out;
}

Observation without_state(Observation seen) {
  seen.own.clear();
  return seen;
}

}  // namespace

Story::Story(const Stage& stage, std::uint64_t seed, Coverage* coverage)
    : stage_(stage), coverage_(coverage), one_by_one_(seed % 8 == 0) {
  if (stage.ignores_filter) service_.assume("pull_filter", "ignored");
  for (std::size_t i = 0; i < stage.places; ++i) {
    places_.push_back(std::make_unique<BoundFolder>(service_, seed * 16 + i));
    if (stage.strangers) places_.back()->add_strangers();
    // The first folder's limit is low, so that few bytes exceed it; the others' is above the service's limit.
    if (stage.large_notes) places_.back()->set_max_file_bytes(i == 0 ? 200 : std::uint64_t{16} << 20U);
  }
}

void Story::follow_all() {
  if (coverage_ == nullptr) return;
  for (const auto& place : places_) followers_[place.get()].look(look(*place, service_));
}

/// The command is about to come.
void Story::count_command(BoundFolder& place, Feature what) {
  if (coverage_ == nullptr) return;
  const Files files = place.files();
  std::string rules;
  for (const auto& [path, file] : files) {
    if (path.ends_with(".wsignore")) rules += path + "\n" + file.text;
  }
  std::string& old_rules = rules_[&place];
  const std::string config = place.config();
  std::set<Feature> met = {what};
  if (rules.size() > old_rules.size()) met.insert(Feature::rule_set);
  if (rules.size() < old_rules.size()) met.insert(Feature::rule_removed);
  if (config.find("links: keep") != std::string::npos) met.insert(Feature::links_keep);
  if (config.find("attachments: off") != std::string::npos) met.insert(Feature::pictures_off);
  if (config.find("attachments: all") != std::string::npos) met.insert(Feature::pictures_all);
  old_rules = rules;
  followers_[&place].command(met, *coverage_);
}

/// The command has ended. Empty: it had nothing to do.
void Story::end_command(BoundFolder& place, std::optional<Feature> what) {
  if (coverage_ == nullptr || !what) return;
  const bool waits = *what == Feature::leave || *what == Feature::resolve;
  Follower& follower = followers_[&place];
  waits ? follower.go_on(look(place, service_), *what) : follower.start(look(place, service_));
}

Order Story::order_of(const Step& step) const {
  Order order{.fault_rate = {.seed = std::uint64_t{step.what} << 16U | std::uint64_t{step.where} << 8U | step.how,
                             .one_in = stage_.mishaps_one_in}};
  order.options.allow_deletes = step.how % 2 == 0;
  if (step.how % 16 == 1) order.options.merge = false;
  if (step.how % 16 == 3) order.options.accept_deletes = true;
  if (step.where % 8 == 1) order.kind = Order::Kind::pull;
  if (step.where % 8 == 2) order.kind = Order::Kind::push_and_commit;
  if (stage_.vault && step.where % 8 == 3) order.kind = Order::Kind::push;
  if (stage_.vault && step.where % 8 == 4) order.kind = Order::Kind::commit;
  if (stage_.vault && step.where % 8 == 5) {
    order.options.hold_deletes = true;
    order.options.allow_deletes = false;
  }
  order.only_reads = stage_.vault && step.where % 8 == 6;
  if (stage_.mishaps_one_in != 0 && step.where % 16 == 9) order.stop_at = 1 + step.what % 24;
  return order;
}

/// A run of one folder on the way to a meeting; the laws of single runs hold.
std::string Story::run_between(BoundFolder& place) {
  count_command(place, Feature::run);
  bool quiet = false;
  std::string wrong = run_once(place, quiet);
  end_command(place, Feature::run);
  follow_all();
  return wrong;
}

/// All folders and the service have some notes and pictures in common, as far as their settings let them.
std::string Story::agree(BoundFolder& place, const Step& step) {
  for (const auto& each : places_) {
    each->configure("attachments: linked\n");
    fs::remove(each->root() / ".wsignore");
  }
  add_entries(place, step, words_);
  follow_all();
  if (std::string wrong = run_between(place); !wrong.empty()) return wrong;
  for (const auto& other : places_) {
    if (other.get() == &place) continue;
    if (std::string wrong = run_between(*other); !wrong.empty()) return wrong;
  }
  return {};
}

/// Takes an entry for two changes, as the step names them.
void Story::arrange(std::size_t actor, const Step& step) {
  const std::size_t index = std::size_t{step.where} << 8U | step.what;
  if (index >= pairs().size()) return;
  const Cell& pair = pairs()[index];
  std::set<std::string> taken;
  for (const Meeting& each : meetings_) taken.insert(each.agreed);
  const BoundFolder& other = *places_[(actor + 1) % places_.size()];
  const auto entry = entry_for(pair, *places_[actor], other, service_, taken, step, words_);
  tell("    " + entry.value_or("no entry for") + ", " + render(pair));
  if (!entry) return;
  std::string there = utf8::nfc(*entry);
  for (const auto& [path, bytes] : other.pictures()) {
    if (utf8::nfc(path) == utf8::nfc(*entry)) there = path;
  }
  meetings_.push_back({.pair = pair, .agreed = *entry, .here = *entry, .there = there, .step = step});
  met_.insert(pair);
}

/// Brings what is to meet into conflict.
std::string Story::fall_apart(std::size_t actor) {
  BoundFolder& other = *places_[(actor + 1) % places_.size()];
  std::vector<Item> items;
  for (const Meeting& each : meetings_) {
    if (each.pair.first != Happening::created)
      change_apart(*places_[actor], other, service_, each.here, each.there, words_, items);
  }
  if (!items.empty()) service_.publish(items);
  follow_all();
  if (std::string wrong = run_between(other); !wrong.empty()) return wrong;
  return run_between(*places_[actor]);
}

/// `leave` and `take`, or the decision of each conflict, before the changes or between them.
std::string Story::come_around(std::size_t actor, const Step& around, bool is_before) {
  BoundFolder& place = *places_[actor];
  const auto give_command = [&](std::uint8_t which, std::uint8_t how) {
    std::string wrong = run_command(place, {.kind = StepKind::command, .where = which, .how = how});
    follow_all();
    return wrong;
  };
  if (around.kind == StepKind::decide_around) {
    if (is_before) {
      if (std::string wrong = fall_apart(actor); !wrong.empty()) return wrong;
    }
    const bool is_now = around.how % 3 == (is_before ? 0 : 1);
    const auto keep = static_cast<std::uint8_t>(around.what & 0xFEU);  // decides all
    return is_now ? give_command(command::resolve, keep) : std::string();
  }
  if (around.how % 2 != (is_before ? 0 : 1)) return {};
  last_met_.clear();
  for (const Meeting& each : meetings_) {
    const bool is_there_alone = each.pair.trees == Trees::there_there;
    if (!is_before || is_there_alone) last_met_.push_back(each.here);
  }
  std::string wrong = give_command(command::leave, command::leave_met);
  const bool takes = !is_before && around.how / 2 % 2 == 0;
  return takes && wrong.empty() ? give_command(command::leave, command::take_all) : wrong;
}

/// What was left out is not here; what was taken again came under the name that it has there.
void Story::change_here(BoundFolder& place, Meeting& meeting, Happening what) {
  if (what != Happening::created && !place.files().contains(meeting.here)) {
    if (!place.files().contains(meeting.there)) return;
    meeting.here = meeting.there;
  }
  change_file(place, what, meeting.agreed, meeting.here, meeting.step, words_);
}

/// The first changes of all arranged entries, and then the next. What is there of a picture, another folder does.
std::string Story::meet(std::size_t actor, const Step& last) {
  BoundFolder& other = *places_[(actor + 1) % places_.size()];
  for (const bool is_first : {true, false}) {
    if (last.kind != StepKind::meet) {
      if (std::string wrong = come_around(actor, last, is_first); !wrong.empty()) return wrong;
    }
    bool other_sends = false;
    std::vector<Item> items;
    for (Meeting& each : meetings_) {
      const Trees trees = each.pair.trees;
      const bool is_here = is_first ? trees == Trees::here_here || trees == Trees::here_there
                                    : trees == Trees::here_here || trees == Trees::there_here;
      const Happening what = is_first ? each.pair.first : each.pair.next;
      if (is_here) {
        change_here(*places_[actor], each, what);
      } else if (each.pair.is_picture) {
        change_file(other, what, each.agreed, each.there, each.step, words_);
        other_sends = true;
      } else {
        change_document(service_, what, utf8::nfc(each.agreed), each.there, each.step, words_, items);
      }
    }
    if (!items.empty()) service_.publish(items);
    if (other_sends) {
      if (std::string wrong = run_between(other); !wrong.empty()) return wrong;
    }
    follow_all();
  }
  last_met_.clear();
  for (const Meeting& each : meetings_) last_met_.push_back(each.here);
  meetings_.clear();
  return {};
}

std::string Story::play(const Script& script) {
  for (const Step& step : script) {
    // The last actor works on the service directly and never syncs.
    const bool is_local = step.kind >= StepKind::sync;
    const std::size_t actor = step.who % (places_.size() + (is_local ? 0 : 1));
    tell(fmt::format("  {} {}", actor == places_.size() ? "service" : "folder " + std::to_string(actor), render(step)));
    if (step.kind == StepKind::sync) {
      const Order order = order_of(step);
      count_command(*places_[actor], feature_of(order));
      const std::string wrong = run_order(*places_[actor], order, step);
      if (!wrong.empty()) return wrong;
      end_command(*places_[actor], feature_of(order));
      if (stage_.kill != Stage::Kill::never) note_state();
    } else if (step.kind == StepKind::command) {
      if (std::string wrong = run_command(*places_[actor], step); !wrong.empty()) return wrong;
    } else if (step.kind == StepKind::agree) {
      if (std::string wrong = agree(*places_[actor], step); !wrong.empty()) return wrong;
    } else if (is_of_meeting(step)) {
      if (step.kind == StepKind::meet) arrange(actor, step);
      const Step* const next = &step + 1;
      if (next != &script.back() + 1 && is_of_meeting(*next) && next->who == step.who) continue;
      if (std::string wrong = meet(actor, step); !wrong.empty()) return wrong;
    } else if (step.kind > StepKind::sync) {
      act_in_vault(*places_[actor], step, words_);
    } else if (actor == places_.size()) {
      act_on_service(service_, step, words_);
    } else {
      stage_.large_notes&& step.kind == StepKind::touch ? enlarge_in_folder(*places_[actor], step, words_)
                                                        : act_in_folder(*places_[actor], step, words_);
    }
    follow_all();
  }
  return settle();
}

/// Runs one command and checks all invariants.
std::string Story::run_order(BoundFolder& place, const Order& order, const Step& step) {
  if (stage_.kill == Stage::Kill::twice) {
    static_cast<void>(place.carry_out(order));
    static_cast<void>(place.carry_out(order));
    return {};
  }
  sync::Report foreseen;
  const bool fair = order.fault_rate.one_in == 0 && !stage_.races && stage_.kill != Stage::Kill::at_random;
  const Observation before = look(place, service_);
  owed_ = texts_of(before);
  const bool is_previewed = order.kind == Order::Kind::run || order.kind == Order::Kind::pull;
  if (fair && is_previewed) {
    if (std::string wrong = check_preview(place, order, before, foreseen); !wrong.empty()) return wrong;
  }
  if (stage_.refusals && order.kind == Order::Kind::run && !foreseen.guard) {
    return refuse_some(place, order, step, before, foreseen);
  }
  const bool is_killed = stage_.kill == Stage::Kill::at_random;
  const std::size_t operations = is_killed ? place.operations() : 0;
  if (is_killed) run_killed(place, order, step);
  raced_ = false;
  if (stage_.races) run_with_concurrent_edit(place, step);
  const Result<sync::Report> report = place.carry_out(order);
  place.network().meanwhile = {};
  tell("    " + shown(report));
  record_trace(place, report);
  const Observation after = look(place, service_);
  if (std::string wrong = check_after(place, order, before, after, report); !wrong.empty()) return wrong;
  if (is_killed && place.operations() > operations + 1)
    return "I22: a command that was killed and given again is more than one operation";
  if (!fair) return {};
  if (!report) return "an order failed on a good network: " + report.error().what;
  if (report->ended_by) return "an order ended early on a good network: " + report->ended_by->what;
  if (order.kind == Order::Kind::run && !report->guard) {
    const std::string otherwise = otherwise_than_foreseen(foreseen, *report, order.only_reads);
    if (!otherwise.empty()) return "I10: the run did something else than was foreseen:" + otherwise;
  }
  if (report->guard) {
    const std::string written = nothing_is_written(before, after);
    if (!written.empty()) return "I11: the guard let something through: " + written;
  }
  if (order.only_reads && before.documents != after.documents) return "a key that only reads changed the service";
  if (order.kind == Order::Kind::run && report->clean) return second_run_does_nothing(place, order, after);
  return {};
}

/// Checks the preview of `status`, and that it changes nothing.
std::string Story::check_preview(BoundFolder& place,
                                 const Order& order,
                                 const Observation& before,
                                 sync::Report& foreseen) {
  Order status = order;
  status.kind = Order::Kind::status;
  auto report = place.carry_out(status);
  if (!report) return "a status failed on a good network: " + report.error().what;
  if (place.network().writes() > 0) return "I10: a status wrote to the service";
  if (std::string wrong = nothing_is_written(before, look(place, service_)); !wrong.empty()) return "I10: " + wrong;
  foreseen = std::move(*report);
  return cache_is_only_quicker(place);
}

std::string Story::cache_is_only_quicker(BoundFolder& place) {
  Order offline{.kind = Order::Kind::status};
  offline.options.offline = true;
  const auto with = place.carry_out(offline);
  fs::remove(place.own("stat.cache"));
  const auto without = place.carry_out(offline);
  if (!with || !without) return "a status failed";
  const std::string a = dump(to_json(*with));
  const std::string b = dump(to_json(*without));
  return a == b ? std::string() : "I16: without the cache it is another status:\n" + a + "\n" + b;
}

std::string Story::check_after(BoundFolder& place,
                               const Order& order,
                               const Observation& before,
                               const Observation& after,
                               const Result<sync::Report>& report) {
  const auto first_of = [](std::initializer_list<std::string> all) {
    for (const std::string& each : all) {
      if (!each.empty()) return each;
    }
    return std::string();
  };
  const bool alone = !raced_ && stage_.kill != Stage::Kill::at_random;
  return first_of({nothing_is_lost(owed_, after, place, service_),
                   stage_.races ? "" : strangers_are_untouched(before, after),
                   pushes_know_their_base(place.network().sent(), before, service_),
                   base_is_true(after, place, service_),
                   order.options.allow_deletes || !alone ? "" : deletes_are_bounded(before, after),
                   alone ? files_do_not_drift(before, after, report ? &*report : nullptr) : "",
                   stage_.vault ? who_is_who(place, before, after, report ? &*report : nullptr, alone) : ""});
}

/// I21, and that what was out of sight is not taken for deleted.
std::string Story::who_is_who(
    BoundFolder& place, const Observation& before, const Observation& after, const sync::Report* report, bool alone) {
  std::string wrong;
  if (alone) {
    if (!place.hides_files()) wrong = identities_stay(holders_[&place], before, after);
    for (const sync::DocumentId& document : out_of_sight_[&place]) {
      if (before.documents.contains(document.text()) && !after.documents.contains(document.text()))
        wrong = "archived, though it was out of sight: " + before.documents.at(document.text()).path;
    }
    for (const auto& [document, row] : before.base) {
      if (row.left_out && before.documents.contains(document.text()) && !after.documents.contains(document.text()))
        wrong = "archived, though it was left out: " + before.documents.at(document.text()).path;
    }
  }
  note_holders(place, before, after, {});
  if (report != nullptr) {
    std::set<sync::DocumentId>& hidden = out_of_sight_[&place];
    if (!report->ended_by && !report->guard) hidden.clear();
    for (const sync::Detached& each : report->detached) hidden.insert(each.document);
  }
  return wrong;
}

/// After a command: a file with the agreed text at the agreed path holds its document; a file that `ws` wrote anew
/// holds the document that the file before it held.
void Story::note_holders(BoundFolder& place,
                         const Observation& before,
                         const Observation& after,
                         const sync::links::Renames& moved) {
  std::map<std::uint64_t, std::string> paths;
  for (const auto& [path, file] : before.files) paths.emplace(file.inode, path);
  std::map<sync::DocumentId, std::uint64_t>& holders = holders_[&place];
  std::erase_if(holders, [&](const auto& each) { return !after.base.contains(each.first); });
  for (const auto& [document, row] : after.base) {
    const auto at_base = after.files.find(row.entry.path.string());
    if (at_base != after.files.end() && Sha256::of(at_base->second.text) == row.entry.hash) {
      holders[document] = at_base->second.inode;
      continue;
    }
    const auto holder = holders.find(document);
    const auto known = holder == holders.end() ? paths.end() : paths.find(holder->second);
    if (known == paths.end()) continue;
    const auto renamed = moved.find(known->second);
    const auto now = after.files.find(renamed == moved.end() ? known->second : renamed->second);
    if (now != after.files.end()) holder->second = now->second.inode;
  }
}

/// A command of a vault that is no sync: which, the step says.
std::string Story::run_command(BoundFolder& place, const Step& step) {
  constexpr std::array commands = {Feature::mv,
                                   Feature::mv,
                                   Feature::links_fix,
                                   Feature::restore,
                                   Feature::undo,
                                   Feature::redo,
                                   Feature::undo_all,
                                   Feature::leave,
                                   Feature::resolve};
  static_assert(commands[command::undo] == Feature::undo && commands[command::redo] == Feature::redo &&
                commands[command::undo_all] == Feature::undo_all && commands[command::leave] == Feature::leave &&
                commands[command::resolve] == Feature::resolve);
  const Feature what = commands[step.where % commands.size()];
  if (what == Feature::undo_all) {
    count_command(place, what);
    std::string wrong = take_all_back(place);
    end_command(place, what);
    return wrong;
  }
  const Observation before = look(place, service_);
  owed_ = texts_of(before);
  sync::links::Renames moved;
  std::string told;
  const auto ran = place.with_engine(
      {}, [&](sync::SyncEngine& engine) { told = give(engine, place, last_met_, what, step, moved); });
  if (!ran) return "a command failed: " + ran.error().what;
  tell("    " + told);
  // What had nothing to decide met nothing.
  if (told != no_conflict && told != no_file) count_command(place, what);
  const Observation after = look(place, service_);
  if (std::string wrong = check_command(place, before, after); !wrong.empty()) return wrong;
  note_holders(place, before, after, moved);
  end_command(place, told == no_conflict ? std::nullopt : std::optional(what));
  return {};
}

/// Undo after undo comes to an end, or to a run of which all is left, and loses nothing.
std::string Story::take_all_back(BoundFolder& place) {
  constexpr unsigned more_than_there_are = 40;
  for (unsigned i = 0; i < more_than_there_are; ++i) {
    const Observation before = look(place, service_);
    owed_ = texts_of(before);
    std::optional<Failure> failure;
    bool is_all_left = false;
    const auto ran = place.with_engine({}, [&](sync::SyncEngine& engine) {
      const auto undone = engine.undo({.allow_deletes = true});
      if (!undone) failure = undone.error();
      is_all_left = undone && undone->report.rows.empty() && !undone->left.empty();
      tell(undone ? fmt::format("    undo {}\n    {}", undone->undone.id, shown(undone->report))
                  : "    no more to undo: " + undone.error().what);
    });
    if (!ran) return "an undo failed: " + ran.error().what;
    const Observation after = look(place, service_);
    if (std::string wrong = check_command(place, before, after); !wrong.empty()) return wrong;
    note_holders(place, before, after, {});
    // Whose wish a link is may be noted where all is left, as by every look.
    if (is_all_left) return nothing_is_written(without_state(before), without_state(after));
    if (failure) return failure->kind == Failure::Kind::not_found ? std::string() : "an undo failed: " + failure->what;
  }
  return "undo after undo does not come to an end";
}

std::string Story::check_command(BoundFolder& place, const Observation& before, const Observation& after) {
  if (std::string wrong = nothing_is_lost(owed_, after, place, service_); !wrong.empty()) return wrong;
  if (std::string wrong = strangers_are_untouched(before, after); !wrong.empty()) return wrong;
  return base_is_true(after, place, service_);
}

std::string Story::second_run_does_nothing(BoundFolder& place, const Order& order, const Observation& before) {
  const auto again = place.carry_out(Order{.options = order.options, .only_reads = order.only_reads});
  if (!again) return "I3: the second run failed: " + again.error().what;
  if (!again->rows.empty() || !again->clean) return "I3: the second run had something to do: " + shown(again);
  // A run asks again whether its key may send by now.
  if (!order.only_reads && place.network().writes() > 0) return "I3: the second run wrote to the service";
  std::string wrong = nothing_is_written(before, look(place, service_));
  return wrong.empty() ? wrong : "I3: " + wrong;
}

/// Runs the same command in a process that is killed on the way; for comparison, also without the kill.
void Story::run_killed(BoundFolder& place, const Order& order, const Step& step) {
  const std::uint64_t when = 1 + (std::uint64_t{step.what} << 8U | step.how) * 7919 % 260;
  const ChildEnd death = run_and_kill(
      {.count = when},
      [this](const http::Request& request) { return service_.answer(request); },
      [&](Network::Exchange ask) {
        place.network().replace(std::move(ask));
        try {
          static_cast<void>(place.carry_out(order));
        } catch (const std::exception&) {
          return;
        }
      });
  tell(fmt::format("    {} at step {}", death == ChildEnd::killed ? "killed" : "lived on", when));
}

/// Makes a concurrent change right before one of the requests of the command.
void Story::run_with_concurrent_edit(BoundFolder& place, const Step& step) {
  const auto count = std::make_shared<unsigned>(0);
  place.network().meanwhile = [this, &place, step, count](const http::Request&) {
    if ((*count)++ != step.how % 5U) return;
    const Step kind{
        .kind = static_cast<StepKind>(step.what % 12), .what = step.where, .where = step.how, .how = step.what};
    const std::set<std::string> before = texts_of(look(place, service_));
    if (step.what % 2 == 0) {
      act_on_service(service_, kind, words_);
    } else {
      act_in_folder(place, kind, words_);
    }
    const std::set<std::string> after = texts_of(look(place, service_));
    for (const std::string& text : before) {
      if (!after.contains(text)) owed_.erase(text);
    }
    owed_.insert(after.begin(), after.end());
    raced_ = true;
    tell(fmt::format("    meanwhile {}: {}", step.what % 2 == 0 ? "on the service" : "in the folder", render(kind)));
  };
}

/// I17: some rows fail, the others are done, and the next command requests only what failed.
std::string Story::refuse_some(
    BoundFolder& place, const Order& order, const Step& step, const Observation& before, const sync::Report& foreseen) {
  const Refusals refusals = choose_refusals(foreseen, step.what, step.how);
  const Network::Exchange ask = [this](const http::Request& request) { return service_.answer(request); };
  place.network().replace([&](const http::Request& request) { return answer_but_for(refusals, request, ask); });
  const Result<sync::Report> report = place.carry_out(order);
  place.network().replace(ask);
  tell("    refused " + refusals.code + "\n    " + shown(report));
  if (!report) return "I17: all fails where some do: " + report.error().what;
  if (report->ended_by) return "I17: what some rows met ended the run: " + report->ended_by->what;
  if (std::string wrong = check_after(place, order, before, look(place, service_), report); !wrong.empty())
    return wrong;
  for (const sync::Row& row : foreseen.rows) {
    if (refusals.holds(row.action) || row.action.kind == sync::ActionKind::conflict) continue;
    const bool done = std::any_of(report->rows.begin(), report->rows.end(), [&](const sync::Row& each) {
      return each.state == sync::Row::State::done && each.action.kind == row.action.kind &&
             each.action.path == row.action.path;
    });
    if (!done)
      return "I17: another row was not done: " + std::string(name(row.action.kind)) + " " + row.action.path.string();
  }
  const Result<sync::Report> next = place.carry_out(order);
  tell("    then " + shown(next));
  if (!next) return "I17: the run after the refusals fails: " + next.error().what;
  for (const std::string& asked : asked_by_name(place.network().sent())) {
    if (!refusals.paths.contains(asked) && !refusals.documents.contains(asked))
      return "I17: asked for again, though it was done: " + asked;
  }
  return next->clean ? second_run_does_nothing(place, order, look(place, service_)) : std::string();
}

void Story::note_state() {
  std::string state;
  for (const auto& place : places_) {
    state += tree_text(place->tree()) + "\n";
    for (const std::string& conflict : place->conflicts()) state += conflict + "\n";
  }
  states_.push_back(state + tree_text(service_.tree()) + "\n" + service_.ledger());
}

/// Removes the temporary folders' names from the trace.
void Story::record_trace(BoundFolder& place, const Result<sync::Report>& report) {
  if (!stage_.keeps_trace) return;
  std::string line = report ? dump(to_json(*report)) : report.error().what;
  for (std::size_t at = 0; (at = line.find(place.root().native(), at)) != std::string::npos;) {
    line.replace(at, place.root().native().size(), "ROOT");
  }
  trace_ += line + "\n";
  for (const std::string& request : place.network().sent()) trace_ += request + "\n";
}

/// Runs once more; if that does nothing, checks I2.
std::string Story::run_once(BoundFolder& place, bool& quiet) {
  const bool asks_laws = stage_.kill != Stage::Kill::twice;
  const Observation before = asks_laws ? look(place, service_) : Observation{};
  owed_ = texts_of(before);
  Order order;
  order.options.allow_deletes = true;
  const auto report = place.carry_out(order);
  tell("    " + shown(report));
  record_trace(place, report);
  if (!report) return "the network is good again, and a run fails: " + report.error().what;
  if (report->ended_by) return "the network is good again, and a run ends early: " + report->ended_by->what;
  quiet = is_quiet(*report);
  if (!asks_laws) return {};
  const Observation after = look(place, service_);
  const std::string written = nothing_is_written(before, after);
  if (!written.empty()) tell("    " + written);
  quiet = quiet && written.empty();
  if (std::string wrong = check_after(place, order, before, after, report); !wrong.empty()) return wrong;
  const bool open = !report->conflicts.empty() || !report->skipped.empty() || !report->detached.empty();
  if (!quiet || open || place.hides_files()) return {};
  if (std::string wrong = sides_agree(after, place); !wrong.empty() || !stage_.vault) return wrong;
  return report->not_synced == 0 && report->unread_links.empty() ? pictures_agree(after) : std::string();
}

/// I4 for one folder, without concurrent changes.
std::string Story::run_until_quiet(BoundFolder& place, bool& quiet) {
  for (unsigned run = 0; run <= max_rounds; ++run) {
    bool rests = false;
    if (std::string wrong = run_once(place, rests); !wrong.empty()) return wrong;
    if (rests) return {};
    quiet = false;
  }
  return "I4: a folder does not come to rest though nobody else does anything";
}

/// I4.
std::string Story::settle() {
  for (const auto& place : places_) {
    if (stage_.vault) place->configure("attachments: linked\nlinks: keep\n");
  }
  for (unsigned round = 0; round <= max_rounds; ++round) {
    tell(fmt::format("  round {}", round));
    bool quiet = true;
    for (const auto& place : places_) {
      bool rests = true;
      const std::string wrong = one_by_one_ ? run_until_quiet(*place, rests) : run_once(*place, rests);
      if (!wrong.empty()) return wrong;
      quiet = quiet && rests;
    }
    if (!quiet) continue;
    if (stage_.kill != Stage::Kill::never) note_state();
    return {};
  }
  tell_unrest();
  return "I4: it does not come to rest";
}

void Story::tell_unrest() {
  for (const auto& [id, document] : service_.documents())
    tell(fmt::format("  there {} {} {}", id, document.path, document.revision));
  for (const auto& place : places_) {
    if (const auto report = place->carry_out(Order{.kind = Order::Kind::status}))
      tell("  here " + dump(to_json(*report)));
    for (const auto& [path, text] : place->tree()) tell("    " + path);
  }
}

}  // namespace ws::property
