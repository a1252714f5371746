#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

/// Line and column (in bytes, from 1) of an offset.
std::string place(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column = 1 + (last == std::string_view::npos ? offset : offset - last - 1);
  return fmt::format("line {}, column {}", line, column);
}

/// Builds a value while counting. Members are appended without the library's search for an equal key, which would take
/// time in the square of their number; doubles are removed once, when their object ends.
class Builder {
 public:
  explicit Builder(const JsonBounds& bounds) : bounds_(bounds) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& /*source*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return refuse("binary is not JSON"); }
  bool start_object(std::size_t /*elements*/) { return open(Json::object()); }
  bool start_array(std::size_t /*elements*/) { return open(Json::array()); }
  bool key(std::string& value) {
    auto& members = stack_.back()->get_ref<Json::object_t&>();
    static_cast<std::vector<Json::object_t::value_type>&>(members).emplace_back(std::move(value), nullptr);
    slot_ = &members.back().second;
    return true;
  }
  bool end_object() {
    remove_doubles(stack_.back()->get_ref<Json::object_t&>());
    stack_.pop_back();
    return true;
  }
  bool end_array() {
    stack_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& error) {
    position_ = position == 0 ? 0 : position - 1;
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing value - ..."
    const std::string_view what = error.what();
    const std::size_t text = what.find(": ");
    reason_ = text == std::string_view::npos ? std::string(what) : std::string(what.substr(text + 2));
    if (what.find("out_of_range") != std::string_view::npos) reason_ = "the number is out of range";
    return false;
  }

  Json take() { return std::move(root_); }
  const std::string& reason() const { return reason_; }
  std::optional<std::size_t> position() const { return position_; }

 private:
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  Json* place_value(Json&& value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (stack_.back()->is_array()) {
      auto& items = stack_.back()->get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      return &items.back();
    }
    *slot_ = std::move(value);
    return slot_;
  }

  bool add(Json&& value) {
    if (++count_ > bounds_.max_values) return refuse(fmt::format("more than {} values", bounds_.max_values));
    place_value(std::move(value));
    return true;
  }

  bool open(Json&& value) {
    if (stack_.size() >= bounds_.max_depth) return refuse(fmt::format("more than {} levels deep", bounds_.max_depth));
    if (++count_ > bounds_.max_values) return refuse(fmt::format("more than {} values", bounds_.max_values));
    // A container's address is stable while it is open: only its parent's last element is ever appended to.
    stack_.push_back(place_value(std::move(value)));
    return true;
  }

  using Members = std::vector<Json::object_t::value_type>;
  /// So few are compared each with each, without a list to sort.
  static constexpr std::size_t few_members = 16;

  static bool all_differ(const Members& entries) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (entries[i].first == entries[k].first) return false;
      }
    }
    return true;
  }

  static void remove_doubles(Json::object_t& members) {
    auto& entries = static_cast<Members&>(members);
    if (entries.size() <= few_members && all_differ(entries)) return;
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return entries[a].first < entries[b].first; });
    std::vector<bool> superseded(entries.size(), false);
    bool any = false;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      if (entries[order[i]].first == entries[order[i + 1]].first) superseded[order[i]] = any = true;
    }
    if (!any) return;
    Json::object_t kept;
    auto& target = static_cast<std::vector<Json::object_t::value_type>&>(kept);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!superseded[i]) target.emplace_back(entries[i].first, std::move(entries[i].second));
    }
    members = std::move(kept);
  }

  const JsonBounds& bounds_;
  Json root_;
  std::vector<Json*> stack_;
  Json* slot_ = nullptr;
  std::size_t count_ = 0;
  std::string reason_;
  std::optional<std::size_t> position_;
};

/// Reads well-formed JSON that is UTF-8, several times as fast as the library: most of what we read are texts of
/// documents, and the library takes those byte by byte. What it does not understand it leaves to the library, with the
/// library's words for what is wrong.
///
/// simdjson is faster still for pages of texts, but hardly for lists of small objects; Debian has no static library of
/// it, and what we ship needs nothing but glibc at start.
class QuickReader {
 public:
  QuickReader(std::string_view text, Builder& builder)
      : at_(text.data()), end_(text.data() + text.size()), builder_(builder) {}

  bool read() {
    if (!value(0)) return false;
    skip_blanks();
    return at_ == end_;
  }

 private:
  /// Deeper is left to the library, which needs no stack for it.
  static constexpr std::size_t max_levels = 128;

  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool value(std::size_t level) {
    skip_blanks();
    if (at_ == end_ || level == max_levels) return false;
    switch (*at_) {
      case '{': return object(level);
      case '[': return array(level);
      case '"': {
        std::string taken;
        return text(taken) && builder_.string(taken);
      }
      case 't': return take_word("true") && builder_.boolean(true);
      case 'f': return take_word("false") && builder_.boolean(false);
      case 'n': return take_word("null") && builder_.null();
      default: return number();
    }
  }

  bool object(std::size_t level) {
    ++at_;
    if (!builder_.start_object(0)) return false;
    skip_blanks();
    if (take('}')) return builder_.end_object();
    while (true) {
      std::string key;
      skip_blanks();
      if (!text(key) || !builder_.key(key)) return false;
      skip_blanks();
      if (!take(':') || !value(level + 1)) return false;
      skip_blanks();
      if (take('}')) return builder_.end_object();
      if (!take(',')) return false;
    }
  }

  bool array(std::size_t level) {
    ++at_;
    if (!builder_.start_array(0)) return false;
    skip_blanks();
    if (take(']')) return builder_.end_array();
    while (true) {
      if (!value(level + 1)) return false;
      skip_blanks();
      if (take(']')) return builder_.end_array();
      if (!take(',')) return false;
    }
  }

  /// Integers; a number with a fraction or an exponent, or one out of range, is the library's.
  bool number() {
    const char* const begin = at_;
    const bool negative = take('-');
    const char* const digits = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    if (at_ == digits || (*digits == '0' && at_ - digits > 1)) return false;
    if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) return false;
    if (negative) {
      std::int64_t number = 0;
      return std::from_chars(begin, at_, number).ec == std::errc() && builder_.number_integer(number);
    }
    std::uint64_t number = 0;
    return std::from_chars(begin, at_, number).ec == std::errc() && builder_.number_unsigned(number);
  }

  bool text(std::string& out) {
    if (!take('"')) return false;
    while (true) {
      const char* const run = at_;
      skip_plain();
      out.append(run, at_);
      if (at_ == end_ || static_cast<unsigned char>(*at_) < 0x20) return false;
      if (*at_++ == '"') return true;
      if (!escape(out)) return false;
    }
  }

  /// Up to a quote, a backslash or a control character.
  void skip_plain() {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101U;
    constexpr std::uint64_t highs = 0x8080'8080'8080'8080U;
    while (end_ - at_ >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at_, sizeof word);
      const auto has_zero = [](std::uint64_t w) { return (w - ones) & ~w & highs; };
      const std::uint64_t below_space = (word - ones * 0x20) & ~word & highs;
      if ((below_space | has_zero(word ^ (ones * '"')) | has_zero(word ^ (ones * '\\'))) != 0) break;
      at_ += 8;
    }
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
  }

  bool escape(std::string& out) {
    if (at_ == end_) return false;
    switch (*at_++) {
      case '"': out += '"'; return true;
      case '\\': out += '\\'; return true;
      case '/': out += '/'; return true;
      case 'b': out += '\b'; return true;
      case 'f': out += '\f'; return true;
      case 'n': out += '\n'; return true;
      case 'r': out += '\r'; return true;
      case 't': out += '\t'; return true;
      case 'u': return code_point(out);
      default: return false;
    }
  }

  /// After `\u`; a pair of surrogates is one code point, a lone one is left to the library to refuse.
  bool code_point(std::string& out) {
    std::uint32_t unit = 0;
    if (!four_digits(unit)) return false;
    if (unit >= 0xD800 && unit <= 0xDFFF) {
      std::uint32_t low = 0;
      if (unit >= 0xDC00 || !take('\\') || !take('u') || !four_digits(low) || low < 0xDC00 || low > 0xDFFF)
        return false;
      unit = 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00);
    }
    utf8::append(out, static_cast<char32_t>(unit));
    return true;
  }

  bool four_digits(std::uint32_t& unit) {
    if (end_ - at_ < 4) return false;
    const auto [end, error] = std::from_chars(at_, at_ + 4, unit, 16);
    if (error != std::errc() || end != at_ + 4) return false;
    at_ = end;
    return true;
  }

  const char* at_;
  const char* end_;
  Builder& builder_;
};

}  // namespace

Result<Json> parse_bounded(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.max_bytes) {
    return fail(Failure::Kind::invalid,
                fmt::format("JSON of {} bytes; at most {} are read", text.size(), bounds.max_bytes));
  }
  if (!utf8::is_valid(text)) return fail(Failure::Kind::invalid, "JSON is not valid UTF-8");
  if (Builder quick(bounds); QuickReader(text, quick).read()) return quick.take();
  // The library takes a NUL for the end of the text, whatever stands behind it.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(Failure::Kind::invalid, fmt::format("malformed JSON at {}: a NUL", place(text, nul)));
  }
  // Malformed, over a bound, or of a kind that is rare: the library reads it once more and has the last word.
  Builder builder(bounds);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    if (builder.position()) {
      return fail(Failure::Kind::invalid,
                  fmt::format("malformed JSON at {}: {}", place(text, *builder.position()), builder.reason()));
    }
    return fail(Failure::Kind::invalid, fmt::format("JSON with {}", builder.reason()));
  }
  return builder.take();
}

}  // namespace ws
