#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/text.hpp"
#include "server-mock/compare/script.hpp"

namespace ws::mock::compare {
namespace {

/// Parsed, they take up to ten times as much.
constexpr std::size_t max_answers_bytes = std::size_t{32} << 20U;
constexpr std::chrono::seconds longest_wait{8};
constexpr std::chrono::milliseconds between_asks{400};
/// Used if the response does not show whether the operation has ended.
constexpr std::chrono::seconds unknown_end_wait{3};

using Values = std::map<std::string, std::string, std::less<>>;

bool is_value_name(std::string_view text) {
  return !text.empty() && text.size() <= 24 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// Replaces `{name}` by its value; empty if a value is missing.
std::optional<std::string> filled_in(std::string_view text, const Values& values) {
  std::string filled;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    const std::string_view name =
        end == std::string_view::npos ? std::string_view() : text.substr(at + 1, end - at - 1);
    if (!is_value_name(name)) {
      filled += text[at];
      continue;
    }
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    filled += found->second;
    at = end;
  }
  return filled;
}

const Json* at_pointer(const Json& body, std::string_view text) {
  const Json::json_pointer pointer{std::string(text)};
  return body.contains(pointer) ? &body.at(pointer) : nullptr;
}

/// Runs the steps and remembers the objects to remove at the end.
class Runner {
 public:
  Runner(Caller& caller, Redactor& redactor, const RunOptions& options, ScriptRun& run)
      : caller_(caller), redactor_(redactor), options_(options), run_(run) {
    values_["mark"] = options.mark;
    if (!options.project_id.empty()) values_["project"] = options.project_id;
    for (const std::size_t length : {65, 256, 300, 301, 12000, 12001}) {
      values_[fmt::format("x{}", length)] = std::string(length, 'x');
    }
    values_["sha_mine"] = sha256_of("# Mine\n");
    values_["sha_ours"] = sha256_of("# Ours\n");
  }

  Result<void> run(const Step& step) {
    if (step.phase == Phase::writing && options_.access == Access::read_only) return {};
    if (options_.access == Access::project && is_beyond_project(step)) return {};
    const std::size_t blank = step.request.find(' ');
    const auto target = filled_in(step.request.substr(blank + 1), values_);
    const auto body = filled_in(step.body, values_);
    const auto header = filled_in(step.headers, values_);
    if (!target || !body || !header) return {};
    CallRequest request = {
        .method = std::string(step.request.substr(0, blank)), .target = *target, .key = step.key, .body = *body};
    if (const std::size_t colon = header->find(": "); colon != std::string::npos) {
      request.headers.emplace_back(header->substr(0, colon), header->substr(colon + 2));
    }
    const auto begin = std::chrono::steady_clock::now();
    while (true) {
      WS_LET(const WireExchange answer, caller_.send(request));
      if (!has_room_for(answer)) {
        return fail(
            Failure::Kind::rate_limited,
            fmt::format("the answers have more than {} MiB together, which is the limit", max_answers_bytes >> 20U));
      }
      const auto parsed = parse_bounded(answer.response_body);
      const Json json = parsed ? *parsed : Json();
      run_.exchanges.push_back(redactor_.redact(answer));
      remember(step, answer, json);
      const auto waited = std::chrono::steady_clock::now() - begin;
      const std::optional<bool> over = is_over(step, json);
      if (answer.status >= 300 || over.value_or(waited > unknown_end_wait) || waited > longest_wait) break;
      std::this_thread::sleep_for(between_asks);
    }
    return {};
  }

  /// Archives the documents that were created and revokes the agent; ids of those that could not be archived are added
  /// to `run.left`.
  void clean_up() {
    caller_.begin_cleanup();
    if (!revoke_.empty())
      static_cast<void>(caller_.send({.method = "POST",
                                      .target = "/v1/auth/credentials/current:revoke",
                                      .key = WithKey::none,
                                      .headers = {{"Authorization", "Bearer " + revoke_}}}));
    if (!agent_.empty()) {
      const auto answer =
          caller_.send({.method = "PATCH", .target = "/v1/agents/" + agent_, .body = R"({"status": "revoked"})"});
      if (answer && has_room_for(*answer)) run_.exchanges.push_back(redactor_.redact(*answer));
      if (!answer || answer->status >= 300) run_.left.push_back("the agent " + agent_);
    }
    for (const std::string& question : open_questions_) await_artifacts(question);
    for (const std::string& id : made_) {
      auto answer = caller_.send({.method = "DELETE", .target = "/v1/documents/" + id});
      const bool gone = answer && (answer->status < 300 || answer->status == 404 || answer->status == 410);
      if (answer && has_room_for(*answer)) run_.exchanges.push_back(redactor_.redact(*answer));
      if (!gone) run_.left.push_back(id);
    }
  }

 private:
  /// All exchanges are kept to the end of the run.
  bool has_room_for(const WireExchange& exchange) {
    kept_bytes_ += exchange.request_body.size() + exchange.response_body.size();
    return kept_bytes_ <= max_answers_bytes;
  }

  /// Whether the step makes something that does not belong into an existing Project.
  static bool is_beyond_project(const Step& step) {
    return step.request == "POST /v1/projects" || step.request == "POST /v1/workspaces" ||
           step.request == "POST /v1/agents";
  }

  static std::string sha256_of(std::string_view text) { return Sha256::of(text).hex(); }

  /// Whether the operation has ended; empty if the response does not say.
  static std::optional<bool> is_over(const Step& step, const Json& body) {
    const std::size_t equals = step.until.find('=');
    if (equals == std::string_view::npos) return true;
    const Json* value = at_pointer(body, step.until.substr(0, equals));
    if (value == nullptr || !value->is_string()) return std::nullopt;
    const std::string words = "," + std::string(step.until.substr(equals + 1)) + ",";
    return words.find("," + value->get<std::string>() + ",") != std::string::npos;
  }

  void remember(const Step& step, const WireExchange& answer, const Json& body) {
    for (const std::string_view one : split(step.captures, ' ')) {
      if (one.empty() || answer.status >= 300) break;
      const std::size_t equals = one.find('=');
      const Json* value = at_pointer(body, one.substr(equals + 1));
      const std::string name(one.substr(0, equals));
      if (value == nullptr || value->is_null() || value->is_structured()) continue;
      const std::string text = value->is_string() ? value->get<std::string>() : dump(*value);
      values_[name] = name.find("cursor") != std::string::npos ? percent_encode(text) : text;
    }
    if (answer.status >= 300 && find(body, "applied") == nullptr) return;
    if (step.phase == Phase::reading) return;
    if (answer.method == "POST" && answer.path == "/v1/documents") made_.insert(find_text(body, "id").value_or(""));
    for (const char* list : {"applied", "artifacts"}) {
      const Json* items = find(body, list);
      if (items == nullptr || !items->is_array()) continue;
      for (const Json& item : *items) made_.insert(find_text(item, "document_id").value_or(""));
    }
    if (answer.method == "POST" && answer.path == "/v1/questions") {
      open_questions_.insert(find_text(body, "id").value_or(""));
    }
    if (answer.path == "/v1/agents") agent_ = find_text(body, "id").value_or("");
    if (answer.path == "/v1/auth/device-token") revoke_ = find_text(body, "secret").value_or("");
    made_.erase("");
    open_questions_.erase("");
  }

  /// A cancelled or failed question may still create its document.
  void await_artifacts(const std::string& question) {
    const auto deadline = std::chrono::steady_clock::now() + longest_wait;
    while (std::chrono::steady_clock::now() < deadline) {
      const auto answer = caller_.send({.target = "/v1/questions/" + question});
      const auto body = answer ? parse_bounded(answer->response_body) : Result<Json>(Json());
      if (!body || answer->status >= 300) return;
      const Json* artifacts = find(*body, "artifacts");
      if (artifacts != nullptr && artifacts->is_array()) {
        for (const Json& one : *artifacts) made_.insert(find_text(one, "document_id").value_or(""));
      }
      made_.erase("");
      const std::string status = find_text(*body, "status").value_or("completed");
      if (status == "completed" || status == "failed" || status == "cancelled") return;
      std::this_thread::sleep_for(between_asks);
    }
  }

  Caller& caller_;
  Redactor& redactor_;
  const RunOptions& options_;
  ScriptRun& run_;
  Values values_ = {};
  std::set<std::string> made_ = {};
  std::set<std::string> open_questions_ = {};
  std::size_t kept_bytes_ = 0;
  std::string agent_ = {};
  std::string revoke_ = {};  // a key that the other side issued without an approval
};

}  // namespace

Result<ScriptRun> run_script(Caller& caller, Redactor& redactor, const RunOptions& options) {
  ScriptRun run;
  Runner runner(caller, redactor, options, run);
  for (const Step& step : script()) {
    const auto done = runner.run(step);
    if (done) continue;
    if (run.exchanges.empty()) return fail(done.error());
    // One request without a response does not stop the remaining steps.
    if (done.error().kind == Failure::Kind::unreachable && run.stopped.empty()) {
      run.stopped = done.error().what;
      continue;
    }
    run.stopped = done.error().what;
    break;
  }
  if (options.access != Access::read_only) runner.clean_up();
  run.requests = caller.sent();
  return run;
}

}  // namespace ws::mock::compare
