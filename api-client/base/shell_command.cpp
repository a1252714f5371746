#include "api-client/base/shell_command.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/invisible.hpp"
#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

bool is_ascii_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr std::string_view bare_signs = "._-/+@,:%";

/// Whether no shell gives a special meaning to the text's characters; `~` is special only at the start of a word, `=`
/// only there and in zsh.
bool needs_no_quotes(std::string_view text) {
  if (text.empty() || text.front() == '%') return false;
  return std::ranges::all_of(text, [](char c) {
    return is_ascii_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           bare_signs.find(c) != std::string_view::npos;
  });
}

bool needs_escapes(std::string_view text) {
  if (!utf8::is_valid(text)) return true;
  bool found = false;
  utf8::for_each(text, [&found](char32_t c) {
    found = found || c == U'`' || c == U'\\' || utf8::is_control(c) || utf8::is_hidden(c);
  });
  return found;
}

/// Writes every byte that is not plain as three octal digits: `$'a\140b'`.
std::string escaped(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    if (is_ascii_letter_or_digit(c) || std::string_view(" ._-/+@,:%=#").find(c) != std::string_view::npos) {
      word += c;
    } else {
      word += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return word + "'";
}

bool begins_as_flag(std::string_view text) { return text.starts_with('-'); }

}  // namespace

std::string shell_word(std::string_view text) {
  if (needs_escapes(text)) return escaped(text);
  if (needs_no_quotes(text)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

ShellCommand& ShellCommand::add(std::initializer_list<Part> parts) {
  std::string flag;
  for (const Part& part : parts) {
    if (part.fixed_ && part.text_.ends_with('=')) {
      flag = part.text_.substr(0, part.text_.size() - 1);
    } else if (part.fixed_) {
      words_.push_back({.shown = std::string(part.text_)});
    } else if (!flag.empty()) {
      words_.push_back({.shown = flag + (begins_as_flag(part.text_) ? "=" : " ") + shell_word(part.text_)});
      flag.clear();
    } else {
      words_.push_back({.shown = shell_word(part.text_), .is_value = true, .is_dashed = begins_as_flag(part.text_)});
    }
  }
  return *this;
}

ShellCommand& ShellCommand::words(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words_.push_back({.shown = shell_word(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return *this;
}

ShellCommand& ShellCommand::path(std::string_view path) {
  words_.push_back({.shown = shell_word(begins_as_flag(path) ? "./" + std::string(path) : std::string(path))});
  return *this;
}

std::string ShellCommand::text() const {
  const bool values_last = std::ranges::any_of(words_, &Word::is_dashed);
  std::string line;
  std::string values;
  for (const Word& word : words_) {
    std::string& to = values_last && word.is_value ? values : line;
    to += (to.empty() ? "" : " ") + word.shown;
  }
  return values_last ? line + " -- " + values : line;
}

}  // namespace ws
