#include "api-client/login/device_login.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/json.hpp"

namespace ws {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds default_interval{5};
constexpr seconds slow_down_step{5};  // RFC 8628, 3.5
constexpr seconds default_lifetime{900};
constexpr seconds longest_lifetime = std::chrono::hours{24};
constexpr milliseconds longest_pause{60'000};
constexpr milliseconds sleep_slice{100};

/// The error codes of RFC 8628 and what each means.
struct Word {
  std::string_view text;
  Poll::Kind poll;
  Failure::Kind failure;
  std::string_view what;
};
constexpr std::array words = {
    Word{"authorization_pending", Poll::Kind::pending, Failure::Kind::pending, "the login is not approved yet"},
    Word{"slow_down", Poll::Kind::slow_down, Failure::Kind::pending, "the login is not approved yet"},
    Word{"access_denied", Poll::Kind::refused, Failure::Kind::forbidden, "the login was denied"},
    Word{"expired_token", Poll::Kind::refused, Failure::Kind::auth, "the login was not approved in time"},
    Word{"invalid_grant",
         Poll::Kind::refused,
         Failure::Kind::auth,
         "the login's code is not valid, or was used already"},
};

/// Lower case with underscores for spaces, so that "Authorization pending" matches the code too.
std::string folded(std::string_view text) {
  std::string out = to_lower(text);
  std::ranges::replace(out, ' ', '_');
  return out;
}

const Word* word_in(std::string_view text) {
  const std::string searched = folded(text);
  for (const Word& word : words) {
    if (searched.find(word.text) != std::string::npos) return &word;
  }
  return nullptr;
}

/// Checks the code first; a service may put the RFC's word into any other text.
const Word* word_in_failure(const Failure& failure) {
  for (const std::string* const text : {&failure.code, &failure.call.details, &failure.what}) {
    if (const Word* const word = word_in(*text)) return word;
  }
  return nullptr;
}

const Word* word_in_body(const Json& body) {
  for (const std::string_view name : {"error", "code", "status", "detail"}) {
    const auto text = find_text(body, name);
    if (!text) continue;
    if (const Word* const word = word_in(*text)) return word;
  }
  return nullptr;
}

Failure failure_of(const Word& word, Failure failure) {
  failure.kind = word.failure;
  failure.what = word.what;
  failure.code = word.text;
  if (word.poll == Poll::Kind::refused) failure.hint = "run `ws login` again";
  return failure;
}

std::vector<std::string> texts_of(const Json& body, std::string_view name) {
  std::vector<std::string> texts;
  const Json* const items = find(body, name);
  if (items == nullptr || !items->is_array()) return texts;
  for (const Json& item : *items) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

/// Rejects a key that cannot be sent in an Authorization header.
Failure unusable_secret(int status) {
  return {.kind = Failure::Kind::internal,
          .what = "auth.token: the answer is not usable: the key in it is not one line of visible characters",
          .hint = "run `ws login` again",
          .code = "unusable_answer",
          .call = {.operation = "auth.token", .http_status = status}};
}

Poll read_answer(const Reply& reply) {
  const Json& body = *reply.json;
  const std::string secret = find_text(body, "secret").value_or("");
  if (!secret.empty() && !http::is_credential(secret)) {
    return {.kind = Poll::Kind::refused, .failure = unusable_secret(reply.status)};
  }
  if (!secret.empty()) {
    return {.kind = Poll::Kind::granted,
            .key = {.secret = secret,
                    .key_id = find_text(body, "key_id").value_or(""),
                    .audience = find_text(body, "audience").value_or(""),
                    .scopes = texts_of(body, "scopes"),
                    .expires_at = find_text(body, "expires_at").value_or(""),
                    .created_at = find_text(body, "created_at").value_or(""),
                    .workspace_id = find_text(body, "workspace_id").value_or(""),
                    .workspace_name = find_text(body, "workspace_name").value_or("")}};
  }
  const Word* const word = word_in_body(body);
  if (word == nullptr) return {.kind = Poll::Kind::pending};
  return {.kind = word->poll,
          .failure = failure_of(*word, {.call = {.operation = "auth.token", .http_status = reply.status}})};
}

bool may_come_back(const Failure& failure) {
  const bool passes = failure.kind == Failure::Kind::unreachable || failure.kind == Failure::Kind::service ||
                      failure.kind == Failure::Kind::rate_limited;
  return passes && failure.call.retryable;
}

Failure expired() {
  const Word& word = *word_in("expired_token");
  return failure_of(word, {.call = {.operation = "auth.token"}});
}

Poll poll(Client& client, const std::string& device_code) {
  // No retries: a quick repeat would poll too early. No validation: the service chooses its own device codes.
  return read_poll(client.call(
      {.operation = "auth.token", .body = Json{{"device_code", device_code}}, .validate = false, .repeat = false}));
}

/// Reads a member in seconds; returns `fallback` if it is missing or not a valid duration.
seconds seconds_of(const Json& body, std::string_view name, seconds fallback) {
  const std::int64_t value = find_integer(body, name).value_or(0);
  return value <= 0 ? fallback : seconds{std::min<std::int64_t>(value, longest_lifetime.count())};
}

}  // namespace

Result<DeviceAuthorization> start_device_login(Client& client,
                                               const Clock& clock,
                                               const std::string& client_name,
                                               const std::string& cli_version,
                                               const std::vector<std::string>& scopes) {
  Json asked{{"client_name", client_name}, {"cli_version", cli_version}, {"scopes", scopes}};
  const Time now = clock.now();
  WS_LET(const Reply reply, client.call({.operation = "auth.start", .body = std::move(asked)}));
  const Json& body = *reply.json;
  DeviceAuthorization authorization{
      .authorization_id = find_text(body, "authorization_id").value_or(""),
      .device_code = find_text(body, "device_code").value_or(""),
      .user_code = find_text(body, "user_code").value_or(""),
      .verification_uri = find_text(body, "verification_uri").value_or(""),
      .verification_uri_complete = find_text(body, "verification_uri_complete").value_or(""),
      .interval = seconds_of(body, "interval", default_interval),
      .expires_at = now + seconds_of(body, "expires_in", default_lifetime),
      .body = reply.body};
  if (authorization.device_code.empty() || authorization.user_code.empty() || authorization.verification_uri.empty()) {
    return fail(unusable_answer("auth.start", reply, "it lacks device_code, user_code or verification_uri"));
  }
  return authorization;
}

Poll read_poll(const Result<Reply>& answer) {
  if (answer) return read_answer(*answer);
  const Failure& failure = answer.error();
  const int status = failure.call.http_status;
  // 202 and 204 mean `pending` even without a JSON body.
  const bool says_later = status == 428 || status == 202 || status == 204;
  const Word* const word = status == 0 || status >= 500 || status == 429 ? nullptr : word_in_failure(failure);
  if (word != nullptr) return {.kind = word->poll, .failure = failure_of(*word, failure)};
  if (says_later) return {.kind = Poll::Kind::pending};
  return {.kind = may_come_back(failure) ? Poll::Kind::lost : Poll::Kind::refused, .failure = failure};
}

milliseconds PollDelay::after(const Poll& poll) {
  if (poll.kind == Poll::Kind::slow_down) interval += slow_down_step;
  lost_in_a_row = poll.kind == Poll::Kind::lost ? lost_in_a_row + 1 : 0;
  milliseconds pause = interval;
  for (int i = 0; i < lost_in_a_row && pause < longest_pause; ++i) pause *= 2;
  if (lost_in_a_row > 0) pause = std::max(interval, std::min(pause, longest_pause));
  return std::max(pause, poll.failure.call.retry_after.value_or(milliseconds{0}));
}

Waiter make_sleeper(const std::atomic<bool>* cancelled) {
  return [cancelled](milliseconds time) -> Result<void> {
    const auto end = std::chrono::steady_clock::now() + time;
    while (true) {
      if (cancelled != nullptr && cancelled->load()) return fail(Failure::Kind::cancelled, "cancelled");
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return {};
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, sleep_slice));
    }
  };
}

Result<std::optional<DeviceKey>> poll_device_login(Client& client, const std::string& device_code) {
  Poll answer = poll(client, device_code);
  switch (answer.kind) {
    case Poll::Kind::granted: return std::optional<DeviceKey>(std::move(answer.key));
    case Poll::Kind::pending:
    case Poll::Kind::slow_down: return std::optional<DeviceKey>();
    case Poll::Kind::lost:
    case Poll::Kind::refused: break;
  }
  return fail(std::move(answer.failure));
}

Result<DeviceKey> await_device_key(Client& client,
                                   const Clock& clock,
                                   const DeviceAuthorization& authorization,
                                   const Waiter& wait) {
  PollDelay pace{.interval = authorization.interval};
  milliseconds pause = pace.interval;
  while (true) {
    const Time now = clock.now();
    if (now >= authorization.expires_at) return fail(expired());
    WS_TRY(wait(std::min<milliseconds>(pause, authorization.expires_at - now)));
    Poll answer = poll(client, authorization.device_code);
    if (answer.kind == Poll::Kind::granted) return std::move(answer.key);
    if (answer.kind == Poll::Kind::refused) return fail(std::move(answer.failure));
    pause = pace.after(answer);
  }
}

}  // namespace ws
