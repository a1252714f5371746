/// A process that dies, or waits, at a step of its own: before the n-th call that changes the disk or reaches the
/// service.
///
/// The calls are caught where this program defines them itself (open, write, rename, fsync, ...), so that the engine,
/// SQLite and libgit2 are all seen. Nothing is counted but in a child that was made here.
#pragma once

#include <cstdint>
#include <functional>

#include "api-client/http/transport.hpp"

namespace ws::property {

/// How the child ended.
enum class Death { killed, finished };

using Ask = std::function<http::Response(const http::Request&)>;

/// Runs `work` in a child of this process, which gets a SIGKILL before its `step`-th change, counted from 1. The
/// service stays here: `work` gets a way to ask it, and each request counts as two steps, one before and one after the
/// service knows of it.
Death run_and_kill(std::uint64_t step, const Ask& service, const std::function<void(Ask ask)>& work);

enum class Then { dies, goes_on };
/// The same, but before that step the child waits while `meanwhile` runs here, which says what becomes of it then.
Death run_and_halt(std::uint64_t step,
                   const Ask& service,
                   const std::function<void(Ask ask)>& work,
                   const std::function<Then()>& meanwhile);

}  // namespace ws::property
