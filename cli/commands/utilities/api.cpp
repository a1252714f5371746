// `ws api`: any request to the profile's server, whether or not the operation table has it.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/percent.hpp"
#include "api-client/client/page_guard.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/output/members.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};

/// "/v1/me?x=1" of what the user wrote; a whole URL only where it is the profile's own server.
Result<std::string> path_of(std::string text, const BaseUrl& url) {
  if (text.find("://") != std::string::npos) {
    if (http::origin_of(text) != url.origin || text.substr(0, url.text.size()) != url.text) {
      return fail(Failure::Kind::usage,
                  "the key goes to " + url.text + " and nowhere else; `" + text + "` is another address",
                  "give the path alone, or another server with --base-url");
    }
    text.erase(0, url.text.size());
  }
  if (text.empty() || text.front() != '/') text.insert(0, "/");
  return text;
}

Result<http::Headers> headers_of(const Session& session) {
  http::Headers headers;
  for (const std::string& line : session.arguments().values("H")) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) {
      return fail(Failure::Kind::usage, "-H takes 'Name: value', not `" + line + "`");
    }
    const std::size_t value = std::min(line.find_first_not_of(' ', colon + 1), line.size());
    headers.emplace_back(line.substr(0, colon), line.substr(value));
    if (!http::is_header_name(headers.back().first) || !http::is_header_value(headers.back().second)) {
      return fail(Failure::Kind::usage, "-H takes 'Name: value': a name without blanks, a value of one line");
    }
  }
  return headers;
}

/// -F and -J over --body, into `body`; of a GET they are the query.
Result<void> add_members(const Session& session, bool into_query, Json& body, std::string& path) {
  WS_TRY(check_overlays(session.arguments()));
  for (const char* const letter : {"F", "J"}) {
    for (const std::string& one : session.arguments().values(letter)) {
      const std::size_t equals = one.find('=');
      if (equals == std::string::npos || equals == 0) {
        return fail(Failure::Kind::usage, fmt::format("-{} takes KEY=VALUE, not `{}`", letter, one));
      }
      const std::string key = one.substr(0, equals);
      const std::string given = one.substr(equals + 1);
      WS_LET(const std::string text,
             is_secret(key) ? read_secret(given, fmt::format("-{} {}", letter, key)) : text_or_file(given));
      if (into_query) {
        path += (path.find('?') == std::string::npos ? "?" : "&") + percent_encode(key) + "=" + percent_encode(text);
        continue;
      }
      Json value = text;
      if (*letter == 'J') {
        auto parsed = parse_bounded(text);
        if (!parsed) return fail(Failure::Kind::usage, "-J " + key + " takes JSON: " + parsed.error().what);
        value = std::move(*parsed);
      }
      if (!set_at_path(body, key, std::move(value))) return fail(overlaid_twice(*letter, one));
    }
  }
  return {};
}

Result<AnyCall> call_of(Session& session) {
  const std::vector<std::string>& words = session.arguments().words;
  // A path alone is read: `ws api /v1/me`.
  AnyCall call{.method = words.size() == 1 ? "GET" : to_upper(words.front())};
  if (std::ranges::find(methods, call.method) == std::end(methods)) {
    return fail(Failure::Kind::usage, "`" + words.front() + "` is not an HTTP method", "ws api GET /v1/me");
  }
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(call.path, path_of(words.back(), url));
  WS_LET(call.headers, headers_of(session));
  const auto given = session.arguments().value("body");
  if (given) {
    WS_LET(call.body, text_or_file(*given));
    if (const auto body = parse_bounded(call.body)) WS_TRY(check_given_body(*given, *body));
    call.content_type = "application/json";
  }
  if (session.has("F") || session.has("J")) {
    const bool into_query = !given && (call.method == "GET" || call.method == "HEAD" || call.method == "DELETE");
    Json body = Json::object();
    if (given) {
      WS_LET(body, parse_bounded(call.body));
      if (!body.is_object()) return fail(Failure::Kind::usage, "-F and -J need a body that is an object");
    }
    WS_TRY(add_members(session, into_query, body, call.path));
    if (!into_query) {
      if (!is_utf8(body)) return fail(Failure::Kind::usage, "api: the body holds text that is not UTF-8");
      call.body = dump(body);
      call.content_type = "application/json";
    }
  }
  const bool own_type = std::ranges::any_of(
      call.headers, [](const auto& header) { return http::find_header({header}, "Content-Type").has_value(); });
  if (own_type) call.content_type.clear();
  return call;
}

void print_head(Session& session, const Reply& reply) {
  session.printer().line(fmt::format("HTTP {}", reply.status));
  for (const auto& [name, value] : reply.headers) session.printer().raw(fmt::format("{}: {}\n", name, value));
  session.printer().line("");
}

/// Whether the printer makes something of the answer.
bool is_formatted(const Session& session) {
  return session.settings().format || session.has("json") || session.has("jq") || session.has("template") ||
         session.has("fields");
}

/// The body as it came; with a format, --fields, --jq or --template what these make of it.
void print_body(Session& session, const Json* body, const std::string& bytes) {
  if (body == nullptr || !is_formatted(session)) {
    session.printer().raw(bytes);
    const bool on_screen = session.terminal().is_terminal(Stream::out);
    if (on_screen && !bytes.empty() && bytes.back() != '\n') session.printer().raw("\n");
    return;
  }
  const Json* items = find(*body, "data");
  if (items != nullptr && items->is_array()) return session.printer().list("api", *body, bytes);
  session.printer().resource(*body, bytes);
}

/// `internal`: what the server answered is no fault of the command line.
Failure unusable_body(const std::string& why) {
  return {.kind = Failure::Kind::internal,
          .what = "api: the answer is not usable: " + why,
          .hint = "without --jq, --fields, --template and --paginate it is printed as it came",
          .code = "unusable_answer"};
}

Result<Json> read_answer(const std::string& body) {
  auto value = parse_bounded(body);
  if (!value) return fail(unusable_body(value.error().what));
  return value;
}

/// `cursor` into a body that is JSON, else into the query.
Result<void> go_on_at(AnyCall& call, const std::string& cursor) {
  if (!call.body.empty()) {
    WS_LET(Json body, parse_bounded(call.body));
    body["cursor"] = cursor;
    call.body = dump(body);
    return {};
  }
  const std::size_t query = call.path.find('?');
  std::string kept;
  for (std::size_t begin = query; begin != std::string::npos && begin < call.path.size();) {
    const std::size_t end = std::min(call.path.find('&', begin + 1), call.path.size());
    const std::string part = call.path.substr(begin + 1, end - begin - 1);
    if (part.substr(0, 7) != "cursor=" && !part.empty()) kept += (kept.empty() ? "?" : "&") + part;
    begin = end;
  }
  call.path = call.path.substr(0, query) + kept + (kept.empty() ? "?" : "&") + "cursor=" + percent_encode(cursor);
  return {};
}

Result<ExitCode> print_all_pages(Session& session, Client& client, AnyCall call) {
  Json whole;
  PageGuard guard("api");
  for (bool is_only = true;; is_only = false) {
    WS_LET(const Reply reply, client.call(call));
    WS_LET(Json page, read_answer(reply.body));
    WS_LET(const std::string cursor, guard.cursor_of(page));
    const Json* const items = find(page, "data");
    const bool is_list = items != nullptr && items->is_array();
    // What is no list has one page. Left out of several, it would cut the list.
    if (!is_list && !(is_only && cursor.empty())) return fail(unusable_body("a page of the list has no list `data`"));
    const std::size_t count = is_list ? items->size() : 0;
    if (!session.printer().streams()) WS_TRY(guard.keep(count, reply.body.size()));
    if (session.printer().streams()) {
      session.printer().list("api", page, {});
    } else if (whole.is_null()) {
      whole = std::move(page);
    } else {
      for (Json& item : page["data"]) whole["data"].push_back(std::move(item));
    }
    if (cursor.empty()) break;
    WS_TRY(guard.go_on(cursor, count));
    WS_TRY(go_on_at(call, cursor));
  }
  if (session.printer().streams()) return ExitCode::done;
  if (whole.is_object() && whole.contains("next_cursor")) whole["next_cursor"] = nullptr;
  // Joined of what was read, not as it came: the printer checks the numbers of what has no bytes.
  if (!is_formatted(session)) WS_TRY(check_numbers(whole, Numbers::of_64_bits));
  print_body(session, &whole, is_formatted(session) ? "" : dump(whole) + "\n");
  return ExitCode::done;
}

Result<ExitCode> api(Session& session) {
  WS_LET(AnyCall call, call_of(session));
  if (const auto* const operation = find_operation_of(call)) WS_TRY(check_named_members(session, *operation));
  WS_LET(Client * client, session.client());
  if (session.has("dry-run")) {
    WS_LET(const http::Request request, client->prepare(call));
    return print_prepared(session, request, Json(request.body));
  }
  if (session.has("paginate")) return print_all_pages(session, *client, std::move(call));
  const bool is_read = call.method == "GET";
  WS_LET(const Reply reply, client->call(call));
  const auto body = read_answer(reply.body);
  // Only a read fails for an answer that is not JSON: a change was made all the same, so its answer is printed as it
  // is.
  const bool needs_json = is_read && (session.has("jq") || session.has("fields") || session.has("template"));
  if (needs_json && !body) return fail(body.error());
  if (session.has("include")) print_head(session, reply);
  print_body(session, body ? &*body : nullptr, reply.body);
  return ExitCode::done;
}

}  // namespace

Command api_command() {
  Command command{
      .words = "api",
      .summary = "Send any request to the server",
      .details =
          "The key goes to the profile's own server and nowhere else. The body of a successful answer is printed "
          "unchanged; errors are reported as by every other command. -F and -J make a JSON body, or the query of a "
          "GET.",
      .arguments = {{.placeholder = "METHOD",
                     .help = "GET (with a PATH alone), POST, PUT, PATCH, DELETE, HEAD or OPTIONS"},
                    {.placeholder = "PATH", .help = "below the base URL: /v1/me", .count = Count::optional}},
      .flags = {{.letter = 'H', .placeholder = "'NAME: VALUE'", .is_repeated = true, .help = "a header"},
                {.name = "include", .help = "print status and headers too"},
                {.name = "paginate", .help = "follow next_cursor to the end, as one document"},
                again_flag()},
      .examples = {"ws api GET /v1/me", "ws api GET /v1/documents --paginate --jq '.data[].title'"},
      .passes_on = true,
      .run = api};
  for (Flag& flag : body_flags()) command.flags.push_back(std::move(flag));
  return command;
}

}  // namespace ws::cli
