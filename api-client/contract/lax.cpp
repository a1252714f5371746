#include "api-client/contract/lax.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::contract {

namespace {

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

}  // namespace

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

Json parse_lax(const Type& type, std::string_view text) {
  if (check_lax(type, Source::published, text)) return nullptr;
  if (type.kind == Kind::integer) return read_integer(text).value;
  if (type.kind == Kind::boolean) return read_boolean(text).value_or(false);
  return std::string(text);
}

}  // namespace ws::contract
