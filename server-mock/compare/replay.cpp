#include "server-mock/compare/replay.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/compare/grade.hpp"
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
    for (const RedactedExchange& one : exchanges) {
      if (one.parts().status < 300) grader_.note_permitted(one.parts().operation);
    }
  }

  Result<void> run(const RedactedExchange& theirs) {
    const ExchangeParts& parts = theirs.parts();
    grader_.grade_alone(theirs);
    if (parts.operation == "none") return {};
    move_clock(parts.at_ms);
    bool is_foreign = false;
    const CallRequest request = request_of(parts, is_foreign);
    WS_LET(WireExchange answer, caller_.send(request));
    if (parts.method == "GET" && differs_in_status(parts, answer)) {
      advance(late_s);
      WS_LET(answer, caller_.send(request));
    }
    grader_.grade_beside(theirs, {.answer = std::move(answer), .is_foreign = is_foreign});
    return {};
  }

 private:
  static bool differs_in_status(const ExchangeParts& parts, const WireExchange& answer) {
    const auto ours = parse_bounded(answer.response_body);
    const auto status = find_text(*parts.response_body, "status");
    return ours && status && find_text(*ours, "status") != status;
  }

  void advance(double seconds) {
    static_cast<void>(host_.control(world_, "POST", "/clock:advance", Json{{"seconds", seconds}}));
  }

  void move_clock(std::int64_t at_ms) {
    if (at_ms <= clock_ms_) return;
    advance(static_cast<double>(at_ms - clock_ms_) / 1000);
    clock_ms_ = at_ms;
  }

  CallRequest request_of(const ExchangeParts& parts, bool& is_foreign) {
    CallRequest request = {.method = parts.method, .timeout = std::chrono::seconds(60)};
    Translated path = binding_.translate(std::string_view(parts.path));
    is_foreign = path.is_foreign;
    if (parts.operation == upload_put) {
      request.upload_url = path.is_foreign ? "" : path.text;
      request.body.assign(std::min(parts.request_bytes, max_upload_bytes), 'x');
      request.target = "/_upload/unknown";
      // Of the upload's headers a recording keeps this one, and the PUT needs it.
      if (const auto type = find_text(*parts.request_headers, "content-type")) {
        request.headers.emplace_back("Content-Type", *type);
      }
      return request;
    }
    request.target = path.text;
    char separator = '?';
    for (const auto& [name, value] : parts.query->items()) {
      const Translated one = binding_.translate(std::string_view(value.is_string() ? value.get<std::string>() : ""));
      is_foreign = is_foreign || one.is_foreign;
      request.target += fmt::format("{}{}={}", separator, percent_encode(name), percent_encode(one.text));
      separator = '&';
    }
    for (const auto& [name, value] : parts.request_headers->items()) {
      if (name == "content-type" || !value.is_string()) continue;
      request.headers.emplace_back(name, binding_.translate(std::string_view(value.get<std::string>())).text);
    }
    if (!parts.request_body->is_null()) {
      Json body = binding_.translate(*parts.request_body, is_foreign);
      // Events that arrived while a claim was waiting already exist in the replay.
      if (parts.operation == "events.claim" && find_integer(body, "wait_seconds").value_or(0) > 0 && parts.status < 300)
        body["wait_seconds"] = 0;
      request.body = dump(body);
    } else if (parts.request_bytes > 0) {
      request.body = "{";  // the recorded body was not JSON
    }
    set_key(parts, request);
    return request;
  }

  /// Uses the mock's counterpart of a key that the recording created; any other key becomes the mock's own key, unless
  /// the other side rejected it.
  void set_key(const ExchangeParts& parts, CallRequest& request) {
    if (parts.credential.empty()) {
      request.key = WithKey::none;
    } else if (const std::string* key = binding_.find(parts.credential)) {
      request.key = WithKey::none;
      request.headers.emplace_back("Authorization", "Bearer " + *key);
    } else if (parts.status == 401) {
      request.key = WithKey::wrong;
    }
  }

  sweep::LocalServer& host_;
  sweep::World world_;
  Caller& caller_;
  Binding binding_ = {};
  Grader grader_;
  std::int64_t clock_ms_ = 0;
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
  for (const RedactedExchange& exchange : exchanges) WS_TRY(run.run(exchange));
  return {};
}

}  // namespace ws::mock::compare
