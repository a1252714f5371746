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

/// Before the `count`-th change, counted from 1; or before the change that follows the `count`-th file that was put in
/// its place, where what is on the disk and what is recorded of it can differ.
struct Moment {
  std::uint64_t count = 1;
  bool after_places = false;
};

/// Runs `work` in a child process, which gets a SIGKILL at that moment. The service stays in this process: `work` gets
/// a function to call it, and each request counts as two changes, one before and one after the service has processed
/// it.
ChildEnd run_and_kill(const Moment& moment, const Ask& service, const std::function<void(Ask ask)>& work);

enum class Then { dies, goes_on };
/// The same, but at that step the child waits while `meanwhile` runs here and decides how the child continues.
ChildEnd run_and_halt(std::uint64_t step,
                      const Ask& service,
                      const std::function<void(Ask ask)>& work,
                      const std::function<Then()>& meanwhile);

}  // namespace ws::property
