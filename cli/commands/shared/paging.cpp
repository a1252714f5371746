#include "cli/commands/shared/paging.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/percent.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/client/page_guard.hpp"
#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/calls_ahead.hpp"
#include "cli/output/paged_list.hpp"

namespace ws::cli {
namespace {

using contract::Operation;
using contract::Paging;

/// For a page that is shown as it came; empty where nobody could go on.
std::string cursor_of(const Operation& operation, const Json& page) {
  return PageGuard(operation.id).cursor_of(page).value_or("");
}

/// The first `most` of the items; how many there were.
std::int64_t cut_to(Json& page, std::int64_t most) {
  Json* const items = find_items(page);
  if (items == nullptr) return 0;
  const auto count = static_cast<std::int64_t>(items->size());
  if (count > most) items->erase(items->begin() + most, items->end());
  return count;
}

/// Whether what is printed holds `next_cursor`; else stderr tells it.
bool shows_cursor(const Session& session) {
  const bool is_whole = session.format() == Format::json || session.format() == Format::yaml;
  return is_whole && !session.has("jq") && !session.has("template");
}

/// Whether the API document itself says that the answer has its list.
bool promises_list(const Operation& operation) {
  const contract::Schema* const answer = operation.responses.front().schema;
  if (answer == nullptr || answer->source != contract::Source::published) return false;
  return std::ranges::any_of(item_members, [answer](std::string_view name) {
    const contract::Field* const member = contract::find_field(*answer, name);
    return member != nullptr && member->source == contract::Source::published &&
           member->presence == contract::Presence::required && member->null == contract::Null::no;
  });
}

/// An answer of the list: one whose list is only assumed may be something else, and is shown as that.
Result<Reply> take_list(CallsAhead& calls, const Operation& operation) {
  WS_LET(Reply reply, calls.take());
  if (promises_list(operation) && find_items(*reply.json) == nullptr) {
    return fail(unusable_answer(operation.id, reply, "it has no list"));
  }
  return reply;
}

Result<Reply> call_list(Client& client, const Operation& operation, Call call) {
  CallsAhead calls(client);
  calls.start(std::move(call));
  return take_list(calls, operation);
}

/// How many items were asked for of a list that comes in one answer.
Result<std::optional<std::int64_t>> max_items(const Session& session) {
  WS_LET(const auto limit, count_flag(session, "limit", "1-100"));
  WS_LET(const auto max_items, count_flag(session, "max-items", "at least 1"));
  if (!limit || !max_items) return limit ? limit : max_items;
  return std::optional<std::int64_t>(std::min(*limit, *max_items));
}

/// The API document gives this list no cursor. A service that answers with one is asked on, and it is one document.
Result<void> add_rest(Client& client, const Operation& operation, const Call& call, Reply& reply) {
  PageGuard guard(operation.id);
  WS_LET(std::string cursor, guard.cursor_of(*reply.json));
  const Json* items = find_items(*reply.json);
  if (cursor.empty() || items == nullptr) return {};
  WS_TRY(guard.go_on(cursor, items->size()));
  WS_LET(const http::Request first, client.prepare(call));
  std::string path = first.url.substr(client.options().base_url.size());
  path += path.find('?') == std::string::npos ? "?cursor=" : "&cursor=";
  Json whole = std::move(*reply.json);
  while (!cursor.empty()) {
    WS_LET(const Reply next, client.call(AnyCall{.method = "GET", .path = path + percent_encode(cursor)}));
    auto page = parse_bounded(next.body);
    Json* const more = page ? find_items(*page) : nullptr;
    if (more == nullptr) return fail(unusable_answer(operation.id, next, "it has no list"));
    WS_LET(cursor, guard.cursor_of(*page));
    if (!cursor.empty()) WS_TRY(guard.go_on(cursor, more->size()));
    WS_TRY(guard.keep(more->size(), next.body.size()));
    for (Json& item : *more) find_items(whole)->push_back(std::move(item));
  }
  whole["next_cursor"] = nullptr;
  reply.json = std::move(whole);
  reply.body.clear();
  return {};
}

/// A list that the API gives in one answer: cut here to what was asked for.
Result<ExitCode> print_whole(Session& session, Client& client, const Operation& operation, const Call& call) {
  WS_LET(const auto most, max_items(session));
  WS_LET(Reply reply, call_list(client, operation, call));
  if (session.has("all")) WS_TRY(add_rest(client, operation, call, reply));
  const std::int64_t count = most ? cut_to(*reply.json, *most) : 0;
  const bool is_cut = most && count > *most;
  if (is_cut) reply.body.clear();
  print_reply(session, operation, reply);
  if (is_cut) session.note(fmt::format("{} of {} shown; --all shows every one", *most, count));
  return ExitCode::done;
}

/// So that its title names it, also where a script made it.
void note_project(Session& session, const Operation& operation, const Json& value) {
  const auto id = find_text(value, "id");
  const auto title = find_text(value, "title");
  if (operation.id != "projects.create" || !id || !title) return;
  if (const auto shown = session.shown_ids()) shown->keep_project(*id, *title);
}

/// Whether more than one page was asked for.
bool pages(const Session& session) { return session.has("all") || session.has("max-items"); }

/// What a list that was cut says below: to a person how many it shows, to a script the cursor too.
std::string more_after(const Session& session, std::int64_t shown, const std::string& cursor) {
  if (session.format() == Format::table) return fmt::format("{} shown; --all shows every one", shown);
  return fmt::format("{} shown; --all shows every one, ", shown) + ShellCommand{"--cursor=", cursor}.text() +
         " the next page";
}

void note_nothing(Session& session, std::string_view none) {
  if (session.format() == Format::table && !session.printer().has_failed()) session.note(none);
}

/// Page after page until the end, --max-items or a cursor that repeats.
Result<ExitCode> print_pages(Session& session, Client& client, const Operation& operation, Call call) {
  WS_LET(const auto page_limit, count_flag(session, "limit", "1-100"));
  WS_LET(const auto max_items, count_flag(session, "max-items", "at least 1"));
  const bool streams = session.printer().streams();
  const std::unique_ptr<PagedList> list = begin_list(session.printer(), operation.id);
  PageGuard guard(operation.id);
  std::int64_t count = 0;
  std::string cursor;
  CallsAhead calls(client);
  const auto ask = [&] {
    if (max_items) {
      set_member(operation, call, "limit", Json(std::min(page_limit.value_or(largest_page), *max_items - count)));
    }
    calls.start(call);
  };
  ask();
  for (bool is_first = true;; is_first = false) {
    WS_LET(Reply reply, take_list(calls, operation));
    if (find_items(*reply.json) == nullptr) {
      if (!is_first) return fail(unusable_answer(operation.id, reply, "it has no list"));
      return print_reply(session, operation, reply);
    }
    Json page = std::move(*reply.json);
    WS_LET(cursor, guard.cursor_of(page));
    if (!streams) WS_TRY(guard.keep(find_items(page)->size(), reply.body.size()));
    const std::size_t came = find_items(page)->size();
    if (max_items) cut_to(page, *max_items - count);
    count += static_cast<std::int64_t>(find_items(page)->size());
    const bool is_last = cursor.empty() || (max_items && count >= *max_items);
    Result<void> goes_on;
    if (!is_last) goes_on = guard.go_on(cursor, came);
    if (!is_last && goes_on) {
      set_member(operation, call, "cursor", Json(cursor));
      ask();  // it comes while this one is printed
    }
    WS_TRY(list->add(std::move(page)));
    WS_TRY(std::move(goes_on));
    if (is_last) break;
  }
  WS_TRY(list->finish(cursor));
  if (count == 0) note_nothing(session, session.printer().none_of(operation.id));
  if (!cursor.empty() && !shows_cursor(session)) session.note(more_after(session, count, cursor));
  return ExitCode::done;
}

/// What the answers of an operation are; what was archived or shared is not told here.
constexpr std::pair<std::string_view, std::string_view> kinds_of_answers[] = {{"docs.get", "document"},
                                                                              {"docs.create", "document"},
                                                                              {"docs.update", "document"},
                                                                              {"comments.add", "thread"},
                                                                              {"comments.reply", "thread"},
                                                                              {"comments.set_status", "thread"},
                                                                              {"files.get", "asset"},
                                                                              {"files.upload_finish", "asset"},
                                                                              {"files.organize", "operation"},
                                                                              {"files.operation", "operation"},
                                                                              {"questions.create", "question"},
                                                                              {"questions.get", "question"},
                                                                              {"agents.create", "agent"},
                                                                              {"agents.update", "agent"},
                                                                              {"projects.create", "project"},
                                                                              {"workspaces.create", "workspace"},
                                                                              {"tests.run_launch", "run"},
                                                                              {"tests.run_get", "run"}};

}  // namespace

void remember_answer(Session& session, const Operation& operation, const Json& value) {
  const auto kind = std::ranges::find(kinds_of_answers, operation.id, [](const auto& one) { return one.first; });
  if (kind != std::end(kinds_of_answers)) session.remember_last(kind->second, id_of(value));
}

ExitCode print_own_list(Session& session, std::string_view shape, const Json& whole, std::string_view none) {
  session.printer().list(shape, whole, {});
  if (whole.at("data").empty()) note_nothing(session, none.empty() ? session.printer().none_of(shape) : none);
  return ExitCode::done;
}

Result<ExitCode> print_list(Session& session, Client& client, const Operation& operation, Call call) {
  if (operation.paging != Paging::cursor) return print_whole(session, client, operation, call);
  if (!pages(session)) {
    WS_LET(const Reply reply, call_list(client, operation, std::move(call)));
    return print_reply(session, operation, reply);
  }
  return print_pages(session, client, operation, std::move(call));
}

ExitCode print_reply(Session& session, const Operation& operation, const Reply& reply) {
  const Json& value = *reply.json;
  if (value.is_null() && reply.body.empty()) return ExitCode::done;
  const Json* items = find_items(value);
  if (items == nullptr) {
    if (is_list(operation)) session.note("note: the answer is not a list; it is printed as received");
    session.printer().resource(operation.id, value, reply.body);
    note_project(session, operation, value);
    remember_answer(session, operation, value);
    return ExitCode::done;
  }
  session.printer().list(operation.id, value, reply.body);
  if (items->empty()) note_nothing(session, session.printer().none_of(operation.id));
  const auto shown = static_cast<std::int64_t>(items->size());
  const std::string cursor = cursor_of(operation, value);
  if (!cursor.empty() && !shows_cursor(session)) {
    session.note(operation.paging == Paging::cursor ? more_after(session, shown, cursor)
                                                    : fmt::format("{} shown; --all shows every one", shown));
  }
  if (operation.paging != Paging::limit_only) return ExitCode::done;
  const auto asked = max_items(session);
  const std::int64_t most = asked && *asked ? std::min(**asked, largest_page) : largest_page;
  if (shown >= most)
    session.note(fmt::format("{} shown; there may be more, the API has no cursor for this list", shown));
  return ExitCode::done;
}

}  // namespace ws::cli
