#include "sync-engine/state/codec.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"

namespace ws::sync {
namespace {

constexpr std::array<ActionKind, 12> kinds = {ActionKind::push_create,
                                              ActionKind::push_update,
                                              ActionKind::push_delete,
                                              ActionKind::push_move,
                                              ActionKind::pull_create,
                                              ActionKind::pull_update,
                                              ActionKind::pull_delete,
                                              ActionKind::pull_move,
                                              ActionKind::conflict,
                                              ActionKind::unchanged,
                                              ActionKind::merge,
                                              ActionKind::adopt};

tl::unexpected<Failure> broken(std::string_view what) {
  return fail(Failure::Kind::integrity, "the sync state of this folder holds a broken " + std::string(what));
}

Json json_of(const std::optional<Entry>& entry) {
  if (!entry) return Json();
  return Json{{"path", entry->path.string()}, {"hash", entry->hash.hex()}, {"revision", entry->revision.number}};
}

constexpr std::array<std::pair<ConflictRecord, std::string_view>, 4> records = {{
    {ConflictRecord::none, "none"},
    {ConflictRecord::here, "here"},
    {ConflictRecord::service, "service"},
    {ConflictRecord::closing, "closing"},
}};

std::string_view name(ConflictRecord record) {
  for (const auto& [known, word] : records) {
    if (known == record) return word;
  }
  return "";
}

std::optional<ConflictRecord> find_record(std::string_view word) {
  for (const auto& [known, written] : records) {
    if (written == word) return known;
  }
  return std::nullopt;
}

Json json_of(const Conflict& conflict) {
  return Json{{"id", conflict.id},
              {"case", conflict.row().word},
              {"path", conflict.path.string()},
              {"document", conflict.document.text()},
              {"base", json_of(conflict.base)},
              {"local", json_of(conflict.local)},
              {"remote", json_of(conflict.remote)},
              {"record", name(conflict.record)},
              {"device", conflict.device}};
}

/// Reads members and remembers whether any was missing or wrong; checked once at the end.
class Reader {
 public:
  explicit Reader(const Json* value) : value_(value) {
    if (value == nullptr || !value->is_object()) broken_ = true;
  }
  bool good() const { return !broken_; }

  const Json* member(std::string_view key) {
    const Json* found = value_ == nullptr ? nullptr : find(*value_, key);
    if (found == nullptr) broken_ = true;
    return found;
  }
  std::string text(std::string_view key) { return require(value_ == nullptr ? std::nullopt : find_text(*value_, key)); }
  std::uint64_t number(std::string_view key) {
    return static_cast<std::uint64_t>(require(value_ == nullptr ? std::nullopt : find_integer(*value_, key)));
  }
  bool flag(std::string_view key) { return require(value_ == nullptr ? std::nullopt : find_bool(*value_, key)); }
  bool is_null(std::string_view key) {
    const Json* found = member(key);
    return found == nullptr || found->is_null();
  }
  std::optional<Sha256> hash(std::string_view key) {
    if (is_null(key)) return std::nullopt;
    auto parsed = Sha256::from_hex(text(key));
    broken_ = broken_ || !parsed;
    return parsed;
  }
  std::optional<RelativePath> path(std::string_view key) {
    if (is_null(key)) return std::nullopt;
    auto parsed = RelativePath::parse(text(key));
    broken_ = broken_ || !parsed;
    return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
  }
  git::ObjectId object(std::string_view key) {
    const auto parsed = git::ObjectId::from_hex(text(key));
    broken_ = broken_ || !parsed;
    return parsed.value_or(git::ObjectId{});
  }
  ActionKind kind(std::string_view key) {
    const std::string word = text(key);
    for (const ActionKind kind : kinds) {
      if (name(kind) == word) return kind;
    }
    broken_ = true;
    return ActionKind::unchanged;
  }
  std::optional<Entry> entry(std::string_view key) {
    if (is_null(key)) return std::nullopt;
    Reader inner(member(key));
    auto path = inner.path("path");
    const auto hash = inner.hash("hash");
    const DocumentRevision revision{inner.number("revision")};
    broken_ = broken_ || !inner.good() || !path || !hash;
    if (broken_) return std::nullopt;
    return Entry{.path = std::move(*path), .hash = *hash, .revision = revision};
  }

 private:
  template <class T>
  T require(std::optional<T> value) {
    broken_ = broken_ || !value;
    return value ? std::move(*value) : T{};
  }
  const Json* value_;
  bool broken_ = false;
};

Result<Conflict> conflict_of(const Json* value) {
  Reader read(value);
  auto path = read.path("path");
  if (!read.good() || !path) return broken("conflict");
  Conflict conflict{.path = std::move(*path)};
  conflict.id = read.text("id");
  conflict.document = DocumentId(read.text("document"));
  conflict.base = read.entry("base");
  conflict.local = read.entry("local");
  conflict.remote = read.entry("remote");
  const auto which = find_conflict_case(read.text("case"));
  const auto record = find_record(read.text("record"));
  conflict.device = read.text("device");
  if (!read.good() || !which || !record) return broken("conflict");
  conflict.which = *which;
  conflict.record = *record;
  return conflict;
}

JsonText text_of(const StagedItem& staged) {
  const PushItem& item = staged.item;
  return ObjectText(12)
      .add("kind", name(item.kind))
      .add("path", item.path.text())
      .add("file", staged.disk_path.text())
      .add_or_null("previous_path", item.previous_path ? item.previous_path->text() : std::string_view())
      .add("document", item.document.text())
      .add_or_null("hash", item.hash ? item.hash->hex() : std::string())
      .add("size_bytes", static_cast<std::int64_t>(item.size_bytes))
      .add("revision", static_cast<std::int64_t>(item.revision.number))
      .add("blob", staged.blob.hex())
      .add("conflict", JsonText{staged.conflict ? dump(json_of(*staged.conflict)) : "null"})
      .take();
}

Result<StagedItem> staged_item_of(const Json& value) {
  Reader read(&value);
  auto path = read.path("path");
  auto file = read.path("file");
  if (!read.good() || !path || !file) return broken("staged item");
  StagedItem staged{.item = {.kind = read.kind("kind"), .path = std::move(*path)}, .disk_path = std::move(*file)};
  staged.item.previous_path = read.path("previous_path");
  staged.item.document = DocumentId(read.text("document"));
  staged.item.hash = read.hash("hash");
  staged.item.size_bytes = read.number("size_bytes");
  staged.item.revision = {read.number("revision")};
  staged.blob = read.object("blob");
  if (!read.is_null("conflict")) {
    WS_LET(Conflict conflict, conflict_of(read.member("conflict")));
    staged.conflict = std::make_unique<Conflict>(std::move(conflict));
  }
  if (!read.good()) return broken("staged item");
  return staged;
}

}  // namespace

std::string encode(const Conflict& conflict) { return dump(json_of(conflict)); }

std::string encode(const StagedCommit& staged) {
  const CommitRequest& request = staged.request;
  std::string text = dump(Json{{"source_id", request.source_id},
                               {"plan_id", request.plan_id},
                               {"push_ids", request.push_ids},
                               {"expected_revision", request.expected_revision.number},
                               {"client_id", request.client_id},
                               {"message", request.message},
                               {"device", request.device},
                               {"under_way", staged.under_way}});
  // An item at a time, and written at once: as values they would take four times the memory, and the time.
  text.back() = ',';
  text += R"("items":[)";
  for (const StagedItem& item : staged.items) {
    if (&item != &staged.items.front()) text += ',';
    text += text_of(item).text;
  }
  return text += "]}";
}

Result<Conflict> decode_conflict(std::string_view text) {
  WS_LET(const Json value, parse_bounded(text));
  return conflict_of(&value);
}

Result<StagedCommit> decode_staged(std::string_view text) {
  WS_LET(const Json value, parse_bounded(text, {.max_bytes = std::size_t{256} << 20U, .max_values = 100'000'000}));
  Reader read(&value);
  StagedCommit staged;
  staged.request = {.source_id = read.text("source_id"),
                    .plan_id = read.text("plan_id"),
                    .expected_revision = {read.number("expected_revision")},
                    .client_id = read.text("client_id"),
                    .message = read.text("message"),
                    .device = read.text("device")};
  staged.under_way = read.flag("under_way");
  const Json* push_ids = read.member("push_ids");
  const Json* items = read.member("items");
  if (!read.good() || !push_ids->is_array() || !items->is_array()) return broken("staged commit");
  for (const Json& id : *push_ids) {
    if (!id.is_string()) return broken("staged commit");
    staged.request.push_ids.push_back(id.get<std::string>());
  }
  for (const Json& item : *items) {
    WS_LET(StagedItem decoded, staged_item_of(item));
    staged.items.push_back(std::move(decoded));
  }
  return staged;
}

}  // namespace ws::sync
