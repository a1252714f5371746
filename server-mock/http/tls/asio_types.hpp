/// Asio's types with one executor, which is known at compile time: for `server.cpp` and `tls_channel.*` alone.
#pragma once

#include <chrono>
#include <cstddef>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace ws::mock::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Executor = asio::io_context::executor_type;
// Of TCP or of a Unix socket: known at run time.
using Stream = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Stream, Executor>;
using Acceptor = asio::basic_socket_acceptor<Stream, Executor>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Signals = asio::basic_signal_set<Executor>;
template <class T>
using Awaitable = asio::awaitable<T, Executor>;
// Failures as values: an error ends a session, it is no exception.
inline constexpr auto as_values = asio::as_tuple(asio::use_awaitable_t<Executor>{});

}  // namespace ws::mock::http
