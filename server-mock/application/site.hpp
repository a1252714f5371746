/// One world at its address: API, control, pages; each answer numbered, journalled and logged.
///
/// A request goes: control surface, rate, fault rules, then its page or the pipeline. What waits - a claim for its
/// event, a call that a fault holds up, the clock on its way, who watches the journal - leaves a ticket and is put
/// again. Paths come here without the prefix that sandboxes have (`/_s/ID`).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server-mock/application/fault_effects.hpp"
#include "server-mock/control/control.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/journal/journal_file.hpp"
#include "server-mock/pages/device_page.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

enum class LogStyle { text, json, off };

/// What all worlds of the process have in common.
struct Household {
  Control control;
  JournalFile journal_file = {};
  LogStyle log = LogStyle::off;  ///< to standard error, one line a request
  pages::Approval approval;      ///< of device logins
  Pipeline pipeline = {};
};

class Site {
 public:
  /// `household` and `worlds` outlive it; `worlds` is null within a sandbox. Tickets begin with `first_ticket`.
  Site(Household& household, Worlds* worlds, std::unique_ptr<Sandbox> sandbox, std::uint64_t first_ticket);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  Sandbox& sandbox() { return *sandbox_; }
  const Sandbox& sandbox() const { return *sandbox_; }
  bool has_waiting() const { return !waiting_.empty(); }
  /// Who waits is answered as soon as tickets are taken again; uploads under way take no more.
  void end();

  // As `http::Handler` has them.
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head);
  http::Response handle(const http::Request& request);
  http::Response refuse(const http::Unreadable& why);
  /// The answer to who may not come in; journalled, but for control calls.
  http::Response turn_away(const http::Request& request, const Refusal& refusal);
  http::Response again(std::uint64_t ticket, const http::Request& request, http::Patience patience);
  void forget(std::uint64_t ticket);
  void take_ready(std::vector<std::uint64_t>& tickets);
  std::optional<std::chrono::milliseconds> next_ready();

 private:
  using Steady = std::chrono::steady_clock;
  /// A request on its way through.
  struct Begun {
    std::string request_id = {};
    std::int64_t time = 0;
    Steady::time_point start = {};
    bool is_over = false;  // it has waited long enough
    std::shared_ptr<const FaultRule> fault = {};
    std::optional<WaitingRoom::Ticket> guest = {};                        // in the waiting room
    std::unique_ptr<std::pair<std::string, std::string>> in_flight = {};  // the key that it occupies meanwhile
    bool watches = false;                                                 // the journal
  };

  http::Response handle_control(std::uint64_t ticket,
                                const http::Request& request,
                                Begun&& begun,
                                http::Patience patience);
  http::Response advance_on(std::uint64_t ticket, http::Patience patience);
  http::Response go_on(std::uint64_t ticket, const http::Request& request, Begun&& begun, http::Patience patience);
  http::Response hold(const http::Request& request, Begun&& begun);
  void release(Begun& begun);
  void take_watchers(std::vector<std::uint64_t>& tickets);

  std::optional<Refusal> over_the_rate(const http::Request& request);
  std::shared_ptr<const FaultRule> find_fault(const http::Request& request);
  std::string_view operation_of(const http::Request& request, http::Pairs& values) const;
  Reply answer(const http::Request& request, const Begun& begun);
  Reply answer_disturbed(const http::Request& request, const Begun& begun);
  Reply undisturbed(const http::Request& request, std::string_view request_id);
  Reply undone(const http::Request& request, std::string_view request_id);
  http::Response finish(const http::Request& request, Reply&& reply, const Begun& begun);
  enum class Kind { usual, control };
  std::string next_request_id(const http::Request* request, Kind kind);
  void log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const;

  Household& household_;
  Worlds* worlds_;
  std::unique_ptr<Sandbox> sandbox_;
  std::uint64_t next_ticket_;
  std::uint64_t control_requests_ = 0;
  std::map<std::uint64_t, Begun> waiting_ = {};                               // by ticket
  std::multimap<Steady::time_point, std::uint64_t> held_ = {};                // by a fault, until then
  std::multimap<Steady::time_point, std::uint64_t> watchers_ = {};            // of the journal, until then
  std::uint64_t watched_to_ = 0;                                              // of the journal, by all of them
  std::optional<std::uint64_t> advancing_ = {};                               // the ticket of who moves the clock
  std::shared_ptr<const bool> is_open_ = std::make_shared<const bool>(true);  // uploads under way look at it
};

}  // namespace ws::mock
