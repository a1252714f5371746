#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "cli/commands/utilities/checks.hpp"
#include "cli/output/human.hpp"

namespace ws::cli {
namespace {

/// A call that changes nothing. `from`: the list whose first item has the id that stands in the path; empty: none.
struct Reading {
  std::string_view operation = {};
  std::string_view from = {};
};

constexpr Reading readings[] = {
    {"discovery.get"},
    {"me.get"},
    {"workspaces.list"},
    {"docs.list"},
    {"docs.get", "docs.list"},
    {"comments.list", "docs.list"},
    {"search.run"},
    {"questions.list"},
    {"questions.get", "questions.list"},
    {"conversations.list"},
    {"conversations.get", "conversations.list"},
    {"files.list"},
    {"files.get", "files.list"},
    {"agents.list"},
    {"tests.catalog"},
    {"tests.cases_list"},
    {"tests.case_get", "tests.cases_list"},
    {"tests.suites_list"},
    {"tests.suite_get", "tests.suites_list"},
    {"tests.runs_list"},
    {"tests.run_get", "tests.runs_list"},
};

constexpr std::string_view no_document = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";  ///< nobody's
constexpr std::string_view wrong_key = "wsk_of_nobody";
constexpr std::size_t max_named = 3;

/// "docs.list: data.color, docs.get: color and 4 more".
std::string some_of(const std::set<std::string>& all) {
  const auto end = std::next(all.begin(), static_cast<std::ptrdiff_t>(std::min(all.size(), max_named)));
  const std::string named = fmt::format("{}", fmt::join(all.begin(), end, ", "));
  return all.size() <= max_named ? named : fmt::format("{} and {} more", named, all.size() - max_named);
}

Failure broken(std::string what, std::string hint) {
  return {.kind = Failure::Kind::service, .what = std::move(what), .hint = std::move(hint)};
}

class ServiceCheck {
 public:
  ServiceCheck(Session& session, Client& client, Checks& checks)
      : session_(session), client_(client), checks_(checks) {}

  void run() {
    if (!reach()) return;
    for (const Reading& one : readings) read(one);
    tell_answers();
    look_at_pages();
    look_at_refusals();
    look_at_wrong_key();
    look_at_downloads();
    checks_.note("not looked at",
                 "calls that change something: `ws-mock diff --against URL --scratch` tries them",
                 forbidden_.empty() ? "" : "this key may not call " + some_of(forbidden_));
  }

 private:
  Result<Reply> call(std::string_view operation,
                     std::vector<std::pair<std::string, std::string>> parameters = {},
                     http::Headers headers = {}) {
    Call call{.operation = operation,
              .parameters = std::move(parameters),
              .headers = std::move(headers),
              .timeout = std::chrono::seconds{30},
              .validate = false,
              .repeat = false};
    if (operation == "search.run") call.body = Json{{"query", "notes"}, {"limit", 3}};
    const Time begin = session_.world().clock.now();
    auto reply = client_.call(std::move(call));
    times_.push_back((session_.world().clock.now() - begin).count());
    return reply;
  }

  /// Whether it makes sense to go on.
  bool reach() {
    auto reply = call("me.get");
    if (!reply) {
      checks_.bad(reply.error().call.http_status == 0 ? "connection" : "key", reply.error());
      return false;
    }
    return true;
  }

  void read(const Reading& reading) {
    const contract::Operation& operation = *contract::find_operation(reading.operation);
    std::vector<std::pair<std::string, std::string>> parameters;
    if (!reading.from.empty()) {
      const auto found = ids_.find(std::string(reading.from));
      if (found == ids_.end()) return;
      const auto path = std::ranges::find(operation.parameters, contract::In::path, &contract::Parameter::in);
      parameters.emplace_back(path->field.name, found->second);
    }
    const auto reply = call(reading.operation, std::move(parameters));
    if (!reply) return refused(reading.operation, reply.error());
    ++answered_;
    const contract::Schema* schema = operation.responses.front().schema;
    if (schema == nullptr || reply->json.is_null()) return;
    compare(reading.operation, *reply->json, *schema);
    remember_id(operation, *reply->json);
  }

  void refused(std::string_view operation, const Failure& failure) {
    if (failure.kind == Failure::Kind::forbidden) {
      forbidden_.insert(std::string(operation));
    } else {
      broken_.insert(fmt::format("{}: {}", operation, failure.what));
    }
  }

  void compare(std::string_view operation, const Json& body, const contract::Schema& schema) {
    const contract::Findings findings = contract::validate_response(body, schema);
    const auto place = [&](std::span<const contract::Step> loc) {
      std::vector<contract::Step> names;  // one of many items stands for all
      std::ranges::copy_if(loc.subspan(1), std::back_inserter(names), [](const contract::Step& step) {
        return std::holds_alternative<std::string>(step);
      });
      return fmt::format("{}: {}", operation, contract::render(names));
    };
    for (const contract::Violation& one : findings.violations) {
      (one.limit == contract::Source::published ? broken_ : open_).insert(place(one.loc) + ": " + one.message);
    }
    for (const auto& loc : findings.unknown) unknown_.insert(place(loc));
    note_missing(body, schema);
  }

  /// Members that every answer has, as far as we assume.
  void note_missing(const Json& value, const contract::Schema& schema) {
    if (value.is_array()) {
      for (const Json& item : value) note_missing(item, schema);
    }
    if (!value.is_object()) return;
    for (const contract::Field& field : schema.fields) {
      const Json* member = find(value, field.name);
      const contract::Type& type = field.type.items == nullptr ? field.type : *field.type.items;
      if (member != nullptr && type.object != nullptr) note_missing(*member, *type.object);
      const bool is_assumed = field.source == contract::Source::assumed || schema.source == contract::Source::assumed;
      if (member == nullptr && is_assumed && field.presence == contract::Presence::required) {
        open_.insert(fmt::format("{} has no {}", schema.name, field.name));
      }
    }
  }

  void remember_id(const contract::Operation& operation, const Json& body) {
    const Json* data = find(body, "data");
    if (data == nullptr || !data->is_array() || data->empty()) return;
    for (const char* const name : {"id", "case_id", "suite_id"}) {
      if (const auto id = find_text(data->front(), name)) {
        ids_.emplace(operation.id, *id);
        return;
      }
    }
  }

  void tell_answers() {
    std::ranges::sort(times_);
    checks_.good("service",
                 fmt::format("{}, half of its answers within {}",
                             client_.options().base_url,
                             human_duration(times_[times_.size() / 2])));
    if (broken_.empty()) {
      checks_.good("answers",
                   fmt::format("{} answered as published", counted(answered_, "reading call is", "reading calls are")));
    } else {
      checks_.bad("answers", broken(some_of(broken_), "commands of ws that need these fields fail"));
    }
    if (open_.empty()) {
      checks_.good("open fields", "the fields that the API document leaves open are as ws expects them");
    } else {
      checks_.note("open fields", some_of(open_), "ws works without them; columns may be empty");
    }
    if (unknown_.empty()) {
      checks_.good("new fields", "the service sends no field that ws does not know");
    } else {
      checks_.note("new fields", some_of(unknown_), "ws passes them on, with --json");
    }
  }

  /// Pages hold what was asked for, and the cursor leads to other items.
  void look_at_pages() {
    const char* const hint = "lists of more than one page may lack or repeat items";
    const auto first = call("docs.list", {{"limit", "1"}});
    if (!first || first->json.is_null()) return;
    const Json* data = find(*first->json, "data");
    if (data == nullptr || !data->is_array()) return;
    if (data->size() > 1) {
      return checks_.bad("pages", broken(fmt::format("docs.list: {} items came with limit=1", data->size()), hint));
    }
    const auto cursor = find_text(*first->json, "next_cursor");
    if (data->empty() || !cursor) return checks_.good("pages", "docs.list: it keeps the limit; there is only one page");
    const auto second = call("docs.list", {{"limit", "1"}, {"cursor", *cursor}});
    if (!second) return checks_.bad("pages", broken("docs.list: " + second.error().what, hint));
    const Json* next = second->json.is_null() ? nullptr : find(*second->json, "data");
    if (next != nullptr && *next == *data) {
      return checks_.bad("pages", broken("docs.list: the second page is the first one again", hint));
    }
    checks_.good("pages", "docs.list: it keeps the limit, and its cursor gives the next page");
  }

  /// 422 with a list of entries is published; 404 and a code are what ws tells failures apart by.
  void look_at_refusals() {
    const auto invalid = call("docs.list", {{"limit", "0"}});
    const auto missing = call("docs.get", {{"document_id", std::string(no_document)}});
    const auto status = [](const Result<Reply>& one) { return one ? one->status : one.error().call.http_status; };
    if (status(missing) != 404 && status(missing) != 403) {
      return checks_.bad("refusals",
                         broken(fmt::format("a document that is not there: {}, not 404", status(missing)),
                                "ws expects 404 for a document that is gone; syncs may stop"));
    }
    if (status(invalid) != 422) {
      return checks_.bad("refusals",
                         broken(fmt::format("limit=0: {}, not 422 as published", status(invalid)),
                                "ws may report invalid input in other words, with another exit code"));
    }
    const auto details = parse_bounded(invalid.error().call.details);
    const Json* entries = details ? find(*details, "detail") : nullptr;
    if (entries == nullptr || !entries->is_array()) {
      return checks_.note(
          "refusals", "422 without `detail`, a list of entries, as published", "error messages contain less");
    }
    if (missing.error().code.empty()) {
      return checks_.note("refusals", "404 and 422 as published, but without a `code`", "error messages contain less");
    }
    checks_.good("refusals", "404 and 422 as published");
  }

  void look_at_wrong_key() {
    const auto key = session_.key();
    if (!key) return;
    const auto other = session_.client_with({.secret = std::string(wrong_key), .origin = key->credential.origin});
    if (!other) return;
    const auto reply = (*other)->call({.operation = "me.get", .timeout = std::chrono::seconds{30}, .repeat = false});
    if (reply)
      return checks_.bad("wrong key",
                         broken("an invalid key is accepted", "anyone may read this service, without a key"));
    const int status = reply.error().call.http_status;
    if (status == 401) return checks_.good("wrong key", "401");
    checks_.bad(
        "wrong key",
        broken(fmt::format("{}, not 401", status), "ws cannot recognise an expired key; it will not ask to log in"));
  }

  /// One byte of the first file.
  void look_at_downloads() {
    const auto file = ids_.find("files.list");
    if (file == ids_.end()) return checks_.good("downloads", "no file to look at");
    const auto reply = call("files.content", {{"asset_id", file->second}}, {{"Range", "bytes=0-0"}});
    if (reply && reply->status == 206) return checks_.good("downloads", "an interrupted download resumes");
    const bool is_whole = reply && reply->status == 200;
    checks_.note("downloads",
                 is_whole ? "the whole file comes for a part of it" : "no answer for a part of a file",
                 "an interrupted download starts again");
  }

  Session& session_;
  Client& client_;
  Checks& checks_;
  std::vector<std::int64_t> times_ = {};  // ms
  std::size_t answered_ = 0;
  std::map<std::string, std::string> ids_ = {};  // the first id of each list
  std::set<std::string> broken_ = {};
  std::set<std::string> open_ = {};
  std::set<std::string> unknown_ = {};
  std::set<std::string> forbidden_ = {};
};

}  // namespace

void check_service(Session& session, Checks& checks) {
  const auto client = session.client();
  if (!client) return checks.bad("server", client.error());
  ServiceCheck(session, **client, checks).run();
}

}  // namespace ws::cli
