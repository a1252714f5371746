/// Asio's types with an executor fixed at compile time. Only for `server.cpp` and `tls_channel.*`.
#pragma once

#include <chrono>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace ws::mock::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Executor = asio::io_context::executor_type;
// TCP or Unix socket, chosen at run time.
using Stream = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Stream, Executor>;
using Acceptor = asio::basic_socket_acceptor<Stream, Executor>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;
template <class T>
using Awaitable = asio::awaitable<T, Executor>;
// Errors are values: an error ends a session and is no exception.
inline constexpr auto as_values = asio::as_tuple(asio::use_awaitable_t<Executor>{});

}  // namespace ws::mock::http
