#include "server-mock/journal/redactor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clock.hpp"
#include "api-client/base/percent.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/secrets.hpp"
#include "server-mock/http/router.hpp"
#include "server-mock/services/files/files.hpp"

namespace ws::mock {
namespace {

using contract::Kind;
using contract::Operation;
using contract::Schema;
using contract::Type;

constexpr JsonBounds kept_bounds = {.max_bytes = std::size_t{16} << 20U};
/// Shorter texts would also match inside unrelated words.
constexpr std::size_t min_replaced = 6;

constexpr std::string_view digits = "0123456789";
constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view code_characters = "abcdefghijklmnopqrstuvwxyz_:";
constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/+";
constexpr std::size_t longest_name = 48;
constexpr std::size_t longest_placeholder = 80;

/// Members that are opaque to clients.
std::string_view opaque_kind(std::string_view member) {
  if (member == "cursor" || member == "next_cursor") return "cursor";
  if (member == "chunk_id" || member == "source_id") return "chunk";
  if (member == "blob_name") return "blob";
  if (member == "watermark") return "watermark";
  if (member == "display_prefix") return "prefix";
  return member == "avatar_url" ? "url" : "";
}

bool consists_of(std::string_view characters, std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest && text.find_first_not_of(characters) == std::string_view::npos;
}

/// Whether the text is a name or a protocol token, and cannot be mistaken for a key.
bool is_name(std::string_view text) { return consists_of(name_characters, text, longest_name); }
/// Lower-case words joined by underscores, such as error codes.
bool is_code(std::string_view text) { return consists_of(code_characters, text, longest_name); }
bool is_digits(std::string_view text) { return consists_of(digits, text, 12); }
bool is_hash(std::string_view text) { return text.size() == 64 && consists_of(hex_digits, text, 64); }

bool is_etag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text == "*") return true;
  if (text.size() < 3 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  return is_hash(text) || consists_of(digits, text, 10);
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

/// Headers of the contract, and those of HTTP that decide an answer; null: only the name may be shown.
Json kept_header(std::string_view name, std::string_view value) {
  if (name == "content-type") return media_type(value);
  if (name == "etag" && is_etag(value)) return value;
  if ((name == "retry-after" || name == "content-length") && is_digits(value)) return value;
  if (name == "www-authenticate") {
    const std::string_view scheme = value.substr(0, value.find(' '));
    return is_name(scheme) ? Json(scheme) : Json();
  }
  if ((name == "accept-ranges" || name == "idempotent-replayed") && is_code(value)) return value;
  if (name == "range" && value.starts_with("bytes=") && value.size() < 48) return value;
  if (name == "content-range" && value.starts_with("bytes ") && value.size() < 64) return value;
  if (name == "allow" && consists_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ, ", value, 63)) return value;
  return nullptr;
}

bool is_json_type(std::string_view text) {
  const std::string type = media_type(text);
  return type == "application/json" || type.ends_with("+json");
}

/// Members of an error that may repeat what was sent.
bool repeats_request(std::string_view name) {
  constexpr std::string_view names[] = {"input", "request_id", "msg", "message", "title", "instance"};
  return std::ranges::find(names, name) != std::end(names);
}

/// Null if the table has no such path with this method. `values` receives the path parameters.
const Operation* find_operation(std::string_view method, std::string_view path, http::Pairs& values) {
  static const http::Router router = [] {
    http::Router made;
    const auto operations = contract::operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      made.add(contract::name(operations[i]->method), operations[i]->path, i);
    }
    return made;
  }();
  http::Routed routed = router.find(method, path);
  if (routed.outcome != http::Routed::Outcome::found) return nullptr;
  values = std::move(routed.values);
  return contract::operations()[routed.id];
}

}  // namespace

/// Where a value stands.
struct Redactor::At {
  std::string_view member = {};   // of a member or parameter
  const Type* type = nullptr;     // null: nobody describes it
  std::string_view secret = {};   // the kind of the secret that it is, or is a part of
  bool is_only_named_so = false;  // by a word in its name, as counts and limits have too
  bool is_error = false;          // codes stay, messages may repeat what was sent
};

std::string Redactor::opaque(std::string_view kind, const std::string& text) {
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

std::string Redactor::secret(std::string_view kind, const std::string& text) {
  if (text.empty()) return text;
  const auto known = secrets_.find(text);
  if (known != secrets_.end()) return known->second;
  std::string made = opaque(kind, text);
  if (text.size() >= min_replaced && made != text) secrets_.emplace(text, made);
  return made;
}

/// Replaces known secrets wherever they occur, and every text that has the form of a key.
std::string Redactor::replace_secrets(std::string text) const {
  for (const auto& [secret, placeholder] : secrets_) text = replace_all(std::move(text), secret, placeholder);
  return contract::redact_keys(std::move(text), [this](std::string_view key) {
    return undescribed_ == Undescribed::shown ? std::string(contract::redacted) : fmt::format("<key:0:{}>", key.size());
  });
}

std::string Redactor::redact_name(const std::string& name) {
  return is_name(name) ? replace_secrets(name) : opaque("name", name);
}

std::string Redactor::redact_text(const std::string& text, const At& at) {
  if (!at.secret.empty()) return secret(at.secret, text);
  const auto kept_if = [&](bool stays) { return stays ? replace_secrets(text) : opaque("text", text); };
  if (at.is_error) return kept_if(is_code(text) || is_hash(text) || is_uuid(text));
  if (at.type == nullptr) return kept_if(false);
  if (const std::string_view kind = opaque_kind(at.member); !kind.empty() && at.type->kind != Kind::uuid) {
    return opaque(kind, text);
  }
  switch (at.type->kind) {
    case Kind::uuid: return kept_if(is_uuid(text));
    case Kind::date_time: return kept_if(parse_rfc3339(text).has_value());
    case Kind::choice:
      return kept_if(std::ranges::find(at.type->values, text) != at.type->values.end() || is_code(text));
    // In a query.
    case Kind::integer:
    case Kind::boolean:
      return kept_if(is_digits(std::string_view(text).substr(text.starts_with('-'))) || is_code(text));
    case Kind::text_map: return kept_if(text.starts_with("/v1/") && text.find('?') == std::string::npos);
    case Kind::string: {
      // The query of a URL may contain a signature.
      const bool is_address = (text.starts_with("http://") || text.starts_with("https://")) &&
                              text.find_first_of(" \n") == std::string::npos;
      return replace_secrets(text.substr(0, is_address ? text.find('?') : std::string::npos));
    }
    // In a free-form member; a name that says so made it a secret above.
    case Kind::free_object: return kept_if(!contract::looks_like_key(text));
    default: return kept_if(false);
  }
}

Json Redactor::redact_number(const Json& number, const At& at) {
  const bool is_described = at.type != nullptr && (at.type->kind == Kind::integer || at.type->kind == Kind::number ||
                                                   at.type->kind == Kind::free_object);
  if (at.secret.empty() && (at.is_error || is_described)) return number;
  return number.is_number_integer() || !at.secret.empty() ? Json(0) : Json(0.5);
}

void Redactor::redact(Json& value, const At& at) {
  if (value.is_object()) {
    redact_members(value, at);
  } else if (value.is_array()) {
    At item = at;
    item.member = {};
    const bool is_free = at.type != nullptr && at.type->kind == Kind::free_object;
    if (at.type != nullptr && !is_free) item.type = at.type->items;
    for (Json& one : value) redact(one, item);
  } else if (value.is_string()) {
    value = redact_text(value.get<std::string>(), at);
  } else if (value.is_number()) {
    value = redact_number(value, at);
  }
}

const Type* Redactor::member_type(std::string_view name, const Type* object) {
  if (object == nullptr || object->kind == Kind::text_map || object->kind == Kind::free_object) return object;
  const contract::Field* field = object->kind == Kind::object ? contract::find_field(*object->object, name) : nullptr;
  return field == nullptr ? nullptr : &field->type;
}

void Redactor::redact_members(Json& object, const At& at) {
  const bool repeats_secret = contract::is_about_secret(object);
  http::Pairs names;
  for (auto& [name, member] : object.items()) {
    At in = at;
    in.member = name;
    in.type = member_type(name, at.type);
    in.is_error = at.is_error && !repeats_request(name);
    const bool repeats = repeats_secret && name == "input";
    const std::string_view kind = repeats ? "secret" : contract::secret_kind(name);
    if (!kind.empty() && (at.secret.empty() || at.is_only_named_so)) {
      in.secret = kind;
      in.is_only_named_so = !repeats && !contract::is_described(name);
    }
    redact(member, in);
    if (std::string shown = redact_name(name); shown != name) names.emplace_back(name, std::move(shown));
  }
  for (const auto& [name, shown] : names) {
    Json member = std::move(object[name]);
    object.erase(name);
    object[shown] = std::move(member);
  }
}

/// Null: it stays out.
Json Redactor::redact_header(const std::string& name, const std::string& value) {
  if (undescribed_ == Undescribed::shown) {
    const std::string_view shown = contract::shown_part(name, value);
    return contract::hides_header(name, shown) ? contract::redacted : shown;
  }
  if (name == "authorization") return secret("key", value.substr(value.find(' ') + 1));
  if (contract::is_credential_header(name) || !contract::secret_kind(name).empty()) {
    secret("secret", value);
    return nullptr;
  }
  if (name == "idempotency-key") return opaque("idempotency", value);
  if (name == "if-none-match" && !is_etag(value)) return opaque("text", value);
  return kept_header(name, value);
}

Json Redactor::redact_headers(const http::Pairs& fields, NamesStay names_stay) {
  Json all = Json::object();
  for (const auto& [given, value] : fields) {
    const std::string name = to_lower(given);
    Json kept = redact_header(name, value);
    if (!kept.is_null() || (names_stay == NamesStay::yes && is_name(name)))
      all[replace_secrets(name)] = std::move(kept);
  }
  return all;
}

std::string Redactor::redact_path(const Operation& operation, const http::Pairs& values) {
  std::string path(operation.path);
  for (const auto& [name, value] : values) {
    const contract::Parameter* parameter = contract::find_parameter(operation, name);
    const bool is_id = parameter != nullptr && parameter->field.type.kind == Kind::uuid;
    const bool stays = is_id ? is_uuid(value) : is_name(value);
    const std::string slot = "{" + name + "}";
    if (const std::size_t at = path.find(slot); at != std::string::npos) {
      path.replace(at, slot.size(), stays ? replace_secrets(value) : opaque("text", value));
    }
  }
  return path;
}

/// Encoded as little as a query permits, so that placeholders can be read.
std::string Redactor::redact_query(const Operation* operation, std::string_view query) {
  std::string shown;
  for (const auto& [name, value] : http::parse_query(query)) {
    const contract::Parameter* parameter = operation == nullptr ? nullptr : contract::find_parameter(*operation, name);
    const bool is_known = parameter != nullptr && parameter->in == contract::In::query;
    const std::string text = redact_text(
        value,
        {.member = name, .type = is_known ? &parameter->field.type : nullptr, .secret = contract::secret_kind(name)});
    shown += fmt::format("{}{}={}", shown.empty() ? "" : "&", encoded(redact_name(name)), encoded(text));
  }
  return shown;
}

/// JSON as JSON, other text as text, none as null. Of a body that is cut, and of one that is not quite JSON, only the
/// size is shown: it could contain a secret that nobody finds.
Json Redactor::redact_body(const std::string& text, std::uint64_t size) {
  if (size == 0) return nullptr;
  if (text.size() < size) return {{"omitted_bytes", size}};
  if (auto parsed = parse_bounded(text)) {
    contract::redact_members(*parsed);
    return std::move(*parsed);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_like_json = first != std::string::npos && std::string_view("{[\"").find(text[first]) < 3;
  if (is_like_json || text.find("\":") != std::string::npos) return {{"omitted_bytes", size}};
  return contract::redact_pairs(text);
}

/// Null if the text is not JSON.
Json Redactor::redact_body(const std::string& text, const At& at) {
  auto parsed = text.empty() ? Result<Json>(Json()) : parse_bounded(text, kept_bounds);
  if (!parsed) return nullptr;
  redact(*parsed, at);
  return std::move(*parsed);
}

Json Redactor::redact_answer(const WireExchange& wire, const Operation* operation) {
  const auto type = std::ranges::find_if(
      wire.response_headers, [](const auto& field) { return equal_ignoring_case(field.first, "Content-Type"); });
  if (type == wire.response_headers.end() || !is_json_type(type->second)) return nullptr;
  const Schema* schema = operation == nullptr ? nullptr : response_schema(*operation, wire.status);
  if (operation != nullptr && (wire.status >= 400 || schema == nullptr)) schema = operation->responses.front().schema;
  const Type whole = {.kind = Kind::object, .object = schema};
  if (wire.status < 400 && operation != nullptr) {
    return redact_body(wire.response_body, {.type = schema == nullptr ? nullptr : &whole});
  }
  Json error = redact_body(wire.response_body, {.is_error = true});
  if (schema == nullptr || find(error, "conflicts") == nullptr) return error;
  // A sync conflict has the members of the success response beside the error code.
  Json both = redact_body(wire.response_body, {.type = &whole});
  if (const Json* code = find(error, "code"); code != nullptr && code->is_string()) both["code"] = *code;
  return both;
}

Exchange Redactor::redact(const WireExchange& wire) {
  Exchange shown = {.redacted = Redacted(),
                    .seq = wire.seq == 0 ? ++last_seq_ : wire.seq,
                    .time_ms = wire.time_ms,
                    .method = replace_secrets(wire.method),
                    .operation = wire.operation,
                    .status = wire.status,
                    .duration_us = wire.duration_us,
                    .fault = wire.fault,
                    .sandbox = wire.sandbox,
                    .warning = replace_secrets(wire.warning),
                    .assumed = wire.assumed};
  // The request first, so that its secrets are also replaced in the response.
  shown.request_headers = redact_headers(wire.request_headers, NamesStay::no);
  if (undescribed_ == Undescribed::shown) {
    shown.path = shown_path(wire.path);
    shown.query = contract::redact_pairs(wire.query);
    shown.request_body = redact_body(wire.request_body, wire.request_bytes);
    shown.response_body = redact_body(wire.response_body, wire.response_bytes);
    // The page shows the code of the login.
    if (wire.operation == "page.device" && !shown.response_body.is_null()) {
      shown.response_body = Json(contract::redacted);
    }
    return shown;
  }
  http::Pairs values;
  const bool is_upload = !wire.upload_url.empty();
  const Operation* operation = is_upload ? nullptr : find_operation(wire.method, wire.path, values);
  if (operation != nullptr) {
    shown.operation = operation->id;
    const Type type = {.kind = Kind::object, .object = operation->request};
    if (operation->request != nullptr) shown.request_body = redact_body(wire.request_body, {.type = &type});
    shown.path = redact_path(*operation, values);
  } else {
    shown.operation = is_upload ? upload_put : "";
    shown.path = is_upload ? secret("upload_url", wire.upload_url) : opaque("path", wire.path);
  }
  shown.query = redact_query(operation, wire.query);
  shown.response_body = redact_answer(wire, operation);
  shown.response_headers = redact_headers(wire.response_headers, NamesStay::yes);
  shown.request_bytes = wire.request_bytes;
  shown.response_bytes = wire.response_bytes;
  return shown;
}

// <KIND:NUMBER:LENGTH>
std::size_t placeholder_length(std::string_view text, std::size_t at) {
  const std::string_view all = text.substr(at, text.substr(at, longest_placeholder).find('>') + 1);
  const std::size_t number = all.find(':') + 1;
  const std::size_t length = all.rfind(':') + 1;
  if (!all.starts_with('<') || number < 3 || length <= number) return 0;
  const bool is_one = consists_of("abcdefghijklmnopqrstuvwxyz_", all.substr(1, number - 2), longest_name) &&
                      consists_of(digits, all.substr(number, length - 1 - number), 9) &&
                      consists_of(digits, all.substr(length, all.size() - 1 - length), 9);
  return is_one ? all.size() : 0;
}

std::string_view kind_of(std::string_view placeholder) { return placeholder.substr(1, placeholder.find(':') - 1); }

std::string placeholder_text(std::string_view placeholder) {
  const std::size_t last = placeholder.rfind(':');
  std::size_t length = 0;
  for (const char c : placeholder.substr(last + 1, placeholder.size() - last - 2)) {
    length = length * 10 + static_cast<std::size_t>(c - '0');
  }
  length = std::min(length, std::size_t{1} << 21U);
  const std::size_t first = placeholder.find(':') + 1;
  std::string text = fmt::format("{}{}", placeholder.substr(first, last - first), kind_of(placeholder));
  std::erase(text, '_');
  text.resize(length, 'x');
  return text;
}

const contract::Schema* response_schema(const contract::Operation& operation, int status) {
  const auto found = std::ranges::find(operation.responses, status, &contract::Response::status);
  return found == operation.responses.end() ? nullptr : found->schema;
}

}  // namespace ws::mock
