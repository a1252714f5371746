#include "server-mock/http/server/server.hpp"

#include <csignal>
#include <list>
#include <unordered_map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "server-mock/http/server/listener.hpp"
#include "server-mock/http/tls/asio_types.hpp"
#include "server-mock/http/tls/tls_channel.hpp"

namespace ws::mock::http {
namespace {

/// What the sweep looks at. Nobody reads a clock for a request: the sweep counts.
struct Session {
  explicit Session(Socket connected, Handler& handler, const Limits& limits, Budget& budget)
      : socket(std::move(connected)), conversation(handler, limits, &budget) {}

  Socket socket;
  std::unique_ptr<TlsChannel> tls = {};  // null: plain
  Conversation conversation;
  bool progressed = true;  // since the last sweep: bytes came or left
  bool sending = false;
  bool shakes_hands = false;   // still, or it came to nothing
  Timer* pause = nullptr;      // while an answer is late on purpose
  std::uint64_t received = 0;  // bytes; at the last sweep:
  std::uint64_t received_before = 0;
  int sweeps = 0;              // since the message under way began, or the client fell silent
  std::uint64_t answered = 0;  // at the last sweep
};

}  // namespace

class Server::State {
 public:
  State(const ServerOptions& options, Handler& handler)
      : options_(options),
        handler_(handler),
        budget_(options.limits.held_bytes),
        context_(1),
        acceptor_(context_),
        sweep_(context_),
        idle_(context_),
        next_(context_),
        signals_(context_) {}

  Result<void> open();
  void run();
  void stop() {
    asio::post(context_, [this] { wind_up(); });
  }
  std::uint16_t port() const { return port_of(acceptor_); }
  const ServerOptions& options() const { return options_; }

 private:
  Awaitable<void> accept();
  Awaitable<void> serve(std::list<Session>::iterator session);
  Awaitable<bool> read_tls(Session& session);
  static Awaitable<bool> send_tls(Session& session);
  bool received(Session& session, const ErrorCode& error, std::size_t count);
  static bool sent(Session& session, const ErrorCode& error);
  Awaitable<void> pause(Session& session);
  Awaitable<void> end(Session& session);
  static Awaitable<void> drain(Session& session);
  Awaitable<void> watch();
  void look_after(Session& session);
  void note(Session& session);
  void leave(Session& session);
  void serve_waiting();
  void wait_for_waiting();
  bool ask_again(Session& session, Patience patience);
  Awaitable<void> watch_for_idleness();
  void wind_up();

  ServerOptions options_;
  Handler& handler_;
  Budget budget_;
  asio::io_context context_;
  Acceptor acceptor_;
  Timer sweep_;
  Timer idle_;
  Timer next_;  // when a request that waits may be ready by itself
  std::optional<std::chrono::steady_clock::time_point> next_at_ = {};
  Signals signals_;
  std::optional<TlsSettings> tls_ = {};
  std::list<Session> sessions_;
  std::unordered_map<std::uint64_t, Session*> waiting_;  // by ticket
  bool stopping_ = false;
  bool watching_ = false;
  bool active_ = false;  // bytes came since the last look
};

/// After a stop, what is under way may take so long.
constexpr std::chrono::milliseconds grace{2000};
/// Between two sweeps a body that is taken as a stream comes on by so much, or stands still.
constexpr std::uint64_t stream_bytes = 4096;
/// After the last answer so much is still read, in pieces of so much: a whole upload.
constexpr std::uint64_t drain_bytes = std::uint64_t{256} << 20U;
constexpr std::chrono::milliseconds last_words{200};  // of TLS
constexpr int looks = 4;                              // within the time after which an idle server ends
constexpr std::size_t scrap_bytes = std::size_t{16} << 10U;

Result<void> Server::State::open() {
  WS_TRY(open_listener(acceptor_, options_.listen));
  if (options_.tls) {
    WS_LET(TlsSettings tls, TlsSettings::make(*options_.tls));
    tls_.emplace(std::move(tls));
  }
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  return {};
}

void Server::State::run() {
  signals_.async_wait([this](const ErrorCode& error, int) {
    if (!error) wind_up();
  });
  asio::co_spawn(context_, accept(), asio::detached);
  if (options_.idle_exit.count() > 0) asio::co_spawn(context_, watch_for_idleness(), asio::detached);
  context_.run();
}

Awaitable<void> Server::State::accept() {
  while (!stopping_) {
    auto [error, socket] = co_await acceptor_.async_accept(as_values);
    if (stopping_) break;
    while (!error && !stopping_ && sessions_.size() >= options_.connections) {
      Timer pause(context_, std::chrono::milliseconds{50});
      co_await pause.async_wait(as_values);
    }
    if (stopping_) break;
    if (error) {
      // Out of files or memory: those who are here finish first.
      Timer pause(context_, std::chrono::milliseconds{50});
      co_await pause.async_wait(as_values);
      continue;
    }
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (!std::exchange(watching_, true)) asio::co_spawn(context_, watch(), asio::detached);
    Session& session = sessions_.emplace_front(std::move(socket), handler_, options_.limits, budget_);
    if (tls_) session.tls = std::make_unique<TlsChannel>(session.socket, *tls_);
    asio::co_spawn(context_, serve(sessions_.begin()), asio::detached);
  }
}

Awaitable<void> Server::State::serve(std::list<Session>::iterator session) {
  Conversation& conversation = session->conversation;
  bool connected = true;
  if (session->tls) {
    session->shakes_hands = true;
    connected = !co_await session->tls->shake_hands();
    session->shakes_hands = !connected;
  }
  while (connected) {
    note(*session);
    const Conversation::Step step = conversation.step();
    if (step == Conversation::Step::end || step == Conversation::Step::hang) break;
    if (step == Conversation::Step::pause) {
      co_await pause(*session);
      conversation.waited();
    } else if (session->tls && step == Conversation::Step::read) {
      connected = co_await read_tls(*session);
    } else if (session->tls) {
      connected = co_await send_tls(*session);
    } else if (step == Conversation::Step::read) {
      const std::span<char> room = conversation.room();
      const auto [error, count] =
          co_await session->socket.async_read_some(asio::buffer(room.data(), room.size()), as_values);
      connected = received(*session, error, count);
    } else {
      session->sending = true;
      const auto [error, count] =
          co_await asio::async_write(session->socket, asio::buffer(conversation.output()), as_values);
      connected = sent(*session, error);
    }
  }
  leave(*session);
  co_await end(*session);
  sessions_.erase(session);
  if (sessions_.empty()) sweep_.cancel();
}

/// False: the client is gone.
bool Server::State::received(Session& session, const ErrorCode& error, std::size_t count) {
  session.progressed = true;
  active_ = true;
  if (!error) {
    session.received += count;
    session.conversation.received(count);
    return true;
  }
  // A request that waited was answered meanwhile, or the server stops: the read was cut short for it.
  return error == asio::error::operation_aborted && session.conversation.step() != Conversation::Step::read;
}

bool Server::State::sent(Session& session, const ErrorCode& error) {
  session.sending = false;
  session.progressed = true;
  if (!error) session.conversation.sent();
  return !error;
}

Awaitable<bool> Server::State::read_tls(Session& session) {
  const TlsChannel::Moved moved = co_await session.tls->read(session.conversation.room());
  co_return received(session, moved.error, moved.count);
}

Awaitable<bool> Server::State::send_tls(Session& session) {
  session.sending = true;
  const ErrorCode error = co_await session.tls->write(session.conversation.output());
  co_return sent(session, error);
}

Awaitable<void> Server::State::pause(Session& session) {
  Timer timer(context_, session.conversation.pause());
  session.pause = &timer;
  co_await timer.async_wait(as_values);
  session.pause = nullptr;
}

Awaitable<void> Server::State::end(Session& session) {
  ErrorCode ignored;
  if (session.conversation.resets()) {
    session.socket.set_option(asio::socket_base::linger(true, 0), ignored);
    session.socket.close(ignored);
    co_return;
  }
  const bool hangs = session.conversation.step() == Conversation::Step::hang;
  // An answer that was cut off on purpose is no orderly end: TLS would tell the client that it is.
  if (!hangs && session.tls && !session.shakes_hands && !session.conversation.breaks_off()) {
    co_await session.tls->say_goodbye(stopping_ ? last_words / 4 : last_words);
  }
  if (!hangs) session.socket.shutdown(Socket::shutdown_send, ignored);
  const bool says_more = hangs || session.shakes_hands || session.conversation.is_over();
  if (says_more && !stopping_) co_await drain(session);
}

/// What the client still sends is read for a while: closing over it would reset the connection, and the client might
/// never see the answer (RFC 9112, 9.6). A coroutine of its own, since its frame would be part of every session.
Awaitable<void> Server::State::drain(Session& session) {
  std::vector<char> scrap(scrap_bytes);
  for (std::uint64_t rest = drain_bytes; rest > 0 || session.conversation.takes_its_time();) {
    const auto [error, count] = co_await session.socket.async_read_some(asio::buffer(scrap), as_values);
    if (error) break;
    rest -= std::min<std::uint64_t>(rest, count);
  }
}

/// After each step of a session: it may wait now, and what it did may be what others wait for.
void Server::State::note(Session& session) {
  if (const auto ticket = session.conversation.ticket()) waiting_.insert_or_assign(*ticket, &session);
  if (!waiting_.empty()) serve_waiting();
}

void Server::State::leave(Session& session) {
  const auto ticket = session.conversation.ticket();
  if (!ticket) return;
  waiting_.erase(*ticket);
  handler_.forget(*ticket);
}

void Server::State::serve_waiting() {
  for (auto ready = handler_.take_ready(); !ready.empty(); ready = handler_.take_ready()) {
    for (const std::uint64_t ticket : ready) {
      const auto found = waiting_.find(ticket);
      if (found == waiting_.end()) {
        handler_.forget(ticket);
      } else {
        ask_again(*found->second, Patience::some);
      }
    }
  }
  wait_for_waiting();
}

/// True: it is answered, and the session awake to send it.
bool Server::State::ask_again(Session& session, Patience patience) {
  const auto ticket = session.conversation.ticket();
  if (!ticket || !session.conversation.ask_again(patience)) return false;
  waiting_.erase(*ticket);
  if (const auto next = session.conversation.ticket()) waiting_.insert_or_assign(*next, &session);
  ErrorCode ignored;
  if (!session.sending) session.socket.cancel(ignored);
  return true;
}

/// A timer that comes too early costs a look; so one that is set already is moved only if it would come too late.
void Server::State::wait_for_waiting() {
  const auto delay = waiting_.empty() || stopping_ ? std::nullopt : handler_.next_ready();
  if (!delay) return;
  const auto at = std::chrono::steady_clock::now() + *delay;
  if (next_at_ && *next_at_ <= at) return;
  next_at_ = at;
  next_.expires_at(at);
  next_.async_wait([this](const ErrorCode& error) {
    if (error) return;
    next_at_.reset();
    serve_waiting();
  });
}

/// Runs while somebody is connected.
Awaitable<void> Server::State::watch() {
  // The first session is put in right after the start of this.
  do {
    sweep_.expires_after(stopping_ ? grace : std::min(options_.idle, options_.slow) / 4);
    const auto [interrupted] = co_await sweep_.async_wait(as_values);
    if (interrupted) continue;
    for (Session& session : sessions_) look_after(session);
  } while (!sessions_.empty());
  watching_ = false;
}

/// A message must end within `slow` of its beginning, however its bytes trickle in, unless it is an upload that comes
/// on; an idle client may stay `idle`.
void Server::State::look_after(Session& session) {
  ErrorCode ignored;
  if (session.conversation.takes_its_time() && !stopping_) {
    session.sweeps = 0;
    return;
  }
  const Conversation::Phase phase = session.conversation.phase();
  const bool idle = phase == Conversation::Phase::idle && !session.sending && !session.shakes_hands;
  const bool streamed = phase == Conversation::Phase::stream &&
                        session.received - std::exchange(session.received_before, session.received) >= stream_bytes;
  const bool moved_on = session.conversation.answered() != session.answered;
  session.answered = session.conversation.answered();
  const bool progressed = std::exchange(session.progressed, false);
  session.sweeps = moved_on || streamed || (progressed && (idle || session.sending)) ? 0 : session.sweeps + 1;
  const auto sweep = std::min(options_.idle, options_.slow) / 4;
  if (!stopping_ && session.sweeps * sweep < (idle ? options_.idle : options_.slow)) return;
  session.sweeps = 0;
  if (stopping_ || session.conversation.is_over() || session.sending || session.shakes_hands) {
    session.socket.close(ignored);
  } else {
    session.conversation.timed_out();
    session.socket.cancel(ignored);
  }
}

/// Kept connections are no reason to stay; calls that wait are.
Awaitable<void> Server::State::watch_for_idleness() {
  for (int quiet = 0; !stopping_;) {
    idle_.expires_after(options_.idle_exit / looks);
    co_await idle_.async_wait(as_values);
    quiet = std::exchange(active_, false) || !waiting_.empty() ? 0 : quiet + 1;
    if (quiet >= looks && !stopping_) wind_up();
  }
}

void Server::State::wind_up() {
  if (stopping_) return;
  stopping_ = true;
  ErrorCode ignored;
  close_listener(acceptor_, options_.listen);
  signals_.cancel(ignored);
  sweep_.cancel();
  idle_.cancel();
  next_.cancel();
  for (Session& session : sessions_) {
    session.conversation.wind_up();
    ask_again(session, Patience::none);
    if (session.pause != nullptr) session.pause->cancel();
    if (!session.sending && session.conversation.step() != Conversation::Step::read) session.socket.cancel(ignored);
  }
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options, Handler& handler) {
  auto state = std::make_unique<State>(options, handler);
  WS_TRY(state->open());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

std::uint16_t Server::port() const { return state_->port(); }

std::string Server::base_url() const {
  return state_->options().listen.url(state_->options().tls ? "https" : "http", port());
}

void Server::run() { state_->run(); }
void Server::stop() { state_->stop(); }

}  // namespace ws::mock::http
