#include "server-mock/trace/trace_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/text.hpp"

namespace ws::mock::trace {
namespace {

constexpr std::size_t max_trace_bytes = std::size_t{1} << 30U;
constexpr std::size_t state_digits = 16;
constexpr std::int64_t latest_time = 253'402'300'799'999;  // the end of the year 9999

bool is_state(const std::string& text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == state_digits && std::ranges::all_of(text, is_digit);
}

/// Reads line by line and stops at the first invalid one.
class TraceReader {
 public:
  explicit TraceReader(Trace& trace) : trace_(trace) {}

  /// Empty if the line is valid; otherwise what is wrong with it.
  std::string start(const Json& line) {
    const auto version = find_integer(line, "ws_trace");
    if (!version) return "this is not a trace of ws-mock: its first line has no ws_trace";
    if (*version != 1) return fmt::format("this trace has version {}; this ws-mock reads version 1", *version);
    const auto time = find_integer(line, "started_at");
    if (!time || *time < 0 || *time > latest_time) return "started_at is not a time";
    const Json* flags = find(line, "flags");
    if (flags == nullptr || !flags->is_object()) return "flags is not an object";
    trace_.started_at = *time;
    trace_.base_url = find_text(line, "base_url").value_or("");
    if (!trace_.base_url.starts_with("http://") && !trace_.base_url.starts_with("https://"))
      return "base_url is not a URL";
    trace_.start = line;
    return {};
  }

  std::string next(const Json& line) {
    if (trace_.exit) return "nothing may follow the end";
    if (line.contains("n")) return request(line);
    if (line.contains("resume")) return about_request(line, "resume", Event::Kind::resume);
    if (line.contains("cancel")) return about_request(line, "cancel", Event::Kind::cancel);
    if (line.contains("ready")) return add(line, {.kind = Event::Kind::ready, .n = trace_.requests.size()});
    if (line.contains("refused")) return refused(line);
    if (line.contains("snapshot")) return snapshot(line);
    if (!line.contains("end")) return "this line is not a line of a trace";
    trace_.exit = find_integer(line, "end");
    return trace_.exit ? "" : "end is not an exit code";
  }

 private:
  std::string request(const Json& line) {
    if (find_integer(line, "n") != static_cast<std::int64_t>(trace_.requests.size() + 1)) {
      return fmt::format("the next request is {}", trace_.requests.size() + 1);
    }
    Event event = {.n = trace_.requests.size() + 1,
                   .head = find_text(line, "head").value_or(""),
                   .body = find_text(line, "body").value_or(""),
                   .operation = find_text(line, "operation").value_or("")};
    if (std::ranges::count(event.head.substr(0, event.head.find("\r\n")), ' ') != 2)
      return "head is not the head of a request";
    if (const auto packed = find_text(line, "body64")) {
      const auto bytes = from_base64(*packed);
      if (!bytes) return "body64 is not base64";
      event.body = *bytes;
    }
    if (const auto size = find_integer(line, "cut")) {
      if (*size <= static_cast<std::int64_t>(event.body.size())) return "cut is the size of a longer body";
      event.cut = static_cast<std::uint64_t>(*size);
    }
    trace_.requests.push_back(trace_.events.size());
    return add(line, std::move(event));
  }

  std::string about_request(const Json& line, std::string_view member, Event::Kind kind) {
    const auto n = find_integer(line, member);
    if (!n || *n < 1 || *n > static_cast<std::int64_t>(trace_.requests.size())) {
      return fmt::format("{} names no earlier request", member);
    }
    const auto place = static_cast<std::size_t>(*n);
    const std::size_t index = trace_.requests[place - 1];
    std::string wrong = add(line, {.kind = kind, .n = place, .may_wait = find_bool(line, "may_wait").value_or(true)});
    if (wrong.empty() && kind == Event::Kind::resume) trace_.events[index].status = trace_.events.back().status;
    return wrong;
  }

  std::string refused(const Json& line) {
    const Json& why = line.at("refused");
    const auto status = find_integer(why, "status");
    if (!status || *status < 400 || *status > 599) return "refused does not have an error status";
    return add(line,
               {.kind = Event::Kind::refused,
                .n = trace_.requests.size(),
                .body = find_text(why, "reason").value_or(""),
                .status = static_cast<int>(*status),
                .code = find_text(why, "code").value_or("")});
  }

  std::string snapshot(const Json& line) {
    const auto after = find_integer(line, "after");
    const auto requests = find_integer(line, "requests");
    Snapshot made = {.after = trace_.requests.size(),
                     .requests = static_cast<std::uint64_t>(requests.value_or(0)),
                     .state = find_text(line, "state").value_or(""),
                     .packed = find_text(line, "snapshot").value_or("")};
    if (!after || *after != static_cast<std::int64_t>(made.after) || !requests || *requests < 0 ||
        made.packed.empty() || !is_state(made.state)) {
      return "this snapshot does not follow the request before it";
    }
    trace_.snapshots.push_back(std::move(made));
    return {};
  }

  /// Checks the members that all events have.
  std::string add(const Json& line, Event event) {
    const auto time = find_integer(line, "t");
    if (!time || *time < 0 || *time > latest_time) return "t is not a time";
    event.time = *time;
    event.state = find_text(line, "state").value_or("");
    const bool has_state = event.kind != Event::Kind::ready && event.kind != Event::Kind::refused;
    if (has_state && !is_state(event.state)) return fmt::format("state is not {} hexadecimal digits", state_digits);
    const Json* status = find(line, "status");
    if (status != nullptr && (!status->is_number_unsigned() || *status > 999)) return "status is not a status code";
    if (status != nullptr && event.status == 0) event.status = status->get<int>();
    trace_.events.push_back(std::move(event));
    return {};
  }

  Trace& trace_;
};

}  // namespace

Result<Trace> Trace::read(const std::string& path) {
  WS_LET(const std::string text, read_file(path, max_trace_bytes, Source::anything));
  Trace trace;
  TraceReader reader(trace);
  std::size_t number = 0;
  for (const std::string_view line : whole_lines(text)) {
    // A recorder that was killed leaves an incomplete last line.
    if (!line.ends_with('\n') && number > 0) break;
    const auto parsed = parse_bounded(line);
    std::string wrong = "this line is not a JSON object";
    if (parsed && parsed->is_object()) wrong = number == 0 ? reader.start(*parsed) : reader.next(*parsed);
    ++number;
    if (wrong.empty()) continue;
    return fail(Failure::Kind::invalid,
                fmt::format("{}:{}: {}", path, number, wrong),
                "record one with ws-mock exec --trace FILE -- CMD");
  }
  if (number == 0) return fail(Failure::Kind::invalid, fmt::format("{} is empty, so it is not a trace", path));
  return trace;
}

std::string line_of(const Event& event) {
  Json line = Json::object();
  switch (event.kind) {
    case Event::Kind::request: {
      line = {{"n", event.n}, {"t", event.time}, {"head", event.head}};
      const Json body = event.body;
      if (!event.body.empty() && is_utf8(body)) line["body"] = body;
      if (!event.body.empty() && !is_utf8(body)) line["body64"] = to_base64(event.body);
      if (event.cut) line["cut"] = *event.cut;
      if (!event.operation.empty()) line["operation"] = event.operation;
      break;
    }
    case Event::Kind::resume: line = {{"resume", event.n}, {"t", event.time}, {"may_wait", event.may_wait}}; break;
    case Event::Kind::ready: return dump(Json{{"ready", true}, {"t", event.time}});
    case Event::Kind::cancel: line = {{"cancel", event.n}, {"t", event.time}}; break;
    case Event::Kind::refused:
      return dump(Json{{"refused", {{"status", event.status}, {"code", event.code}, {"reason", event.body}}},
                       {"t", event.time}});
  }
  if (event.status != 0) line["status"] = event.status;
  line["state"] = event.state;
  return dump(line);
}

std::string line_of(const Snapshot& snapshot) {
  return dump(Json{{"snapshot", snapshot.packed},
                   {"after", snapshot.after},
                   {"requests", snapshot.requests},
                   {"state", snapshot.state}});
}

}  // namespace ws::mock::trace
