#include "api-client/client/request_builder.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/percent.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"

namespace ws {
namespace {

using contract::In;
using contract::Operation;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view key_header = "Idempotency-Key";

/// What stands for the PUT of an upload's bytes, which is no operation of the table.
constexpr Operation put_operation = {.id = "files.put",
                                     .method = contract::Method::put,
                                     .path = "/v1/files/uploads",
                                     .summary = "Send the bytes of an upload",
                                     .responses = {{.body = contract::Body::none}},
                                     .auth = contract::Auth::none,
                                     .retry = contract::RetryClass::repeatable,
                                     .command = "files upload"};

/// What stands for a request that need not be in the table: one entry a retry class.
constexpr Operation any_operation(contract::RetryClass retry) {
  return {.id = "api",
          .summary = "Send any request",
          .responses = {{.body = contract::Body::bytes}},
          .retry = retry,
          .command = "api"};
}
constexpr Operation any_operations[] = {any_operation(contract::RetryClass::read),
                                        any_operation(contract::RetryClass::keyed),
                                        any_operation(contract::RetryClass::revision),
                                        any_operation(contract::RetryClass::sync),
                                        any_operation(contract::RetryClass::repeatable),
                                        any_operation(contract::RetryClass::unsafe)};

const Operation& any_operation_of(contract::RetryClass retry) {
  for (const Operation& operation : any_operations) {
    if (operation.retry == retry) return operation;
  }
  return any_operations[std::size(any_operations) - 1];  // a lease or a poll sent by hand
}

/// The parameters of a call by where they go.
struct Sorted {
  Pairs path = {};
  Pairs query = {};
  Pairs headers = {};
};

const std::string* find_value(const Pairs& pairs, std::string_view name) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
  return found == pairs.end() ? nullptr : &found->second;
}

auto usage(const Operation& operation, std::string what, std::string hint = {}) {
  Failure failure{.kind = Failure::Kind::usage,
                  .what = fmt::format("{}: {}", operation.id, what),
                  .hint = std::move(hint),
                  .call = {.operation = std::string(operation.id)}};
  return fail(std::move(failure));
}

Result<Sorted> sort_parameters(const Operation& operation, const Call& call) {
  Sorted sorted;
  for (const auto& [name, value] : call.parameters) {
    const contract::Parameter* const parameter = contract::find_parameter(operation, name);
    if (parameter == nullptr && call.validate) {
      return usage(operation, fmt::format("there is no parameter {}", name));
    }
    const In in = parameter == nullptr ? In::query : parameter->in;
    Pairs& target = in == In::path ? sorted.path : in == In::header ? sorted.headers : sorted.query;
    if (in == In::path && find_value(target, name) != nullptr) {
      return usage(operation, fmt::format("the parameter {} is given twice", name));
    }
    target.emplace_back(name, value);
  }
  return sorted;
}

/// One segment, whatever the value holds. Dots alone would mean another path to whoever tidies it up on the way.
std::string encode_segment(std::string_view value) {
  if (value == ".") return "%2E";
  if (value == "..") return "%2E%2E";
  return percent_encode(value);
}

/// The path with every `{name}` filled.
Result<std::string> fill_path(const Operation& operation, const Pairs& values) {
  std::string filled;
  std::string_view rest = operation.path;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    filled += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const std::string* const value = find_value(values, name);
    if (value == nullptr || value->empty()) return usage(operation, fmt::format("the parameter {} is missing", name));
    filled += encode_segment(*value);
    rest.remove_prefix(close + 1);
  }
  return filled;
}

std::string render_query(const Pairs& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += text.empty() ? '?' : '&';
    text += percent_encode(name);
    text += '=';
    text += percent_encode(value);
  }
  return text;
}

/// A key that servers read as none would leave every repeat without one.
Result<void> check_key(const Operation& operation, std::string_view key) {
  const bool printable = std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c != 0x7f; });
  if (!printable) return usage(operation, "the idempotency key must be plain ASCII");
  const bool is_blank = key.find_first_not_of(' ') == std::string_view::npos;
  if (is_blank) return usage(operation, "the idempotency key must not be blank");
  return {};
}

/// The key that the call is sent under; a parameter of that name is the same as the member.
Result<std::string> settle_key(const Operation& operation,
                               const Call& call,
                               const Pairs& headers,
                               const std::string& fresh_key) {
  std::string key = call.idempotency_key;
  if (const std::string* const value = find_value(headers, key_header); value != nullptr && key.empty()) key = *value;
  if (operation.idempotency == contract::Idempotency::none) {
    if (key.empty()) return key;
    return usage(operation, "the operation takes no idempotency key");
  }
  if (key.empty()) return fresh_key;
  WS_TRY(check_key(operation, key));
  return key;
}

/// Every violation that the table knows of: those of published limits are refused, the others noted.
Result<void> check(const Operation& operation, const Call& call, const Sorted& sorted, Prepared& prepared) {
  Pairs headers;
  if (!prepared.idempotency_key.empty()) headers.emplace_back(key_header, prepared.idempotency_key);
  contract::Findings findings = contract::validate_parameters(operation, sorted.path, sorted.query, headers);
  contract::Findings body = contract::validate_body(operation, call.body.is_null() ? nullptr : &*call.body);
  findings.violations.insert(findings.violations.end(), body.violations.begin(), body.violations.end());
  std::vector<contract::Violation> refused;
  std::string what;
  for (contract::Violation& violation : findings.violations) {
    const std::string line = contract::render(violation);
    if (violation.limit == contract::Source::assumed) {
      prepared.notices.push_back(
          fmt::format("{}: {} (the API does not publish this limit; sent as it is)", operation.id, line));
      continue;
    }
    if (refused.size() < 3) what += (what.empty() ? "" : "; ") + line;
    refused.push_back(std::move(violation));
  }
  if (refused.empty()) return {};
  if (refused.size() > 3) what += fmt::format("; and {} more", refused.size() - 3);
  Failure failure{.kind = Failure::Kind::usage,
                  .what = fmt::format("{}: {}", operation.id, what),
                  .hint = fmt::format("nothing was sent; {} shows the limits",
                                      ShellCommand{"ws", "schema", operation.id}.in_backticks()),
                  .code = "validation_error",
                  .call = {.operation = std::string(operation.id), .details = dump(contract::to_json(refused))}};
  return fail(std::move(failure));
}

/// The body's bytes. Replacing what is not UTF-8 would change a text without a word.
Result<std::string> render_body(const Operation& operation, const Json& body) {
  if (!is_utf8(body)) return usage(operation, "the body holds text that is not UTF-8");
  return dump(body);
}

/// The values of an operation's path, decoded; an ordinary segment fits any `{name}`. Empty where it does not fit.
std::optional<Pairs> match_path(std::string_view wanted, std::string_view given) {
  Pairs values;
  while (!wanted.empty()) {
    if (wanted.front() != '{') {
      if (given.empty() || given.front() != wanted.front()) return std::nullopt;
      wanted.remove_prefix(1);
      given.remove_prefix(1);
      continue;
    }
    const std::size_t close = wanted.find('}');
    const std::string_view segment = given.substr(0, given.find_first_of("/:"));
    if (segment.empty()) return std::nullopt;
    values.emplace_back(wanted.substr(1, close - 1), percent_decode(segment).value_or(std::string(segment)));
    wanted.remove_prefix(close + 1);
    given.remove_prefix(segment.size());
  }
  if (!given.empty()) return std::nullopt;
  return values;
}

/// The operation that method and path name, if the table has it, with the values of its path.
std::pair<const Operation*, Pairs> find_by_path(std::string_view method, std::string_view path) {
  for (const Operation* const operation : contract::operations()) {
    if (contract::name(operation->method) != method) continue;
    if (auto values = match_path(operation->path, path)) return {operation, std::move(*values)};
  }
  return {nullptr, {}};
}

bool is_allowed_http(std::string_view url, const ClientOptions& options) {
  const std::string origin = http::origin_of(url);
  return std::any_of(options.allowed_http_hosts.begin(), options.allowed_http_hosts.end(), [&](const auto& host) {
    return origin == http::origin_of("http://" + host);
  });
}

/// The base URL without a slash at its end. Fails with `usage` where a request must not go there.
Result<std::string> settle_base(const Operation& operation, const ClientOptions& options) {
  std::string base = options.base_url;
  while (!base.empty() && base.back() == '/') base.pop_back();
  const std::string origin = http::origin_of(base);
  if (base.empty()) return usage(operation, "no server is given", "give --base-url or set WS_BASE_URL");
  if (origin.empty() || base.find_first_of("?#\\") != std::string::npos) {
    return usage(operation, "the base URL must be https://host[:port][/prefix]");
  }
  if (origin.substr(0, 5) == "http:" && !http::is_loopback(base) && !is_allowed_http(base, options)) {
    return usage(operation,
                 fmt::format("plain http is allowed to this machine only, not to {}", origin),
                 "use https, or name the host: WS_ALLOW_HTTP=HOST[:PORT]");
  }
  return base;
}

const contract::Response* usual_response(const Operation& operation) {
  return operation.responses.empty() ? nullptr : &operation.responses.front();
}

/// Headers that the client alone decides.
bool is_ours(std::string_view name) {
  constexpr std::string_view ours[] = {"host", "authorization", "content-length", "transfer-encoding", "cookie"};
  const std::string lower = to_lower(name);
  return std::find(std::begin(ours), std::end(ours), lower) != std::end(ours);
}

Result<void> add_own_headers(const Operation& operation, const Call& call, http::Request& request) {
  for (const auto& [name, value] : call.headers) {
    if (!http::is_header_name(name) || !http::is_header_value(value)) {
      return usage(operation, "a header's name is a token without blanks, its value one line");
    }
    if (is_ours(name)) return usage(operation, fmt::format("the header {} is set by ws and cannot be given", name));
    std::erase_if(request.headers,
                  [&name = name](const auto& header) { return http::find_header({header}, name).has_value(); });
    request.headers.emplace_back(name, value);
  }
  return {};
}

void add_headers(const Operation& operation, const ClientOptions& options, Prepared& prepared) {
  http::Headers& headers = prepared.request.headers;
  const contract::Response* const usual = usual_response(operation);
  const bool bytes = usual != nullptr && usual->body == contract::Body::bytes;
  headers.emplace_back("Accept", bytes ? "*/*" : "application/json");
  headers.emplace_back("User-Agent", options.user_agent);
  if (!prepared.request.body.empty()) headers.emplace_back("Content-Type", "application/json");
  if (!prepared.idempotency_key.empty()) headers.emplace_back(key_header, prepared.idempotency_key);
}

void set_bounds(const Call& call, const ClientOptions& options, http::Request& request) {
  request.timeout = call.timeout.value_or(options.timeout);
  if (!call.sink) return;
  // As long as it comes, however much it is: the sink knows when it is too much.
  request.sink = call.sink;
  request.head = call.head;
  request.max_body_bytes = std::numeric_limits<std::uint64_t>::max();
  if (!call.timeout) {
    request.timeout = std::chrono::milliseconds{0};
    request.idle_timeout = options.timeout;
  }
}

}  // namespace

Result<Prepared> prepare_request(const Call& call, const ClientOptions& options, const std::string& fresh_key) {
  const Operation* const operation = contract::find_operation(call.operation);
  if (operation == nullptr) {
    return fail(Failure::Kind::usage, fmt::format("there is no operation {}", call.operation), "run `ws commands`");
  }
  Prepared prepared{.operation = operation, .meaning = operation, .parameters = call.parameters};
  WS_LET(const std::string base, settle_base(*operation, options));
  WS_LET(const Sorted sorted, sort_parameters(*operation, call));
  WS_LET(const std::string path, fill_path(*operation, sorted.path));
  WS_LET(prepared.idempotency_key, settle_key(*operation, call, sorted.headers, fresh_key));
  if (operation->request == nullptr && !call.body.is_null()) return usage(*operation, "the operation takes no body");
  if (call.validate) WS_TRY(check(*operation, call, sorted, prepared));
  http::Request& request = prepared.request;
  request.method = contract::name(operation->method);
  request.url = base + path + render_query(sorted.query);
  if (!call.body.is_null()) {
    WS_LET(request.body, render_body(*operation, *call.body));
  }
  // What must not be repeated should not be swallowed by a connection that the server is just closing.
  const bool is_unguarded =
      operation->retry == contract::RetryClass::unsafe || operation->retry == contract::RetryClass::poll;
  if (is_unguarded) request.connection = http::Connection::recent;
  add_headers(*operation, options, prepared);
  WS_TRY(add_own_headers(*operation, call, request));
  set_bounds(call, options, request);
  return prepared;
}

Result<Prepared> prepare_put(const BytesPut& put, const ClientOptions& options) {
  const auto refuse = [](std::string what) {
    return fail(Failure{.kind = Failure::Kind::internal,
                        .what = "the service " + std::move(what),
                        .hint = "nothing was sent to it",
                        .code = "unusable_answer",
                        .call = {.operation = std::string(put_operation.id)}});
  };
  if (!http::may_lead_to(put.url, options.base_url)) {
    return refuse(fmt::format("gave the upload address {}, which is not allowed", http::origin_of(put.url)));
  }
  Prepared prepared{.operation = &put_operation, .meaning = &put_operation};
  prepared.request = {.method = "PUT", .url = put.url};
  prepared.request.timeout = std::chrono::milliseconds{0};
  prepared.request.idle_timeout = options.timeout;
  prepared.request.headers = {{"Accept", "*/*"}, {"User-Agent", options.user_agent}};
  for (const auto& [name, value] : put.headers) {
    const auto is_in_value = [&text = value](const Credential& one) {
      return !one.secret.empty() && text.find(one.secret) != std::string::npos;
    };
    const bool holds_key = (options.credential && is_in_value(*options.credential)) ||
                           (options.second && is_in_value(options.second->credential));
    if (!http::is_header_name(name) || !http::is_header_value(value)) {
      return refuse("wants the bytes sent with a malformed header");
    }
    if (is_ours(name) || holds_key)
      return refuse(fmt::format("wants the bytes sent with the header {}, which only ws may set", name));
    prepared.request.headers.emplace_back(name, value);
  }
  return prepared;
}

const Operation* find_operation_of(const AnyCall& call) {
  return find_by_path(call.method, call.path.substr(0, call.path.find('?'))).first;
}

Result<Prepared> prepare_any(const AnyCall& call, const ClientOptions& options, const std::string& fresh_key) {
  auto [known, values] = find_by_path(call.method, call.path.substr(0, call.path.find('?')));
  const bool is_read = call.method == "GET" || call.method == "HEAD";
  const contract::RetryClass unknown = is_read ? contract::RetryClass::read : contract::RetryClass::unsafe;
  const Operation& operation = any_operation_of(known == nullptr ? unknown : known->retry);
  WS_LET(const std::string base, settle_base(operation, options));
  const bool is_clean = std::all_of(
      call.path.begin(), call.path.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#' && c != '\\'; });
  if (call.path.empty() || call.path.front() != '/' || !is_clean) {
    return usage(operation, "the path must begin with / and be percent-encoded");
  }
  Prepared prepared{.operation = &operation, .meaning = known == nullptr ? &operation : known};
  prepared.parameters = std::move(values);
  prepared.request = {.method = call.method, .url = base + call.path, .body = call.body, .timeout = options.timeout};
  if (operation.retry == contract::RetryClass::unsafe) prepared.request.connection = http::Connection::recent;
  if (operation.retry == contract::RetryClass::keyed) prepared.idempotency_key = fresh_key;
  // The service ignores a key where the operation takes none: it makes no retry safe.
  const bool takes_key = known == nullptr || known->idempotency == contract::Idempotency::key;
  if (const auto own = http::find_header(call.headers, key_header); own && takes_key) {
    WS_TRY(check_key(operation, *own));
    prepared.idempotency_key = *own;
  }
  add_headers(operation, options, prepared);
  http::Headers& headers = prepared.request.headers;
  std::erase_if(headers, [](const auto& header) { return header.first == "Content-Type"; });
  if (!call.content_type.empty()) headers.emplace_back("Content-Type", call.content_type);
  WS_TRY(add_own_headers(operation, {.headers = call.headers}, prepared.request));
  return prepared;
}

Result<void> add_credential(Prepared& prepared, const ClientOptions& options) {
  const Operation& operation = *prepared.operation;
  http::Request& request = prepared.request;
  if (operation.auth == contract::Auth::none) return {};
  const auto refuse = [&](std::string what) -> Result<void> {
    return fail(Failure{.kind = Failure::Kind::auth,
                        .what = fmt::format("{}: {}", operation.id, what),
                        .hint = "run `ws login`",
                        .call = {.operation = std::string(operation.id)}});
  };
  if (!options.credential) return refuse("not logged in at " + http::origin_of(request.url));
  const bool is_for_second = options.second && std::ranges::find(options.second->scopes, prepared.meaning->scope) !=
                                                   options.second->scopes.end();
  const Credential& credential = is_for_second ? options.second->credential : *options.credential;
  const std::string origin = http::origin_of(request.url);
  if (origin.empty() || origin != http::origin_of(credential.origin)) {
    return refuse(fmt::format("the key is for {} and is not sent to {}", credential.origin, origin));
  }
  if (!http::is_credential(credential.secret)) return refuse("the key is not one line of visible characters");
  request.headers.emplace_back("Authorization", "Bearer " + credential.secret);
  return {};
}

}  // namespace ws
