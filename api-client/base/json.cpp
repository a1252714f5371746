#include "api-client/base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  bool binary(Json::binary_t& /*value*/) { return refuse("binary is no JSON"); }
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

  static void remove_doubles(Json::object_t& members) {
    auto& entries = static_cast<std::vector<Json::object_t::value_type>&>(members);
    if (entries.size() < 2) return;
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

/// By byte: what stands in a text as it is, what is escaped, what may be no UTF-8.
enum class ByteKind : std::uint8_t { plain, escaped, high };
constexpr auto byte_kinds = [] {
  std::array<ByteKind, 256> kinds{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) kinds[byte] = ByteKind::escaped;
  kinds[static_cast<unsigned char>('"')] = kinds[static_cast<unsigned char>('\\')] = ByteKind::escaped;
  for (std::size_t byte = 0x80; byte < kinds.size(); ++byte) kinds[byte] = ByteKind::high;
  return kinds;
}();

void append_escaped(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default:  // not an enum: every other control character
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4U];
      out += digits[static_cast<unsigned char>(c) & 15U];
  }
}

/// Whether eight bytes stand in a text as they are (a test of all at once; a rare no where yes is right does no harm).
bool are_plain(const char* bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t highs = 0x8080808080808080U;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  const auto has_zero = [](std::uint64_t w) { return (w - ones) & ~w & highs; };
  const std::uint64_t below_space = (word - ones * 0x20) & ~word & highs;
  return ((word & highs) | below_space | has_zero(word ^ (ones * '"')) | has_zero(word ^ (ones * '\\'))) == 0;
}

/// Runs of plain bytes are copied as one: the library writes byte by byte, which was a quarter of a request's time.
void append_text(std::string& out, const std::string& text) {
  const std::size_t start_of_text = out.size();
  bool is_valid = false;  // not known yet
  out += '"';
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (i + 8 <= text.size() && are_plain(text.data() + i)) i += 8;
    if (i == text.size()) break;
    const ByteKind kind = byte_kinds[static_cast<unsigned char>(text[i])];
    if (kind == ByteKind::plain || (kind == ByteKind::high && is_valid)) continue;
    if (kind == ByteKind::high) {
      is_valid = utf8::is_valid(text);
      if (is_valid) continue;
      out.resize(start_of_text);
      out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
      return;
    }
    out.append(text, start, i - start);
    append_escaped(out, text[i]);
    start = i + 1;
  }
  out.append(text, start, text.size() - start);
  out += '"';
}

template <class Number>
void append_integer(std::string& out, Number number) {
  char digits[24];
  out.append(std::begin(digits), std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

void append_compact(std::string& out, const Json& value) {
  char separator = 0;
  const auto separate = [&](char open) {
    out += separator == 0 ? open : ',';
    separator = ',';
  };
  switch (value.type()) {
    case Json::value_t::object:
      for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
        separate('{');
        append_text(out, key);
        out += ':';
        append_compact(out, member);
      }
      out += separator == 0 ? "{}" : "}";
      return;
    case Json::value_t::array:
      for (const Json& item : value.get_ref<const Json::array_t&>()) {
        separate('[');
        append_compact(out, item);
      }
      out += separator == 0 ? "[]" : "]";
      return;
    case Json::value_t::string: return append_text(out, value.get_ref<const std::string&>());
    case Json::value_t::number_integer: return append_integer(out, value.get<std::int64_t>());
    case Json::value_t::number_unsigned: return append_integer(out, value.get<std::uint64_t>());
    case Json::value_t::null:
    case Json::value_t::boolean:
    case Json::value_t::number_float:
    case Json::value_t::binary:
    case Json::value_t::discarded: out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

void append_canonical(std::string& out, const Json& value) {
  if (value.is_object()) {
    std::vector<const Json::object_t::value_type*> members;
    for (const auto& member : value.get_ref<const Json::object_t&>()) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      out += dump(Json(members[i]->first));
      out += ':';
      append_canonical(out, members[i]->second);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ',';
      append_canonical(out, value[i]);
    }
    out += ']';
  } else {
    out += dump(value);
  }
}

}  // namespace

Result<Json> parse_bounded(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.max_bytes) {
    return fail(Failure::Kind::invalid,
                fmt::format("JSON of {} bytes; at most {} are read", text.size(), bounds.max_bytes));
  }
  if (!utf8::is_valid(text)) return fail(Failure::Kind::invalid, "JSON is not valid UTF-8");
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

JsonBox::JsonBox() : value_(std::make_unique<Json>()) {}
JsonBox::JsonBox(Json value) : value_(std::make_unique<Json>(std::move(value))) {}
JsonBox::JsonBox(const JsonBox& other) : value_(std::make_unique<Json>(*other.value_)) {}
JsonBox::JsonBox(JsonBox&& other) noexcept = default;
JsonBox& JsonBox::operator=(const JsonBox& other) {
  if (this != &other) value_ = std::make_unique<Json>(*other.value_);
  return *this;
}
JsonBox& JsonBox::operator=(JsonBox&& other) noexcept = default;
JsonBox::~JsonBox() = default;
bool JsonBox::is_null() const { return value_ == nullptr || value_->is_null(); }
bool JsonBox::operator==(const JsonBox& other) const { return *value_ == *other.value_; }

ObjectBuilder::ObjectBuilder(std::size_t members) : object_(Json::object()) {
  object_->get_ref<Json::object_t&>().reserve(members);
}

ObjectBuilder& ObjectBuilder::add(std::string_view key, Json value) {
  auto& members = object_->get_ref<Json::object_t&>();
  static_cast<std::vector<Json::object_t::value_type>&>(members).emplace_back(std::string(key), std::move(value));
  return *this;
}

Json ObjectBuilder::take() { return std::move(*object_); }

std::string dump(const Json& value, int indent) {
  if (indent < 0) {
    std::string out;
    out.reserve(512);
    append_compact(out, value);
    return out;
  }
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

const Json* find(const Json& value, std::string_view key) {
  if (!value.is_object()) return nullptr;
  for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
    if (name == key) return &member;
  }
  return nullptr;
}

std::optional<std::string> find_text(const Json& value, std::string_view key) {
  const Json* member = find(value, key);
  if (member == nullptr || !member->is_string()) return std::nullopt;
  return member->get<std::string>();
}

std::optional<std::int64_t> find_integer(const Json& value, std::string_view key) {
  const Json* member = find(value, key);
  if (member == nullptr || !member->is_number_integer()) return std::nullopt;
  if (member->is_number_unsigned() &&
      member->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return member->get<std::int64_t>();
}

std::optional<bool> find_bool(const Json& value, std::string_view key) {
  const Json* member = find(value, key);
  if (member == nullptr || !member->is_boolean()) return std::nullopt;
  return member->get<bool>();
}

std::vector<std::string> find_texts(const Json& value, std::string_view key) {
  std::vector<std::string> texts;
  const Json* member = find(value, key);
  if (member == nullptr || !member->is_array()) return texts;
  for (const Json& one : *member) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string canonical(const Json& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

}  // namespace ws
