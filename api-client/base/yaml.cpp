#include "api-client/base/yaml.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"

namespace ws {
namespace {

/// Thrown by the parser's callbacks and caught in `parse_yaml`: yaml-cpp has no other way to stop parsing.
struct ParseAborted {
  YAML::Mark mark;
  std::string reason;
};

constexpr const char* no_aliases = "aliases (*name) are not allowed here; quote a text that begins with *";

/// Converts a plain scalar by YAML 1.2's core schema.
Json plain(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* const end = text.data() + text.size();
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(begin, end, integer); read.ec == std::errc{} && read.ptr == end) return integer;
  const char first = *begin == '-' && begin + 1 < end ? begin[1] : *begin;
  double number = 0;
  if ((first >= '0' && first <= '9') || first == '.') {
    if (const auto read = std::from_chars(begin, end, number); read.ec == std::errc{} && read.ptr == end) return number;
  }
  return text;
}

class YamlBuilder final : public YAML::EventHandler {
 public:
  /// `placed` receives the position of each key and value; may be null.
  explicit YamlBuilder(const JsonBounds& bounds, YamlWithPositions* placed = nullptr)
      : bounds_(bounds), placed_(placed) {}
  Json take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(has_document_, true)) throw ParseAborted{mark, "a second document begins; only one is read"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    if (expects_key()) throw ParseAborted{mark, "a key is empty"};
    add(mark, nullptr);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { throw ParseAborted{mark, no_aliases}; }
  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    // yaml-cpp turns these two escapes into single bytes that are not UTF-8.
    if (!utf8::is_valid(value)) throw ParseAborted{mark, R"(\N and \_ are not read; write \u0085 and \u00A0)"};
    if (expects_key()) {
      Level& level = stack_.back();
      if (!level.keys.insert(value).second)
        throw ParseAborted{mark, fmt::format("the key \"{}\" appears twice", value)};
      level.key = value;
      level.has_key = true;
      if (placed_ != nullptr) placed_->keys.emplace(pointer(), place_of(mark));
      return;
    }
    // yaml-cpp tags quoted scalars "!" and plain ones "?".
    add(mark, tag == "!" ? Json(value) : plain(value));
  }
  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Json::array());
  }
  void OnSequenceEnd() override { stack_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Json::object());
  }
  void OnMapEnd() override { stack_.pop_back(); }

 private:
  struct Level {
    Json* value = nullptr;
    std::set<std::string> keys = {};
    std::string key = {};
    bool has_key = false;
  };

  bool expects_key() const { return !stack_.empty() && stack_.back().value->is_object() && !stack_.back().has_key; }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) throw ParseAborted{mark, "anchors (&name) are not allowed here"};
    if (!tag.empty() && tag != "?" && tag != "!") throw ParseAborted{mark, "tags (!name) are not allowed here"};
    if (++count_ > bounds_.max_values) throw ParseAborted{mark, fmt::format("more than {} values", bounds_.max_values)};
  }

  Json* add(const YAML::Mark& mark, Json&& value) {
    note(mark);
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = stack_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    level.has_key = false;
    // Append without the search of `operator[]`: `OnScalar` has already refused duplicate keys.
    auto& members = static_cast<std::vector<Json::object_t::value_type>&>(level.value->get_ref<Json::object_t&>());
    members.emplace_back(level.key, std::move(value));
    return &members.back().second;
  }

  static TextPosition place_of(const YAML::Mark& mark) { return {.line = mark.line + 1, .column = mark.column + 1}; }

  /// The JSON pointer of the next value.
  std::string pointer() const {
    std::string text;
    for (const Level& level : stack_) {
      // In each enclosing level, the last item is the one being filled.
      const std::size_t items = level.value->size();
      const bool innermost = &level == &stack_.back();
      text += '/';
      text += level.value->is_object() ? level.key : std::to_string(innermost ? items : items - 1);
    }
    return text;
  }

  /// Records the position of the value that is added next.
  void note(const YAML::Mark& mark) {
    if (placed_ != nullptr) placed_->places.emplace(pointer(), place_of(mark));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json&& empty) {
    check(mark, tag, anchor);
    if (expects_key()) throw ParseAborted{mark, "a key must be a word without quotes or special characters"};
    if (stack_.size() >= bounds_.max_depth)
      throw ParseAborted{mark, fmt::format("more than {} levels deep", bounds_.max_depth)};
    stack_.push_back({.value = add(mark, std::move(empty))});
  }

  const JsonBounds& bounds_;
  YamlWithPositions* placed_;
  Json root_;
  std::vector<Level> stack_;
  bool has_document_ = false;
  std::size_t count_ = 0;
};

std::string place(const YAML::Mark& mark) {
  if (mark.is_null()) return "the end";
  return fmt::format("line {}, column {}", mark.line + 1, mark.column + 1);
}

/// YAML 1.2 (5.1) does not allow these unescaped; yaml-cpp takes some for the end of the text, and NUL for UTF-32.
bool is_forbidden(char byte) { return byte >= 0 && byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t'; }

/// Whether a character of the text has to be escaped wherever it stands: what YAML 1.1 takes for the end of a line
/// (U+0085, U+2028, U+2029), what no YAML may hold (DEL, C1), and a byte order mark.
bool must_be_escaped(std::string_view text) {
  if (text.find('\x7f') != std::string_view::npos) return true;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '\xc2' && static_cast<unsigned char>(text[at + 1]) <= 0x9fU) return true;
    const std::string_view three = text.substr(at, 3);
    for (const std::string_view one : {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"}) {
      if (three == one) return true;
    }
  }
  return false;
}

/// Whether the text survives a literal block (`|`): the first line sets the indentation and the last one ends in
/// exactly one newline; carriage returns and other control characters would be read as line or text ends.
bool is_literal(const std::string& text) {
  return text.size() > 1 && !must_be_escaped(text) && text.front() > ' ' && text.back() == '\n' &&
         text[text.size() - 2] != '\n' && text.find('\r') == std::string::npos &&
         std::none_of(text.begin(), text.end(), is_forbidden);
}

/// Whether a reader, of YAML 1.1 too, would take the plain scalar for another type or end it early. A quoted text is
/// never wrong: all that begins as a number or a time does is quoted (0x1f, 1_000, 12:30, 2026-01-31, .inf).
bool needs_quotes(const std::string& text) {
  static const std::set<std::string_view> words = {"y", "n", "yes", "no", "on", "off", "=", "<<"};
  const std::size_t begin = text.find_first_not_of("+-");
  const char first = begin == std::string::npos ? '\0' : text[begin];
  const bool begins_as_number = ((first >= '0' && first <= '9') || first == '.') && !is_uuid(text);
  return begins_as_number || words.contains(to_lower(text)) || !plain(text).is_string() ||
         text.find_first_of("\r\n") != std::string::npos;
}

/// In bytes; longer keys are written after `? `. YAML 1.2 (7.4.2) reads a key before `: ` of at most 1,024 characters,
/// and one byte is escaped as up to four (`\x1b`).
constexpr std::size_t longest_plain_key = 200;

void emit_text(YAML::Emitter& out, const std::string& text) {
  if (must_be_escaped(text)) {
    out << YAML::EscapeNonAscii << YAML::DoubleQuoted;
  } else if (needs_quotes(text)) {
    out << YAML::DoubleQuoted;
  }
  out << text;
}

void emit(YAML::Emitter& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      out << YAML::BeginMap;
      for (const auto& [key, member] : value.items()) {
        // Quote keys that a reader would take for numbers, such as HTTP statuses, as any other text.
        out << YAML::Key;
        if (key.size() > longest_plain_key) out << YAML::LongKey;
        emit_text(out, key);
        out << YAML::Value;
        emit(out, member);
      }
      out << YAML::EndMap;
      return;
    case Json::value_t::array:
      if (value.empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Json& item : value) emit(out, item);
      out << YAML::EndSeq;
      return;
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      if (is_literal(text)) {
        out << YAML::Literal << text;
      } else {
        emit_text(out, text);
      }
      return;
    }
    case Json::value_t::null: out << YAML::Null; return;
    case Json::value_t::boolean: out << value.get<bool>(); return;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
    case Json::value_t::binary:
    case Json::value_t::discarded: out << dump(value); return;
  }
}

Result<void> parse_into(YamlBuilder& builder, std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.max_bytes) {
    return fail(Failure::Kind::invalid,
                fmt::format("YAML of {} bytes; at most {} are read", text.size(), bounds.max_bytes));
  }
  if (!utf8::is_valid(text)) return fail(Failure::Kind::invalid, "YAML is not valid UTF-8");
  if (const auto* const control = std::find_if(text.begin(), text.end(), is_forbidden); control != text.end()) {
    YAML::Mark mark;
    const std::string_view before = text.substr(0, static_cast<std::size_t>(control - text.begin()));
    mark.line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    mark.column = static_cast<int>(utf8::code_points(before.substr(before.rfind('\n') + 1)));
    return fail(Failure::Kind::invalid,
                fmt::format("{}: a control character; write it as \"\\x{:02x}\"", place(mark), *control));
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const ParseAborted& refused) {
    return fail(Failure::Kind::invalid, fmt::format("{}: {}", place(refused.mark), refused.reason));
  } catch (const YAML::Exception& error) {
    const bool is_alias = error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR);
    return fail(Failure::Kind::invalid,
                fmt::format("{}: {}", place(error.mark), is_alias ? std::string(no_aliases) : error.msg));
  }
  return {};
}

}  // namespace

Result<Json> parse_yaml(std::string_view text, const JsonBounds& bounds) {
  YamlBuilder builder(bounds);
  WS_TRY(parse_into(builder, text, bounds));
  return builder.take();
}

Result<YamlWithPositions> parse_yaml_with_positions(std::string_view text, const JsonBounds& bounds) {
  YamlWithPositions placed;
  YamlBuilder builder(bounds, &placed);
  WS_TRY(parse_into(builder, text, bounds));
  placed.value = builder.take();
  return placed;
}

std::string to_yaml(const Json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace ws
