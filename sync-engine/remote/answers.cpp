#include "sync-engine/remote/answers.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json_items.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/client/client.hpp"

namespace ws::sync {
namespace {

ActionKind action_kind(std::string_view word) {
  constexpr std::array<ActionKind, 4> pushes = {
      ActionKind::push_create, ActionKind::push_update, ActionKind::push_delete, ActionKind::push_move};
  for (const ActionKind kind : pushes) {
    if (name(kind) == word) return kind;
  }
  return ActionKind::unchanged;
}

std::optional<Sha256> read_hash(const Json& value) {
  const auto text = find_text(value, "content_sha256");
  return text ? Sha256::from_hex(*text) : std::nullopt;
}

bool is_conflict(const Json& item) {
  return find_text(item, "action") == "conflict" || find_text(item, "status") == "conflict";
}

/// An item whose action is no push was done only if its text is there to tell; one that failed was not.
bool is_done(const Json& item) {
  const std::string status = find_text(item, "status").value_or("");
  if (status == "failed" || status == "rejected" || status == "skipped") return false;
  const auto action = find_text(item, "action");
  return !action || action_kind(*action) != ActionKind::unchanged || read_hash(item);
}

RecordedConflict read_recorded(const Json& value) {
  const std::string id = find_text(value, "conflict_id").value_or("");
  return {.id = find_text(value, "id").value_or(id),
          .path = find_text(value, "path").value_or(""),
          .kind = find_conflict_kind(find_text(value, "kind").value_or("")).value_or(ConflictKind::revision)};
}

std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> whole_number(double value) {
  constexpr double exact = 9'007'199'254'740'992.0;  // 2^53: beyond it a double skips numbers
  if (!(value >= 0 && value <= exact)) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(value);
  return static_cast<double>(number) == value ? std::optional(number) : std::nullopt;
}

/// `true`, in any of the forms that a service may give it.
bool is_set(const Json& value, std::string_view key) {
  return find_bool(value, key).value_or(false) || find_text(value, key) == "true" || find_number(value, key) == 1;
}

Failure unusable_page(const Call& call, std::string_view reason) {
  Failure failure = unusable(reason);
  failure.call.operation = call.operation;
  return failure;
}

/// One send of the call.
class PageReader {
 public:
  PageReader(const Call& call, const PullTotal& before, const std::function<Result<void>(PulledItem item)>& visit)
      : call_(call),
        before_(before),
        visit_(visit),
        items_("data", [this](const Json& item) { return take(item, {}); }) {
    items_.on_damaged([this](const Json& item, Failure why) { return take(item, std::move(why)); });
  }
  PageReader(const PageReader&) = delete;  // `items_` refers to it
  PageReader& operator=(const PageReader&) = delete;

  Result<void> feed(std::string_view piece) {
    bytes_ += piece.size();
    if (before_.bytes + bytes_ > before_.bounds.bytes) {
      return fail(unusable_page(call_, fmt::format("a pull of more than {} bytes", before_.bounds.bytes)));
    }
    auto fed = items_.feed(piece);
    if (fed || from_visit_) return fed;
    return fail(unusable_page(call_, fed.error().what));
  }

  Result<Json> finish(PullTotal& total) {
    auto page = items_.finish();
    if (!page) return fail(unusable_page(call_, page.error().what));
    const Json* const list = find(*page, "data");
    if (list == nullptr || !list->is_array() || !list->empty()) {
      return fail(unusable_page(call_, "no list of documents"));
    }
    total.items += items_.count();
    total.bytes += bytes_;
    return page;
  }

 private:
  Result<void> take(const Json& value, std::optional<Failure> why) {
    if (before_.items + items_.count() > before_.bounds.items) {
      return fail(Failure::Kind::invalid, fmt::format("a pull of more than {} documents", before_.bounds.items));
    }
    if (!value.is_object()) return fail(Failure::Kind::invalid, "a document that is not an object");
    PulledItem item = read_item(value);
    if (why) {
      item.damage = damaged_text(item.document, fmt::format("cannot be read: {}", why->what));
      item.content.reset();
      item.hash.reset();
    }
    from_visit_ = true;
    WS_TRY(visit_(std::move(item)));
    from_visit_ = false;
    return {};
  }

  std::uint64_t bytes_ = 0;
  const Call& call_;
  const PullTotal& before_;
  const std::function<Result<void>(PulledItem item)>& visit_;
  JsonItems items_;
  bool from_visit_ = false;  // the failure under way is of what the page says, not of how
};

}  // namespace

std::optional<std::uint64_t> find_number(const Json& value, std::string_view key) {
  const Json* const member = find(value, key);
  if (member == nullptr) return std::nullopt;
  if (member->is_string()) return whole_number(member->get<std::string>());
  if (member->is_number_float()) return whole_number(member->get<double>());
  const auto number = find_integer(value, key);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::uint64_t read_number(const Json& value, std::string_view key) { return find_number(value, key).value_or(0); }

Failure unusable(std::string_view what) {
  return {.kind = Failure::Kind::internal,
          .what = fmt::format("the answer is not usable: {}", what),
          .hint = "check that the base URL names the service",
          .code = "unusable_answer"};
}

Result<SourceInfo> read_source(const Json& value, std::string_view asked_for) {
  SourceInfo info{.id = find_text(value, "id").value_or(""),
                  .name = find_text(value, "name").value_or(""),
                  .revision = {read_number(value, "revision")}};
  if (info.id.empty()) info.id = find_text(value, "source_id").value_or(std::string(asked_for));
  if (const Json* open = find(value, "open_conflicts"); open != nullptr && open->is_array()) {
    info.open_conflicts.emplace();
    for (const Json& each : *open) info.open_conflicts->push_back(find_text(each, "id").value_or(""));
  }
  if (info.id.empty()) return fail(unusable("a source without an id"));
  return info;
}

Failure damaged_text(const DocumentId& document, std::string_view reason) {
  return {.kind = Failure::Kind::integrity,
          .what = fmt::format("the text of document {} {}", document.text(), reason),
          .hint = "run the same command again; if it happens again, report it to whoever runs the service"};
}

namespace {

Author read_author(const Json& value) {
  Author author;
  if (const Json* const person = find(value, "updated_by"); person != nullptr && person->is_object()) {
    author.name = find_text(*person, "name").value_or("");
    author.id = find_text(*person, "id").value_or("");
  }
  const auto time = parse_rfc3339(find_text(value, "updated_at").value_or(""));
  if (time) author.time = *time;
  return author;
}

}  // namespace

PulledItem read_item(const Json& value) {
  PulledItem item{.path = find_text(value, "path").value_or(""),
                  .revision = {read_number(value, "content_revision")},
                  .hash = read_hash(value),
                  .content = find_text(value, "content"),
                  .deleted = is_set(value, "deleted"),
                  .author = read_author(value)};
  std::string id = find_text(value, "document_id").value_or(find_text(value, "id").value_or(""));
  if (is_uuid(id)) item.document = DocumentId(id);
  if (find_text(value, "status") == "archived") item.deleted = true;
  if (item.content && item.hash && Sha256::of(*item.content) != *item.hash) {
    item.damage = damaged_text(item.document, "does not match its hash");
    item.content.reset();
    item.hash.reset();
  }
  return item;
}

ServiceConflict read_conflict(const Json& value) {
  ServiceConflict conflict;
  const std::string status = find_text(value, "status").value_or("");
  if (status == "open") conflict.state = ConflictState::open;
  if (status == "resolved") conflict.state = ConflictState::resolved;
  const Json* remote = find(value, "remote");
  if (remote == nullptr || !remote->is_object()) return conflict;
  // Where its text is not what its hash says nothing of it is taken.
  if (PulledItem item = read_item(*remote); !item.damage) conflict.remote = std::move(item);
  return conflict;
}

AppliedItem read_applied(const Json& value) {
  return {.path = find_text(value, "path").value_or(""),
          .kind = action_kind(find_text(value, "action").value_or("")),
          .document = DocumentId(find_text(value, "document_id").value_or("")),
          .revision = {read_number(value, "content_revision")},
          .hash = read_hash(value)};
}

Result<CommitAnswer> read_commit(const Json& value) {
  CommitAnswer answer{.revision = {read_number(value, "revision")}};
  const Json* applied = find(value, "applied");
  const Json* conflicts = find(value, "conflicts");
  if (applied == nullptr || !applied->is_array()) {
    return fail(Failure{.kind = Failure::Kind::unknown_outcome,
                        .what = "the service did not report what the commit did",
                        .hint = "run `ws sync status` to see what arrived",
                        .code = "unusable_answer"});
  }
  for (const Json& each : *applied) {
    // One list of all that became of the items, by another service's words.
    if (is_conflict(each)) {
      answer.conflicts.push_back(read_recorded(each));
    } else if (is_done(each)) {
      answer.applied.push_back(read_applied(each));
    }
  }
  if (conflicts == nullptr || !conflicts->is_array()) return answer;
  for (const Json& each : *conflicts) answer.conflicts.push_back(read_recorded(each));
  return answer;
}

Result<Json> stream_page(Client& client,
                         const Call& call,
                         PullTotal& total,
                         const std::function<Result<void>(PulledItem item)>& visit) {
  std::optional<PageReader> reader;
  Call sent = call;
  sent.sink_afresh = [&] { reader.emplace(call, total, visit); };
  sent.sink = [&reader](std::string_view piece) { return reader->feed(piece); };
  WS_TRY(client.call(std::move(sent)));
  return reader->finish(total);
}

}  // namespace ws::sync
