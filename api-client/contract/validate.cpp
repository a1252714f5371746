#include "api-client/contract/validate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/contract/checks.hpp"
#include "api-client/contract/operations.hpp"

namespace ws::contract {
namespace {

// Query values are parsed as leniently as pydantic v2 parses a query ("lax mode").

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct LaxInteger {
  enum class Fate { nonsense, value, overflow };
  Fate fate = Fate::nonsense;
  bool negative = false;
  std::int64_t value = 0;
};

/// "1_000" without its underscores; empty if one is not between two digits.
std::string digits_of(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      digits += text[i];
    } else if (text[i] != '_' || i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return {};
    }
  }
  return digits;
}

/// Accepts surrounding spaces, a sign, leading zeros, single underscores and a fraction of zeros: "05", "+5", "5.0".
LaxInteger read_integer(std::string_view text) {
  text = trimmed(text, " \t\r\n\f\v");
  LaxInteger result;
  result.negative = text.starts_with('-');
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (const std::size_t point = text.find('.'); point != text.npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.find_first_not_of('0') != fraction.npos) return result;
    text = text.substr(0, point);
  }
  const std::string digits = digits_of(text);
  if (digits.empty()) return result;
  const std::string signed_digits = (result.negative ? "-" : "") + digits;
  const auto [end, error] =
      std::from_chars(signed_digits.data(), signed_digits.data() + signed_digits.size(), result.value);
  result.fate = error == std::errc::result_out_of_range ? LaxInteger::Fate::overflow : LaxInteger::Fate::value;
  return result;
}

std::optional<bool> read_boolean(std::string_view text) {
  constexpr std::string_view yes[] = {"1", "on", "t", "true", "y", "yes"};
  constexpr std::string_view no[] = {"0", "off", "f", "false", "n", "no"};
  const std::string lower = to_lower(text);
  if (std::ranges::find(yes, lower) != std::end(yes)) return true;
  if (std::ranges::find(no, lower) != std::end(no)) return false;
  return {};
}

/// A violation without its `loc`, or nothing.
Refusal check_lax(const Type& type, Source source, std::string_view text) {
  if (!utf8::is_valid(text)) return wrong_type(type, source, text);
  if (type.kind == Kind::boolean) {
    if (!read_boolean(text)) return not_parsed(type, source, text);
    return {};
  }
  if (type.kind != Kind::integer) return check_text(type, source, text);
  const LaxInteger integer = read_integer(text);
  switch (integer.fate) {
    case LaxInteger::Fate::nonsense: return not_parsed(type, source, text);
    case LaxInteger::Fate::overflow: return check_overflow(type, source, integer.negative, text);
    case LaxInteger::Fate::value: return check_range(type, source, integer.value, text);
  }
  return {};
}

enum class Direction { request, response };

/// Walks a value along its schema and collects violations.
class Validator {
 public:
  Validator(Direction direction, std::vector<Step> loc) : direction_(direction), loc_(std::move(loc)) {}

  void object(const Json& value, const Schema& schema, Source source);
  void report(Violation violation);
  Findings take() { return std::move(findings_); }

 private:
  bool is_full() const { return findings_.violations.size() >= max_findings; }
  void member(const Json& parent, const Field& field);
  void value(const Json& value, const Type& type, Source source);
  void integer(const Json& value, const Type& type, Source source);
  void array(const Json& value, const Type& type, Source source);
  void text_map(const Json& value, Source source);

  Direction direction_;
  std::vector<Step> loc_;
  Findings findings_ = {};
};

void Validator::report(Violation violation) {
  if (is_full()) return;
  violation.loc = loc_;
  findings_.violations.push_back(std::move(violation));
}

void Validator::object(const Json& value, const Schema& schema, Source source) {
  if (!value.is_object()) return report(wrong_type(contract::object(schema), source, value));
  for (const Field& field : schema.fields) member(value, field);
  for (const auto& [key, ignored] : value.items()) {
    if (findings_.unknown.size() >= max_findings) break;
    if (find_field(schema, key) != nullptr) continue;
    findings_.unknown.push_back(loc_);
    findings_.unknown.back().emplace_back(key);
  }
}

void Validator::member(const Json& parent, const Field& field) {
  const Json* found = find(parent, field.name);
  // The client must not fail because an assumed member of a response is missing or null.
  const bool lenient = direction_ == Direction::response && field.source == Source::assumed;
  if (found != nullptr && found->is_null() && (lenient || field.null == Null::yes)) return;
  if (found == nullptr && (lenient || field.presence == Presence::optional)) return;
  loc_.emplace_back(std::string(field.name));
  if (found == nullptr) {
    report(missing(field.source, parent));
  } else {
    value(*found, field.type, field.source);
  }
  loc_.pop_back();
}

void Validator::value(const Json& value, const Type& type, Source source) {
  switch (type.kind) {
    case Kind::any: return;
    case Kind::object: return object(value, *type.object, source);
    case Kind::array: return array(value, type, source);
    case Kind::integer: return integer(value, type, source);
    case Kind::text_map: return text_map(value, source);
    case Kind::free_object:
      if (!value.is_object()) report(wrong_type(type, source, value));
      return;
    case Kind::number:
      if (!value.is_number()) report(wrong_type(type, source, value));
      return;
    case Kind::boolean:
      if (!value.is_boolean()) report(wrong_type(type, source, value));
      return;
    case Kind::string:
    case Kind::uuid:
    case Kind::date_time:
    case Kind::choice:
      if (!value.is_string()) return report(wrong_type(type, source, value));
      if (Refusal refusal = check_text(type, source, value.get_ref<const std::string&>())) report(std::move(*refusal));
      return;
  }
}

void Validator::integer(const Json& value, const Type& type, Source source) {
  Refusal refusal;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    refusal = check_overflow(type, source, false, value);
  } else if (value.is_number_integer()) {
    refusal = check_range(type, source, value.get<std::int64_t>(), value);
  } else if (value.is_number_float() && std::abs(value.get<double>()) >= 0x1.0p63) {
    // `parse_bounded` makes a double of an integer that does not fit into 64 bits.
    refusal = check_overflow(type, source, value.get<double>() < 0, value);
  } else if (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>()) {
    // 300.0 is an integer in JSON Schema, which the OpenAPI document uses.
    refusal = check_range(type, source, static_cast<std::int64_t>(value.get<double>()), value);
  } else {
    refusal = wrong_type(type, source, value);
  }
  if (refusal) report(std::move(*refusal));
}

void Validator::array(const Json& value, const Type& type, Source source) {
  if (!value.is_array()) return report(wrong_type(type, source, value));
  if (Refusal refusal = check_length(type, source, value)) return report(std::move(*refusal));
  for (std::size_t i = 0; i < value.size() && !is_full(); ++i) {
    loc_.emplace_back(i);
    this->value(value[i], *type.items, source);
    loc_.pop_back();
  }
}

void Validator::text_map(const Json& value, Source source) {
  if (!value.is_object()) return report(wrong_type(contract::text_map(), source, value));
  for (const auto& [key, text] : value.items()) {
    if (text.is_string()) continue;
    loc_.emplace_back(key);
    report(wrong_type(string(), source, text));
    loc_.pop_back();
  }
}

bool names(const Parameter& parameter, std::string_view name) {
  return parameter.in == In::header ? equal_ignoring_case(parameter.field.name, name) : parameter.field.name == name;
}

std::vector<const std::string*> texts_of(const Parameter& parameter, TextPairs pairs) {
  std::vector<const std::string*> texts;
  for (const auto& [name, text] : pairs) {
    if (names(parameter, name)) texts.push_back(&text);
  }
  return texts;
}

/// The query as an object: shown as the `input` of a missing parameter.
Json as_object(TextPairs pairs) {
  Json object = Json::object();
  for (const auto& [name, text] : pairs) object[name] = text;
  return object;
}

Refusal check_parameter(const Parameter& parameter, TextPairs pairs) {
  const Field& field = parameter.field;
  const std::vector<const std::string*> texts = texts_of(parameter, pairs);
  if (texts.empty()) {
    if (field.presence == Presence::optional) return {};
    return missing(field.source, as_object(pairs));
  }
  if (texts.size() == 1) return check_lax(field.type, field.source, *texts.front());
  Json all = Json::array();
  for (const std::string* text : texts) all.push_back(*text);
  return wrong_type(field.type, field.source, all);
}

Json to_json(const std::vector<Step>& loc) {
  Json steps = Json::array();
  for (const Step& step : loc) {
    std::visit([&](const auto& value) { steps.push_back(value); }, step);
  }
  return steps;
}

}  // namespace

Findings validate_body(const Operation& operation, const Json* body) {
  if (operation.request == nullptr) return {};
  Validator validator(Direction::request, {std::string("body")});
  if (body == nullptr || body->is_null()) {
    validator.report(missing(Source::published, nullptr));
  } else {
    validator.object(*body, *operation.request, Source::published);
  }
  return validator.take();
}

Findings validate_value(const Json& value, const Schema& schema, std::vector<Step> loc) {
  Validator validator(Direction::request, std::move(loc));
  validator.object(value, schema, schema.source);
  return validator.take();
}

Findings validate_response(const Json& value, const Schema& schema) {
  Validator validator(Direction::response, {std::string("body")});
  validator.object(value, schema, schema.source);
  return validator.take();
}

Findings validate_parameters(const Operation& operation, TextPairs path, TextPairs query, TextPairs headers) {
  Findings findings;
  for (const Parameter& parameter : operation.parameters) {
    const TextPairs pairs = parameter.in == In::path ? path : parameter.in == In::query ? query : headers;
    Refusal refusal = check_parameter(parameter, pairs);
    if (!refusal) continue;
    refusal->loc = {std::string(name(parameter.in)), std::string(parameter.field.name)};
    findings.violations.push_back(std::move(*refusal));
  }
  for (const auto& [name, text] : query) {
    const Parameter* known = find_parameter(operation, name);
    if (known != nullptr && known->in == In::query) continue;
    if (findings.unknown.size() < max_findings) findings.unknown.push_back({std::string("query"), name});
  }
  return findings;
}

Json parse_lax(const Type& type, std::string_view text) {
  if (type.kind != Kind::integer && type.kind != Kind::boolean) return std::string(text);
  if (check_lax(type, Source::published, text)) return nullptr;
  return type.kind == Kind::integer ? Json(read_integer(text).value) : Json(read_boolean(text).value_or(false));
}

Violation json_invalid(std::string_view reason, std::size_t position) {
  return {.loc = {std::string("body"), position},
          .type = "json_invalid",
          .message = "JSON decode error",
          .input = Json::object(),
          .context = Json{{"error", std::string(reason)}}};
}

Violation extra_forbidden(std::vector<Step> loc, const Json& input) {
  return {.loc = std::move(loc),
          .type = "extra_forbidden",
          .message = "Extra inputs are not permitted",
          .input = excerpt(input)};
}

Json to_json(std::span<const Violation> violations) {
  Json detail = Json::array();
  for (const Violation& violation : violations) {
    Json entry = {{"loc", to_json(violation.loc)},
                  {"msg", violation.message},
                  {"type", violation.type},
                  {"input", *violation.input}};
    if (!violation.context.is_null()) entry["ctx"] = *violation.context;
    detail.push_back(std::move(entry));
  }
  return {{"detail", std::move(detail)}, {"code", "validation_error"}};
}

std::string render(std::span<const Step> loc) {
  std::string text;
  for (const Step& step : loc) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      if (!text.empty()) text += '.';
      text += *name;
    } else {
      text += fmt::format("[{}]", std::get<std::size_t>(step));
    }
  }
  return text;
}

std::string render(const Violation& violation) { return render(violation.loc) + ": " + violation.message; }

}  // namespace ws::contract
