#include "server-mock/trace/player.hpp"

#include <charconv>
#include <chrono>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "server-mock/pages/pages.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock::trace {
namespace {

/// Replay ahead for at most this long at a time, so that requests do not wait longer.
constexpr std::chrono::milliseconds slice{10};

constexpr std::string_view trace_html =
#include "trace_html_text.inc"
    ;
constexpr std::string_view trace_css =
#include "trace_css_text.inc"
    ;
constexpr std::string_view trace_js =
#include "trace_js_text.inc"
    ;

http::Response json_response(const Json& value, int status = 200) {
  return pages::script_page(status, "application/json", dump(value));
}

http::Response error_response(int status, std::string_view message) {
  return json_response({{"error", {{"message", message}}}}, status);
}

bool has_failed(const Event& event) { return event.status == 0 || event.status >= 400; }

}  // namespace

Result<std::unique_ptr<Player>> Player::open(const Trace& trace,
                                             const ApplicationOptions& options,
                                             const std::string& name) {
  std::unique_ptr<Player> player(new Player(trace, options.names, name));
  WS_LET(player->replay_, Replay::open(trace, options, player->checkpoints_));
  WS_LET(player->ahead_, Replay::open(trace, options, player->checkpoints_));
  return player;
}

std::size_t Player::body_limit(const http::Request& /*head*/) { return 0; }

http::Response Player::refuse(const http::MalformedRequest& why) { return error_response(why.status, why.reason); }

bool Player::work() {
  const auto end = std::chrono::steady_clock::now() + slice;
  while (ahead_ && std::chrono::steady_clock::now() < end) {
    const bool done = ahead_->moment() >= trace_.requests.size();
    if (done || !ahead_->go_to(ahead_->moment() + 1)) ahead_.reset();
  }
  return ahead_ != nullptr;
}

http::Response Player::list() const {
  Json requests = Json::array();
  Json first_failed;
  for (const std::size_t index : trace_.requests) {
    const Event& event = trace_.events[index];
    const std::string_view line = std::string_view(event.head).substr(0, event.head.find("\r\n"));
    const std::size_t space = line.find(' ');
    const std::string_view target = line.substr(space + 1, line.rfind(' ') - space - 1);
    Json one = {{"n", event.n},
                {"time", rfc3339(event.time)},
                {"method", line.substr(0, space)},
                {"target", shown_path(target)},
                {"operation", text_or_null(event.operation)},
                {"status", event.status == 0 ? Json(nullptr) : Json(event.status)}};
    if (event.cut) one["cut"] = {{"kept", event.body.size()}, {"size", *event.cut}};
    if (first_failed.is_null() && has_failed(event)) first_failed = event.n;
    requests.push_back(std::move(one));
  }
  std::string command;
  for (const std::string& word : find_texts(*trace_.start, "command")) {
    command += (command.empty() ? "" : " ") + shell_word(word);
  }
  return json_response({{"name", name_},
                        {"started_at", rfc3339(trace_.started_at)},
                        {"command", text_or_null(command)},
                        {"serve", ShellCommand({"ws-mock", "serve", "--trace=", name_}).text()},
                        {"exit", trace_.exit ? Json(*trace_.exit) : Json(nullptr)},
                        {"requests", std::move(requests)},
                        {"first_failed", std::move(first_failed)}});
}

Result<http::Response> Player::moment(std::size_t n) {
  WS_TRY(replay_->go_to(n));
  const Replay::Played& played = replay_->played();
  Json body = {{"n", n},
               {"status", played.status == 0 ? Json(nullptr) : Json(played.status)},
               {"journal", *played.journal},
               {"changes", played.changes.is_null() ? Json::array() : *played.changes},
               {"state", played.state},
               {"recorded", played.recorded},
               {"same", played.state == played.recorded},
               {"first_difference", nullptr}};
  if (const auto first = replay_->first_difference()) body["first_difference"] = *first;
  if (n > 0) {
    const Event& event = trace_.events[trace_.requests[n - 1]];
    if (event.cut) body["cut"] = {{"kept", event.body.size()}, {"size", *event.cut}};
  }
  return json_response(body);
}

Result<http::Response> Player::state(std::size_t n) {
  if (replay_->moment() != n) WS_TRY(replay_->go_to(n));
  WS_LET(Json tables, read_tables(replay_->application().sandbox().world->database));
  return json_response({{"n", n}, {"tables", std::move(tables)}});
}

Result<http::Response> Player::answer(std::string_view path) {
  constexpr std::string_view root = "/_trace";
  if (path == "/") return pages::script_page(200, "text/html; charset=utf-8", std::string(trace_html));
  if (path == "/trace.css") return pages::script_page(200, "text/css; charset=utf-8", std::string(trace_css));
  if (path == "/trace.js") return pages::script_page(200, "text/javascript; charset=utf-8", std::string(trace_js));
  if (path == root) return list();
  if (path.starts_with("/_trace/")) {
    path.remove_prefix(root.size() + 1);
    std::size_t n = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), n);
    const std::string_view rest = path.substr(static_cast<std::size_t>(end - path.data()));
    const bool is_moment = error == std::errc() && n <= trace_.requests.size();
    if (is_moment && rest.empty()) return moment(n);
    if (is_moment && rest == "/state") return state(n);
  }
  return error_response(404, "There is no such page");
}

http::Response Player::handle(const http::Request& request) {
  // As for control calls: only pages of this server may read it.
  if (guard_.rejection(request, "/_mock")) return error_response(403, "This Host or Origin is not allowed");
  if (request.method != "GET" && request.method != "HEAD") return error_response(405, "This page is read only");
  auto response = answer(request.path);
  if (!response) return error_response(500, response.error().what);
  return std::move(*response);
}

}  // namespace ws::mock::trace
