#include "server-mock/application/fault_effects.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "api-client/base/clock.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/text.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view claim = "events.claim";
const std::string added_text = "\n\n" + std::string(somebody_elses_line) + "\n";
constexpr std::size_t longest_content_bytes = std::size_t{1} << 20U;

/// The caller; empty if the key is unknown.
std::optional<Caller> caller_of(const FaultedCall& call) {
  const auto caller = call.sandbox.access->identify(call.request.find("Authorization"));
  if (!caller) return std::nullopt;
  return **caller;
}

Json body_of(std::string_view text) { return parse_bounded(text).value_or(Json()); }

/// The documents that the call refers to: in its path, in its body, or in what it pushed.
Result<std::set<std::string>> documents_of(const FaultedCall& call, const http::Response* answer) {
  World& world = *call.sandbox.world;
  std::set<std::string> ids;
  const auto add = [&](const Json& object, std::string_view member) {
    if (auto id = find_text(object, member)) ids.insert(std::move(*id));
  };
  const auto collect = [&](const char* sql, std::string_view id) -> Result<void> {
    WS_LET(const std::vector<std::string> found, read_rows(world, read_text, sql, id));
    ids.insert(found.begin(), found.end());
    ids.erase("");
    return {};
  };
  if (const std::string_view id = http::value_of(call.values, "document_id"); !id.empty()) ids.emplace(id);
  const Json body = body_of(call.request.body);
  add(body, "document_id");
  for (const char* list : {"items", "entries"}) {
    const Json* items = find(body, list);
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : *items) add(item, "document_id");
  }
  if (const Json* pushes = find(body, "push_ids"); pushes != nullptr && pushes->is_array()) {
    for (const Json& push : *pushes) {
      if (!push.is_string()) continue;
      WS_TRY(collect("select document_id from sync_staged where push_id = ?", push.get_ref<const std::string&>()));
    }
  }
  if (const std::string_view id = http::value_of(call.values, "conflict_id"); !id.empty()) {
    WS_TRY(collect("select document_id from sync_conflicts where id = ?", id));
  }
  if (answer != nullptr && call.operation == "docs.create") add(body_of(answer->text()), "id");
  return ids;
}

/// Another member with write access; the caller's owner if there is none.
Result<Caller> another_editor(World& world, const std::optional<Caller>& caller, std::string_view workspace_id) {
  const std::string_view self = caller ? std::string_view(caller->owner_user_id) : std::string_view();
  WS_LET(const std::optional<std::string> user_id,
         read_row(world,
                  read_text,
                  "select user_id from members where workspace_id = ? and role in ('editor', 'admin', 'owner') "
                  "order by user_id = ?, user_id limit 1",
                  workspace_id,
                  self));
  if (!user_id) return fail(Failure::Kind::not_found, "no person may edit in that Workspace");
  return Caller{.owner_user_id = *user_id, .workspace_id = std::string(workspace_id)};
}

Result<void> bump_revision(const FaultedCall& call, const http::Response* answer) {
  World& world = *call.sandbox.world;
  WS_LET(const std::set<std::string> ids, documents_of(call, answer));
  const std::optional<Caller> caller = caller_of(call);
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  for (const std::string& id : ids) {
    WS_LET(std::optional<Document> document, find_document(world, id, WithContent::yes));
    if (!document || document->archived) continue;
    WS_LET(const Caller other, another_editor(world, caller, document->workspace_id));
    WS_LET(DocumentChanges changes, DocumentChanges::by(world, other));
    std::string content = std::move(document->content);
    if (content.size() + added_text.size() > longest_content_bytes) content.clear();
    content += added_text;
    WS_TRY(changes.rewrite(*document, {.content = content}));
  }
  return work.commit();
}

Result<void> lose_lease(const FaultedCall& call, const http::Response* answer) {
  World& world = *call.sandbox.world;
  std::string id(http::value_of(call.values, "event_id"));
  if (id.empty()) id = find_text(body_of(call.request.body), "source_event_id").value_or("");
  if (id.empty() && answer != nullptr) {
    const Json body = body_of(answer->text());
    if (const Json* event = find(body, "event"); event != nullptr) id = find_text(*event, "id").value_or("");
  }
  if (id.empty()) return {};
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_TRY(
      put(world, "update agent_events set lease_expires_at = ? where id = ? and status = 'leased'", world.now(), id));
  WS_TRY(expire_leases(world));
  return work.commit();
}

/// Ends the membership of the key's owner in the key's Workspace; of a key for all Workspaces: in each of them.
Result<void> remove_member(World& world, const Caller& caller) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_TRY(put(world,
             "delete from members where user_id = ?1 and (?2 = '' or workspace_id = ?2)",
             caller.owner_user_id,
             caller.workspace_id));
  return work.commit();
}

/// Stores other bytes in place of those that were uploaded: the first half of them, or as many with another first one.
Result<void> corrupt_upload(const FaultedCall& call, const Effect& effect) {
  World& world = *call.sandbox.world;
  WS_LET(const std::optional<Upload> upload, find_upload_of(world, upload_secret(call.request.path)));
  if (!upload || !upload->received_bytes || upload->blob.empty() || !upload->asset_id.empty()) return {};
  WS_LET(const BlobReader reader, world.blobs.open(upload->blob));
  WS_LET(BlobWriter writer, world.blobs.begin());
  Sha256Stream hash;
  auto left = static_cast<std::uint64_t>(effect.cut_upload ? *upload->received_bytes / 2 : *upload->received_bytes);
  std::string room(std::size_t{64} << 10U, '\0');
  while (left > 0) {
    WS_LET(const std::size_t count, reader.read(writer.size_bytes(), room));
    if (count == 0) break;
    if (effect.damage_upload && writer.size_bytes() == 0) room[0] = static_cast<char>(room[0] ^ 1);
    const std::string_view piece = std::string_view(room).substr(0, std::min<std::uint64_t>(count, left));
    hash.update(piece);
    WS_TRY(writer.write(piece));
    left -= piece.size();
  }
  return replace_bytes(world, *upload, writer, hash.finish());
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Changes one digit of every hexadecimal SHA-256.
std::string with_wrong_hashes(std::string text) {
  constexpr std::size_t digits = 64;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_hex(text[end])) ++end;
    if (end - at == digits) text[at] = text[at] == '0' ? '1' : '0';
    at = end + 1;
  }
  return text;
}

std::string_view usual_code(int status) {
  switch (status) {
    case 400: return "invalid_request";
    case 401: return "invalid_credential";
    case 403: return "forbidden";
    case 404: return "not_found";
    case 409: return "conflict";
    case 410: return "gone";
    case 413: return "payload_too_large";
    case 415: return "unsupported_media_type";
    case 429: return "rate_limited";
    case 503: return "unavailable";
    default: return status >= 500 ? "internal_error" : "invalid_request";
  }
}

bool names_content_type(const Substitute& answer) {
  return std::ranges::any_of(answer.headers,
                             [](const auto& field) { return equal_ignoring_case(field.first, "Content-Type"); });
}

http::Response substitute(const FaultedCall& call, const Substitute& answer) {
  http::Response response(answer.status);
  if (!answer.body.is_null()) {
    const bool text = answer.body->is_string();
    response.text(text ? answer.body->get<std::string>() : dump(*answer.body));
    if (!names_content_type(answer)) response.header("Content-Type", text ? "text/plain" : "application/json");
  } else if (answer.status >= 400) {
    response = render(ApiError{.status = answer.status,
                               .code = std::string(usual_code(answer.status)),
                               .message = "A fault rule made this answer"},
                      call.request_id,
                      call.sandbox.world->assumptions);
  }
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  return response;
}

/// Cuts off the last byte, which ends the outermost object.
std::string broken_json(const std::string& text) {
  return text.size() < 2 ? std::string("{\"broken\":") : text.substr(0, text.size() - 1);
}

/// A page of a list without its items; its cursor leads to this page.
std::string without_items(const http::Request& request, const std::string& text) {
  Json page = body_of(text);
  if (find(page, "data") == nullptr) return text;
  page["data"] = Json::array();
  page["next_cursor"] =
      std::string(same_page) + std::string(http::value_of(http::parse_query(request.query), "cursor"));
  return dump(page);
}

/// The upload address at `origin`; if that is empty, it names this server as "localhost", or "127.0.0.1" if that is its
/// name.
std::string with_other_origin(const std::string& text, const std::string& origin) {
  Json answer = body_of(text);
  const auto url = find_text(answer, "upload_url");
  const std::size_t begin = url ? url->find("://") : std::string::npos;
  if (begin == std::string::npos) return text;
  const std::size_t host = begin + 3;
  if (!origin.empty()) {
    answer["upload_url"] = origin + url->substr(std::min(url->find('/', host), url->size()));
    return dump(answer);
  }
  const std::size_t end = std::min(url->find_first_of(":/", host), url->size());
  const bool is_named = url->substr(host, end - host) == "localhost";
  answer["upload_url"] = url->substr(0, host) + (is_named ? "127.0.0.1" : "localhost") + url->substr(end);
  return dump(answer);
}

/// Writes each value that is a time in UTC with another offset; the moment stays the same.
void move_times(Json& value, const std::string& offset) {
  if (value.is_structured()) {
    for (Json& one : value) move_times(one, offset);
    return;
  }
  if (!value.is_string()) return;
  const auto& text = value.get_ref<const std::string&>();
  constexpr std::size_t shortest = std::string_view("2026-11-20T05:00:00Z").size();
  if (text.size() < shortest || text[10] != 'T' || !text.ends_with('Z')) return;
  const auto time = parse_rfc3339(text);
  if (!time) return;
  const std::string moved = to_rfc3339(*time + std::chrono::minutes(offset_minutes(offset).value_or(0)));
  value = moved.substr(0, moved.size() - 1) + offset;
}

std::string with_time_offset(const std::string& text, const std::string& offset) {
  Json answer = body_of(text);
  if (!answer.is_structured()) return text;
  move_times(answer, offset);
  return dump(answer);
}

/// The operation that the response names stays as it is for a while, or fails at once.
Result<void> change_operation(World& world, const Effect& effect, const http::Response& answer) {
  const auto id = find_text(body_of(answer.text()), "operation_id");
  if (!id) return {};
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  if (effect.slow_operation.count() > 0) {
    WS_TRY(put(world,
               "update organize_runs set updated_at = ? where id = ?",
               world.now() + effect.slow_operation.count(),
               *id));
  }
  if (effect.fail_operation) {
    WS_TRY(put(world,
               "update organize_runs set status = 'failed', phase = 'done', message = 'A fault rule made it fail' "
               "where id = ?",
               *id));
  }
  return work.commit();
}

http::WireFault on_the_wire(const FaultRule& rule, std::uint64_t body_bytes) {
  const Effect& effect = rule.effect;
  http::WireFault wire = {
      .end = effect.end,
      .delay = effect.stall + (rule.phase == Phase::after ? effect.delay : std::chrono::milliseconds{0}),
      .truncate_at = effect.truncate_at,
      .dribble_bytes = effect.dribble_bytes,
      .dribble_every = effect.dribble_every};
  if (effect.wrong_length) {
    const auto length = static_cast<std::int64_t>(body_bytes) + effect.wrong_length->by;
    wire.content_length =
        effect.wrong_length->declared.value_or(static_cast<std::uint64_t>(std::max<std::int64_t>(0, length)));
  }
  return wire;
}

}  // namespace

Result<void> apply_to_world(const FaultedCall& call, const FaultRule& rule, const http::Response* answer) {
  const Effect& effect = rule.effect;
  const bool is_time = (rule.phase == Phase::before) == (answer == nullptr);
  if (effect.lose_lease && (is_time || (answer != nullptr && call.operation == claim))) {
    WS_TRY(lose_lease(call, answer));
  }
  if (answer != nullptr && (effect.slow_operation.count() > 0 || effect.fail_operation)) {
    WS_TRY(change_operation(*call.sandbox.world, effect, *answer));
  }
  // In either phase: before the PUT there are no bytes to change.
  if (answer != nullptr && (effect.cut_upload || effect.damage_upload)) WS_TRY(corrupt_upload(call, effect));
  if (!is_time) return {};
  if (effect.bump_revision) WS_TRY(bump_revision(call, answer));
  if (effect.expire_key || effect.revoke_key || effect.remove_member) {
    const auto caller = caller_of(call);
    if (caller && effect.remove_member) WS_TRY(remove_member(*call.sandbox.world, *caller));
    if (caller && effect.expire_key) WS_TRY(expire_key(*call.sandbox.world, caller->key_id));
    if (caller && effect.revoke_key) WS_TRY(revoke_key(*call.sandbox.world, caller->key_id));
  }
  return {};
}

std::optional<std::string> rewritten_query(const http::Request& request, const FaultRule* rule) {
  const bool repeats = rule != nullptr && rule->effect.repeat_page;
  const bool small = rule != nullptr && rule->effect.small_pages;
  if (!repeats && !small && request.query.find(same_page) == std::string_view::npos) return std::nullopt;
  std::string query;
  for (const std::string_view whole : split(request.query, '&')) {
    std::string part(whole);
    if (part.empty()) continue;
    if (part.starts_with("cursor=")) {
      const std::size_t mark = part.find(same_page);
      if (mark != std::string::npos) part.erase(mark, same_page.size());
      if (repeats || part == "cursor=") continue;
    }
    if (small && part.starts_with("limit=")) continue;
    query += (query.empty() ? "" : "&") + part;
  }
  if (small) query += query.empty() ? "limit=2" : "&limit=2";
  return query;
}

http::Response apply_to_response(const FaultedCall& call, const FaultRule& rule, http::Response&& answer) {
  const Effect& effect = rule.effect;
  if (effect.answer) answer = substitute(call, *effect.answer);
  if (effect.retry_after) answer.remove_header("Retry-After");
  if (effect.retry_after && !effect.retry_after->empty()) answer.header("Retry-After", *effect.retry_after);
  if (effect.empty_page) answer.text(without_items(call.request, answer.text()));
  if (effect.other_origin) answer.text(with_other_origin(answer.text(), effect.origin));
  if (!effect.time_offset.empty()) answer.text(with_time_offset(answer.text(), effect.time_offset));
  if (effect.bad_json) answer.text(broken_json(answer.text()));
  if (effect.bad_hash) answer.rewrite(with_wrong_hashes);
  if (const http::WireFault wire = on_the_wire(rule, answer.text().size()); wire != http::WireFault()) {
    answer.set_wire_fault(wire);
  }
  return std::move(answer);
}

}  // namespace ws::mock
