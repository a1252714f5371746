/// Builds a shell command that people can paste. Every command in a hint, a note or a report is made by this class.
///
///     fail(kind, what, "run " + ShellCommand{"ws", "docs", "get", id}.in_backticks());   // run `ws docs get 'a b'`
///
/// String literals in the source are used as they are; every runtime value becomes one quoted word, whatever it
/// contains. A test reads all sources and fails on a command in backticks that is built in another way.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ws {

/// Quotes `text` as one word for bash, zsh and fish. Control and invisible characters, backslashes and backticks become
/// octal escapes in `$'...'`, so no value sends control sequences to a terminal or ends the backticks around a command.
/// A shell without that syntax (fish, dash) rejects the word or passes it on literally, without running it.
std::string shell_word(std::string_view text);

class ShellCommand {
 public:
  class Part {
   public:
    /// A literal in the source: a word, a flag, or `--flag=` for the value that follows.
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
  ShellCommand& words(std::string_view text);  ///< words separated by spaces: "docs list" of the operation table
  ShellCommand& path(std::string_view path);   ///< a path that begins with `-` gets `./` in front

  /// The command without backticks, for use on its own line. A value that begins with `-` is not taken for a flag: flag
  /// values are attached with `=`, and positional values come last, after `--`.
  std::string text() const;
  std::string in_backticks() const { return "`" + text() + "`"; }

  bool operator==(const ShellCommand&) const = default;

 private:
  struct Word {
    std::string shown = {};  ///< quoted, with its flag in front
    bool is_value = false;   ///< positional, without a flag
    bool is_dashed = false;  ///< a positional value that begins with `-`
    bool operator==(const Word&) const = default;
  };
  std::vector<Word> words_;
};

}  // namespace ws
