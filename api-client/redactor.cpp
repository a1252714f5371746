#include "api-client/redactor.hpp"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"

namespace ws {
namespace {

constexpr std::size_t shortest_secret = 8;
constexpr std::string_view replacement = "[redacted]";
constexpr std::string_view secret_members[] = {"device_code", "lease_token", "source_event_lease_token", "secret"};

}  // namespace

void Redactor::add(const std::string& secret) {
  if (secret.size() < shortest_secret) return;
  secrets_.push_back(secret);
  // As it may come back inside JSON or a URL.
  const std::string quoted = dump(Json(secret));
  if (quoted.size() != secret.size() + 2) secrets_.push_back(quoted.substr(1, quoted.size() - 2));
  const std::string encoded = percent_encode(secret);
  if (encoded != secret) secrets_.push_back(encoded);
}

void Redactor::add_members(const Json& body) {
  for (const std::string_view name : secret_members) {
    if (const auto text = find_text(body, name)) add(*text);
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
  for (std::string* const text :
       {&failure.what, &failure.hint, &failure.request_id, &failure.code, &failure.call.details}) {
    *text = clean(std::move(*text));
  }
  return failure;
}

}  // namespace ws
