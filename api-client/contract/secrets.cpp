#include "api-client/contract/secrets.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"

namespace ws::contract {
namespace {

constexpr std::string_view credential_names[] = {"authorization", "cookie", "proxy-authorization", "set-cookie"};

constexpr std::string_view shown_names[] = {"accept",
                                            "accept-charset",
                                            "accept-encoding",
                                            "accept-language",
                                            "baggage",
                                            "cache-control",
                                            "connection",
                                            "content-encoding",
                                            "content-language",
                                            "content-length",
                                            "content-range",
                                            "content-type",
                                            "date",
                                            "digest",
                                            "dnt",
                                            "expect",
                                            "forwarded",
                                            "from",
                                            "host",
                                            "idempotency-key",
                                            "if-match",
                                            "if-modified-since",
                                            "if-none-match",
                                            "if-range",
                                            "if-unmodified-since",
                                            "keep-alive",
                                            "max-forwards",
                                            "origin",
                                            "pragma",
                                            "prefer",
                                            "priority",
                                            "range",
                                            "referer",
                                            "sec-fetch-dest",
                                            "sec-fetch-mode",
                                            "sec-fetch-site",
                                            "sec-fetch-user",
                                            "te",
                                            "traceparent",
                                            "tracestate",
                                            "trailer",
                                            "transfer-encoding",
                                            "upgrade",
                                            "user-agent",
                                            "via",
                                            "x-forwarded-for",
                                            "x-forwarded-host",
                                            "x-forwarded-proto",
                                            "x-request-id"};

/// Words in the name of a member, parameter or header that no schema describes.
constexpr std::string_view secret_words[] = {"secret",
                                             "token",
                                             "password",
                                             "passwd",
                                             "passphrase",
                                             "api_key",
                                             "apikey",
                                             "access_key",
                                             "authorization",
                                             "cookie",
                                             "credential",
                                             "signature",
                                             "private_key"};

/// `display_prefix`: enough to tell a key from others.
constexpr std::size_t shown_key_characters = 12;
/// Shorter texts are names and words of people.
constexpr std::size_t shortest_key = 20;
constexpr std::size_t shortest_hex_key = 32;
constexpr std::size_t longest_key = 4096;
constexpr std::size_t sha256_hex = 64;

/// Every described name, with the kind of its secret. A name is a secret everywhere or nowhere (`secrets_test.cpp`).
std::map<std::string_view, std::string_view> collect_names() {
  std::map<std::string_view, std::string_view> names;
  const auto add = [&names](const Field& field) {
    std::string_view& kind = names[field.name];
    if (kind.empty()) kind = field.secret;
  };
  for (const Schema* schema : schemas()) {
    for (const Field& field : schema->fields) add(field);
  }
  for (const Operation* operation : operations()) {
    for (const Parameter& parameter : operation->parameters) add(parameter.field);
  }
  return names;
}

const std::map<std::string_view, std::string_view>& described_names() {
  static const std::map<std::string_view, std::string_view> all = collect_names();
  return all;
}

bool names_a_secret(std::string_view name) {
  std::string plain = to_lower(name);
  std::ranges::replace(plain, '-', '_');
  return std::ranges::any_of(secret_words,
                             [&](std::string_view word) { return plain.find(word) != std::string::npos; });
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// Where a value stands.
struct Place {
  bool is_described = true;
  bool is_secret = false;         // or a part of one
  bool is_only_named_so = false;  // by a word in its name, as counts and limits have too
};

void redact_value(Json& value, const Replacement& by, const Place& at) {
  if (auto* const text = value.get_ptr<std::string*>(); text != nullptr) {
    const bool is_hidden = at.is_secret || (!at.is_described && looks_like_key(*text));
    *text = is_hidden ? by(*text) : redact_keys(std::move(*text), by);
  } else if (value.is_number()) {
    if (at.is_secret && !at.is_only_named_so) value = redacted;
  } else if (value.is_array()) {
    for (Json& item : value) redact_value(item, by, at);
  } else if (value.is_object()) {
    const bool repeats_secret = is_about_secret(value);
    std::vector<std::pair<std::string, std::string>> names;
    for (auto& [name, member] : value.items()) {
      const bool repeats = repeats_secret && name == "input";
      Place in = at;
      in.is_described = is_described(name);
      if ((repeats || !secret_kind(name).empty()) && (!at.is_secret || at.is_only_named_so)) {
        in.is_secret = true;
        in.is_only_named_so = !repeats && !in.is_described;
      }
      redact_value(member, by, in);
      if (std::string shown = redact_keys(name, by); shown != name) names.emplace_back(name, std::move(shown));
    }
    for (const auto& [name, shown] : names) {
      Json member = std::move(value[name]);
      value.erase(name);
      value[shown] = std::move(member);
    }
  }
}

}  // namespace

std::string_view secret_kind(std::string_view name) {
  const auto found = described_names().find(name);
  if (found != described_names().end()) return found->second;
  return names_a_secret(name) ? "secret" : std::string_view();
}

bool is_described(std::string_view name) { return described_names().contains(name); }

bool looks_like_key(std::string_view value) {
  if (value.find(key_prefix) != std::string_view::npos) return true;
  if (value.starts_with("Bearer ") || value.starts_with("Basic ")) return true;
  if (value.size() < shortest_key || value.size() > longest_key || is_uuid(value)) return false;
  bool has_upper = false;
  bool has_lower = false;
  bool has_digit = false;
  bool is_hex = true;
  for (const char c : value) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool lower = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    if (!upper && !lower && !digit && std::string_view("-_.~+=/").find(c) == std::string_view::npos) return false;
    has_upper = has_upper || upper;
    has_lower = has_lower || lower;
    has_digit = has_digit || digit;
    is_hex = is_hex && hex_digit(c) >= 0;
  }
  if (is_hex) return value.size() >= shortest_hex_key && value.size() != sha256_hex;
  return has_upper && has_lower && has_digit;
}

std::span<const std::string_view> credential_headers() { return credential_names; }
std::span<const std::string_view> shown_headers() { return shown_names; }

bool is_credential_header(std::string_view name) {
  return std::ranges::find(credential_names, to_lower(name)) != std::end(credential_names);
}

bool is_shown_header(std::string_view name) {
  return std::ranges::find(shown_names, to_lower(name)) != std::end(shown_names);
}

bool hides_header(std::string_view name, std::string_view value) {
  if (is_shown_header(name)) return value.find(key_prefix) != std::string_view::npos;
  return is_credential_header(name) || !secret_kind(name).empty() || looks_like_key(value);
}

std::string_view shown_part(std::string_view name, std::string_view value) {
  return equal_ignoring_case(name, "referer") ? value.substr(0, value.find('?')) : value;
}

std::string as_redacted(std::string_view /*secret*/) { return std::string(redacted); }

std::string redact_keys(std::string text, const Replacement& by) {
  std::size_t at = text.find(key_prefix);
  if (at == std::string::npos) return text;
  std::string replaced;
  std::size_t kept = 0;
  for (; at != std::string::npos; at = text.find(key_prefix, at)) {
    const std::size_t begin = at;
    while (at < text.size() && is_key_character(text[at])) ++at;
    if (at - begin <= shown_key_characters) continue;
    replaced.append(text, kept, begin - kept).append(by(std::string_view(text).substr(begin, at - begin)));
    kept = at;
  }
  return replaced.append(text, kept);
}

void redact_members(Json& value, const Replacement& by) { redact_value(value, by, {}); }

bool is_about_secret(const Json& value) {
  const Json* const loc = find(value, "loc");
  if (loc == nullptr || !loc->is_array()) return false;
  return std::ranges::any_of(*loc, [](const Json& part) {
    return part.is_string() && !secret_kind(part.get_ref<const std::string&>()).empty();
  });
}

bool holds_secret(const Json& value) {
  if (const auto* const text = value.get_ptr<const std::string*>()) return redact_keys(*text) != *text;
  if (!value.is_structured()) return false;
  for (const auto& [name, member] : value.items()) {
    if (value.is_object() && !member.is_null() && !secret_kind(name).empty()) return true;
    if (holds_secret(member)) return true;
  }
  return false;
}

std::string redact_pairs(std::string_view text, const Replacement& by) {
  std::string shown;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    const bool is_secret = !secret_kind(name).empty() || (!is_described(name) && looks_like_key(value));
    if (is_secret) {
      shown.append(name).append("=").append(by(value));
    } else {
      shown.append(redact_keys(std::string(pair), by));
    }
    if (pair.size() < text.size()) shown += '&';
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return shown;
}

}  // namespace ws::contract
