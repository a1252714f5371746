#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clock.hpp"
#include "api-client/base/percent.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/secrets.hpp"
#include "server-mock/compare/exchange.hpp"
#include "server-mock/http/target.hpp"

namespace ws::mock::compare {
namespace {

using contract::Field;
using contract::Kind;
using contract::Operation;
using contract::Schema;
using contract::Type;

constexpr JsonBounds kept_bounds = {.max_bytes = std::size_t{16} << 20U};
/// Shorter texts would also match inside unrelated words.
constexpr std::size_t min_replaced = 6;

struct MemberKind {
  std::string_view name = {};
  std::string_view kind = {};
};

/// Members that are opaque to clients.
constexpr MemberKind opaque_members[] = {
    {"cursor", "cursor"},
    {"next_cursor", "cursor"},
    {"blob_name", "blob"},
    {"chunk_id", "chunk"},
    {"source_id", "chunk"},
    {"watermark", "watermark"},
    {"display_prefix", "prefix"},
    {"avatar_url", "url"},
};

std::string_view find_kind(std::span<const MemberKind> members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &MemberKind::name);
  return found == members.end() ? std::string_view() : found->kind;
}

/// Whether the text is a name or a protocol token, and cannot be mistaken for a key.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 48 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == '/' || c == '+';
  });
}

/// Lower-case words joined by underscores, such as error codes.
bool is_code(std::string_view text) {
  return !text.empty() && text.size() <= 48 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == ':'; });
}

bool is_hash(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_etag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text == "*") return true;
  if (text.size() < 3 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  return is_hash(text) || (text.size() <= 10 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 12 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// "application/json" of "application/json; charset=utf-8".
std::string media_type(std::string_view text) {
  std::string type = to_lower(text.substr(0, text.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  return is_name(type) ? type : "unknown";
}

/// What would end a name or a value of a query, or be read as an escape.
std::string encoded(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool is_plain = c > ' ' && c <= '~' && std::string_view("%&+=#").find(c) == std::string_view::npos;
    safe += is_plain ? std::string(1, c) : percent_encode(std::string_view(&c, 1));
  }
  return safe;
}

/// Response headers whose values may be kept, and the values allowed.
Json kept_header(std::string_view name, std::string_view value) {
  if (name == "content-type") return media_type(value);
  if (name == "etag" && is_etag(value)) return value;
  if ((name == "retry-after" || name == "content-length") && is_digits(value)) return value;
  if (name == "www-authenticate") {
    const std::string_view scheme = value.substr(0, value.find(' '));
    return is_name(scheme) ? Json(scheme) : Json(nullptr);
  }
  if ((name == "accept-ranges" || name == "idempotent-replayed") && is_code(value)) return value;
  if (name == "content-range" && value.starts_with("bytes ") && value.size() < 64) return value;
  if (name == "allow" && value.size() < 64) {
    return std::ranges::all_of(value, [](char c) { return (c >= 'A' && c <= 'Z') || c == ',' || c == ' '; })
               ? Json(value)
               : Json(nullptr);
  }
  return nullptr;
}

/// An array with each item changed.
template <class Change>
Json each_item(const Json& array, Change change) {
  Json all = Json::array();
  for (const Json& item : array) all.push_back(change(item));
  return all;
}

bool is_json_type(std::string_view text) {
  const std::string type = media_type(text);
  return type == "application/json" || type.ends_with("+json");
}

}  // namespace

std::string ExchangeRedactor::opaque(std::string_view kind, const std::string& text) {
  if (placeholder_length(text, 0) == text.size() && !text.empty()) return text;
  std::string key = fmt::format("{}{}{}", kind, '\0', text);
  const auto found = placeholders_.find(key);
  if (found != placeholders_.end()) return found->second;
  auto number = numbers_.find(kind);
  if (number == numbers_.end()) number = numbers_.emplace(std::string(kind), 0).first;
  const std::size_t length = utf8::is_valid(text) ? utf8::code_points(text) : text.size();
  std::string made = fmt::format("<{}:{}:{}>", kind, ++number->second, length);
  placeholders_.emplace(std::move(key), made);
  return made;
}

std::string ExchangeRedactor::secret(std::string_view kind, const std::string& text) {
  if (text.empty()) return text;
  const auto known = secrets_.find(text);
  if (known != secrets_.end()) return known->second;
  std::string made = opaque(kind, text);
  if (text.size() >= min_replaced && made != text) secrets_.emplace(text, made);
  return made;
}

/// Replaces known secrets wherever they occur, and every text that has the form of a key.
std::string ExchangeRedactor::replace_secrets(std::string text) const {
  for (const auto& [secret, placeholder] : secrets_) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + placeholder.size())) {
      text.replace(at, secret.size(), placeholder);
    }
  }
  return contract::replace_keys(std::move(text),
                                [](std::string_view key) { return fmt::format("<key:0:{}>", key.size()); });
}

std::string ExchangeRedactor::redact_name(const std::string& name) {
  return is_name(name) ? replace_secrets(name) : opaque("name", name);
}

Json ExchangeRedactor::redact_under_secret(const Json& value, std::string_view kind) {
  if (value.is_string()) return secret(kind, value.get<std::string>());
  if (value.is_array()) return each_item(value, [&](const Json& item) { return redact_under_secret(item, kind); });
  if (value.is_object()) {
    Json all = Json::object();
    for (const auto& [name, member] : value.items()) {
      all[redact_name(name)] = redact_under_secret(member, kind);
    }
    return all;
  }
  return value.is_number() ? Json(0) : value;
}

Json ExchangeRedactor::redact_unknown(const Json& value) {
  if (value.is_string()) return opaque("text", value.get<std::string>());
  if (value.is_array()) return each_item(value, [&](const Json& item) { return redact_unknown(item); });
  if (value.is_object()) {
    Json all = Json::object();
    for (const auto& [name, member] : value.items()) {
      const std::string_view kind = contract::secret_kind(name);
      all[redact_name(name)] = kind.empty() ? redact_unknown(member) : redact_under_secret(member, kind);
    }
    return all;
  }
  return value.is_number() ? Json(value.is_number_integer() ? Json(0) : Json(0.5)) : value;
}

Json ExchangeRedactor::redact_member(const Json& value, std::string_view name, const Type& type) {
  if (const std::string_view kind = contract::secret_kind(name); !kind.empty()) {
    return redact_under_secret(value, kind);
  }
  if (value.is_null() || value.is_boolean()) return value;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (const std::string_view kind = find_kind(opaque_members, name); !kind.empty() && type.kind != Kind::uuid) {
      return opaque(kind, text);
    }
    switch (type.kind) {
      case Kind::uuid: return is_uuid(text) ? Json(text) : Json(opaque("text", text));
      case Kind::date_time: return parse_rfc3339(text) ? Json(text) : Json(opaque("text", text));
      case Kind::choice:
        return std::ranges::find(type.values, text) != type.values.end() || is_code(text) ? Json(replace_secrets(text))
                                                                                          : Json(opaque("text", text));
      case Kind::string: {
        // The query of a URL may contain a signature.
        const bool is_address = (text.starts_with("http://") || text.starts_with("https://")) &&
                                text.find_first_of(" \n") == std::string::npos;
        return replace_secrets(text.substr(0, is_address ? text.find('?') : std::string::npos));
      }
      default: return opaque("text", text);
    }
  }
  if (value.is_number()) return type.kind == Kind::integer || type.kind == Kind::number ? value : redact_unknown(value);
  if (value.is_array()) {
    const Type any = {.kind = Kind::free_object};
    return each_item(
        value, [&](const Json& item) { return redact_member(item, "", type.items == nullptr ? any : *type.items); });
  }
  if (type.kind == Kind::object) return redact_object(value, *type.object);
  if (type.kind == Kind::text_map) {
    Json all = Json::object();
    for (const auto& [key, member] : value.items()) {
      const bool is_path = member.is_string() && member.get_ref<const std::string&>().starts_with("/v1/") &&
                           member.get_ref<const std::string&>().find('?') == std::string::npos;
      all[redact_name(key)] = is_path ? Json(replace_secrets(member.get<std::string>())) : redact_unknown(member);
    }
    return all;
  }
  return redact_unknown(value);
}

Json ExchangeRedactor::redact_object(const Json& value, const Schema& schema) {
  if (!value.is_object()) return redact_unknown(value);
  Json redacted = Json::object();
  for (const auto& [name, member] : value.items()) {
    const Field* field = contract::find_field(schema, name);
    if (field != nullptr) {
      redacted[name] = redact_member(member, name, field->type);
    } else {
      Json one = Json::object();
      one[name] = member;
      redacted.update(redact_unknown(one));
    }
  }
  return redacted;
}

/// Keeps the error codes; messages may repeat what was sent.
Json ExchangeRedactor::redact_error(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const bool stays = is_code(text) || is_hash(text) || is_uuid(text);
    return stays ? Json(replace_secrets(text)) : Json(opaque("text", text));
  }
  if (value.is_array()) return each_item(value, [&](const Json& item) { return redact_error(item); });
  if (!value.is_object()) return value;
  Json all = Json::object();
  for (const auto& [name, member] : value.items()) {
    const std::string key = redact_name(name);
    // `input` repeats what was sent and may contain a secret.
    if (name == "input" || name == "request_id" || name == "msg" || name == "message" || name == "title" ||
        name == "instance") {
      all[key] = redact_unknown(member);
    } else if (const std::string_view kind = contract::secret_kind(name); !kind.empty()) {
      all[key] = redact_under_secret(member, kind);
    } else {
      all[key] = redact_error(member);
    }
  }
  return all;
}

std::string ExchangeRedactor::redact_path(const Operation& operation, const http::Pairs& values) {
  std::string path(operation.path);
  for (const auto& [name, value] : values) {
    const contract::Parameter* parameter = contract::find_parameter(operation, name);
    const bool is_id = parameter != nullptr && parameter->field.type.kind == Kind::uuid;
    const std::string text = is_id ? (is_uuid(value) ? value : opaque("text", value))
                                   : (is_name(value) ? replace_secrets(value) : opaque("text", value));
    const std::string slot = "{" + name + "}";
    if (const std::size_t at = path.find(slot); at != std::string::npos) path.replace(at, slot.size(), text);
  }
  return path;
}

/// Encoded as little as a query permits, so that placeholders can be read.
std::string ExchangeRedactor::redact_query(const Operation* operation, std::string_view query) {
  std::string redacted;
  for (const auto& [name, value] : http::parse_query(query)) {
    const contract::Parameter* parameter = operation == nullptr ? nullptr : contract::find_parameter(*operation, name);
    redacted += fmt::format("{}{}=", redacted.empty() ? "" : "&", encoded(redact_name(name)));
    if (parameter == nullptr || parameter->in != contract::In::query) {
      const std::string_view kind = contract::secret_kind(name);
      redacted += kind.empty() ? opaque("text", value) : secret(kind, value);
      continue;
    }
    const bool is_number = parameter->field.type.kind == Kind::integer;
    if (is_number || parameter->field.type.kind == Kind::boolean) {
      const bool stays = is_digits(value) || is_code(value) || (value.starts_with('-') && is_digits(value.substr(1)));
      redacted += stays ? value : opaque("text", value);
    } else {
      redacted += encoded(redact_member(value, name, parameter->field.type).get<std::string>());
    }
  }
  return redacted;
}

Json ExchangeRedactor::redact_request_headers(const ws::http::Headers& headers) {
  Json redacted = Json::object();
  for (const auto& [given, value] : headers) {
    const std::string name = to_lower(given);
    if (name == "authorization") {
      const std::size_t space = value.find(' ');
      redacted[name] = secret("key", space == std::string::npos ? value : value.substr(space + 1));
    } else if (contract::is_credential_header(name) || !contract::secret_kind(name).empty()) {
      secret("secret", value);
    } else if (name == "content-type") {
      redacted[name] = media_type(value);
    } else if (name == "idempotency-key") {
      redacted[name] = opaque("idempotency", value);
    } else if (name == "if-none-match") {
      redacted[name] = is_etag(value) ? value : opaque("text", value);
    } else if (name == "range" && value.starts_with("bytes=") && value.size() < 48) {
      redacted[name] = replace_secrets(value);
    }
  }
  return redacted;
}

Json ExchangeRedactor::redact_response_headers(const ws::http::Headers& headers) const {
  Json redacted = Json::object();
  for (const auto& [given, value] : headers) {
    const std::string name = to_lower(given);
    if (is_name(name)) redacted[replace_secrets(name)] = kept_header(name, value);
  }
  return redacted;
}

RedactedExchange ExchangeRedactor::redact(const WireExchange& exchange) {
  Exchange parts = {
      .seq = ++last_seq_, .time_ms = exchange.time_ms, .method = exchange.method, .duration_us = exchange.duration_us};
  parts.request_headers = redact_request_headers(exchange.request_headers);
  http::Pairs values;
  const Operation* operation =
      exchange.upload_url.empty() ? finder_.find(exchange.method, exchange.path, values) : nullptr;
  const auto body_of = [](const std::string& text) {
    auto body = text.empty() ? Result<Json>(Json()) : parse_bounded(text, kept_bounds);
    return body ? std::move(*body) : Json();
  };
  const auto type = ws::http::find_header(exchange.response_headers, "Content-Type");
  const Json answer = type && is_json_type(*type) ? body_of(exchange.response_body) : Json();
  // Redact the request first, so that its secrets are also replaced in the response.
  if (!exchange.upload_url.empty()) {
    parts.operation = upload_put;
    parts.path = secret("upload_url", exchange.upload_url);
  } else if (operation == nullptr) {
    parts.path = opaque("path", exchange.path);
  } else {
    parts.operation = operation->id;
    if (operation->request != nullptr) {
      parts.request_body = redact_object(body_of(exchange.request_body), *operation->request);
    }
  }
  parts.query = redact_query(operation, exchange.query);
  parts.status = exchange.status;
  if (exchange.status >= 400 || operation == nullptr) {
    // A sync conflict has the members of the success response beside the error code.
    const Schema* schema = operation == nullptr ? nullptr : operation->responses.front().schema;
    const bool is_both = schema != nullptr && find(answer, "conflicts") != nullptr;
    parts.response_body = is_both ? redact_object(answer, *schema) : redact_error(answer);
    if (is_both) {
      if (auto code = find_text(answer, "code")) (*parts.response_body)["code"] = redact_error(*code);
    }
  } else {
    const Schema* schema = response_schema(*operation, exchange.status);
    if (schema == nullptr) schema = operation->responses.front().schema;
    parts.response_body =
        schema == nullptr || answer.is_null() ? redact_unknown(answer) : redact_object(answer, *schema);
  }
  parts.response_headers = redact_response_headers(exchange.response_headers);
  if (operation != nullptr) parts.path = redact_path(*operation, values);
  parts.request_bytes = exchange.request_bytes;
  parts.response_bytes = exchange.response_bytes;
  return RedactedExchange(std::move(parts));
}

}  // namespace ws::mock::compare
