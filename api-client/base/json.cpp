#include "api-client/base/json.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

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

/// Sixteen bytes, compared all at once, whatever the processor.
using Bytes = signed char __attribute__((vector_size(16)));
enum class High { stops, is_plain };  ///< bytes from 0x80 on

/// How many bytes at the start of a text stand in JSON as they are.
std::size_t plain_run(std::string_view text, High high) {
  static_assert(std::endian::native == std::endian::little);
  for (std::size_t i = 0; i < text.size(); i += sizeof(Bytes)) {
    Bytes bytes = Bytes{} + ' ';
    // The last block of a longer text begins among bytes that are known to be plain.
    if (i + sizeof bytes > text.size() && i > 0) i = text.size() - sizeof bytes;
    if (i + sizeof bytes <= text.size()) {
      std::memcpy(&bytes, text.data() + i, sizeof bytes);
    } else {
      std::memcpy(&bytes, text.data(), text.size());
    }
    // Signed: bytes from 0x80 on are less than zero.
    auto special = (bytes < ' ') | (bytes == '"') | (bytes == '\\');
    if (high == High::is_plain) special &= bytes >= 0;
    std::uint64_t halves[2];
    std::memcpy(halves, &special, sizeof halves);
    if (halves[0] != 0) return i + static_cast<std::size_t>(std::countr_zero(halves[0])) / 8;
    if (halves[1] != 0) return i + static_cast<std::size_t>(std::countr_zero(halves[1])) / 8 + 8;
  }
  return text.size();
}

/// Runs of plain bytes are copied as one: the library writes byte by byte, which was a quarter of a request's time.
void append_text(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  High high = High::stops;
  out += '"';
  for (std::string_view rest = text;;) {
    const std::size_t run = plain_run(rest, high);
    out.append(rest.data(), run);
    if (run == rest.size()) break;
    rest.remove_prefix(run);
    if (static_cast<unsigned char>(rest.front()) < 0x80) {
      append_escaped(out, rest.front());
      rest.remove_prefix(1);
    } else if (utf8::is_valid(rest)) {
      high = High::is_plain;
    } else {
      out.resize(start);
      out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
      return;
    }
  }
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

ObjectBuilder& ObjectBuilder::add_or_null(std::string_view key, std::string_view text) {
  return add(key, text_or_null(text));
}

Json ObjectBuilder::take() { return std::move(*object_); }

std::string& ObjectText::member(std::string_view key) {
  text_.append(text_.empty() ? "{\"" : ",\"", 2).append(key).append("\":", 2);
  return text_;
}

ObjectText& ObjectText::add(std::string_view key, std::string_view text) {
  append_text(member(key), text);
  return *this;
}

ObjectText& ObjectText::add(std::string_view key, std::int64_t number) {
  append_integer(member(key), number);
  return *this;
}

ObjectText& ObjectText::add(std::string_view key, const JsonText& json) {
  member(key) += json.text;
  return *this;
}

ObjectText& ObjectText::add_or_null(std::string_view key, std::string_view text) {
  return text.empty() ? add(key, JsonText{"null"}) : add(key, text);
}

JsonText ObjectText::take() {
  text_ += text_.empty() ? "{}" : "}";
  return {std::move(text_)};
}

LazyJson::LazyJson(Json tree) : tree_(std::move(tree)) {}

Json& LazyJson::tree() const {
  if (!tree_) {
    constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
    auto tree = parse_bounded(text_.text, {.max_bytes = any, .max_values = any});
    tree_.emplace(tree ? std::move(*tree) : Json());
  }
  return **tree_;
}

LazyJson::operator JsonBox() && { return std::move(tree()); }
std::string LazyJson::text() const& { return tree_ ? dump(**tree_) : text_.text; }
std::string LazyJson::text() && { return tree_ ? dump(**tree_) : std::move(text_.text); }

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
