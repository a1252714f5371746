#include "server-mock/compare/replay.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/compare/grade.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sweep/local_server.hpp"

namespace ws::mock::compare {
namespace {

constexpr std::chrono::seconds longest_replay{600};
constexpr std::size_t max_replayed = 1'000'000;
/// The bytes of an upload are not recorded: the replay sends as many other bytes, up to the API's limit.
constexpr std::uint64_t max_upload_bytes = 104'857'601;
/// Tolerance: on the other side an operation may take longer than the mock's clock was advanced.
constexpr int late_s = 3;

class Replay {
 public:
  Replay(sweep::LocalServer& host, sweep::World world, Caller& caller, Findings& findings)
      : host_(host), world_(std::move(world)), caller_(caller), grader_(binding_, findings) {}

  Result<void> make_project(const std::string& id) {
    if (id.empty()) return {};
    WS_LET(const WireExchange made,
           caller_.send({.method = "POST", .target = "/v1/projects", .body = R"({"title": "The other side's"})"}));
    const auto body = parse_bounded(made.response_body);
    if (body) binding_.bind(id, find_text(*body, "id").value_or(""));
    return {};
  }

  void note_permitted(const Exchanges& exchanges) {
    for (const Exchange& one : exchanges) {
      if (one.status < 300) grader_.note_permitted(one.operation);
    }
  }

  Result<void> run(const Exchange& exchange) {
    grader_.grade_alone(exchange);
    if (exchange.operation.empty()) return {};
    move_clock(exchange.time_ms + exchange.duration_us / 1000);
    bool is_foreign = false;
    const CallRequest request = request_of(exchange, is_foreign);
    WS_LET(WireExchange answer, caller_.send(request));
    if (exchange.method == "GET" && differs_in_status(exchange, answer)) {
      advance(late_s);
      WS_LET(answer, caller_.send(request));
    }
    grader_.grade_beside(exchange, {.answer = std::move(answer), .is_foreign = is_foreign});
    return {};
  }

 private:
  static bool differs_in_status(const Exchange& exchange, const WireExchange& answer) {
    const auto ours = parse_bounded(answer.response_body);
    const auto status = find_text(*exchange.response_body, "status");
    return ours && status && find_text(*ours, "status") != status;
  }

  void advance(double seconds) {
    static_cast<void>(host_.control(world_, "POST", "/clock:advance", Json{{"seconds", seconds}}));
  }

  /// To the end of an exchange, as long after that of the first one as it was.
  void move_clock(std::int64_t end_ms) {
    if (clock_ms_ && end_ms > *clock_ms_) advance(static_cast<double>(end_ms - *clock_ms_) / 1000);
    clock_ms_ = std::max(clock_ms_.value_or(end_ms), end_ms);
  }

  CallRequest request_of(const Exchange& exchange, bool& is_foreign) {
    CallRequest request = {.method = exchange.method, .timeout = std::chrono::seconds(60)};
    Translated path = binding_.translate(std::string_view(exchange.path));
    is_foreign = path.is_foreign;
    if (exchange.operation == upload_put) {
      request.upload_url = path.is_foreign ? "" : path.text;
      request.body.assign(std::min(exchange.request_bytes.value_or(0), max_upload_bytes), 'x');
      request.target = "/_upload/unknown";
      // Of the upload's headers a recording keeps this one, and the PUT needs it.
      if (const auto type = find_text(*exchange.request_headers, "content-type")) {
        request.headers.emplace_back("Content-Type", *type);
      }
      return request;
    }
    request.target = path.text;
    char separator = '?';
    for (const auto& [name, value] : http::parse_query(exchange.query)) {
      const Translated one = binding_.translate(std::string_view(value));
      is_foreign = is_foreign || one.is_foreign;
      request.target += fmt::format("{}{}={}", separator, percent_encode(name), percent_encode(one.text));
      separator = '&';
    }
    for (const auto& [name, value] : exchange.request_headers->items()) {
      if (name == "content-type" || name == "authorization" || !value.is_string()) continue;
      request.headers.emplace_back(name, binding_.translate(std::string_view(value.get<std::string>())).text);
    }
    if (!exchange.request_body->is_null()) {
      Json body = binding_.translate(*exchange.request_body, is_foreign);
      // Events that arrived while a claim was waiting already exist in the replay.
      if (exchange.operation == "events.claim" && find_integer(body, "wait_seconds").value_or(0) > 0 &&
          exchange.status < 300)
        body["wait_seconds"] = 0;
      request.body = dump(body);
    } else if (exchange.request_bytes.value_or(0) > 0) {
      request.body = "{";  // the recorded body was not JSON
    }
    set_key(exchange, request);
    return request;
  }

  /// Uses the mock's counterpart of a key that the recording created; any other key becomes the mock's own key, unless
  /// the other side rejected it.
  void set_key(const Exchange& exchange, CallRequest& request) {
    const std::string credential = exchange.request_header("authorization");
    if (credential.empty()) {
      request.key = WithKey::none;
    } else if (const std::string* key = binding_.find(credential)) {
      request.key = WithKey::none;
      request.headers.emplace_back("Authorization", "Bearer " + *key);
    } else if (exchange.status == 401) {
      request.key = WithKey::wrong;
    }
  }

  sweep::LocalServer& host_;
  sweep::World world_;
  Caller& caller_;
  Binding binding_ = {};
  Grader grader_;
  std::optional<std::int64_t> clock_ms_ = {};  // of the other side
};

}  // namespace

Result<void> replay(const Exchanges& exchanges, const ReplayOptions& options, Findings& findings) {
  ApplicationOptions application = options.application;
  application.sandbox.assumptions = options.assumptions;
  application.sandbox.data = ":memory:";
  WS_LET(application.sandbox.clock, MockClock::parse("frozen:" + to_rfc3339(SystemClock().now())));
  WS_LET(const std::unique_ptr<sweep::LocalServer> host, sweep::LocalServer::start(application));
  WS_LET(const sweep::World world, host->open());
  WS_LET(Caller caller,
         Caller::open({.base_url = world.base_url,
                       .token = world.token,
                       .max_requests = max_replayed,
                       .max_time = longest_replay}));
  Replay run(*host, world, caller, findings);
  run.note_permitted(exchanges);
  WS_TRY(run.make_project(options.project_id));
  for (const Exchange& exchange : exchanges) WS_TRY(run.run(exchange));
  return {};
}

}  // namespace ws::mock::compare
