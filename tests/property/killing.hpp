/// A process that dies at a step of its own: SIGKILL before the n-th call that changes the disk or reaches the service.
///
/// The calls are caught where this program defines them itself (open, write, rename, fsync, ...), so that the engine,
/// SQLite and libgit2 are all seen. Nothing is counted but in a child that `run_and_kill` made.
#pragma once

#include <cstdint>
#include <functional>

#include "api-client/http/transport.hpp"

namespace ws::property {

/// How the child ended.
enum class Death { killed, finished };

/// Runs `work` in a child of this process, which is killed before its `step`-th change, counted from 1. The service
/// stays here: `work` gets a way to ask it, and each request counts as two steps, one before and one after the service
/// knows of it.
Death run_and_kill(std::uint64_t step,
                   const std::function<http::Response(const http::Request&)>& service,
                   const std::function<void(std::function<http::Response(const http::Request&)> ask)>& work);

}  // namespace ws::property
