#include "server-mock/application/child_process.hpp"

namespace ws::mock {
namespace {

sigset_t handled_signals() {
  sigset_t all;
  ::sigemptyset(&all);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&all, signal);
  return all;
}

}  // namespace

ChildProcess::ChildProcess(http::Server& server) : server_(server) {
  const sigset_t handled = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &handled, &before_);
}

ChildProcess::~ChildProcess() {
  if (waiter_.joinable()) waiter_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Result<void> ChildProcess::start(const std::vector<std::string>& command) {
  WS_LET(process_, Process::start(command));
  waiter_ = std::thread([this] { forward_signals(); });
  return {};
}

void ChildProcess::forward_signals() {
  const sigset_t handled = handled_signals();
  while (true) {
    if (const std::optional<int> exit = process_->poll()) {
      exit_ = *exit;
      has_ended_ = true;
      server_.stop();
      return;
    }
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&handled, &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    // The terminal sends Ctrl-C to the whole foreground process group, so the command has already received it.
    if (info.si_code == SI_KERNEL) continue;
    process_->signal(signal);
  }
}

int ChildProcess::wait() {
  if (!has_ended_) process_->signal(SIGTERM);
  waiter_.join();
  return exit_;
}

}  // namespace ws::mock
