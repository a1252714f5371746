#include "api-client/client/answer_reader.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/problem.hpp"

namespace ws {
namespace {

using contract::Operation;
using http::Ending;
using http::TransportError;
using Parameters = std::vector<std::pair<std::string, std::string>>;

std::string header(const http::Response& response, std::string_view name) {
  return std::string(http::find_header(response.headers, name).value_or(""));
}

bool is_json_type(std::string_view content_type) {
  const std::string type = to_lower(trimmed_end(content_type.substr(0, content_type.find(';')), " "));
  // Without Content-Type the bytes decide.
  return type.empty() || type == "application/json" || type.ends_with("+json");
}

contract::Body expected_body(const Operation& operation, int status) {
  for (const contract::Response& response : operation.responses) {
    if (response.status == status) return response.body;
  }
  return operation.responses.empty() ? contract::Body::json : operation.responses.front().body;
}

Verdict unusable(const Operation& operation, const http::Response& response, std::string_view reason) {
  return {
      .ending = Ending::unusable,
      .failure = {.kind = Failure::Kind::internal,
                  .what = fmt::format("{}: the answer ({}) is not usable: {}", operation.id, response.status, reason),
                  .hint = "check that the base URL names the service",
                  .request_id = header(response, "X-Request-Id"),
                  .code = "unusable_answer",
                  .call = {.http_status = response.status}}};
}

/// Bytes in an encoding that nobody asked for read as malformed JSON, if it was not decoded.
std::string why_no_json(const http::Response& response, const std::string& reason) {
  const std::string encoding = http::encoding_of(response.headers);
  return encoding.empty() ? reason : fmt::format("its Content-Encoding is `{}`; decoded, it is {}", encoding, reason);
}

Verdict read_success(const Operation& operation, http::Response response, bool streamed) {
  const contract::Body expected = expected_body(operation, response.status);
  Verdict verdict;
  if (expected == contract::Body::json) {
    const std::string type = header(response, "Content-Type");
    if (!is_json_type(type)) return unusable(operation, response, fmt::format("it is {}, not JSON", type));
    if (!streamed) {
      Result<Json> json = parse_bounded(response.body);
      if (!json) return unusable(operation, response, why_no_json(response, json.error().what));
      if (!json->is_object()) return unusable(operation, response, "it is not a JSON object");
      verdict.reply.json = std::move(*json);
    }
  }
  verdict.reply.status = response.status;
  verdict.reply.headers = std::move(response.headers);
  verdict.reply.body = std::move(response.body);
  return verdict;
}

/// A commit answered with 409 changed what it could: its body says what.
Applied applied_by_body(const Failure& failure, const Json& body) {
  if (failure.code != "sync_conflict") return Applied::no;
  const Json* const applied = find(contract::holder_of(body, "applied"), "applied");
  return applied != nullptr && applied->is_array() && !applied->empty() ? Applied::yes : Applied::no;
}

Ending ending_of(int status, const Failure& failure, bool has_retry_after) {
  if (status == 503 && has_retry_after) return Ending::unavailable;
  if (status == 408 || status >= 500) return Ending::server_error;
  if (status == 429) return Ending::rate_limited;
  if (status == 409 && failure.code == "idempotency_in_flight") return Ending::in_flight;
  return Ending::refused;
}

Verdict read_refusal(const Operation& operation, const http::Response& response, Time now) {
  const contract::Problem problem = contract::read_problem(
      response.status, header(response, "Content-Type"), header(response, "X-Request-Id"), response.body);
  Verdict verdict{.failure = contract::to_failure(problem, operation.id)};
  Failure& failure = verdict.failure;
  // The whole body, whatever its size: a commit's 409 holds all that it applied.
  if (const Result<Json> body = parse_bounded(response.body); body && body->is_object()) {
    failure.call.details = response.body;
    if (failure.code.empty()) failure.code = find_text(*body, "code").value_or("");
    failure.call.applied = applied_by_body(failure, *body);
  }
  failure.call.http_status = response.status;
  if (const auto value = http::find_header(response.headers, "Retry-After")) {
    // A date is counted from the service's own clock where it tells it: that of this machine may be far off.
    const auto date = http::find_header(response.headers, "Date");
    const Time theirs = date ? http::parse_http_date(*date, now).value_or(now) : now;
    verdict.retry_after = http::parse_retry_after(*value, theirs);
  }
  verdict.ending = ending_of(response.status, failure, verdict.retry_after.has_value());
  return verdict;
}

Ending ending_of(TransportError::Stage stage) {
  switch (stage) {
    case TransportError::Stage::nothing_sent: return Ending::nothing_sent;
    case TransportError::Stage::tls: return Ending::tls;
    case TransportError::Stage::no_answer: return Ending::no_answer;
    case TransportError::Stage::too_large:
    case TransportError::Stage::unusable:
    case TransportError::Stage::sink: return Ending::unusable;
    case TransportError::Stage::cancelled: return Ending::cancelled;
  }
  return Ending::unusable;
}

Verdict read_transport_error(const Operation& operation, TransportError error) {
  Verdict verdict{.ending = ending_of(error.stage),
                  .local = error.stage == TransportError::Stage::sink,
                  .failure = std::move(error.reason)};
  if (verdict.local) return verdict;
  verdict.failure.what = fmt::format("{}: {}", operation.id, verdict.failure.what);
  if (verdict.ending == Ending::unusable) verdict.failure.code = "unusable_answer";
  if (verdict.ending == Ending::nothing_sent)
    verdict.failure.hint = "nothing was sent: check the connection and the address, then run it again";
  if (verdict.ending == Ending::tls) verdict.failure.hint = "check the certificate, SSL_CERT_FILE and the base URL";
  return verdict;
}

const Operation* find_get(std::string_view path) {
  for (const Operation* const operation : contract::operations()) {
    if (operation->method == contract::Method::get && operation->path == path) return operation;
  }
  return nullptr;
}

/// The GET whose path is the longest prefix of `path`: of the object itself, or of the list that holds it.
const Operation* find_nearest_get(std::string_view path) {
  path = path.substr(0, path.rfind(':') == std::string_view::npos ? path.size() : path.rfind(':'));
  while (path.size() > std::string_view("/v1").size()) {
    if (const Operation* const found = find_get(path)) return found;
    path = path.substr(0, path.rfind('/'));
  }
  return nullptr;
}

/// Where no read stands above an operation's path, by the first word of its command.
struct Look {
  std::string_view noun;
  std::string_view command;
};
constexpr Look looks[] = {
    {"sync", "ws sync status"}, {"auth", "ws whoami"}, {"projects", "ws docs list"}, {"nodes", "ws docs list"}};

/// The words behind a command: what the call itself was about, where it says so.
ShellCommand command_of(const Operation& read, const Parameters& parameters) {
  ShellCommand command{"ws"};
  command.words(read.command);
  for (const contract::Argument& argument : read.arguments) {
    const auto known = std::find_if(parameters.begin(), parameters.end(), [&](const auto& parameter) {
      return parameter.first == argument.target;
    });
    command.add({known == parameters.end() ? argument.placeholder : std::string_view(known->second)});
  }
  return command;
}

bool names_the_same(std::string_view a, std::string_view b) {
  return is_uuid(a) && is_uuid(b) ? equal_ignoring_case(a, b) : a == b;
}

/// The member of the operation's response that repeats this parameter of its path: "id" for `document_id` in
/// "docs.get", "page_id" in "comments.list". Empty if the response does not repeat it.
std::string_view member_that_repeats(const Operation& operation, std::string_view parameter, const Json& came) {
  const contract::Schema* const answer = operation.responses.empty() ? nullptr : operation.responses.front().schema;
  if (answer == nullptr) return {};
  if (const contract::Field* const same = contract::find_field(*answer, parameter)) return same->name;
  // A comment's document goes by the name that the document has as a Page.
  if (parameter == "document_id") {
    if (const contract::Field* const page = contract::find_field(*answer, "page_id")) return page->name;
  }
  const contract::Field* const id = contract::find_field(*answer, "id");
  if (id == nullptr) return {};
  // What stands behind the last parameter is another object, but for the parts of a thread: they answer with it.
  const std::size_t last = operation.path.rfind('{');
  if (last == std::string_view::npos || !operation.path.substr(last + 1).starts_with(parameter)) return {};
  // A free-form answer may have an id of its own: that of a move, or of an acknowledgement. One that says of what kind
  // its object is has that object's.
  const Operation* const read = find_nearest_get(operation.path);
  const contract::Field* const kind = contract::find_field(*answer, "object");
  const bool says_kind =
      kind != nullptr && std::ranges::count(kind->type.values, find_text(came, "object").value_or("")) > 0;
  const bool is_of_object = says_kind || (read != nullptr && read->responses.front().schema == answer);
  if (id->source == contract::Source::assumed && !is_of_object) return {};
  const bool names_the_object = operation.path.substr(last).find('/') == std::string_view::npos;
  return names_the_object || parameter == "thread_id" ? id->name : std::string_view();
}

}  // namespace

Verdict read_answer(const Operation& operation, http::Outcome outcome, bool streamed, Time now) {
  if (auto* const error = std::get_if<TransportError>(&outcome))
    return read_transport_error(operation, std::move(*error));
  auto& response = std::get<http::Response>(outcome);
  if (response.status >= 200 && response.status < 300) {
    return read_success(operation, std::move(response), streamed);
  }
  if (response.status >= 400) return read_refusal(operation, response, now);
  const std::string target = http::origin_of(header(response, "Location"));
  return unusable(operation, response, target.empty() ? "a redirect" : fmt::format("a redirect to {}", target));
}

std::optional<Doubt> find_doubt(const Operation& operation, const Parameters& parameters, const Json& answer) {
  if (!answer.is_object()) return std::nullopt;
  for (const auto& [name, asked_for] : parameters) {
    const std::string_view member = member_that_repeats(operation, name, answer);
    const auto came = member.empty() ? std::nullopt : find_text(answer, member);
    if (!came || names_the_same(*came, asked_for)) continue;
    return Doubt{fmt::format("the service answered about {}, not about {}", *came, asked_for), "another_object"};
  }
  // Of a read alone: what a write has stored is not undone by a hash that a service makes of another form of it.
  const bool is_read = operation.retry == contract::RetryClass::read;
  const auto content = is_read ? find_text(answer, "content") : std::nullopt;
  const auto hash = Sha256::from_hex(find_text(answer, "content_sha256").value_or(""));
  if (content && hash && Sha256::of(*content) != *hash) {
    return Doubt{"the text of the answer does not have the hash that the answer gives", "hash_mismatch"};
  }
  if (operation.method == contract::Method::del && find_text(answer, "status") == "active") {
    return Doubt{"the service answered that it is still active", "still_active"};
  }
  return std::nullopt;
}

std::string command_to_look(const Operation& operation, const Parameters& parameters) {
  // The list of a tree's own conflicts asks nobody.
  if (operation.id == "sync.conflict_resolve") return "`ws sync status`";
  if (const Operation* const read = find_nearest_get(operation.path))
    return command_of(*read, parameters).in_backticks();
  // Whether a lease still holds shows when it is renewed.
  if (operation.id.starts_with("events.")) {
    return command_of(*contract::find_operation("events.renew"), parameters).in_backticks();
  }
  const std::string_view noun = operation.command.substr(0, operation.command.find(' '));
  const auto known =
      std::find_if(std::begin(looks), std::end(looks), [&](const Look& look) { return look.noun == noun; });
  const std::string_view words = known == std::end(looks) ? "ws discover" : known->command;
  return ShellCommand{}.words(words).in_backticks();
}

std::string command_to_check(const Operation& operation) { return command_to_look(operation, {}); }

Failure unusable_answer(std::string_view id, const Reply& reply, std::string_view lack, const Parameters& parameters) {
  const Operation& operation = *contract::find_operation(id);
  const http::Decision end = http::decide({.retry = operation.retry, .ending = Ending::unusable}, {}, 0);
  return {.kind = end.kind,
          .what = fmt::format("{}: the answer ({}) is not usable: {}", operation.id, reply.status, lack),
          .hint = end.applied == Applied::no ? "check that the base URL names the service"
                                             : hint_for_unknown(operation, parameters, reply.idempotency_key),
          .code = "unusable_answer",
          .call = {.operation = std::string(operation.id),
                   .http_status = reply.status,
                   .applied = end.applied,
                   .idempotency_key = reply.idempotency_key}};
}

std::string how_to_check(const Operation& operation, const Parameters& parameters) {
  return operation.unseen.empty() ? "check with " + command_to_look(operation, parameters)
                                  : std::string(operation.unseen);
}

std::string hint_for_unknown(const Operation& operation,
                             const Parameters& parameters,
                             const std::string& idempotency_key) {
  if (!operation.again.empty()) {
    return fmt::format("run {} again: {}", command_of(operation, parameters).in_backticks(), operation.again);
  }
  const std::string check = how_to_check(operation, parameters);
  if (idempotency_key.empty()) return check + " before you send it again";
  return fmt::format("{}, or repeat it with {}: it cannot happen twice",
                     check,
                     ShellCommand{"--idempotency-key=", idempotency_key}.in_backticks());
}

}  // namespace ws
