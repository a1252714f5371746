#include "server-mock/trace/secrets.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/secrets.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock::trace {
namespace {

constexpr std::string_view user_code = "user_code";
constexpr std::array<std::string_view, 6> kinds = {"token", "key", "device_code", "lease_token", "upload", user_code};
constexpr std::size_t code_length = 43;
constexpr std::size_t user_code_length = 9;
constexpr std::size_t max_scope_length = 12;
constexpr std::size_t max_revealed_bytes = std::size_t{256} << 20U;
/// Encloses a name. It occurs unescaped neither in a request head nor in JSON text.
constexpr char mark = '\x01';
constexpr std::string_view control_name = "control";

bool is_code_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

/// "\x01token@s1:3\x01": the fourth token that the sandbox s1 issued.
struct SecretNames::Name {
  std::string kind_and_scope = {};  // "control": the control token
  std::uint64_t number = 0;
  std::size_t size = 0;  // with both marks
};

/// `text` begins with a mark. Empty if that is no name.
std::optional<SecretNames::Name> SecretNames::name_at(std::string_view text) {
  const std::size_t close = text.find(mark, 1);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(1, close - 1);
  if (name == control_name) return Name{.kind_and_scope = std::string(name), .size = close + 1};
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view whole = name.substr(0, colon);
  const std::size_t at = std::min(whole.find('@'), whole.size());
  const std::string_view scope = whole.substr(std::min(at + 1, whole.size()));
  const bool is_scope = (at == whole.size() || !scope.empty()) && scope.size() <= max_scope_length &&
                        std::ranges::all_of(scope, is_code_character);
  std::uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + colon + 1, end, number);
  if (!is_scope || read.ec != std::errc() || read.ptr != end ||
      std::ranges::find(kinds, whole.substr(0, at)) == kinds.end()) {
    return std::nullopt;
  }
  return Name{.kind_and_scope = std::string(whole), .number = number, .size = close + 1};
}

void SecretNames::make(const std::string& kind_and_scope, std::uint64_t count) {
  std::vector<std::string>& codes = codes_[kind_and_scope];
  const std::size_t at = std::min(kind_and_scope.find('@'), kind_and_scope.size());
  const std::string kind = kind_and_scope.substr(0, at);
  const std::string scope = kind_and_scope.substr(std::min(at + 1, kind_and_scope.size()));
  Ids& ids = made_.try_emplace(scope, seed_, Secrets::seeded, scope).first->second;
  for (; codes.size() < count; ++count_) {
    codes.push_back(kind == user_code ? ids.user_code() : ids.code(kind));
    names_.emplace(codes.back(), fmt::format("{}{}:{}{}", mark, kind_and_scope, codes.size() - 1, mark));
  }
}

Result<void> SecretNames::make_up_to(const Name& name) {
  if (name.kind_and_scope == control_name) return {};
  const auto known = codes_.find(name.kind_and_scope);
  const std::uint64_t made = known == codes_.end() ? 0 : known->second.size();
  if (name.number < made) return {};
  if (name.number >= limit_ || name.number - made >= limit_ - std::min(limit_, count_)) {
    return fail(Failure::Kind::invalid,
                fmt::format("the trace refers to {} number {}; its requests allow at most {} secrets",
                            name.kind_and_scope,
                            name.number,
                            limit_));
  }
  make(name.kind_and_scope, name.number + 1);
  return {};
}

Result<void> SecretNames::learn(World& world) {
  const std::string& scope = world.options.secrets_scope;
  WS_LET(const sqlite::CachedStatement counters, world.database.cached("select kind, next from id_counters"));
  while (true) {
    WS_LET(const bool found, counters->step());
    if (!found) return {};
    const auto kind = std::ranges::find(kinds, counters->text(0));
    if (kind == kinds.end()) continue;
    make(std::string(*kind) + (scope.empty() ? "" : "@" + scope), static_cast<std::uint64_t>(counters->integer(1)));
  }
}

Result<void> SecretNames::check(std::string_view text) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const auto name = name_at(text.substr(at));
    if (!name) continue;
    WS_TRY(make_up_to(*name));
    at += name->size - 1;
  }
  return {};
}

std::string SecretNames::hide_issued(std::string_view text) const {
  std::string hidden;
  std::size_t run = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    hidden += text[at];
    run = is_code_character(text[at]) ? run + 1 : 0;
    const bool ends_run = at + 1 == text.size() || !is_code_character(text[at + 1]);
    const std::size_t length = run == user_code_length && ends_run ? user_code_length : code_length;
    if (run < length) continue;
    const auto name = names_.find(text.substr(at + 1 - length, length));
    if (name == names_.end()) continue;
    hidden.replace(hidden.size() - length, length, name->second);
    run = 0;
  }
  if (control_token_.empty()) return hidden;
  return replace_all(std::move(hidden), control_token_, fmt::format("{}{}{}", mark, control_name, mark));
}

/// One for each secret, so that a replayed world can tell them apart. Of the same length: a replay sends the body with
/// the length that it had. An issued secret stays, for its name.
std::string SecretNames::stand_in(std::string_view secret) {
  if (secret.empty() || hide_issued(secret) != secret) return std::string(secret);
  const auto known = stand_ins_.find(secret);
  if (known != stand_ins_.end()) return known->second;
  const std::string_view begin = secret.starts_with(contract::key_prefix) ? contract::key_prefix : "";
  std::string made = fmt::format("{}{:0>{}}", begin, stand_ins_.size(), secret.size() - begin.size());
  made.resize(secret.size());
  stand_ins_.emplace(secret, made);
  stand_ins_.emplace(made, made);
  return made;
}

std::string SecretNames::hide(std::string_view text) {
  return hide_issued(contract::redact_keys(std::string(text), [this](std::string_view key) { return stand_in(key); }));
}

std::string SecretNames::hide_head(std::string_view head) {
  const auto by = [this](std::string_view secret) { return stand_in(secret); };
  const http::Request request = http::read_head(head);
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t version = std::min(line.rfind(' '), line.size());
  const std::size_t query = std::min(line.find('?'), version);
  std::string hidden;
  for (const std::string_view part : split(line.substr(0, query), '/')) {
    if (!hidden.empty()) hidden += '/';
    hidden += contract::looks_like_key(part) ? stand_in(part) : std::string(part);
  }
  hidden += contract::redact_pairs(line.substr(query, version - query), by);
  hidden = hide(hidden.append(line.substr(version))) + "\r\n";
  for (const auto& [name, given] : request.headers) {
    const std::string_view value = contract::shown_part(name, given);
    const std::string_view scheme = value.starts_with("Bearer ") ? "Bearer " : "";
    const bool is_hidden = contract::hides_header(name, value);
    const std::string shown = is_hidden ? stand_in(value.substr(scheme.size())) : std::string(value);
    hidden += fmt::format("{}: {}{}\r\n", hide(name), is_hidden ? scheme : "", hide(shown));
  }
  return hidden + "\r\n";
}

std::string SecretNames::hide_body(std::string_view body, bool is_form) {
  const auto by = [this](std::string_view secret) { return stand_in(secret); };
  if (is_form) return hide(contract::redact_pairs(body, by));
  const auto parsed = parse_bounded(body);
  if (!parsed) return std::string(body.size(), '?');
  Json shown = *parsed;
  contract::redact_members(shown, by);
  // Byte for byte where there is none: the hash of a request is part of the state.
  return hide(shown == *parsed ? std::string(body) : dump(shown));
}

void SecretNames::hide_fixed(Json& fixtures) {
  for (auto& [name, member] : fixtures.items()) {
    if (member.is_structured()) hide_fixed(member);
    if (name == "secret" && member.is_string()) member = stand_in(member.get_ref<const std::string&>());
  }
}

void SecretNames::hide_hashes(Json& keys) const {
  std::map<std::string, std::string> hashes;
  for (const auto& [secret, made] : stand_ins_) hashes.emplace(Sha256::of(secret).hex(), Sha256::of(made).hex());
  for (Json& key : keys) {
    const auto found = hashes.find(key.at("secret_sha256"));
    if (found != hashes.end()) key["secret_sha256"] = found->second;
  }
}

Result<std::string> SecretNames::reveal(std::string_view text) {
  std::string revealed;
  while (true) {
    const std::size_t open = text.find(mark);
    revealed += text.substr(0, open);
    if (revealed.size() > max_revealed_bytes) {
      return fail(Failure::Kind::invalid,
                  fmt::format("a text of the trace becomes longer than {} MiB", max_revealed_bytes >> 20U));
    }
    if (open == std::string_view::npos) return revealed;
    text.remove_prefix(open);
    const auto name = name_at(text);
    if (!name) {
      revealed += mark;
      text.remove_prefix(1);
      continue;
    }
    WS_TRY(make_up_to(*name));
    revealed += name->kind_and_scope == control_name ? control_token_ : codes_.at(name->kind_and_scope)[name->number];
    text.remove_prefix(name->size);
  }
}

}  // namespace ws::mock::trace
