/// Lines for a log, a journal or a recording, which never decide the life of the program.
///
/// Writing never waits and never fails: what a file, pipe or terminal does not take at once is kept up to a bound and
/// handed over by a thread of its own. Lines that are lost are counted. The process has to ignore SIGPIPE.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "api-client/base/result.hpp"

namespace ws::mock {

class LineOutput {
 public:
  /// What a lost line means for those behind it.
  enum class Gaps {
    allowed,  ///< each line stands for itself: a reader that comes back gets the next ones
    none,     ///< nothing is written behind a gap
  };
  /// Called once, with the reason, when the first line is lost.
  using OnLoss = std::function<void(const std::string& reason)>;

  /// Writes nothing.
  LineOutput() = default;
  /// A stream that the process was started with. `name` is that of its lines in `lost_lines`.
  static LineOutput of_stream(int file, std::string name);
  /// Appends to a file, or begins it anew; creates it with mode 0600. A named pipe needs no reader yet. Fails with
  /// `disk`.
  enum class Begin { anew, append };
  static Result<LineOutput> open(const std::string& path, Begin begin, Gaps gaps, std::string name, OnLoss on_loss);
  LineOutput(LineOutput&&) noexcept = default;
  LineOutput& operator=(LineOutput&&) noexcept;
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;
  /// As `finish`.
  ~LineOutput();

  bool is_open() const { return state_ != nullptr; }
  /// Text of whole lines. May be called from any thread.
  void write(std::string_view lines) const;
  /// Writes nothing more, and counts what comes as lost.
  void stop(const std::string& reason) const;
  /// Waits a moment for a slow reader.
  void finish() const;

 private:
  struct State;
  explicit LineOutput(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_ = {};
};

/// A thread that takes none of the signals that another one waits for.
std::thread start_without_signals(std::function<void()> work);

/// The lines that were lost since the start, by the name of their output; those that lost none are left out.
std::map<std::string, std::uint64_t> lost_lines();

}  // namespace ws::mock
