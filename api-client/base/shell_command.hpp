/// A command for people to paste into a shell: the only way that one gets into a hint, a note or a report.
///
///     fail(kind, what, "run " + ShellCommand{"ws", "docs", "get", id}.ticked());   // run `ws docs get 'a b'`
///
/// What the source spells out stands as it is; every value is one word for the shell, whatever it holds. A test reads
/// all sources and fails on a command in backticks that is put together in another way.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ws {

/// `text` as one word for bash, zsh and fish. Control and invisible characters, backslashes and backticks become octal
/// escapes in `$'...'`: nothing of it acts on a terminal, nor ends the backticks around a command. A shell that does
/// not know that form (fish, dash) refuses the word or takes it for another name, and runs nothing.
std::string shell_word(std::string_view text);

class ShellCommand {
 public:
  class Part {
   public:
    /// Text of the source: a word, a flag, or `--flag=` for the value that comes next.
    template <std::size_t size>
    consteval Part(const char (&text)[size]) : text_(text, size - 1), fixed_(true) {}
    Part(const std::string& value) : text_(value) {}
    Part(std::string_view value) : text_(value) {}

   private:
    friend class ShellCommand;
    std::string_view text_;
    bool fixed_ = false;
  };

  ShellCommand(std::initializer_list<Part> parts) { add(parts); }

  ShellCommand& add(std::initializer_list<Part> parts);
  ShellCommand& words(std::string_view text);  ///< words apart by blanks: "docs list" of the operation table
  ShellCommand& path(std::string_view path);   ///< one that begins with `-` gets `./` before it

  /// Without backticks, for a line of its own. A value that begins with `-` is no flag: the value of a flag hangs on it
  /// by `=`, other values come last, behind `--`.
  std::string text() const;
  std::string ticked() const { return "`" + text() + "`"; }

  bool operator==(const ShellCommand&) const = default;

 private:
  struct Word {
    std::string shown = {};  ///< quoted, its flag before it
    bool is_value = false;   ///< no flag names it
    bool is_dashed = false;  ///< such a value that begins with `-`
    bool operator==(const Word&) const = default;
  };
  std::vector<Word> words_;
};

}  // namespace ws
