// Control calls for the journal of requests.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/faults/operation_names.hpp"
#include "server-mock/journal/verify.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock::control {
namespace {

constexpr int longest_wait_s = 60;

/// `?operation=&since=&limit=&wait=`. `since` is a `seq` or a time. With `since`, `limit` returns the first entries
/// after it, so that the last `seq` continues the list; without it, the newest entries. With `wait` (seconds of real
/// time, at most 60) an empty result waits for a request.
ServiceResult get_requests(Call& call) {
  Journal::Filter filter = {.operation = http::value_of(call.query, "operation")};
  if (!filter.operation.empty() && std::ranges::find(operation_names(), filter.operation) == operation_names().end()) {
    return invalid("query", "operation", "value_error", no_such_operation(filter.operation), filter.operation);
  }
  if (const std::string_view since = http::value_of(call.query, "since"); !since.empty()) {
    const auto parsed = parse_bounded(since);
    const auto time = parse_rfc3339(since);
    filter.keep = Journal::Filter::Keep::oldest;
    if (parsed && parsed->is_number_unsigned()) {
      filter.since = parsed->get<std::uint64_t>();
    } else if (time) {
      filter.since_time = time->time_since_epoch().count();
    } else {
      return invalid("query", "since", "int_parsing", "since is the seq of an entry, or a time", since);
    }
  }
  if (const std::string_view limit = http::value_of(call.query, "limit"); !limit.empty()) {
    const auto count = parse_bounded(limit);
    if (!count || !count->is_number_unsigned() || *count == 0) {
      return invalid("query", "limit", "int_parsing", "limit is a number of entries, 1 or more", limit);
    }
    filter.limit = count->get<std::size_t>();
  }
  Json found = call.sandbox.journal.read(filter);
  if (const std::string_view wait = http::value_of(call.query, "wait"); !wait.empty()) {
    const auto seconds = parse_bounded(wait);
    if (!seconds || !seconds->is_number_unsigned() || *seconds > longest_wait_s) {
      return invalid("query", "wait", "int_parsing", "wait is a number of seconds, 0 to 60", wait);
    }
    if (found.at("data").empty()) call.sandbox.watch = std::chrono::seconds(seconds->get<int>());
  }
  return Answer{.body = std::move(found)};
}

ServiceResult delete_requests(Call& call) {
  call.sandbox.journal.clear();
  return Answer{.status = 204};
}

/// Requests that matched no operation (404 for the path, 405), each with the nearest operations.
ServiceResult get_unmatched(Call& call) {
  Json data = Json::array();
  for (Exchange& one : call.sandbox.journal.find({})) {
    if (!one.operation.empty()) continue;
    Json near = nearest_operations(one.method, one.path);
    data.push_back(to_json(std::move(one)));
    data.back()["nearest"] = std::move(near);
  }
  return Answer{.body = Json{{"data", std::move(data)}}};
}

/// `{match: {operation, path, status, query, headers, body}, times | min, max, in_order}`; see journal/verify.hpp.
ServiceResult verify_requests(Call& call) {
  ValidationErrors errors;
  check_verification(call.body, errors);
  if (!errors.empty()) return tl::unexpected(errors.api_error());
  const std::vector<Exchange> all = call.sandbox.journal.find({});
  check_names(call.body, all, errors);
  if (!errors.empty()) return tl::unexpected(errors.api_error());
  Json result = verify(call.body, all);
  result["dropped"] = call.sandbox.journal.dropped();
  if (result.at("verified") == true) return Answer{.body = std::move(result)};
  return refuse(ApiError{.status = 409,
                         .code = "verification_failed",
                         .message = "The requests were not as expected",
                         .members = std::move(result)});
}

}  // namespace

CallTable journal_calls() {
  static constexpr std::string_view query[] = {"operation", "since", "limit", "wait"};
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/requests", "the journal of requests, oldest first", get_requests, nothing, query},
      {"DELETE", "/_mock/requests", "empty the journal", delete_requests, nothing},
      {"GET",
       "/_mock/requests/unmatched",
       "requests that match no operation, each with the nearest ones",
       get_unmatched,
       nothing},
      {"POST",
       "/_mock/requests:verify",
       "200 if the requests were as expected, else 409 with the nearest misses",
       verify_requests,
       by_handler},
  };
  return entries;
}

}  // namespace ws::mock::control
