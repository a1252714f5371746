#include "server-mock/http/server/server.hpp"

#include <cstdint>
#include <list>
#include <unordered_map>

#include <arpa/inet.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api-client/base/result.hpp"
#include "server-mock/http/server/delivery.hpp"
#include "server-mock/http/tls/asio_types.hpp"
#include "server-mock/http/tls/tls_channel.hpp"

namespace ws::mock::http {
namespace {

// The listening socket: a TCP port or a Unix socket.

using Unix = asio::local::stream_protocol;

constexpr int backlog = 4096;

/// Each client needs a file descriptor: 2,000 pending claims and more must fit.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Removes the file of a Unix socket if no process listens on it any more.
void remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  asio::io_context context(1);
  ErrorCode error;
  Unix::socket probe(context);
  probe.connect(Unix::endpoint(path), error);
  if (error == asio::error::connection_refused) ::unlink(path.c_str());
}

void open_unix(Acceptor& acceptor, const std::string& path, ErrorCode& error) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    error = asio::error::name_too_long;
    return;
  }
  remove_stale(path);
  const Unix::endpoint endpoint(path);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.bind(endpoint, error);
  // Before any client can connect.
  if (!error) ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
}

void open_tcp(Acceptor& acceptor, const Address& address, ErrorCode& error) {
  const auto host = asio::ip::make_address(address.host, error);
  if (error) return;
  const tcp::endpoint endpoint(host, address.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
}

/// Binds and listens. A Unix socket gets mode 0600; a socket file left by a dead process is replaced. Raises the limit
/// of open files of this process, since each client needs one. Fails with `unreachable`, naming the address.
Result<void> open_listener(Acceptor& acceptor, const Address& address) {
  raise_file_limit();
  ErrorCode error;
  if (address.unix_path.empty()) {
    open_tcp(acceptor, address, error);
  } else {
    open_unix(acceptor, address.unix_path, error);
  }
  if (!error) acceptor.listen(backlog, error);
  if (!error) return {};
  const std::string where =
      address.unix_path.empty() ? fmt::format("{}:{}", address.host, address.port) : address.unix_path;
  return fail(Failure::Kind::unreachable, fmt::format("cannot listen on {}: {}", where, error.message()));
}

/// Stops accepting and removes the file of a Unix socket.
void close_listener(Acceptor& acceptor, const Address& address) {
  ErrorCode ignored;
  const bool is_open = acceptor.is_open();
  acceptor.close(ignored);
  if (is_open && !address.unix_path.empty()) ::unlink(address.unix_path.c_str());
}

/// The TCP port; 0 for a Unix socket.
std::uint16_t port_of(const Acceptor& acceptor) {
  ErrorCode error;
  const auto endpoint = acceptor.local_endpoint(error);
  if (error) return 0;
  const sockaddr* address = endpoint.data();
  if (address->sa_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
  if (address->sa_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(address)->sin6_port);
  return 0;
}

/// What the sweep idle_checks at. It counts sweeps, so that no request has to read the clock.
struct Session {
  explicit Session(Socket connected, Handler& handler, const Limits& limits, Budget& budget)
      : socket(std::move(connected)), connection(handler, limits, &budget) {}

  Socket socket;
  std::unique_ptr<TlsChannel> tls = {};  // null: plain TCP
  Connection connection;
  bool progressed = true;  // bytes were received or sent since the last sweep
  bool sending = false;
  bool shakes_hands = false;   // the TLS handshake is not complete
  Timer* pause = nullptr;      // set while a response is delayed by a fault
  std::uint64_t received = 0;  // bytes; value at the last sweep:
  std::uint64_t received_before = 0;
  int sweeps = 0;              // since the current message began, or since the client was last active
  std::uint64_t answered = 0;  // value at the last sweep
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
        next_(context_) {}

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
  Awaitable<void> refuse_plain_http(Session& session);
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
  bool resume(Session& session, MayWait may_wait);
  void work();
  Awaitable<void> watch_for_idleness();
  void wind_up();

  ServerOptions options_;
  Handler& handler_;
  Budget budget_;
  asio::io_context context_;
  Acceptor acceptor_;
  Timer sweep_;
  Timer idle_;
  Timer next_;  // when a pending request may become ready by itself
  std::optional<std::chrono::steady_clock::time_point> next_at_ = {};
  std::optional<TlsSettings> tls_ = {};
  std::list<Session> sessions_;
  std::unordered_map<std::uint64_t, Session*> waiting_;  // by ticket
  bool stopping_ = false;
  bool watching_ = false;
  bool active_ = false;  // bytes were received since the last check
};

/// How long current requests may take after a stop.
constexpr std::chrono::milliseconds grace{2000};
/// A streamed body counts as stalled if it gains less than this between two sweeps.
constexpr std::uint64_t stream_bytes = 4096;
/// After the last response the client's remaining bytes are read up to this limit, in pieces of this size.
constexpr std::uint64_t drain_bytes = std::uint64_t{256} << 20U;
constexpr std::chrono::milliseconds close_notify_wait{200};  // for TLS close_notify
constexpr int idle_checks = 4;                               // checks within the time after which an idle server stops
constexpr std::size_t scrap_bytes = std::size_t{16} << 10U;

Result<void> Server::State::open() {
  WS_TRY(open_listener(acceptor_, options_.listen));
  if (options_.tls) {
    WS_LET(TlsSettings tls, TlsSettings::make(*options_.tls));
    tls_.emplace(std::move(tls));
  }
  return {};
}

void Server::State::run() {
  asio::co_spawn(context_, accept(), asio::detached);
  if (options_.idle_exit.count() > 0) asio::co_spawn(context_, watch_for_idleness(), asio::detached);
  work();
  context_.run();
}

/// Behind what is ready already, so that a request waits for one piece of work at most.
void Server::State::work() {
  if (stopping_ || !handler_.work()) return;
  asio::post(context_, [this] { work(); });
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
      // Out of descriptors or memory: accept again when a session has ended.
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
  Connection& connection = session->connection;
  bool connected = true;
  if (session->tls) {
    session->shakes_hands = true;
    const ErrorCode error = co_await session->tls->shake_hands();
    connected = !error;
    session->shakes_hands = !connected;
    if (TlsChannel::is_plain_http(error)) co_await refuse_plain_http(*session);
  }
  while (connected) {
    note(*session);
    const Connection::Step step = connection.step();
    if (step == Connection::Step::end || step == Connection::Step::hang) break;
    if (step == Connection::Step::pause) {
      co_await pause(*session);
      connection.waited();
    } else if (session->tls && step == Connection::Step::read) {
      connected = co_await read_tls(*session);
    } else if (session->tls) {
      connected = co_await send_tls(*session);
    } else if (step == Connection::Step::read) {
      const std::span<char> room = connection.room();
      const auto [error, count] =
          co_await session->socket.async_read_some(asio::buffer(room.data(), room.size()), as_values);
      connected = received(*session, error, count);
    } else {
      session->sending = true;
      const auto [error, count] =
          co_await asio::async_write(session->socket, asio::buffer(connection.output()), as_values);
      connected = sent(*session, error);
    }
  }
  leave(*session);
  co_await end(*session);
  sessions_.erase(session);
  if (sessions_.empty()) sweep_.cancel();
}

/// Returns false if the client has disconnected.
bool Server::State::received(Session& session, const ErrorCode& error, std::size_t count) {
  session.progressed = true;
  active_ = true;
  if (!error) {
    session.received += count;
    session.connection.received(count);
    return true;
  }
  // The read was cancelled: a pending request was answered, or the server stops.
  return error == asio::error::operation_aborted && session.connection.step() != Connection::Step::read;
}

bool Server::State::sent(Session& session, const ErrorCode& error) {
  session.sending = false;
  session.progressed = true;
  if (!error) session.connection.sent();
  return !error;
}

/// Answers without TLS, so that the client shows what is wrong.
Awaitable<void> Server::State::refuse_plain_http(Session& session) {
  constexpr MalformedRequest not_tls = {
      400, "invalid_request", "This port speaks TLS: use https:// instead of http://"};
  const Response response = handler_.refuse(not_tls);
  std::string answer;
  append_head(answer, response, Keep::no);
  answer += response.text();
  co_await asio::async_write(session.socket, asio::buffer(answer), as_values);
}

Awaitable<bool> Server::State::read_tls(Session& session) {
  const TlsChannel::Moved moved = co_await session.tls->read(session.connection.room());
  co_return received(session, moved.error, moved.count);
}

Awaitable<bool> Server::State::send_tls(Session& session) {
  session.sending = true;
  const ErrorCode error = co_await session.tls->write(session.connection.output());
  co_return sent(session, error);
}

Awaitable<void> Server::State::pause(Session& session) {
  Timer timer(context_, session.connection.pause());
  session.pause = &timer;
  co_await timer.async_wait(as_values);
  session.pause = nullptr;
}

Awaitable<void> Server::State::end(Session& session) {
  ErrorCode ignored;
  if (session.connection.resets()) {
    session.socket.set_option(asio::socket_base::linger(true, 0), ignored);
    session.socket.close(ignored);
    co_return;
  }
  const bool hangs = session.connection.step() == Connection::Step::hang;
  // No close_notify after a truncated response: the client would take it for complete.
  if (!hangs && session.tls && !session.shakes_hands && !session.connection.breaks_off()) {
    co_await session.tls->say_goodbye(stopping_ ? close_notify_wait / 4 : close_notify_wait);
  }
  if (!hangs) session.socket.shutdown(Socket::shutdown_send, ignored);
  const bool says_more = hangs || session.shakes_hands || session.connection.is_over();
  if (says_more && !stopping_) co_await drain(session);
}

/// Reads for a while what the client still sends: closing with unread bytes would reset the connection, and the client
/// might never see the response (RFC 9112, 9.6). A separate coroutine, since its frame would enlarge every session.
Awaitable<void> Server::State::drain(Session& session) {
  std::vector<char> scrap(scrap_bytes);
  for (std::uint64_t rest = drain_bytes; rest > 0 || session.connection.takes_its_time();) {
    const auto [error, count] = co_await session.socket.async_read_some(asio::buffer(scrap), as_values);
    if (error) break;
    rest -= std::min<std::uint64_t>(rest, count);
  }
}

/// Called after each step of a session: its request may have become pending, and may have made others ready.
void Server::State::note(Session& session) {
  if (const auto ticket = session.connection.ticket()) waiting_.insert_or_assign(*ticket, &session);
  if (!waiting_.empty()) serve_waiting();
}

void Server::State::leave(Session& session) {
  const auto ticket = session.connection.ticket();
  if (!ticket) return;
  waiting_.erase(*ticket);
  handler_.cancel(*ticket);
}

void Server::State::serve_waiting() {
  for (auto ready = handler_.take_ready(); !ready.empty(); ready = handler_.take_ready()) {
    for (const std::uint64_t ticket : ready) {
      const auto found = waiting_.find(ticket);
      if (found == waiting_.end()) {
        handler_.cancel(ticket);
      } else {
        resume(*found->second, MayWait::yes);
      }
    }
  }
  wait_for_waiting();
}

/// Returns true if the request is answered; the session is then woken to send the response.
bool Server::State::resume(Session& session, MayWait may_wait) {
  const auto ticket = session.connection.ticket();
  if (!ticket || !session.connection.resume(may_wait)) return false;
  waiting_.erase(*ticket);
  if (const auto next = session.connection.ticket()) waiting_.insert_or_assign(*next, &session);
  ErrorCode ignored;
  if (!session.sending) session.socket.cancel(ignored);
  return true;
}

/// An early timer costs one check, so a running timer is moved only if it would fire too late.
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

/// Runs while any client is connected.
Awaitable<void> Server::State::watch() {
  // The first session is added right after this coroutine starts.
  do {
    sweep_.expires_after(stopping_ ? grace : std::min(options_.idle, options_.slow) / 4);
    const auto [interrupted] = co_await sweep_.async_wait(as_values);
    if (interrupted) continue;
    for (Session& session : sessions_) look_after(session);
  } while (!sessions_.empty());
  watching_ = false;
}

/// A message must be complete within `slow` of its beginning, unless it is an upload that makes progress. An idle
/// client may stay connected for `idle`.
void Server::State::look_after(Session& session) {
  ErrorCode ignored;
  if (session.connection.takes_its_time() && !stopping_) {
    session.sweeps = 0;
    return;
  }
  const Connection::Phase phase = session.connection.phase();
  const bool idle = phase == Connection::Phase::idle && !session.sending && !session.shakes_hands;
  const bool streamed = phase == Connection::Phase::stream &&
                        session.received - std::exchange(session.received_before, session.received) >= stream_bytes;
  const bool moved_on = session.connection.answered() != session.answered;
  session.answered = session.connection.answered();
  const bool progressed = std::exchange(session.progressed, false);
  session.sweeps = moved_on || streamed || (progressed && (idle || session.sending)) ? 0 : session.sweeps + 1;
  const auto sweep = std::min(options_.idle, options_.slow) / 4;
  if (!stopping_ && session.sweeps * sweep < (idle ? options_.idle : options_.slow)) return;
  session.sweeps = 0;
  if (stopping_ || session.connection.is_over() || session.sending || session.shakes_hands) {
    session.socket.close(ignored);
  } else {
    session.connection.timed_out();
    session.socket.cancel(ignored);
  }
}

/// Idle connections do not keep the server running; pending requests do.
Awaitable<void> Server::State::watch_for_idleness() {
  for (int quiet = 0; !stopping_;) {
    idle_.expires_after(options_.idle_exit / idle_checks);
    co_await idle_.async_wait(as_values);
    quiet = std::exchange(active_, false) || !waiting_.empty() ? 0 : quiet + 1;
    if (quiet >= idle_checks && !stopping_) wind_up();
  }
}

void Server::State::wind_up() {
  if (stopping_) return;
  stopping_ = true;
  ErrorCode ignored;
  close_listener(acceptor_, options_.listen);
  sweep_.cancel();
  idle_.cancel();
  next_.cancel();
  for (Session& session : sessions_) {
    session.connection.wind_up();
    resume(session, MayWait::no);
    if (session.pause != nullptr) session.pause->cancel();
    if (!session.sending && session.connection.step() != Connection::Step::read) session.socket.cancel(ignored);
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
