/// The standard streams: whether they are terminals, their width and colour, and the only functions that write to them.
///
/// What is written for people is cleaned here, whoever wrote it: no control character gets to a terminal or a log but
/// newlines, tabs, and the sequences that this program paints with.
///
/// Each stream's state is decided by itself: stdout may be a pipe while stderr is a terminal. Colour: `--color`, then
/// NO_COLOR, then CLICOLOR_FORCE, then a terminal that is not TERM=dumb.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/base/environment.hpp"

namespace ws::cli {

enum class Stream { out, err };
enum class ColorChoice { automatic, always, never };

/// The role of a piece of text; `Terminal::paint` maps roles to colours.
enum class Look { plain, strong, faint, good, warning, bad, emphasis, struck, code, link, match, mine, theirs };

/// An escape sequence of ours. Only a literal becomes one, so that no text from outside is ever written as one.
class Sequence {
 public:
  template <std::size_t size>
  consteval Sequence(const char (&literal)[size])  // NOLINT(google-explicit-constructor): the literal is one
      : text_(literal, size - 1) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

enum class Controls {
  clean,  ///< removed: the text is for a terminal or a log
  keep,   ///< unchanged: for a file or a program
};

struct TerminalState {
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int columns = 80;
  int rows = 24;
};

class Terminal {
 public:
  /// Asks the system about descriptors 0, 1, 2 and the width (COLUMNS first).
  static Terminal detect(const Environment& environment);
  Terminal(TerminalState state, const Environment& environment);
  virtual ~Terminal() = default;

  void set_color(ColorChoice choice) { color_ = choice; }
  /// `--plain`: no colour, nothing that moves or is taken back, no cell cut to the width.
  void set_plain();
  bool is_plain() const { return plain_; }
  /// `--quiet`: no progress unless it is asked for by name.
  void set_quiet() { quiet_ = true; }
  bool is_quiet() const { return quiet_; }
  void forbid_questions() { questions_ = false; }

  bool is_terminal(Stream stream) const;
  bool has_color(Stream stream) const;
  int columns() const { return state_.columns; }
  int rows() const { return state_.rows; }
  /// The screen of stderr as it is now; if the system does not report it, as it was at the start.
  struct Size {
    int columns = 80;
    int rows = 24;
  };
  Size size_now() const;
  /// Questions are asked only where a person can see and answer them, and neither CI nor --no-input forbids it.
  bool may_ask() const { return questions_ && state_.in_is_terminal && state_.err_is_terminal; }
  /// `text` in `look`, where the stream has colour: to be written by `write` or `rendered`.
  std::string paint(Stream stream, Look look, std::string_view text) const;
  /// The sequence as part of a text, marked by what nobody outside can know.
  std::string marked(Sequence sequence) const;
  /// The bytes of a text: its marked sequences, and the rest as `controls` says.
  std::string rendered(std::string_view text, Controls controls) const;

  /// All of it; cleaned, unless it is data: what a program or a file gets from stdout. A stdout that takes no more (a
  /// full disk) ends the program with 14, and with what `on_write_error` makes of the reason on stderr. A reader that
  /// went away ends it silently with 141, unless `on_write_error` has to tell something all the same.
  void write(Stream stream, std::string_view text);
  /// `erase` is called before the next write: a line of progress gives way to whatever comes. Empty: nothing is shown.
  void set_transient(std::function<void()> erase) { erase_transient_ = std::move(erase); }
  enum class WriteError { failed, reader_gone };
  /// `tell`: the text for stderr, or empty where a reader that went away needs none.
  using TellWriteError = std::function<std::string(std::string what, WriteError error)>;
  void on_write_error(TellWriteError tell) { tell_write_error_ = std::move(tell); }
  /// Asks on stderr and reads one line of stdin; empty at its end.
  virtual std::string ask(std::string_view question);
  /// The same, but empty at the end of stdin and where a signal came.
  virtual std::optional<std::string> ask_line(std::string_view question);

 protected:
  virtual void put(Stream stream, std::string_view bytes);

 private:
  TerminalState state_;
  std::function<void()> erase_transient_ = {};
  std::string mark_;  ///< before and after each sequence of ours; random
  ColorChoice color_ = ColorChoice::automatic;
  bool forced_color_ = false;
  bool no_color_ = false;
  bool questions_ = true;
  bool plain_ = false;
  bool quiet_ = false;
  TellWriteError tell_write_error_;
};

}  // namespace ws::cli
