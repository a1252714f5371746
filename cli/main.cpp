// `ws`: sets up signals, environment and terminal, runs the command, and reports exceptions that nothing else caught.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/app.hpp"

namespace {

std::atomic<bool> cancelled{false};
std::atomic<int> signal_number{0};
std::atomic<bool> in_own_time{false};
std::atomic<bool> tells_second{false};
std::atomic<bool> has_second{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

/// Time for a command to report an unknown outcome and to clean up after a signal.
constexpr unsigned seconds_to_end = 1;
constexpr int exit_of_signals = 128;

/// The first signal asks everything under way to end, and ends what does not listen (a long computation, a read or
/// write that blocks); the second one kills. Nothing that we write needs more than a kill leaves.
void on_signal(int number) {
  signal_number.store(number);
  has_second.store(cancelled.exchange(true));
  if (has_second.load() || !tells_second.load()) std::signal(number, SIG_DFL);
  if (!in_own_time.load()) ::alarm(seconds_to_end);
}

/// A page of a mapped file that has no place on a full disk: SQLite maps files, and what it had begun is undone by the
/// next run, as after a kill.
void on_bus_error(int) {
  constexpr std::string_view text = "error: a file cannot be written or read: the disk is full, or it is failing\n";
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  ::_exit(ws::cli::number(ws::cli::ExitCode::local));
}

void on_alarm(int) { ::_exit(exit_of_signals + signal_number.load()); }

void end_in_own_time(ws::cli::SecondSignal second) {
  tells_second.store(second == ws::cli::SecondSignal::is_told);
  in_own_time.store(true);
}
bool has_caught_second() { return has_second.load(); }

int caught_signal() { return signal_number.load(); }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);  // no SA_RESTART: a blocking read of the terminal returns
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGALRM, on_alarm);
  std::signal(SIGBUS, on_bus_error);
  std::signal(SIGPIPE, SIG_IGN);  // writes report EPIPE instead
  std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f`, writes report EFBIG instead
  std::signal(SIGCHLD, SIG_DFL);  // if inherited as ignored, waitpid(2) would report no exit codes
}

/// Opens /dev/null in place of standard streams that are closed, so that no file we open gets their numbers. It is
/// opened the wrong way round: reading stdin or writing stdout then fails, as it does on a closed stream.
void take_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace

int main(int count, char** values) {
  take_closed_streams();
  catch_signals();
  const auto environment = ws::cli::Environment::read();
  auto terminal = ws::cli::Terminal::detect(environment);
  try {
    const ws::SystemClock clock;
    ws::SystemRandom random;
    const ws::cli::World world{
        environment, terminal, clock, random, cancelled, caught_signal, end_in_own_time, has_caught_second};
    const std::vector<std::string> arguments(values + 1, values + count);
    return ws::cli::number(ws::cli::run(world, arguments));
  } catch (const std::exception& bug) {
    terminal.write(ws::cli::Stream::err, std::string("error: ws failed unexpectedly: ") + bug.what() + "\n");
    return ws::cli::number(ws::cli::ExitCode::unexpected);
  }
}
