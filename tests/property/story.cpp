#include "tests/property/story.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/property/killing.hpp"

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
    if (row.action.kind == sync::ActionKind::conflict) out += " " + row.action.reason;
    if (row.error) out += " failed: " + row.error->what;
  }
  return out;
}

bool is_quiet(const sync::Report& report) {
  return std::none_of(report.rows.begin(), report.rows.end(), [](const sync::Row& row) {
    return row.action.kind != sync::ActionKind::conflict && row.state == sync::Row::State::done;
  });
}

std::string tree_text(const std::map<std::string, std::string>& tree) {
  std::string out;
  for (const auto& [path, text] : tree) out += path + "=" + text + "|";
  return out;
}

}  // namespace

Story::Story(const Stage& stage, std::uint64_t seed) : stage_(stage) {
  if (stage.ignores_filter) service_.assume("pull_filter", "ignored");
  for (std::size_t i = 0; i < stage.places; ++i) {
    places_.push_back(std::make_unique<Place>(service_, seed * 16 + i));
    if (stage.strangers) places_.back()->add_strangers();
  }
}

Order Story::order_of(const Step& step) const {
  Order order{.weather = {.seed = std::uint64_t{step.what} << 16U | std::uint64_t{step.where} << 8U | step.how,
                          .one_in = stage_.mishaps_one_in}};
  order.options.allow_deletes = step.how % 2 == 0;
  if (step.how % 16 == 1) order.options.merge = false;
  if (step.how % 16 == 3) order.options.accept_deletes = true;
  if (step.where % 8 == 1) order.kind = Order::Kind::pull;
  if (step.where % 8 == 2) order.kind = Order::Kind::push_and_commit;
  if (stage_.mishaps_one_in != 0 && step.where % 16 == 9) order.stop_at = 1 + step.what % 24;
  return order;
}

std::string Story::play(const Script& script) {
  for (const Step& step : script) {
    // The last is who works on the service itself; nobody syncs there.
    const std::size_t actor = step.who % (places_.size() + (step.deed == Deed::sync ? 0 : 1));
    tell(fmt::format("  {} {}", actor == places_.size() ? "service" : "folder " + std::to_string(actor), render(step)));
    if (step.deed == Deed::sync) {
      const std::string wrong = obey(*places_[actor], order_of(step), step);
      if (!wrong.empty()) return wrong;
    } else if (actor == places_.size()) {
      act_on_service(service_, step, words_);
    } else {
      act_in_folder(*places_[actor], step, words_);
    }
  }
  return come_to_rest();
}

/// One order with everything that is asked of it.
std::string Story::obey(Place& place, const Order& order, const Step& step) {
  std::vector<std::string> foreseen;
  const bool fair = order.weather.one_in == 0 && !stage_.races && stage_.kill != Stage::Kill::at_random;
  const Picture before = look(place, service_);
  owed_ = texts_of(before);
  if (fair && order.kind != Order::Kind::push_and_commit) {
    if (std::string wrong = look_first(place, order, foreseen); !wrong.empty()) return wrong;
  }
  if (stage_.kill != Stage::Kill::never) die(place, order, step);
  raced_ = false;
  if (stage_.races) race(place, step);
  const Result<sync::Report> report = place.carry_out(order);
  place.network().meanwhile = {};
  tell("    " + shown(report));
  trace_ += shown(report) + "\n";
  for (const std::string& request : place.network().sent()) trace_ += request + "\n";
  if (std::string wrong = check_after(place, order, before, report); !wrong.empty()) return wrong;
  if (!fair) return {};
  if (!report) return "an order failed on a good network: " + report.error().what;
  if (report->ended_by) return "an order ended early on a good network: " + report->ended_by->what;
  if (order.kind == Order::Kind::run && !report->guard && rows_of(*report) != foreseen) {
    std::string rows;
    for (const std::string& row : foreseen) rows += "\n      " + row;
    return "I10: the run did something else than was foreseen:" + rows;
  }
  if (report->guard && !nothing_is_written(before, look(place, service_)).empty())
    return "I11: the guard let something through";
  if (order.kind == Order::Kind::run && report->clean) return second_run_does_nothing(place, order);
  return {};
}

/// What `status` foresees, and that it changes nothing.
std::string Story::look_first(Place& place, const Order& order, std::vector<std::string>& rows) {
  const Picture before = look(place, service_);
  Order status = order;
  status.kind = Order::Kind::status;
  const auto report = place.carry_out(status);
  if (!report) return "a status failed on a good network: " + report.error().what;
  if (place.network().writes() > 0) return "I10: a status wrote to the service";
  if (std::string wrong = nothing_is_written(before, look(place, service_)); !wrong.empty()) return "I10: " + wrong;
  rows = rows_of(*report);
  return cache_is_only_quicker(place);
}

std::string Story::cache_is_only_quicker(Place& place) {
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

std::string Story::check_after(Place& place,
                               const Order& order,
                               const Picture& before,
                               const Result<sync::Report>& report) {
  const Picture after = look(place, service_);
  const auto first_of = [](std::initializer_list<std::string> all) {
    for (const std::string& each : all) {
      if (!each.empty()) return each;
    }
    return std::string();
  };
  const bool alone = !raced_ && stage_.kill != Stage::Kill::at_random;
  return first_of({nothing_is_lost(owed_, after, place),
                   stage_.races ? "" : strangers_are_untouched(before, after),
                   pushes_know_their_base(place.network().sent(), before, service_),
                   base_is_true(after, place, service_),
                   order.options.allow_deletes || !alone ? "" : deletes_are_bounded(before, after),
                   alone ? files_do_not_drift(before, after, report ? &*report : nullptr) : ""});
}

std::string Story::second_run_does_nothing(Place& place, const Order& order) {
  const Picture before = look(place, service_);
  const auto again = place.carry_out(Order{.options = order.options});
  if (!again) return "I3: the second run failed: " + again.error().what;
  if (!again->rows.empty() || !again->clean) return "I3: the second run had something to do: " + shown(again);
  if (place.network().writes() > 0) return "I3: the second run wrote to the service";
  std::string wrong = nothing_is_written(before, look(place, service_));
  return wrong.empty() ? wrong : "I3: " + wrong;
}

/// The same order in a process that is killed on the way; for comparison, the whole of it.
void Story::die(Place& place, const Order& order, const Step& step) {
  if (stage_.kill == Stage::Kill::twice) {
    static_cast<void>(place.carry_out(order));
    return;
  }
  const std::uint64_t when = 1 + (std::uint64_t{step.what} << 8U | step.how) * 7919 % 260;
  const Death death = run_and_kill(
      when,
      [this](const http::Request& request) { return service_.answer(request); },
      [&](Network::Exchange ask) {
        place.network().replace(std::move(ask));
        try {
          static_cast<void>(place.carry_out(order));
        } catch (const std::exception&) {
          return;
        }
      });
  tell(fmt::format("    {} at step {}", death == Death::killed ? "killed" : "lived on", when));
}

/// Somebody does something right before one of the requests of the order.
void Story::race(Place& place, const Step& step) {
  const auto count = std::make_shared<unsigned>(0);
  place.network().meanwhile = [this, &place, step, count](const http::Request&) {
    if ((*count)++ != step.how % 5U) return;
    const Step deed{.deed = static_cast<Deed>(step.what % 12), .what = step.where, .where = step.how, .how = step.what};
    const std::set<std::string> before = texts_of(look(place, service_));
    if (step.what % 2 == 0) {
      act_on_service(service_, deed, words_);
    } else {
      act_in_folder(place, deed, words_);
    }
    const std::set<std::string> after = texts_of(look(place, service_));
    for (const std::string& text : before) {
      if (!after.contains(text)) owed_.erase(text);
    }
    owed_.insert(after.begin(), after.end());
    raced_ = true;
    tell(fmt::format("    meanwhile {}: {}", step.what % 2 == 0 ? "on the service" : "in the folder", render(deed)));
  };
}

/// I4, and I2 at the end.
std::string Story::come_to_rest() {
  const auto rest = [&]() -> std::string {
    for (int round = 0; round < 8; ++round) {
      bool quiet = true;
      for (const auto& place : places_) {
        const Picture before = look(*place, service_);
        owed_ = texts_of(before);
        Order order;
        order.options.allow_deletes = true;
        const auto report = place->carry_out(order);
        tell(fmt::format("  round {}\n    {}", round, shown(report)));
        trace_ += shown(report) + "\n";
        if (!report) return "the network is good again, and a run fails: " + report.error().what;
        if (report->ended_by) return "the network is good again, and a run ends early: " + report->ended_by->what;
        if (std::string wrong = check_after(*place, order, before, report); !wrong.empty()) return wrong;
        quiet = quiet && is_quiet(*report) && nothing_is_written(before, look(*place, service_)).empty();
      }
      if (quiet) return {};
    }
    for (const auto& [id, document] : service_.documents())
      tell(fmt::format("  there {} {} {}", id, document.path, document.revision));
    for (const auto& place : places_) {
      if (const auto report = place->carry_out(Order{.kind = Order::Kind::status}))
        tell("  here " + dump(to_json(*report)));
      for (const auto& [path, text] : place->tree()) tell("    " + path);
    }
    return "I4: it does not come to rest";
  };
  if (std::string wrong = rest(); !wrong.empty()) return wrong;
  if (std::string wrong = compare_sides(); !wrong.empty()) return wrong;
  for (const auto& place : places_) outcome_ += tree_text(place->tree()) + "\n";
  outcome_ += tree_text(service_.tree()) + "\n";
  return {};
}

std::string Story::compare_sides() {
  agreed_ = true;
  for (const auto& place : places_) {
    const auto report = place->carry_out(Order{.kind = Order::Kind::status});
    if (!report) return "a status failed: " + report.error().what;
    for (const sync::Conflict& conflict : report->conflicts)
      outcome_ += fmt::format("{} {}\n", name(conflict.kind), conflict.path.text());
    const bool hides_files = fs::exists(place->root() / ".wsignore");
    if (hides_files || !report->conflicts.empty() || !report->skipped.empty() || !report->detached.empty()) {
      agreed_ = false;
      continue;
    }
    if (std::string wrong = sides_agree(look(*place, service_), *place); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace ws::property
