/// The one way to standard output and standard error: what is written was cleaned (`TerminalText`).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api-client/base/clean.hpp"
#include "api-client/base/json.hpp"

namespace ws::mock {

/// Text that is safe for a terminal: names, contents of files, requests and output of other programs are cleaned when
/// they become one. Only the sequences that `styled` and `control` add are written as they are.
class TerminalText {
 public:
  TerminalText() = default;
  TerminalText(std::string_view text) : bytes_(clean(text, Breaks::keep)) {}
  TerminalText(const std::string& text) : TerminalText(std::string_view(text)) {}
  TerminalText(const char* text) : TerminalText(std::string_view(text)) {}
  /// `code` is what selects a graphic rendition: "1;31".
  static TerminalText styled(std::string_view text, std::string_view code);
  /// JSON that stands for the same values and holds no character that acts on a terminal.
  static TerminalText json(std::string_view json);
  /// A sequence of this program.
  static TerminalText control(std::string sequence) { return TerminalText(Raw(), std::move(sequence)); }

  TerminalText& operator+=(const TerminalText& more) {
    bytes_ += more.bytes_;
    return *this;
  }
  friend TerminalText operator+(TerminalText first, const TerminalText& second) { return std::move(first += second); }
  const std::string& bytes() const { return bytes_; }

 private:
  struct Raw {};
  TerminalText(Raw /*unused*/, std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_ = {};
};

/// Prepares the process: its three streams exist, and a reader that is gone is no signal. Call it first.
void prepare_output();

/// A result on standard output. It waits for its reader; what cannot be written is told by `end_output`.
void print(const TerminalText& text);
/// One line on standard output, at once and without waiting: the address of a server.
void announce(const TerminalText& line);
/// A line of the log, or a message, on standard error: never waits and never fails.
void tell(const TerminalText& line);
/// The same without the end of the line.
void tell_part(const TerminalText& text);

/// Hands over what is left. Returns whether all of what was printed has arrived; else errno tells why not.
bool end_output();

}  // namespace ws::mock
