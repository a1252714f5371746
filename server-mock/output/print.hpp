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

/// Wraps a text at its blanks; all lines but the first are indented, and none has more than `columns` behind that.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// Prepares the process: its three streams exist, and a reader that is gone is no signal. Call it first.
void prepare_output();

/// Writes a result to standard output; blocks while the reader is slow. `end_output` reports a failed write.
void print(const TerminalText& text);
/// Writes one line to standard output at once and never blocks: the address of a server.
void announce(const TerminalText& line);
/// Writes a line of the log, or a message, to standard error; never blocks and never fails.
void tell(const TerminalText& line);
/// The same without the end of the line.
void tell_part(const TerminalText& text);

/// Flushes what is left. Returns whether everything was written; if not, errno has the reason.
bool end_output();

}  // namespace ws::mock
