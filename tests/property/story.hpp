/// A random story: people change folders and the service, engines are told to sync, and after each order every law is
/// asked. The same script on the same stage goes the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/property/laws.hpp"
#include "tests/property/people.hpp"
#include "tests/property/place.hpp"
#include "tests/property/script.hpp"
#include "tests/property/service.hpp"

namespace ws::property {

struct Stage {
  std::size_t places = 2;
  unsigned mishaps_one_in = 0;  ///< of the exchanges of an order; 0: a good network
  bool races = false;           ///< people go on working while an engine talks to the service
  /// `twice`: each order twice, nobody dies, and no law is asked: for comparison.
  enum class Kill { never, twice, at_random } kill = Kill::never;
  bool strangers = false;       ///< links and hidden files lie in the folders
  bool ignores_filter = false;  ///< the service answers every pull with all it has
  bool keeps_trace = false;     ///< every request and every report is written down
  bool large_notes = false;     ///< notes grow: over the bound of a folder, and over the service's
  bool refusals = false;        ///< the service will not take or give some documents of an order
};

class Story {
 public:
  Story(const Stage& stage, std::uint64_t seed);

  /// Plays it to the end, and then lets everything come to rest. Empty: every law held.
  std::string play(const Script& script);
  /// What happened, line by line.
  const std::string& told() const { return told_; }
  /// Every request and every report, for comparison with another playing of the same.
  const std::string& trace() const { return trace_; }
  /// Where orders are given twice: every tree, the conflicts of each folder and the service's ledger after each order,
  /// and at the end.
  const std::vector<std::string>& states() const { return states_; }

 private:
  Order order_of(const Step& step) const;
  std::string obey(Place& place, const Order& order, const Step& step);
  std::string look_first(Place& place, const Order& order, const Picture& before, sync::Report& foreseen);
  std::string cache_is_only_quicker(Place& place);
  std::string check_after(Place& place,
                          const Order& order,
                          const Picture& before,
                          const Picture& after,
                          const Result<sync::Report>& report);
  std::string second_run_does_nothing(Place& place, const Order& order, const Picture& before);
  std::string refuse_some(
      Place& place, const Order& order, const Step& step, const Picture& before, const sync::Report& foreseen);
  void die(Place& place, const Order& order, const Step& step);
  void race(Place& place, const Step& step);
  std::string come_to_rest();
  std::string run_once(Place& place, bool& quiet);
  std::string run_until_quiet(Place& place, bool& quiet);
  void tell_unrest();
  void note_state();
  void note_trace(Place& place, const Result<sync::Report>& report);
  void tell(const std::string& line) { told_ += line + "\n"; }

  Stage stage_;
  Service service_;
  std::vector<std::unique_ptr<Place>> places_;
  Words words_;
  std::set<std::string> owed_;  ///< texts that must not be lost by the order under way
  std::string told_;
  std::string trace_;
  std::vector<std::string> states_;
  bool raced_ = false;
  bool one_by_one_ = false;  ///< at the end each folder comes to rest before the next one's turn
};

}  // namespace ws::property
