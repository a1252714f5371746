#include "sync-engine/links/inline_scan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/byte_set.hpp"
#include "sync-engine/links/targets.hpp"

namespace ws::sync::links {
namespace {

using Kind = Reference::Kind;
using std::string_view;

constexpr std::size_t none = string_view::npos;

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_letter_sign(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_sign(char c) { return is_letter_sign(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == ':'; }

/// An attribute of a tag whose value names something.
struct Attribute {
  std::string name = {};
  std::size_t begin = 0;  ///< of its value
  std::size_t end = 0;
};

struct Tag {
  std::size_t end = 0;  ///< behind `>`
  std::string name = {};
  std::vector<Attribute> attributes = {};
};

/// Reads `text` up to `limit` from one place on.
class Cursor {
 public:
  Cursor(string_view text, std::size_t at, std::size_t limit) : text_(text.substr(0, limit)), at_(at) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  char now() const { return done() ? '\0' : text_[at_]; }
  void step(std::size_t count = 1) { at_ += count; }
  bool skip_white() {
    const std::size_t before = at_;
    while (!done() && is_white(text_[at_])) ++at_;
    return at_ != before;
  }
  /// Blanks with one line end among them, at most.
  void skip_blanks_and_line_end() {
    bool ended = false;
    while (!done() && is_white(text_[at_])) {
      const bool is_end = text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_ + 1, 1) != "\n");
      if (is_end && std::exchange(ended, true)) return;
      ++at_;
    }
  }
  std::size_t find(string_view what, std::size_t from) const { return text_.find(what, from); }
  std::size_t find_first_of(string_view what) const { return text_.find_first_of(what, at_); }
  string_view text() const { return text_; }

 private:
  string_view text_;
  std::size_t at_;
};

/// An opening tag at `<`; its attributes as HTML has them. Empty: it is none.
std::optional<Tag> read_tag(string_view text, std::size_t at, std::size_t limit) {
  Cursor cursor(text, at + 1, limit);
  if (!is_letter_sign(cursor.now())) return std::nullopt;
  const std::size_t name = cursor.at();
  while (!cursor.done() &&
         (is_letter_sign(cursor.now()) || (cursor.now() >= '0' && cursor.now() <= '9') || cursor.now() == '-'))
    cursor.step();
  Tag tag{.name = to_lower(text.substr(name, cursor.at() - name))};
  while (true) {
    const bool is_apart = cursor.skip_white();
    if (cursor.now() == '/') cursor.step();
    if (cursor.now() == '>') {
      tag.end = cursor.at() + 1;
      return tag;
    }
    if (!is_apart || !is_name_sign(cursor.now())) return std::nullopt;
    Attribute attribute;
    const std::size_t begin = cursor.at();
    while (!cursor.done() && (is_name_sign(cursor.now()) || cursor.now() == '.')) cursor.step();
    attribute.name = to_lower(text.substr(begin, cursor.at() - begin));
    Cursor value = cursor;
    value.skip_white();
    if (value.now() != '=') continue;
    value.step();
    value.skip_white();
    const char quote = value.now();
    if (quote == '"' || quote == '\'') {
      value.step();
      const std::size_t end = value.find(string_view(&quote, 1), value.at());
      if (end == none) return std::nullopt;
      attribute.begin = value.at();
      attribute.end = end;
      value.step(end + 1 - value.at());
    } else {
      attribute.begin = value.at();
      attribute.end = std::min(value.find_first_of(" \t\r\n\"'=<>`"), limit);
      if (attribute.end == attribute.begin) return std::nullopt;
      value.step(attribute.end - attribute.begin);
    }
    cursor = value;
    tag.attributes.push_back(std::move(attribute));
  }
}

void add_tag(string_view text, std::size_t begin, const Tag& tag, std::vector<Reference>& into) {
  static constexpr std::array<string_view, 5> names = {"img", "video", "audio", "source", "a"};
  if (std::ranges::find(names, tag.name) == names.end()) return;
  for (const Attribute& attribute : tag.attributes) {
    if (attribute.name != (tag.name == "a" ? "href" : "src")) continue;
    auto reference = read_target(text, {.kind = Kind::html, .begin = attribute.begin, .end = attribute.end});
    if (!reference) continue;
    reference->begin = begin;
    reference->end = tag.end;
    into.push_back(std::move(*reference));
  }
}

void add_ids(string_view text, const Tag& tag, std::vector<std::string>& ids) {
  for (const Attribute& attribute : tag.attributes) {
    if (attribute.name == "id" || attribute.name == "name")
      ids.emplace_back(text.substr(attribute.begin, attribute.end - attribute.begin));
  }
}

/// The target of `(target "title")` or of a definition, without the brackets of `<target>`. Empty: there is none.
struct Destination {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t behind = 0;
  bool is_angle = false;
};

std::optional<Destination> read_destination(string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '<') {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '>') {
        return Destination{.begin = at + 1, .end = i, .behind = i + 1, .is_angle = true};
      } else if (text[i] == '\n' || text[i] == '\r' || text[i] == '<') {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }
  constexpr std::size_t max_parentheses = 32;
  std::size_t depth = 0;
  std::size_t i = at;
  for (; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\\' && i + 1 < text.size() && !is_white(text[i + 1])) {
      ++i;
    } else if (c == '(') {
      if (++depth > max_parentheses) return std::nullopt;
    } else if (c == ')') {
      if (depth == 0) break;
      --depth;
    } else if (c <= 0x20 || c == 0x7F) {
      break;
    }
  }
  if (depth != 0) return std::nullopt;
  return Destination{.begin = at, .end = std::min(i, text.size()), .behind = std::min(i, text.size())};
}

/// Behind a title that begins at `at`; `at` where there is none. Empty: it does not end.
std::size_t skip_title(string_view text, std::size_t at) {
  if (at >= text.size()) return at;
  const char open = text[at];
  if (open != '"' && open != '\'' && open != '(') return at;
  const char close = open == '(' ? ')' : open;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == close) {
      return i + 1;
    } else if (text[i] == '(' && open == '(') {
      return at;
    }
  }
  return at;
}

/// `(target "title")` at `at`; its end is put into `behind`.
std::optional<Destination> read_tail(string_view text, std::size_t at, std::size_t& behind) {
  Cursor cursor(text, at + 1, text.size());
  cursor.skip_white();
  const auto destination = read_destination(text, cursor.at());
  if (!destination) return std::nullopt;
  Cursor rest(text, destination->behind, text.size());
  if (rest.skip_white()) {
    rest.step(skip_title(text, rest.at()) - rest.at());
    rest.skip_white();
  }
  if (rest.now() != ')') return std::nullopt;
  behind = rest.at() + 1;
  return destination;
}

class InlineScan {
 public:
  InlineScan(
      string_view text, std::size_t begin, std::size_t end, std::vector<Reference>& into, std::vector<std::string>& ids)
      : text_(text.substr(0, end)), at_(begin), into_(into), ids_(ids) {}

  void run() {
    static constexpr ByteSet marks("\\`<[]!");
    while (true) {
      at_ = marks.find_in(text_, at_);
      if (at_ == none) return;
      switch (text_[at_]) {
        case '\\': at_ += 2; break;
        case '`': skip_code(); break;
        case '<': take_angle(); break;
        case '!': take_exclamation(); break;
        case '[': take_bracket(at_, false); break;
        default: close_bracket(); break;
      }
    }
  }

 private:
  struct Opener {
    std::size_t begin = 0;  ///< of `[` or `![`
    bool is_image = false;
    bool is_active = true;
  };

  void skip_code() {
    const std::size_t end = std::min(text_.find_first_not_of('`', at_), text_.size());
    const std::size_t ticks = end - at_;
    if (ticks_.empty()) note_ticks();
    const auto last = ticks_.find(ticks);
    if (last == ticks_.end() || last->second <= at_) {
      at_ = end;
      return;
    }
    for (std::size_t next = text_.find('`', end); next != none;) {
      const std::size_t next_end = std::min(text_.find_first_not_of('`', next), text_.size());
      at_ = next_end;
      if (next_end - next == ticks) return;
      next = text_.find('`', next_end);
    }
  }

  /// Where the last run of each length begins: an opener without a closer costs no look at the rest.
  void note_ticks() {
    for (std::size_t begin = at_; begin != none;) {
      const std::size_t end = std::min(text_.find_first_not_of('`', begin), text_.size());
      ticks_[end - begin] = begin;
      begin = text_.find('`', end);
    }
  }

  /// Behind `close`, or none; each is looked for past the end once.
  std::size_t behind(string_view close, std::size_t from, bool& is_missing) const {
    if (is_missing) return none;
    const std::size_t found = text_.find(close, from);
    is_missing = found == none;
    return is_missing ? none : found + close.size();
  }

  void take_angle() {
    const string_view rest = text_.substr(at_);
    std::size_t end = none;
    if (rest.starts_with("<!--")) {
      end = behind("-->", at_ + 4, no_comment_);
    } else if (rest.starts_with("<?")) {
      end = behind("?>", at_ + 2, no_instruction_);
    } else if (rest.starts_with("<![CDATA[")) {
      end = behind("]]>", at_ + 9, no_data_);
    } else if (const auto tag = read_tag(text_, at_, text_.size())) {
      add_tag(text_, at_, *tag, into_);
      add_ids(text_, *tag, ids_);
      end = tag->end;
    } else {
      end = take_autolink();
    }
    at_ = end == none ? at_ + 1 : end;
  }

  std::size_t take_autolink() {
    const std::size_t end = text_.find_first_of("<> \t\r\n", at_ + 1);
    if (end == none || text_[end] != '>' || end == at_ + 1 || text_[at_ + 1] == '/') return none;
    auto reference = read_target(text_, {.kind = Kind::autolink, .begin = at_ + 1, .end = end});
    if (reference && !reference->path.empty() && reference->path.find_first_of("./") != none)
      add(std::move(*reference), at_, end + 1);
    return end + 1;
  }

  void take_exclamation() {
    if (text_.substr(at_ + 1, 1) == "[") {
      take_bracket(at_, true);
    } else {
      ++at_;
    }
  }

  void take_bracket(std::size_t begin, bool is_image) {
    const std::size_t bracket = begin + (is_image ? 1 : 0);
    if (text_.substr(bracket, 2) == "[[" && take_wiki(begin, bracket, is_image)) return;
    openers_.push_back({.begin = begin, .is_image = is_image});
    at_ = bracket + 1;
  }

  bool take_wiki(std::size_t begin, std::size_t bracket, bool is_image) {
    const std::size_t inside = bracket + 2;
    const std::size_t close = text_.find_first_of("[]\r\n", inside);
    if (close == none || text_.substr(close, 2) != "]]" || close == inside) return false;
    std::size_t behind_tail = 0;
    if (text_.substr(close + 2, 1) == "(" && read_tail(text_, close + 2, behind_tail)) return false;
    std::size_t end = std::min(text_.find('|', inside), close);
    if (end < close && text_[end - 1] == '\\') --end;  // in a table
    std::size_t from = inside;
    while (from < end && is_white(text_[from])) ++from;
    while (end > from && is_white(text_[end - 1])) --end;
    auto reference =
        read_target(text_, {.kind = is_image ? Kind::wiki_embed : Kind::wiki_link, .begin = from, .end = end});
    if (reference) add(std::move(*reference), begin, close + 2);
    at_ = close + 2;
    return true;
  }

  void close_bracket() {
    ++at_;
    if (openers_.empty()) return;
    const Opener opener = openers_.back();
    openers_.pop_back();
    if (!opener.is_active || text_.substr(at_, 1) != "(") return;
    std::size_t end = 0;
    const auto target = read_tail(text_, at_, end);
    if (!target) return;
    auto reference = read_target(text_,
                                 {.kind = opener.is_image ? Kind::image : Kind::link,
                                  .is_angle = target->is_angle,
                                  .begin = target->begin,
                                  .end = target->end});
    if (reference) add(std::move(*reference), opener.begin, end);
    at_ = end;
    if (!opener.is_image) forbid_links_around();
  }

  /// No link holds a link. What is inactive stays so, and what lies below it was made so with it.
  void forbid_links_around() {
    for (auto opener = openers_.rbegin(); opener != openers_.rend(); ++opener) {
      if (opener->is_image) continue;
      if (!opener->is_active) return;
      opener->is_active = false;
    }
  }

  void add(Reference reference, std::size_t begin, std::size_t end) {
    reference.begin = begin;
    reference.end = end;
    into_.push_back(std::move(reference));
  }

  string_view text_;
  std::size_t at_;
  std::vector<Reference>& into_;
  std::vector<std::string>& ids_;
  std::vector<Opener> openers_ = {};
  std::map<std::size_t, std::size_t> ticks_ = {};
  bool no_comment_ = false;
  bool no_instruction_ = false;
  bool no_data_ = false;
};

}  // namespace

void scan_inlines(
    string_view text, std::size_t begin, std::size_t end, std::vector<Reference>& into, std::vector<std::string>& ids) {
  InlineScan(text, begin, end, into, ids).run();
}

void scan_html(string_view text,
               std::size_t begin,
               std::size_t end,
               bool& in_comment,
               std::vector<Reference>& into,
               std::vector<std::string>& ids) {
  const string_view block = text.substr(0, end);
  std::size_t at = begin;
  while (at < end) {
    if (in_comment) {
      const std::size_t close = block.find("-->", at);
      if (close == none) return;
      in_comment = false;
      at = close + 3;
    }
    at = block.find('<', at);
    if (at == none) return;
    if (block.substr(at).starts_with("<!--")) {
      in_comment = true;
      at += 4;
      continue;
    }
    const auto tag = read_tag(block, at, end);
    if (!tag) {
      ++at;
      continue;
    }
    add_tag(block, at, *tag, into);
    add_ids(block, *tag, ids);
    at = tag->end;
    if (tag->name == "script" || tag->name == "style") {
      at = block.find(tag->name == "script" ? "</script" : "</style", at);
      if (at == none) return;
    }
  }
}

std::size_t scan_definitions(string_view text, std::size_t begin, std::size_t end, std::vector<Reference>& into) {
  const string_view block = text.substr(0, end);
  while (begin < end && block[begin] == '[' && block.substr(begin, 2) != "[^") {
    std::size_t close = begin + 1;
    while (close < end && block[close] != ']' && block[close] != '[') close += block[close] == '\\' ? 2 : 1;
    if (close >= end || block[close] != ']' || close == begin + 1 || block.substr(close + 1, 1) != ":") return begin;
    Cursor cursor(block, close + 2, end);
    cursor.skip_blanks_and_line_end();
    const auto target = read_destination(block, cursor.at());
    if (!target || target->behind == cursor.at()) return begin;
    // A title that is none is the next line of the text.
    const std::size_t line_end = std::min(block.find_first_of("\r\n", target->behind), end);
    Cursor rest(block, target->behind, end);
    rest.skip_blanks_and_line_end();
    const std::size_t behind_title = skip_title(block, rest.at());
    std::size_t stop = std::min(block.find_first_of("\r\n", behind_title), end);
    const auto is_blank = [&](std::size_t from, std::size_t to) {
      return std::all_of(
          block.begin() + static_cast<std::ptrdiff_t>(from), block.begin() + static_cast<std::ptrdiff_t>(to), is_white);
    };
    const bool has_title = behind_title > rest.at() && is_blank(behind_title, stop);
    if (!has_title) {
      if (!is_blank(target->behind, line_end)) return begin;
      stop = line_end;
    }
    auto reference = read_target(
        block, {.kind = Kind::definition, .is_angle = target->is_angle, .begin = target->begin, .end = target->end});
    if (reference) {
      reference->begin = begin;
      reference->end = has_title ? behind_title : target->behind;
      into.push_back(std::move(*reference));
    }
    begin = stop;
    while (begin < end && (is_white(block[begin]) || block[begin] == '>')) ++begin;
  }
  return begin;
}

}  // namespace ws::sync::links
