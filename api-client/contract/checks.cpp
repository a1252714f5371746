#include "api-client/contract/checks.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::contract {
namespace {

Source limit_source(const Type& type, Source source) {
  return type.limits == Source::assumed ? Source::assumed : source;
}

Violation violation(std::string type, std::string message, const Json& input, Json context, Source limit) {
  return {.type = std::move(type),
          .message = std::move(message),
          .input = excerpt(input),
          .context = std::move(context),
          .limit = limit};
}

std::string count_of(std::int64_t count, std::string_view unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

bool is_hex(char32_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// The reason why the text is not a UUID, in the words of pydantic's parser.
std::string uuid_fault(std::string_view text) {
  std::size_t position = 0;
  std::array<std::size_t, 5> groups = {};
  std::size_t group = 0;
  for (std::string_view rest = text; !rest.empty(); ++position) {
    const char32_t c = utf8::next(rest);
    if (c == '-') {
      ++group;
    } else if (is_hex(c)) {
      if (group < groups.size()) ++groups.at(group);
    } else {
      std::string found;
      utf8::append(found, c);
      return fmt::format("invalid character: found `{}` at {}", found, position + 1);
    }
  }
  if (group == 0) {
    if (position == 32) return "invalid length: expected length 36 for hyphenated format, found 32";
    return fmt::format("invalid length: expected length 32 for simple format, found {}", position);
  }
  if (group != 4) return fmt::format("invalid group count: expected 5, found {}", group + 1);
  constexpr std::array<std::size_t, 5> expected = {8, 4, 4, 4, 12};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups.at(i) == expected.at(i)) continue;
    return fmt::format("invalid group length in group {}: expected {}, found {}", i, expected.at(i), groups.at(i));
  }
  return "invalid form";
}

Violation not_uuid(Source source, std::string_view fault, const Json& input) {
  return violation("uuid_parsing",
                   fmt::format("Input should be a valid UUID, {}", fault),
                   input,
                   {{"error", std::string(fault)}},
                   source);
}

/// "'read', 'comment' or 'edit'"
std::string expected_values(const Type& type) {
  std::string text;
  for (std::size_t i = 0; i < type.values.size(); ++i) {
    if (i > 0) text += i + 1 == type.values.size() ? " or " : ", ";
    text += fmt::format("'{}'", type.values[i]);
  }
  return text;
}

Violation not_a_choice(const Type& type, Source source, const Json& input) {
  const std::string expected = expected_values(type);
  return violation("literal_error",
                   fmt::format("Input should be {}", expected),
                   input,
                   {{"expected", expected}},
                   limit_source(type, source));
}

Refusal check_text_length(const Type& type, Source source, std::string_view text) {
  const Source limit = limit_source(type, source);
  // Counted only if a limit needs it: a document can have a megabyte and has a limit in bytes only.
  const auto length = type.min || type.max ? static_cast<std::int64_t>(utf8::code_points(text)) : std::int64_t{0};
  if (type.min && length < *type.min) {
    return violation("string_too_short",
                     fmt::format("String should have at least {}", count_of(*type.min, "character")),
                     text,
                     {{"min_length", *type.min}},
                     limit);
  }
  if (type.max && length > *type.max) {
    return violation("string_too_long",
                     fmt::format("String should have at most {}", count_of(*type.max, "character")),
                     text,
                     {{"max_length", *type.max}},
                     limit);
  }
  if (type.max_bytes && std::cmp_greater(text.size(), *type.max_bytes)) {
    return violation("string_too_long",
                     fmt::format("String should have at most {}", count_of(*type.max_bytes, "byte")),
                     text,
                     {{"max_length", *type.max_bytes}},
                     limit);
  }
  return {};
}

/// Limits for showing a value: members of an object and code points of a text.
constexpr int shown_values = 50;
constexpr std::size_t shown_code_points = 200;

Json excerpt(const Json& value, int& left) {
  --left;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const std::string_view start = utf8::prefix(text, shown_code_points);
    return start.size() == text.size() ? value : Json(std::string(start) + "…");
  }
  if (!value.is_structured()) return value;
  Json result = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, member] : value.items()) {
    if (left <= 0) break;
    if (value.is_array()) {
      result.push_back(excerpt(member, left));
    } else {
      result.emplace(utf8::prefix(key, shown_code_points), excerpt(member, left));
    }
  }
  return result;
}

}  // namespace

Json excerpt(const Json& value) {
  int left = shown_values;
  return excerpt(value, left);
}

Refusal check_text(const Type& type, Source source, std::string_view text) {
  switch (type.kind) {
    case Kind::string: return check_text_length(type, source, text);
    case Kind::choice:
      if (std::ranges::find(type.values, text) == type.values.end()) return not_a_choice(type, source, text);
      return {};
    case Kind::uuid:
      if (!is_uuid(text)) return not_uuid(source, uuid_fault(text), text);
      return {};
    case Kind::date_time:
      if (!parse_rfc3339(text)) return violation("string_type", "Input should be a valid datetime", text, {}, source);
      return {};
    case Kind::integer:
    case Kind::number:
    case Kind::boolean:
    case Kind::array:
    case Kind::object:
    case Kind::free_object:
    case Kind::text_map:
    case Kind::any: return {};
  }
  return {};
}

Refusal check_range(const Type& type, Source source, std::int64_t value, const Json& input) {
  if (type.min && value < *type.min) {
    return violation("greater_than_equal",
                     fmt::format("Input should be greater than or equal to {}", *type.min),
                     input,
                     {{"ge", *type.min}},
                     limit_source(type, source));
  }
  if (type.max && value > *type.max) {
    return violation("less_than_equal",
                     fmt::format("Input should be less than or equal to {}", *type.max),
                     input,
                     {{"le", *type.max}},
                     limit_source(type, source));
  }
  return {};
}

Refusal check_overflow(const Type& type, Source source, bool negative, const Json& input) {
  const std::int64_t nearest =
      negative ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  if (Refusal refusal = check_range(type, source, nearest, input)) return refusal;
  return violation("int_parsing",
                   "Input should be a valid integer, unable to parse string as an integer",
                   input,
                   {},
                   limit_source(type, source));
}

Refusal check_length(const Type& type, Source source, const Json& items) {
  const auto length = static_cast<std::int64_t>(items.size());
  const auto refusal = [&](std::string_view kind, std::string_view member, std::string_view words, std::int64_t limit) {
    return violation(
        std::string(kind),
        fmt::format("List should have at {} {} after validation, not {}", words, count_of(limit, "item"), length),
        items,
        {{"field_type", "List"}, {std::string(member), limit}, {"actual_length", length}},
        limit_source(type, source));
  };
  if (type.min && length < *type.min) return refusal("too_short", "min_length", "least", *type.min);
  if (type.max && length > *type.max) return refusal("too_long", "max_length", "most", *type.max);
  return {};
}

Violation wrong_type(const Type& type, Source source, const Json& input) {
  switch (type.kind) {
    case Kind::choice: return not_a_choice(type, source, input);
    case Kind::uuid: return not_uuid(source, "expected a string", input);
    case Kind::string: return violation("string_type", "Input should be a valid string", input, {}, source);
    case Kind::date_time: return violation("string_type", "Input should be a valid datetime", input, {}, source);
    case Kind::integer: return violation("int_type", "Input should be a valid integer", input, {}, source);
    case Kind::number: return violation("int_type", "Input should be a valid number", input, {}, source);
    case Kind::boolean: return violation("bool_type", "Input should be a valid boolean", input, {}, source);
    case Kind::array: return violation("list_type", "Input should be a valid list", input, {}, source);
    case Kind::object:
    case Kind::free_object:
    case Kind::text_map:
    case Kind::any: break;
  }
  return violation("dict_type", "Input should be a valid dictionary", input, {}, source);
}

Violation not_parsed(const Type& type, Source source, std::string_view text) {
  if (type.kind == Kind::boolean) {
    return violation("bool_parsing", "Input should be a valid boolean, unable to interpret input", text, {}, source);
  }
  return violation(
      "int_parsing", "Input should be a valid integer, unable to parse string as an integer", text, {}, source);
}

Violation missing(Source source, const Json& parent) {
  return violation("missing", "Field required", parent, {}, source);
}

}  // namespace ws::contract
