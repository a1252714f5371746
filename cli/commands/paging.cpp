#include "cli/commands/paging.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/commands/operation_commands.hpp"

namespace ws::cli {
namespace {

using contract::Operation;
using contract::Paging;

constexpr std::int64_t largest_page = 100;

Result<std::optional<std::int64_t>> count_flag(const Session& session, std::string_view flag, std::string_view limits) {
  const auto text = session.arguments().value(flag);
  if (!text) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || stop != end || value < 1) {
    return fail(Failure::Kind::usage,
                "--" + std::string(flag) + " takes an integer, " + std::string(limits) + ", not `" + *text + "`");
  }
  return std::optional<std::int64_t>(value);
}

bool is_list(const Json& value) {
  for (const std::string_view key : {"data", "threads"}) {
    const Json* found = find(value, key);
    if (found != nullptr && found->is_array()) return true;
  }
  return false;
}

std::string cursor_of(const Json& page) { return find_text(page, "next_cursor").value_or(""); }

/// A server that gives more than it was asked for.
void cut_to(Json& page, std::int64_t most) {
  const Json* items = find(page, "data");
  if (items == nullptr || !items->is_array() || static_cast<std::int64_t>(items->size()) <= most) return;
  Json& data = page["data"];
  data.erase(data.begin() + most, data.end());
}

/// The pages joined into one document, the members of the first page kept.
class Joined {
 public:
  void add(Json page) {
    if (whole_.is_null()) {
      whole_ = std::move(page);
      return;
    }
    Json* items = whole_.contains("data") ? &whole_["data"] : nullptr;
    if (items == nullptr || !items->is_array() || !page.contains("data")) return;
    for (Json& item : page["data"]) items->push_back(std::move(item));
  }
  Json take(const std::string& next_cursor) {
    whole_["next_cursor"] = next_cursor.empty() ? Json() : Json(next_cursor);
    return std::move(whole_);
  }

 private:
  Json whole_;
};

}  // namespace

Result<void> apply_paging_flags(Session& session, const Operation& operation, Call& call) {
  if (operation.paging == Paging::none) return {};
  WS_LET(const auto limit, count_flag(session, "limit", "1-100"));
  WS_LET(const auto max_items, count_flag(session, "max-items", "at least 1"));
  if (const auto cursor = session.arguments().value("cursor")) {
    if (operation.paging == Paging::limit_only) {
      return fail(Failure::Kind::usage, "the API has no cursor for `ws " + session.command().words + "`");
    }
    set_member(operation, call, "cursor", Json(*cursor));
  }
  if (limit) {
    set_member(operation, call, "limit", Json(*limit));
  } else if (pages(session, operation) || operation.paging == Paging::limit_only) {
    const std::int64_t most = operation.paging == Paging::limit_only ? max_items.value_or(largest_page) : largest_page;
    set_member(operation, call, "limit", Json(std::min(most, largest_page)));
  }
  return {};
}

bool pages(const Session& session, const Operation& operation) {
  return operation.paging == Paging::cursor && (session.has("all") || session.has("max-items"));
}

Result<ExitCode> print_pages(Session& session, Client& client, const Operation& operation, Call call) {
  WS_LET(const auto page_limit, count_flag(session, "limit", "1-100"));
  WS_LET(const auto max_items, count_flag(session, "max-items", "at least 1"));
  const bool streams = session.printer().streams();
  std::set<std::string> seen;
  std::int64_t count = 0;
  Joined joined;
  std::string cursor;
  while (true) {
    if (max_items) {
      set_member(operation, call, "limit", Json(std::min(page_limit.value_or(largest_page), *max_items - count)));
    }
    WS_LET(Reply reply, client.call(call));
    Json page = std::move(*reply.json);
    cursor = cursor_of(page);
    if (max_items) cut_to(page, *max_items - count);
    const Json* items = find(page, "data");
    if (items != nullptr) count += static_cast<std::int64_t>(items->size());
    if (streams) {
      session.printer().list(operation.id, page, {});
    } else {
      joined.add(std::move(page));
    }
    if (cursor.empty() || (max_items && count >= *max_items)) break;
    if (!seen.insert(cursor).second) {
      return fail(Failure::Kind::internal, "the server gave the same next_cursor twice; the list would never end");
    }
    set_member(operation, call, "cursor", Json(cursor));
  }
  if (!streams) session.printer().list(operation.id, joined.take(cursor), {});
  if (!cursor.empty() && session.format() != Format::json) session.note("there is more; go on with --cursor " + cursor);
  return ExitCode::done;
}

void print_reply(Session& session, const Operation& operation, const Reply& reply) {
  const Json& value = *reply.json;
  if (value.is_null() && reply.body.empty()) return;
  if (operation.paging == Paging::none && !is_list(value)) return session.printer().resource(value, reply.body);
  session.printer().list(operation.id, value, reply.body);
  const Json* items = find(value, "data");
  if (items != nullptr && items->empty() && session.format() == Format::table) session.note("nothing there");
  if (const std::string cursor = cursor_of(value); !cursor.empty() && !is_json(session.format())) {
    session.note("there is more: --all, or --cursor " + cursor);
  }
  const bool full = items != nullptr && static_cast<std::int64_t>(items->size()) >= largest_page;
  if (operation.paging == Paging::limit_only && full) session.note("more may exist; the API gives no cursor here");
}

}  // namespace ws::cli
