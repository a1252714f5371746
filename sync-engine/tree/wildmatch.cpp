#include "sync-engine/tree/wildmatch.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace ws::sync {
namespace {

using Bytes = std::bitset<256>;

unsigned char byte(char c) { return static_cast<unsigned char>(c); }

/// Adds the ASCII characters of `[:name:]`; false if there is no such class.
bool add_class(std::string_view name, Bytes& bytes) {
  using Test = int (*)(int);
  static constexpr std::array<std::pair<std::string_view, Test>, 12> classes = {{{"alnum", std::isalnum},
                                                                                 {"alpha", std::isalpha},
                                                                                 {"blank", std::isblank},
                                                                                 {"cntrl", std::iscntrl},
                                                                                 {"digit", std::isdigit},
                                                                                 {"graph", std::isgraph},
                                                                                 {"lower", std::islower},
                                                                                 {"print", std::isprint},
                                                                                 {"punct", std::ispunct},
                                                                                 {"space", std::isspace},
                                                                                 {"upper", std::isupper},
                                                                                 {"xdigit", std::isxdigit}}};
  const auto found = std::ranges::find(classes, name, &std::pair<std::string_view, Test>::first);
  if (found == classes.end()) return false;
  for (int c = 0; c < 128; ++c) {
    if (found->second(c) != 0) bytes.set(static_cast<std::size_t>(c));
  }
  return true;
}

/// What a bracket matches.
struct Bracket {
  Bytes bytes = {};
  std::size_t length = 0;  ///< of its text, both brackets included
};

class BracketReader {
 public:
  explicit BracketReader(std::string_view text) : text_(text) {}

  /// Nothing if the bracket does not end or names an unknown class: git lets such a pattern match nothing.
  std::optional<Bracket> read() {
    const bool negated = peek() == '!' || peek() == '^';
    if (negated) ++at_;
    for (bool first = true; first || peek() != ']'; first = false) {
      if (at_ >= text_.size() || !read_part()) return std::nullopt;
    }
    if (negated) bytes_.flip();
    bytes_.reset(byte('/'));
    return Bracket{bytes_, at_ + 1};
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool read_part() {
    if (peek() == '-' && from_ && peek(1) != '\0' && peek(1) != ']') return read_range();
    if (peek() == '[' && peek(1) == ':') {
      const std::size_t end = text_.find(']', at_ + 2);
      if (end == std::string_view::npos) return false;
      if (end > at_ + 2 && text_[end - 1] == ':') {
        if (!add_class(text_.substr(at_ + 2, end - at_ - 3), bytes_)) return false;
        from_.reset();
        at_ = end + 1;
        return true;
      }
    }
    from_ = take();
    if (from_) bytes_.set(byte(*from_));
    return from_.has_value();
  }

  bool read_range() {
    ++at_;
    const auto to = take();
    if (!to) return false;
    for (unsigned c = byte(*from_); c <= byte(*to); ++c) bytes_.set(c);
    from_.reset();
    return true;
  }

  /// One character, perhaps behind a backslash.
  std::optional<char> take() {
    if (peek() == '\\') ++at_;
    if (at_ >= text_.size()) return std::nullopt;
    return text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 1;
  Bytes bytes_;
  std::optional<char> from_;  // the character before, where a range may begin
};

/// Which beginnings of the path the pattern so far can match; the pattern is put to it piece by piece.
class Reached {
 public:
  explicit Reached(std::string_view path) : path_(path), ends_(path.size() + 1, '\0') { ends_[0] = 1; }

  bool nothing() const { return first_ == ends_.size(); }
  bool whole_path() const { return ends_[path_.size()] != 0; }

  /// One character that `fits`.
  template <class Fits>
  void one(Fits fits) {
    for (std::size_t at = path_.size(); at > first_; --at)
      ends_[at] = ends_[at - 1] != 0 && fits(path_[at - 1]) ? 1 : 0;
    ends_[first_] = 0;
    while (first_ < ends_.size() && ends_[first_] == 0) ++first_;
  }
  /// Any number of characters that `fit`.
  template <class Fits>
  void many(Fits fits) {
    for (std::size_t at = first_ + 1; at < ends_.size(); ++at) {
      if (ends_[at - 1] != 0 && fits(path_[at - 1])) ends_[at] = 1;
    }
  }
  /// Nothing, or any text that ends with '/'.
  void folders() {
    for (std::size_t at = first_ + 1; at < ends_.size(); ++at) {
      if (path_[at - 1] == '/') ends_[at] = 1;
    }
  }

 private:
  std::string_view path_;
  std::string ends_;  // 1 at every length that is reached
  std::size_t first_ = 0;
};

/// Takes the stars at `at`. `**` is special between slashes only; anywhere else it is `*`.
std::size_t take_stars(std::string_view pattern, std::size_t at, Reached& reached) {
  std::size_t end = pattern.find_first_not_of('*', at);
  if (end == std::string_view::npos) end = pattern.size();
  const std::string_view rest = pattern.substr(end);
  const bool deep = end - at > 1 && (at == 0 || pattern[at - 1] == '/') &&
                    (rest.empty() || rest.starts_with('/') || rest.starts_with("\\/"));
  if (!deep) {
    reached.many([](char c) { return c != '/'; });
    return end;
  }
  if (rest.starts_with('/')) {
    reached.folders();
    return end + 1;
  }
  reached.many([](char) { return true; });
  return end;
}

}  // namespace

bool wildmatch(std::string_view pattern, std::string_view path) {
  const std::size_t plain = std::min(pattern.find_first_of("*?[\\"), pattern.size());
  if (path.substr(0, plain) != pattern.substr(0, plain)) return false;
  Reached reached(path.substr(plain));
  for (std::size_t at = plain; at < pattern.size() && !reached.nothing();) {
    char c = pattern[at];
    if (c == '*') {
      at = take_stars(pattern, at, reached);
      continue;
    }
    if (c == '[') {
      const auto bracket = BracketReader(pattern.substr(at)).read();
      if (!bracket) return false;
      reached.one([&](char given) { return bracket->bytes.test(byte(given)); });
      at += bracket->length;
      continue;
    }
    if (c == '?') {
      reached.one([](char given) { return given != '/'; });
      ++at;
      continue;
    }
    if (c == '\\') {
      if (++at == pattern.size()) return false;
      c = pattern[at];
    }
    reached.one([c](char given) { return given == c; });
    ++at;
  }
  return reached.whole_path();
}

bool can_match(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      if (++at == pattern.size()) return false;
      continue;
    }
    if (pattern[at] != '[') continue;
    const auto bracket = BracketReader(pattern.substr(at)).read();
    if (!bracket) return false;
    at += bracket->length - 1;
  }
  return true;
}

}  // namespace ws::sync
