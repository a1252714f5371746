#include "api-client/client/redactor.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"
#include "api-client/contract/secrets.hpp"

namespace ws {
namespace {

constexpr std::size_t shortest_secret = 8;
constexpr std::string_view replacement = contract::redacted;

}  // namespace

void Redactor::add(const std::string& secret) {
  if (secret.size() < shortest_secret) return;
  secrets_.push_back(secret);
  // The secret as it may be echoed inside JSON or a URL.
  const std::string quoted = dump(Json(secret));
  if (quoted.size() != secret.size() + 2) secrets_.push_back(quoted.substr(1, quoted.size() - 2));
  const std::string encoded = percent_encode(secret);
  if (encoded != secret) secrets_.push_back(encoded);
}

void Redactor::add_members(const Json& body) {
  if (body.is_array()) {
    for (const Json& item : body) add_members(item);
  }
  if (!body.is_object()) return;
  for (const auto& [name, member] : body.items()) {
    if (contract::secret_kind(name).empty()) {
      add_members(member);
    } else {
      add_all_texts(member);
    }
  }
}

void Redactor::add_all_texts(const Json& value) {
  if (value.is_string()) return add(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const Json& member : value) add_all_texts(member);
}

void Redactor::add_address(std::string_view url) {
  add(std::string(url));
  // Also without its server, as a request line or an error may name it.
  const std::size_t scheme = url.find("://");
  const std::size_t path = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  if (path != std::string_view::npos) {
    add(std::string(url.substr(path)));
    std::string_view rest = url.substr(path, url.find_first_of("?#", path) - path);
    for (std::size_t slash = 0; slash != std::string_view::npos; slash = rest.find('/')) {
      rest.remove_prefix(std::min(slash + 1, rest.size()));
      if (contract::looks_like_key(rest.substr(0, rest.find('/')))) add(std::string(rest.substr(0, rest.find('/'))));
    }
  }
  add_query(url);
}

void Redactor::add_query(std::string_view url) {
  const std::size_t query = url.find('?');
  if (query == std::string_view::npos) return;
  std::string_view rest = url.substr(query + 1);
  rest = rest.substr(0, rest.find('#'));
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::string value(part.substr(part.find('=') == std::string_view::npos ? 0 : part.find('=') + 1));
    add(value);
    const std::optional<std::string> decoded = percent_decode(value);
    if (decoded && *decoded != value) add(*decoded);
  }
}

std::string Redactor::clean(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), replacement);
      at += replacement.size();
    }
  }
  return text;
}

Failure Redactor::clean(Failure failure) const {
  for (std::string* const text : {&failure.what, &failure.hint, &failure.request_id, &failure.code}) {
    *text = clean(std::move(*text));
  }
  failure.call.details = clean_json(std::move(failure.call.details));
  return failure;
}

std::string Redactor::clean_json(std::string text) const {
  // Without a backslash nothing is escaped, and comparing bytes is enough.
  if (!secrets_.empty() && text.find('\\') != std::string::npos) {
    if (Result<Json> json = parse_bounded(text); json && clean_texts(*json)) return dump(*json);
  }
  return clean(std::move(text));
}

bool Redactor::clean_texts(Json& value) const {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    const std::string before = std::exchange(text, clean(text));
    return text != before;
  }
  bool found = false;
  if (value.is_array()) {
    for (Json& item : value) found = clean_texts(item) || found;
  }
  if (!value.is_object()) return found;
  ObjectBuilder members(value.size());
  for (auto& [name, member] : value.get_ref<Json::object_t&>()) {
    found = clean_texts(member) || found;
    const std::string cleaned = clean(name);
    found = found || cleaned != name;
    members.add(cleaned, std::move(member));
  }
  value = members.take();
  return found;
}

}  // namespace ws
