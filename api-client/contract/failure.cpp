#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/problem.hpp"

namespace ws::contract {
namespace {

/// Reason phrases of RFC 9110, 15, and a few others that services send.
struct Phrase {
  int status;
  std::string_view words;
};
constexpr Phrase phrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

/// The failure kind of an error code if the code is more precise than the HTTP status.
Failure::Kind kind_of(const Problem& problem) {
  if (problem.status < 500) {
    if (problem.code == "authorization_pending" || problem.code == "slow_down") return Failure::Kind::pending;
    if (problem.code == "access_denied") return Failure::Kind::forbidden;
    if (problem.code == "expired_token" || problem.code == "invalid_grant") return Failure::Kind::auth;
  }
  return kind_of_status(problem.status);
}

/// A member of the body or of its `detail` that is safe to show in a command line: only lower-case letters, `_` and
/// `:`.
std::string safe_member(const Problem& problem, std::string_view name) {
  const std::optional<std::string> text = find_text(holder_of(*problem.members, name), name);
  const auto is_safe = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == ':'; };
  if (!text || text->size() > 64 || !std::ranges::all_of(*text, is_safe)) return {};
  return *text;
}

std::string scope_hint(const Problem& problem, const Operation* operation) {
  std::string scope = safe_member(problem, "required_scope");
  if (scope.empty() && operation != nullptr) scope = operation->scope;
  if (scope.empty()) return "log in again with the scope that it needs: `ws login --scopes ...`";
  return fmt::format("the key lacks the scope {}: run {} with every scope that you need",
                     scope,
                     ShellCommand{"ws", "login", "--scopes=", scope + ",..."}.in_backticks());
}

std::string role_hint(const Problem& problem, const Operation* operation) {
  std::string role = safe_member(problem, "required_role");
  if (role.empty() && operation != nullptr && operation->role != Role::none) role = name(operation->role);
  if (role.empty()) return "ask an admin of the Workspace for the role that it needs";
  return fmt::format("it needs the role {} or more: ask an admin of the Workspace", role);
}

struct CodeHint {
  std::string_view code;
  std::string_view hint;
};
constexpr CodeHint hints[] = {
    {"access_denied", "the login was denied: run `ws login` and approve it"},
    {"expired_token", "the login was not approved in time: run `ws login`"},
    {"invalid_grant", "run `ws login`"},
    {"agent_paused", "run `ws agents resume ID` with a key of the agent's owner"},
    {"revision_conflict", "it has another revision now: read it again, then repeat the change on that one"},
    {"idempotency_key_reused", "the idempotency key was used for another request: give a new one"},
    {"idempotency_in_flight", "the first request with this idempotency key is still running: wait, then repeat it"},
    {"plan_expired", "run `ws sync` again"},
    {"upload_expired", "run `ws files upload` again"},
    {"lease_lost", "the lease has expired: claim the event again"},
};

/// Where the ids are that the operations of an area take.
constexpr CodeHint places_of_ids[] = {
    {"docs.share", "check the document and whom --with names: `ws docs list`, `ws agents list`"},
    {"docs.", "`ws docs list` lists the documents that this key may see, `ws search WORDS` finds one"},
    {"agents.", "`ws agents list` lists them"},
    {"workspaces.", "`ws workspaces list` lists them"},
    {"sync.source_get", "check the id; who made the source may have to share it first: `ws sync share`"},
    {"sync.pull", "the source was removed, or is not shared with you any more"},
};

std::string hint_of_place(const Operation* operation) {
  if (operation == nullptr) return {};
  if (operation->method == Method::get && operation->path.find('{') == std::string_view::npos) {
    return "the server does not have this path: check the base URL";
  }
  const auto known =
      std::ranges::find_if(places_of_ids, [&](const CodeHint& each) { return operation->id.starts_with(each.code); });
  return known == std::end(places_of_ids) ? std::string() : std::string(known->hint);
}

std::string hint_of(const Problem& problem, const Operation* operation) {
  if (problem.status == 401) return "run `ws login`";
  if (problem.code == "missing_scope") return scope_hint(problem, operation);
  if (problem.code == "insufficient_role") return role_hint(problem, operation);
  const auto known = std::ranges::find(hints, problem.code, &CodeHint::code);
  if (known != std::end(hints)) return std::string(known->hint);
  if (problem.status == 403) return "ask its owner, or an admin of the Workspace, for access";
  if (problem.status == 404) return hint_of_place(operation);
  if (problem.status == 429 || problem.status == 503) return "try again later";
  return {};
}

/// Whether the change may have taken effect: not after a 4xx; unknown after any other error.
Applied applied_by(int status, const Operation* operation) {
  if (operation != nullptr && operation->retry == RetryClass::read) return Applied::no;
  return status >= 500 || status == 408 ? Applied::unknown : Applied::no;
}

/// Whether the same call may be sent again: not if it may have taken effect and has no protection against a repeat.
bool is_retryable(const Problem& problem, const Operation* operation) {
  if (problem.status == 429 || problem.status == 503 || problem.code == "idempotency_in_flight") return true;
  const bool is_guarded = operation != nullptr && operation->retry != RetryClass::unsafe;
  return is_guarded && (problem.status == 408 || problem.status >= 500);
}

}  // namespace

std::string reason_phrase(int status) {
  const auto found = std::ranges::find(phrases, status, &Phrase::status);
  return found == std::end(phrases) ? fmt::format("Status {}", status) : std::string(found->words);
}

Failure to_failure(const Problem& problem, std::string_view operation) {
  const Operation* known = find_operation(operation);
  const std::string code = problem.code.empty() ? "" : " " + problem.code;
  std::string_view message = problem.message;
  while (message.ends_with('.')) message.remove_suffix(1);
  Failure failure = {
      .kind = kind_of(problem),
      .what = fmt::format("{}{}{} ({}{})", operation, operation.empty() ? "" : ": ", message, problem.status, code),
      .hint = hint_of(problem, known),
      .request_id = problem.request_id,
      .code = problem.code,
  };
  failure.call = {.operation = std::string(operation),
                  .http_status = problem.status,
                  .applied = applied_by(problem.status, known),
                  .retryable = is_retryable(problem, known),
                  .details = problem.members.is_null() ? std::string() : dump(*problem.members)};
  return failure;
}

}  // namespace ws::contract
