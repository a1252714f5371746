#include "server-mock/http/server.hpp"

#include <charconv>
#include <csignal>
#include <list>
#include <unordered_map>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

namespace ws::mock::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Signals = asio::basic_signal_set<Executor>;
template <class T>
using Awaitable = asio::awaitable<T, Executor>;
// Failures as values: an error ends a session, it is no exception.
constexpr auto as_values = asio::as_tuple(asio::use_awaitable_t<Executor>{});

/// 2,000 waiting clients and more are files, too.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// What the sweep looks at. Nobody reads a clock for a request: the sweep counts.
struct Session {
  explicit Session(Socket connected, Handler& handler, const Limits& limits)
      : socket(std::move(connected)), conversation(handler, limits) {}

  Socket socket;
  Conversation conversation;
  bool progressed = true;  // since the last sweep: bytes came or left
  bool sending = false;
  int sweeps = 0;              // since the message under way began, or the client fell silent
  std::uint64_t answered = 0;  // at the last sweep
};

}  // namespace

class Server::State {
 public:
  State(const ServerOptions& options, Handler& handler)
      : options_(options),
        handler_(handler),
        context_(1),
        acceptor_(context_),
        sweep_(context_),
        next_(context_),
        signals_(context_) {}

  Result<void> open();
  void run();
  void stop() {
    asio::post(context_, [this] { wind_up(); });
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  const ServerOptions& options() const { return options_; }

 private:
  Awaitable<void> accept();
  Awaitable<void> serve(std::list<Session>::iterator session);
  static Awaitable<void> drain(Socket& socket);
  Awaitable<void> watch();
  void look_after(Session& session);
  void note(Session& session);
  void leave(Session& session);
  void serve_waiting();
  void wait_for_waiting();
  bool ask_again(Session& session, Patience patience);
  void wind_up();

  ServerOptions options_;
  Handler& handler_;
  asio::io_context context_;
  Acceptor acceptor_;
  Timer sweep_;
  Timer next_;  // when a request that waits may be ready by itself
  std::optional<std::chrono::steady_clock::time_point> next_at_ = {};
  Signals signals_;
  std::list<Session> sessions_;
  std::unordered_map<std::uint64_t, Session*> waiting_;  // by ticket
  bool stopping_ = false;
  bool watching_ = false;
};

/// After a stop, what is under way may take so long.
constexpr std::chrono::milliseconds grace{2000};

Result<void> Server::State::open() {
  raise_file_limit();
  const auto failed = [&](const ErrorCode& error) {
    return fail(Failure::Kind::unreachable,
                fmt::format("cannot listen on {}:{}: {}", options_.listen.host, options_.listen.port, error.message()));
  };
  ErrorCode error;
  const auto address = asio::ip::make_address(options_.listen.host, error);
  if (error) return failed(error);
  const tcp::endpoint endpoint(address, options_.listen.port);
  acceptor_.open(endpoint.protocol(), error);
  if (error) return failed(error);
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(4096, error);
  if (error) return failed(error);
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  return {};
}

void Server::State::run() {
  signals_.async_wait([this](const ErrorCode& error, int) {
    if (!error) wind_up();
  });
  asio::co_spawn(context_, accept(), asio::detached);
  context_.run();
}

Awaitable<void> Server::State::accept() {
  while (!stopping_) {
    auto [error, socket] = co_await acceptor_.async_accept(as_values);
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
    sessions_.emplace_front(std::move(socket), handler_, options_.limits);
    asio::co_spawn(context_, serve(sessions_.begin()), asio::detached);
  }
}

Awaitable<void> Server::State::serve(std::list<Session>::iterator session) {
  Socket& socket = session->socket;
  Conversation& conversation = session->conversation;
  while (true) {
    note(*session);
    if (conversation.output().empty()) {
      if (conversation.is_over()) break;
      const std::span<char> room = conversation.room();
      const auto [error, count] = co_await socket.async_read_some(asio::buffer(room.data(), room.size()), as_values);
      session->progressed = true;
      // A request that waited was answered meanwhile: the read was cut short for it.
      const bool was_called = error == asio::error::operation_aborted && !conversation.output().empty();
      if (error && !conversation.is_over() && !was_called) break;
      if (!error) conversation.received(count);
    } else {
      session->sending = true;
      const auto [error, count] = co_await asio::async_write(socket, asio::buffer(conversation.output()), as_values);
      session->sending = false;
      session->progressed = true;
      if (error) break;
      conversation.sent();
    }
  }
  leave(*session);
  ErrorCode ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  if (conversation.is_over() && !stopping_) co_await drain(socket);
  sessions_.erase(session);
  if (sessions_.empty()) sweep_.cancel();
}

/// What the client still sends is read for a moment: closing over it would reset the connection, and the client might
/// never see the answer (RFC 9112, 9.6). A coroutine of its own, since its buffer would be part of every session.
Awaitable<void> Server::State::drain(Socket& socket) {
  char scrap[4096];
  for (int rounds = 0; rounds < 256; ++rounds) {
    const auto [error, count] = co_await socket.async_read_some(asio::buffer(scrap), as_values);
    if (error) break;
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

/// A message must end within `slow` of its beginning, however its bytes trickle in; an idle client may stay `idle`.
void Server::State::look_after(Session& session) {
  ErrorCode ignored;
  if (session.conversation.ticket() && !stopping_) {
    session.sweeps = 0;  // it is the server that takes its time
    return;
  }
  const bool idle = session.conversation.phase() == Conversation::Phase::idle && !session.sending;
  const bool moved_on = session.conversation.answered() != session.answered;
  session.answered = session.conversation.answered();
  const bool progressed = std::exchange(session.progressed, false);
  session.sweeps = moved_on || (progressed && (idle || session.sending)) ? 0 : session.sweeps + 1;
  const auto sweep = std::min(options_.idle, options_.slow) / 4;
  if (!stopping_ && session.sweeps * sweep < (idle ? options_.idle : options_.slow)) return;
  session.sweeps = 0;
  if (stopping_ || session.conversation.is_over() || session.sending) {
    session.socket.close(ignored);
  } else {
    session.conversation.timed_out();
    session.socket.cancel(ignored);
  }
}

void Server::State::wind_up() {
  if (stopping_) return;
  stopping_ = true;
  ErrorCode ignored;
  acceptor_.close(ignored);
  signals_.cancel(ignored);
  sweep_.cancel();
  next_.cancel();
  for (Session& session : sessions_) {
    session.conversation.wind_up();
    ask_again(session, Patience::none);
    if (session.conversation.is_over() && !session.sending) session.socket.cancel(ignored);
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
  std::string host = state_->options().listen.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("http://{}:{}", host, port());
}

void Server::run() { state_->run(); }
void Server::stop() { state_->stop(); }

Result<Address> Address::parse(std::string_view text) {
  const auto malformed = [&] {
    return fail(Failure::Kind::invalid, fmt::format("\"{}\" is no ADDRESS:PORT", text), "say 127.0.0.1:8080");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  Address address = {.host = std::string(host)};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return malformed();
  ErrorCode unknown;
  asio::ip::make_address(address.host, unknown);
  if (unknown) return malformed();
  return address;
}

bool Address::is_loopback() const {
  ErrorCode unknown;
  const auto address = asio::ip::make_address(host, unknown);
  return !unknown && address.is_loopback();
}

}  // namespace ws::mock::http
