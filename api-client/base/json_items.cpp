#include "api-client/base/json_items.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

tl::unexpected<Failure> malformed(std::string what) {
  return fail(Failure::Kind::invalid, "malformed JSON: " + std::move(what));
}

/// The code unit of an escape `\uXXXX` at the front; empty where there is none.
std::optional<std::uint32_t> escaped_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  const char* const end = text.data() + 6;
  const auto [stop, error] = std::from_chars(text.data() + 2, end, unit, 16);
  return error == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
}

bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/// The same, U+FFFD for what is no Unicode: bytes that are not UTF-8, and surrogates without their other half.
std::string mended(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.front() != '\\') {
      utf8::append(out, utf8::next(text));
      continue;
    }
    const auto unit = escaped_unit(text);
    const auto second = unit ? escaped_unit(text.substr(6)) : std::nullopt;
    const bool is_pair = unit && second && is_high(*unit) && is_low(*second);
    const bool is_alone = unit && !is_pair && (is_high(*unit) || is_low(*unit));
    const std::size_t taken = std::min<std::size_t>(text.size(), is_pair ? 12 : unit ? 6 : 2);
    out += is_alone ? std::string_view("\\ufffd") : text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

JsonItems::JsonItems(std::string list, Visit visit, const JsonItemsBounds& bounds)
    : list_(std::move(list)), visit_(std::move(visit)), bounds_(bounds) {}

Result<void> JsonItems::feed(std::string_view piece) {
  while (!piece.empty()) {
    std::size_t taken = 0;
    switch (place_) {
      case Place::around: {
        WS_LET(taken, take_around(piece));
        break;
      }
      case Place::before_item:
      case Place::after_item: {
        WS_LET(taken, take_between(piece.front()));
        break;
      }
      case Place::in_item: {
        WS_LET(taken, take_item(piece));
        break;
      }
    }
    piece.remove_prefix(taken);
  }
  return {};
}

/// How many bytes of `piece` still belong to the string under way, its closing quote included.
std::size_t JsonItems::skip_string(std::string_view piece) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (piece[i] == '\\') {
      is_escaped_ = true;
    } else if (piece[i] == '"') {
      in_string_ = false;
      return i + 1;
    }
  }
  return piece.size();
}

Result<std::size_t> JsonItems::take_around(std::string_view piece) {
  std::size_t taken = 1;
  if (in_string_) {
    taken = skip_string(piece);
    if (depth_ == 1 && !is_value_next_) name_ += piece.substr(0, in_string_ ? taken : taken - 1);
  } else {
    note_around(piece.front());
  }
  rest_ += piece.substr(0, taken);
  if (rest_.size() > bounds_.rest.max_bytes) {
    return malformed(fmt::format("more than {} bytes outside of the list", bounds_.rest.max_bytes));
  }
  if (place_ != Place::before_item) return taken;
  if (std::exchange(has_list_, true)) return malformed("the list appears twice");
  return taken;
}

/// Keys of the outermost object, and whether the list begins here.
void JsonItems::note_around(char c) {
  if (is_blank(c)) return;
  if (c == '"') {
    in_string_ = true;
    if (depth_ == 1 && !is_value_next_) name_.clear();
    return;
  }
  if (c == ':' && depth_ == 1) {
    is_value_next_ = true;
    return;
  }
  if (c == '[' && depth_ == 1 && is_value_next_ && name_ == list_) place_ = Place::before_item;
  if (c == '{' || c == '[') {
    if (place_ == Place::around) ++depth_;
  } else if ((c == '}' || c == ']') && depth_ > 0) {
    --depth_;
  }
  if (depth_ == 1 && c == ',') is_value_next_ = false;
}

/// Between items: blanks, commas, the end of the list.
Result<std::size_t> JsonItems::take_between(char c) {
  if (is_blank(c)) {
    WS_TRY(note_passed(1));
    return std::size_t{1};
  }
  const bool is_after = place_ == Place::after_item;
  if (c == ']' && (is_after || count_ == 0)) {
    rest_ += c;
    place_ = Place::around;
    depth_ = 1;
    return std::size_t{1};
  }
  if (c == ',' && is_after) {
    place_ = Place::before_item;
    return std::size_t{1};
  }
  if (is_after || c == ',' || c == ']') return malformed(fmt::format("'{}' after item {} of the list", c, count_));
  place_ = Place::in_item;
  passed_ = 0;
  depth_ = 0;
  return std::size_t{0};
}

Result<void> JsonItems::note_passed(std::size_t bytes) {
  passed_ += bytes;
  if (passed_ <= bounds_.max_passed_bytes) return {};
  return malformed(
      fmt::format("item {} of the list does not end within {} bytes", count_ + 1, bounds_.max_passed_bytes));
}

Result<std::size_t> JsonItems::take_item(std::string_view piece) {
  std::size_t taken = 0;
  bool is_whole = false;
  while (taken < piece.size() && !is_whole) {
    if (in_string_) {
      taken += skip_string(piece.substr(taken));
      if (!in_string_) note_string_end(item_.size() + taken - 1);
      is_whole = !in_string_ && depth_ == 0;
      continue;
    }
    const char c = piece[taken];
    // A number or a word ends where something else begins.
    const bool has_begun = taken > 0 || !item_.empty();
    if (depth_ == 0 && has_begun && (c == ',' || c == ']' || is_blank(c))) break;
    ++taken;
    if (c == '"') {
      in_string_ = true;
      string_begin_ = item_.size() + taken;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) return malformed(fmt::format("'{}' after item {} of the list", c, count_));
      is_whole = --depth_ == 0;
    }
  }
  item_ += piece.substr(0, taken);
  WS_TRY(note_passed(taken));
  if (item_.size() > bounds_.item.max_bytes) WS_TRY(shorten_item());
  if (is_whole || taken < piece.size()) WS_TRY(hand_over());
  return taken;
}

void JsonItems::note_string_end(std::size_t end) {
  if (end - string_begin_ <= longest_bytes_) return;
  longest_begin_ = string_begin_;
  longest_bytes_ = end - string_begin_;
}

/// Takes the longest text out of an item that is over its bound.
Result<void> JsonItems::shorten_item() {
  const std::size_t under_way = in_string_ ? item_.size() - string_begin_ : 0;
  if (visit_damaged_ && under_way > longest_bytes_) {
    item_.resize(string_begin_);
    if (is_escaped_) item_ += '\\';
  } else if (visit_damaged_) {
    item_.erase(longest_begin_, longest_bytes_);
    if (string_begin_ > longest_begin_) string_begin_ -= longest_bytes_;
    longest_bytes_ = 0;
  }
  is_shortened_ = true;
  if (item_.size() <= bounds_.item.max_bytes) return {};
  return malformed(fmt::format("item {} of the list has more than {} bytes", count_ + 1, bounds_.item.max_bytes));
}

Result<void> JsonItems::hand_over() {
  ++count_;
  passed_ = 0;
  place_ = Place::after_item;
  std::optional<Failure> damage;
  if (std::exchange(is_shortened_, false))
    damage = Failure{.kind = Failure::Kind::invalid,
                     .what = fmt::format("it has more than {} bytes", bounds_.item.max_bytes)};
  auto item = parse_bounded(item_, bounds_.item);
  if (!item && visit_damaged_) {
    if (auto rest = parse_bounded(mended(item_), bounds_.item)) {
      // In words of ours: the library's quote the text.
      if (!damage) damage = Failure{.kind = Failure::Kind::invalid, .what = "it contains text that is not Unicode"};
      item = std::move(rest);
    }
  }
  item_.clear();
  longest_bytes_ = 0;
  if (!item) {
    Failure failure = std::move(item).error();
    failure.what = fmt::format("item {} of the list: {}", count_, failure.what);
    return fail(std::move(failure));
  }
  return damage ? visit_damaged_(*item, std::move(*damage)) : visit_(*item);
}

Result<Json> JsonItems::finish() {
  if (place_ != Place::around) return malformed(fmt::format("it ends after item {} of its list", count_));
  return parse_bounded(rest_, bounds_.rest);
}

}  // namespace ws
