/// The whole server behind its sockets: API, control, pages; each answer numbered, journalled and logged.
///
/// A request goes: control surface, rate, fault rules, then its page or the pipeline. What waits - a claim for its
/// event, a call that a fault holds up, the clock on its way - leaves a ticket and is put again.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/control/control.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/pipeline/fault_effects.hpp"
#include "server-mock/pipeline/journal_file.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox.hpp"

namespace ws::mock {

enum class LogStyle { text, json, off };

struct ApplicationOptions {
  SandboxOptions sandbox = {};
  ControlOptions control = {};
  LogStyle log = LogStyle::off;   ///< to standard error, one line a request
  std::string journal_file = {};  ///< what is journalled goes there too, as JSON lines; empty: nowhere
};

class Application final : public http::Handler {
 public:
  /// Fails as `Sandbox::open` does, and with `disk` where the journal's file cannot be written.
  static Result<std::unique_ptr<Application>> open(const ApplicationOptions& options);

  /// Known once the server listens; before the first request.
  void set_base_url(const std::string& url) { sandbox_->base_url = url; }
  /// What `POST /_mock/shutdown` calls.
  void on_shutdown(std::function<void()> stop) { control_.on_shutdown(std::move(stop)); }
  const Sandbox& sandbox() const { return *sandbox_; }

  std::size_t body_limit(const http::Request& head) override;
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head) override;
  http::Response handle(const http::Request& request) override;
  http::Response refuse(const http::Unreadable& why) override;
  http::Response again(std::uint64_t ticket, const http::Request& request, http::Patience patience) override;
  void forget(std::uint64_t ticket) override;
  std::vector<std::uint64_t> take_ready() override;
  std::optional<std::chrono::milliseconds> next_ready() override;

 private:
  Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox, JournalFile journal_file);
  using Steady = std::chrono::steady_clock;
  /// A request on its way through.
  struct Begun {
    std::string request_id = {};
    std::int64_t time = 0;
    Steady::time_point start = {};
    bool is_over = false;  // it has waited long enough
    std::shared_ptr<const FaultRule> fault = {};
    std::optional<WaitingRoom::Ticket> guest = {};                      // in the waiting room
    std::optional<std::pair<std::string, std::string>> in_flight = {};  // the key that it occupies meanwhile
  };

  http::Response handle_control(const http::Request& request, const std::string& request_id);
  http::Response advance_on(std::uint64_t ticket, http::Patience patience);
  http::Response go_on(std::uint64_t ticket, const http::Request& request, Begun&& begun, http::Patience patience);
  http::Response hold(const http::Request& request, Begun&& begun);
  void release(Begun& begun);

  std::optional<Refusal> over_the_rate(const http::Request& request);
  std::shared_ptr<const FaultRule> find_fault(const http::Request& request);
  std::string_view operation_of(const http::Request& request, http::Pairs& values) const;
  Reply answer(const http::Request& request, const Begun& begun);
  Reply answer_disturbed(const http::Request& request, const Begun& begun);
  Reply undisturbed(const http::Request& request, std::string_view request_id);
  Reply undone(const http::Request& request, std::string_view request_id);
  http::Response finish(const http::Request& request, Reply&& reply, const Begun& begun);
  std::string next_request_id(const http::Request* request);
  void log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const;

  std::unique_ptr<Sandbox> sandbox_;
  JournalFile journal_file_;
  std::uint64_t next_ticket_ = 1;
  std::map<std::uint64_t, Begun> waiting_ = {};                 // by ticket
  std::multimap<Steady::time_point, std::uint64_t> held_ = {};  // by a fault, until then
  std::optional<std::uint64_t> advancing_ = {};                 // the ticket of who moves the clock
  Pipeline pipeline_;
  Control control_;
  LogStyle log_;
};

}  // namespace ws::mock
