/// Runs work in a child process that is killed or halted before its n-th call that changes the disk or reaches the
/// service.
///
/// This program defines the calls itself (open, write, rename, fsync, ...), so calls of the engine, SQLite and libgit2
/// are all intercepted. They are counted only in a child process started here.
#pragma once

#include <cstdint>
#include <functional>

#include "api-client/http/transport.hpp"

namespace ws::property {

/// How the child ended.
enum class ChildEnd { killed, finished };

using Ask = std::function<http::Response(const http::Request&)>;

/// Runs `work` in a child process, which gets a SIGKILL before its `step`-th change, counted from 1. The service stays
/// in this process: `work` gets a function to call it, and each request counts as two steps, one before and one after
/// the service has processed it.
ChildEnd run_and_kill(std::uint64_t step, const Ask& service, const std::function<void(Ask ask)>& work);

enum class Then { dies, goes_on };
/// The same, but at that step the child waits while `meanwhile` runs here and decides how the child continues.
ChildEnd run_and_halt(std::uint64_t step,
                      const Ask& service,
                      const std::function<void(Ask ask)>& work,
                      const std::function<Then()>& meanwhile);

}  // namespace ws::property
