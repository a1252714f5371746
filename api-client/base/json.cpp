#include "api-client/base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

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

/// From end to end, as names and most values are.
bool is_plain(const std::string& text) {
  std::size_t i = 0;
  while (i + 8 <= text.size() && are_plain(text.data() + i)) i += 8;
  while (i < text.size() && byte_kinds[static_cast<unsigned char>(text[i])] == ByteKind::plain) ++i;
  return i == text.size();
}

/// Runs of plain bytes are copied as one: the library writes byte by byte, which was a quarter of a request's time.
void append_text(std::string& out, const std::string& text) {
  if (is_plain(text)) {
    const std::size_t at = out.size();
    out.resize(at + text.size() + 2);
    char* next = out.data() + at;
    *next++ = '"';
    next = std::copy(text.begin(), text.end(), next);
    *next = '"';
    return;
  }
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

/// Of all strings in it, without escapes: most of a large body.
std::size_t text_bytes(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  std::size_t bytes = 0;
  if (value.is_structured()) {
    for (const Json& member : value) bytes += text_bytes(member) + 16;
  }
  return bytes;
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
    out.reserve(text_bytes(value) + 512);
    append_compact(out, value);
    return out;
  }
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

bool is_utf8(const Json& value) {
  if (value.is_string()) return utf8::is_valid(value.get_ref<const std::string&>());
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_utf8);
  if (!value.is_object()) return true;
  const auto& members = value.get_ref<const Json::object_t&>();
  return std::all_of(members.begin(), members.end(), [](const Json::object_t::value_type& member) {
    return utf8::is_valid(member.first) && is_utf8(member.second);
  });
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
  if (member == nullptr) return std::nullopt;
  if (member->is_number_float()) {
    // 300.0 is an integer by JSON Schema.
    const double number = member->get<double>();
    if (std::trunc(number) != number || std::abs(number) >= 0x1.0p63) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (!member->is_number_integer()) return std::nullopt;
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
