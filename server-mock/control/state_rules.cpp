#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock::control {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view login_statuses[] = {"pending", "approved", "denied", "consumed"};
constexpr std::string_view node_kinds[] = {"project", "page", "document", "asset"};
constexpr std::string_view document_statuses[] = {"active", "archived"};
constexpr std::string_view actor_kinds[] = {"user", "agent"};
constexpr std::string_view push_actions[] = {"push_create", "push_update", "push_delete", "push_move", "conflict"};
constexpr std::string_view conflict_kinds[] = {"revision", "hash", "edit_delete", "delete_edit", "path"};
constexpr std::string_view conflict_statuses[] = {"open", "resolved"};
constexpr std::string_view event_statuses[] = {"queued", "leased", "completed", "failed", "dead"};
constexpr std::string_view sources[] = {"workspace", "memory"};
constexpr std::string_view conversation_statuses[] = {"active"};
constexpr std::string_view processing[] = {"pending", "ready", "failed"};
constexpr std::string_view operation_statuses[] = {"queued", "running", "succeeded", "failed"};
constexpr std::string_view phases[] = {"received", "reading", "planning", "writing", "done"};
constexpr std::string_view run_statuses[] = {"queued", "running", "passed", "failed", "cancelled"};

struct WordRule {
  std::string_view table;
  std::string_view column;
  Words words;
};
constexpr WordRule word_rules[] = {
    {"members", "role", roles},
    {"keys", "audience", contract::audience_values},
    {"keys", "ceiling", roles},
    {"device_authorizations", "status", login_statuses},
    {"nodes", "kind", node_kinds},
    {"documents", "status", document_statuses},
    {"documents", "updated_by_kind", actor_kinds},
    {"shares", "grantee_kind", actor_kinds},
    {"shares", "permission", contract::agent_permission_values},
    {"sync_staged", "action", push_actions},
    {"sync_conflicts", "kind", conflict_kinds},
    {"sync_conflicts", "status", conflict_statuses},
    {"comment_threads", "created_by_kind", actor_kinds},
    {"comment_entries", "author_kind", actor_kinds},
    {"agent_events", "status", event_statuses},
    {"conversations", "status", conversation_statuses},
    {"assets", "processing_status", processing},
    {"questions", "ceiling", roles},
    {"organize_runs", "ceiling", roles},
    {"organize_runs", "status", operation_statuses},
    {"organize_runs", "phase", phases},
    {"test_runs", "status", run_statuses},
};

/// Columns that hold what a field of an operation does: of its request, or of its answer (by names with dots).
struct FieldRule {
  std::string_view table;
  std::string_view column;
  std::string_view operation;
  std::string_view field;                                                           ///< empty: the answer as a whole
  enum class Holds { text, text_or_none, json, json_or_none } holds = Holds::text;  ///< none: ''
};
constexpr FieldRule field_rules[] = {
    {"workspaces", "name", "workspaces.create", "name"},
    {"projects", "title", "projects.create", "title"},
    {"agents", "handle", "agents.create", "handle"},
    {"agents", "display_name", "agents.create", "display_name"},
    {"agents", "provider", "agents.create", "provider"},
    {"agents", "status", "agents.update", "status"},
    {"sync_sources", "name", "sync.source_create", "name"},
    {"sync_plans", "commit_body", "sync.commit", "", FieldRule::Holds::json},
    {"sync_conflicts", "resolution", "sync.conflict_resolve", "resolution", FieldRule::Holds::text_or_none},
    {"sync_conflicts", "remote_body", "sync.conflict_get", "remote", FieldRule::Holds::json_or_none},
    {"sync_conflicts", "result_body", "sync.conflict_get", "result", FieldRule::Holds::json_or_none},
    {"comment_threads", "status", "comments.set_status", "status"},
    {"comment_threads", "anchor", "comments.list", "threads.anchor", FieldRule::Holds::json},
    {"comment_entries", "actor_identity", "comments.list", "threads.entries.actor_identity", FieldRule::Holds::json},
    {"comment_entries", "agent_mentions", "comments.list", "threads.entries.agent_mentions", FieldRule::Holds::json},
    {"comment_entries",
     "conversation_thread_id",
     "comments.list",
     "threads.entries.conversation_thread_id",
     FieldRule::Holds::text_or_none},
    {"conversations", "thread_id", "conversations.get", "thread_id"},
    {"test_runs", "selection_kind", "tests.run_launch", "selection_kind"},
    {"test_runs", "results", "tests.run_get", "results", FieldRule::Holds::json},
};

/// The field under a name with dots; it is there.
const contract::Field& field_at(const contract::Schema& schema, std::string_view name) {
  const std::size_t dot = name.find('.');
  const contract::Field& field = *contract::find_field(schema, name.substr(0, dot));
  if (dot == std::string_view::npos) return field;
  return field_at(*(field.type.items != nullptr ? field.type.items : &field.type)->object, name.substr(dot + 1));
}

/// What the column of a rule may hold, under its name.
contract::Field field_of(const FieldRule& rule) {
  const contract::Operation& operation = *contract::find_operation(rule.operation);
  const contract::Schema* const schema =
      operation.request != nullptr && !rule.field.empty() ? operation.request : operation.responses.begin()->schema;
  contract::Field field = {.type = contract::object(*schema)};
  if (!rule.field.empty()) field = field_at(*schema, rule.field);
  field.name = rule.column;
  field.presence = contract::Presence::required;
  return field;
}

constexpr contract::Type text_item = contract::string();
constexpr contract::Field passage_fields[] = {
    contract::required("knowledge", contract::choice(sources)),
    contract::required("document_id", contract::uuid()),
    contract::required("title", contract::string()),
    contract::required("chunk_id", contract::string()),
    contract::required("heading_path", contract::array_of(text_item)),
    contract::required("quote", contract::string()),
};
constexpr contract::Schema passage = {.name = "Passage", .fields = passage_fields};
constexpr contract::Field passages = contract::required("passages", contract::array_of(contract::item_of<passage>));

/// Columns that hold other JSON: a list of words (any text where there are none), of scopes, of header fields, an
/// object, any value, or nothing ('') in its place.
struct JsonRule {
  std::string_view table;
  std::string_view column;
  enum class Holds { texts, scopes, headers, object, value, value_or_none } holds;
  Words words = {};
};
constexpr JsonRule json_rules[] = {
    {"agents", "permissions", JsonRule::Holds::texts, contract::agent_permission_values},
    {"keys", "scopes", JsonRule::Holds::scopes},
    {"device_authorizations", "scopes", JsonRule::Holds::scopes},
    {"comment_entries", "mentions", JsonRule::Holds::texts},
    {"agent_events", "payload", JsonRule::Holds::object},
    {"agent_events", "result", JsonRule::Holds::object},
    {"questions", "sources", JsonRule::Holds::texts, sources},
    {"test_runs", "case_ids", JsonRule::Holds::texts},
    {"sync_entries", "as_left", JsonRule::Holds::value_or_none},
    {"idempotency_records", "body", JsonRule::Holds::value},
    {"idempotency_records", "headers", JsonRule::Holds::headers},
    {"meta", "value", JsonRule::Holds::object},
};

/// A column of this name, in every table, names a row of `target` by its `id`.
struct Reference {
  std::string_view column;
  std::string_view target;
};
constexpr Reference references[] = {
    {"workspace_id", "workspaces"},
    {"user_id", "users"},
    {"owner_user_id", "users"},
    {"created_by_user_id", "users"},
    {"agent_id", "agents"},
    {"created_by_agent_id", "agents"},
    {"node_id", "nodes"},
    {"root_node_id", "nodes"},
    {"target_node_id", "nodes"},
    {"parent_id", "nodes"},
    {"project_id", "projects"},
    {"document_id", "documents"},
    {"artifact_document_id", "documents"},
    {"source_id", "sync_sources"},
    {"plan_id", "sync_plans"},
    {"push_id", "sync_pushes"},
    {"thread_id", "comment_threads"},
    {"comment_id", "comment_entries"},
    {"source_event_id", "agent_events"},
    {"conversation_id", "conversations"},
    {"asset_id", "assets"},
};
/// Of these the column is only a client's word, or names something outside the tables.
constexpr std::pair<std::string_view, std::string_view> no_references[] = {
    {"conversations", "thread_id"},
    {"sync_staged", "document_id"},
};
/// Columns that may be empty (''), "none"; the others of `references` name a row.
constexpr std::string_view may_be_none[] = {"agent_id",
                                            "created_by_agent_id",
                                            "parent_id",
                                            "target_node_id",
                                            "project_id",
                                            "artifact_document_id",
                                            "source_event_id",
                                            "asset_id",
                                            "comment_id",
                                            "thread_id"};
constexpr std::pair<std::string_view, std::string_view> may_be_none_too[] = {
    {"keys", "workspace_id"},
    {"device_authorizations", "user_id"},
    {"device_authorizations", "workspace_id"},
    {"agent_events", "document_id"},
    {"sync_conflicts", "document_id"},
};
constexpr std::pair<std::string_view, std::string_view> names_a_row[] = {
    {"agent_events", "agent_id"},
    {"organize_runs", "asset_id"},
    {"comment_entries", "thread_id"},
};

/// Tables whose ids are made of a counter of their own: its kind.
struct IdKind {
  std::string_view table;
  std::string_view kind;
};
constexpr IdKind id_kinds[] = {
    {"agent_events", "event"},
    {"agents", "agent"},
    {"assets", "asset"},
    {"comment_entries", "comment"},
    {"comment_threads", "comment_thread"},
    {"conversations", "conversation"},
    {"device_authorizations", "device_authorization"},
    {"documents", "document"},
    {"keys", "key"},
    {"nodes", "node"},
    {"organize_runs", "operation"},
    {"projects", "project"},
    {"questions", "question"},
    {"shares", "share"},
    {"sync_conflicts", "conflict"},
    {"sync_plans", "sync_plan"},
    {"sync_pushes", "sync_push"},
    {"sync_sources", "sync_source"},
    {"test_runs", "test_run"},
    {"uploads", "upload"},
    {"users", "user"},
    {"workspaces", "workspace"},
};

/// Columns that name a user or an agent: by a word in another column, or by a prefix of their own ("user:ID").
struct ActorColumn {
  std::string_view kind;
  std::string_view id;
};
constexpr ActorColumn actor_columns[] = {
    {"grantee_kind", "grantee_id"},
    {"author_kind", "author_id"},
    {"created_by_kind", "created_by_id"},
    {"updated_by_kind", "updated_by_id"},
};
struct PrefixedActor {
  std::string_view table;
  std::string_view column;
  char separator;
};
constexpr PrefixedActor prefixed_actors[] = {
    {"sync_plans", "actor", ':'},
    {"idempotency_records", "owner", ' '},
};

constexpr std::string_view flags[] = {"archived", "present", "quote_lost", "answers_later", "local_deleted", "is_text"};

constexpr std::int64_t last_time = 253'402'300'799'999;         // the end of the year 9999, in milliseconds
constexpr std::int64_t largest_number = 9'007'199'254'740'991;  // what JSON carries exactly

template <class List, class Value>
bool holds(const List& list, const Value& value) {
  return std::ranges::find(list, value) != std::end(list);
}

using Row = std::unordered_map<std::string, const Json*>;

struct ByteSum {
  std::int64_t size_bytes = 0;
  std::string sha256 = {};
};

/// Empty where no file has these bytes, and for a name that is no UUID: it could lead out of the folder.
std::optional<ByteSum> sum_of(const Blobs& blobs, const std::string& name) {
  if (!is_uuid(name)) return std::nullopt;
  const auto reader = blobs.open(name);
  if (!reader) return std::nullopt;
  Sha256Stream hash;
  ByteSum sum;
  std::string room(std::size_t{64} << 10U, '\0');
  while (true) {
    const auto count = reader->read(static_cast<std::uint64_t>(sum.size_bytes), room);
    if (!count) return std::nullopt;
    if (*count == 0) break;
    sum.size_bytes += static_cast<std::int64_t>(*count);
    hash.update(std::string_view(room).substr(0, *count));
  }
  sum.sha256 = hash.finish().hex();
  return sum;
}

/// The rows of all tables, found by id.
class StateCheck {
 public:
  StateCheck(const World& world, const Json& tables, const Loc& loc, ValidationErrors& errors)
      : world_(world), tables_(tables), loc_(loc), errors_(errors) {
    for (const auto& [table, rows] : tables.items()) {
      if (!rows.is_array()) continue;
      Row& ids = by_id_[table];
      for (const Json& row : rows) {
        if (const Json* id = find(row, "id"); id != nullptr && id->is_string())
          ids.emplace(id->get<std::string>(), &row);
      }
    }
    const Json* members = find(tables, "members");
    if (members == nullptr || !members->is_array()) return;
    for (const Json& member : *members) {
      const Json* user = find_row("users", find_text(member, "user_id").value_or(""));
      const std::string email = user == nullptr ? "" : find_text(*user, "email").value_or("");
      person_handles_.emplace(find_text(member, "workspace_id").value_or(""),
                              to_lower(email.substr(0, email.find('@'))));
    }
  }

  void check(const std::string& table, const std::vector<TableColumn>& columns) {
    const Json& rows = tables_.at(table);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Loc place = within(within(loc_, table), i);
      if (!rows[i].is_object()) {
        errors_.add(place, "dict_type", "A row is an object", rows[i]);
        continue;
      }
      const std::size_t before = errors_.all().size();
      check_columns(rows[i], place, columns);
      if (errors_.all().size() != before) continue;  // the rest takes the types for granted
      check_words(table, rows[i], place);
      check_references(table, rows[i], place);
      check_whole(table, rows[i], place);
    }
  }

 private:
  void add(const Loc& place, std::string_view column, std::string_view message, const Json& row) {
    const Json* value = find(row, column);
    errors_.add(within(place, std::string(column)), message, value == nullptr ? Json(nullptr) : *value);
  }

  const Json* find_row(std::string_view table, const std::string& id) const {
    const auto rows = by_id_.find(table);
    if (rows == by_id_.end()) return nullptr;
    const auto row = rows->second.find(id);
    return row == rows->second.end() ? nullptr : row->second;
  }

  void check_columns(const Json& row, const Loc& place, const std::vector<TableColumn>& columns) {
    for (const auto& [name, value] : row.items()) {
      if (std::ranges::find(columns, name, &TableColumn::name) == columns.end()) {
        errors_.add(within(place, name), "extra_forbidden", "The table has no such column", value);
      }
    }
    for (const TableColumn& column : columns) {
      const Json* value = find(row, column.name);
      if (value == nullptr) {
        if (column.is_required) errors_.add(within(place, column.name), "missing", "Field required", row);
      } else if (value->is_null()) {
        if (!column.may_be_null) add(place, column.name, "The column cannot be null", row);
      } else if (column.is_integer) {
        check_integer(row, place, column.name, *value);
      } else if (!value->is_string()) {
        errors_.add(within(place, column.name), "string_type", "Input should be a valid string", *value);
      } else {
        check_text(row, place, column.name, value->get_ref<const std::string&>());
      }
    }
  }

  void check_integer(const Json& row, const Loc& place, std::string_view name, const Json& value) {
    if (!value.is_number_integer()) {
      errors_.add(within(place, std::string(name)), "int_type", "Input should be a valid integer", value);
      return;
    }
    const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{largest_number};
    const std::int64_t number = fits ? value.get<std::int64_t>() : -1;
    if (number < 0) {
      add(place, name, "The number is 0 to 9007199254740991", row);
    } else if (name.ends_with("_at") && number > last_time) {
      add(place, name, "A time is milliseconds since 1970, until the year 9999", row);
    } else if (holds(flags, name) && number > 1) {
      add(place, name, "The column is 0 or 1", row);
    } else if (name == "status" && (number < 200 || number > 599)) {
      add(place, name, "The status of an answer is 200 to 599", row);
    } else if (name.ends_with("content_revision") && number < 1) {
      add(place, name, "A content revision is 1 or more", row);
    }
  }

  void check_text(const Json& row, const Loc& place, std::string_view name, const std::string& text) {
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (name == "id" && !is_uuid(text)) {
      add(place, name, "An id is a UUID", row);
    } else if (name.ends_with("_sha256") && !text.empty() &&
               (text.size() != 64 || !std::ranges::all_of(text, is_hex))) {
      add(place, name, "A SHA-256 is 64 lower-case hexadecimal digits", row);
    }
  }

  void check_words(std::string_view table, const Json& row, const Loc& place) {
    for (const WordRule& rule : word_rules) {
      if (rule.table != table) continue;
      const auto word = find_text(row, rule.column);
      if (word && !holds(rule.words, *word)) {
        add(place, rule.column, fmt::format("The column is one of {}", fmt::join(rule.words, ", ")), row);
      }
    }
    for (const FieldRule& rule : field_rules) {
      if (rule.table == table) check_field(row, place, field_of(rule), rule.holds);
    }
    if (table == "questions") check_field(row, place, passages, FieldRule::Holds::json);
    for (const JsonRule& rule : json_rules) {
      if (rule.table != table) continue;
      const auto text = find_text(row, rule.column);
      if (text && !has_form(*text, rule)) add(place, rule.column, described(rule), row);
    }
  }

  void check_field(const Json& row, const Loc& place, const contract::Field& field, FieldRule::Holds holds) {
    const auto text = find_text(row, field.name);
    const bool is_text = holds == FieldRule::Holds::text || holds == FieldRule::Holds::text_or_none;
    const bool is_optional = holds == FieldRule::Holds::text_or_none || holds == FieldRule::Holds::json_or_none;
    if (!text || (text->empty() && is_optional)) return;
    const Result<Json> value = is_text ? Result<Json>(*text) : parse_bounded(*text);
    if (!value) return add(place, field.name, "The column is JSON in a string", row);
    errors_.check({{field.name, *value}}, {.name = "Row", .fields = {&field, 1}}, place);
  }

  static bool is_list_of(const Json& value, Words words) {
    return value.is_array() && std::ranges::all_of(value, [&](const Json& one) {
             return one.is_string() && (words.empty() || holds(words, one.get_ref<const std::string&>()));
           });
  }

  static bool has_form(const std::string& text, const JsonRule& rule) {
    if (rule.holds == JsonRule::Holds::value_or_none && text.empty()) return true;
    const auto value = parse_bounded(text);
    if (!value) return false;
    const auto is_field = [](const Json& one) {
      return one.size() == 2 && is_list_of(one, {}) && http::is_field_name(one[0].get_ref<const std::string&>()) &&
             http::is_field_value(one[1].get_ref<const std::string&>());
    };
    switch (rule.holds) {
      case JsonRule::Holds::value:
      case JsonRule::Holds::value_or_none: return true;
      case JsonRule::Holds::object: return value->is_object();
      case JsonRule::Holds::headers: return value->is_array() && std::ranges::all_of(*value, is_field);
      case JsonRule::Holds::scopes: return is_list_of(*value, contract::all_scopes);
      case JsonRule::Holds::texts: break;
    }
    return is_list_of(*value, rule.words);
  }

  static std::string described(const JsonRule& rule) {
    const auto list_of = [](Words words) {
      return fmt::format("The column is a JSON list in a string; it may hold {}", fmt::join(words, ", "));
    };
    switch (rule.holds) {
      case JsonRule::Holds::value:
      case JsonRule::Holds::value_or_none: return "The column is JSON in a string";
      case JsonRule::Holds::object: return "The column is a JSON object in a string";
      case JsonRule::Holds::headers: return "The column is a JSON list of [name, value] in a string";
      case JsonRule::Holds::scopes: return list_of(contract::all_scopes);
      case JsonRule::Holds::texts: break;
    }
    return rule.words.empty() ? "The column is a JSON list of strings in a string" : list_of(rule.words);
  }

  void check_references(std::string_view table, const Json& row, const Loc& place) {
    for (const Reference& reference : references) {
      const std::pair column(table, reference.column);
      const auto id = find_text(row, reference.column);
      if (!id || holds(no_references, column)) continue;
      const bool may_be_empty =
          (holds(may_be_none, reference.column) && !holds(names_a_row, column)) || holds(may_be_none_too, column);
      if ((id->empty() && may_be_empty) || find_row(reference.target, *id) != nullptr) continue;
      add(place, reference.column, fmt::format("{} has no row with this id", reference.target), row);
    }
    for (const ActorColumn& actor : actor_columns) {
      const auto kind = find_text(row, actor.kind);
      const auto id = find_text(row, actor.id);
      if (kind && id) check_actor(row, place, actor.id, *kind, *id);
    }
    for (const PrefixedActor& actor : prefixed_actors) {
      const auto text = actor.table == table ? find_text(row, actor.column) : std::nullopt;
      if (!text) continue;
      const std::size_t end = std::min(text->find(actor.separator), text->size());
      check_actor(row, place, actor.column, text->substr(0, end), text->substr(std::min(end + 1, text->size())));
    }
  }

  void check_actor(
      const Json& row, const Loc& place, std::string_view column, const std::string& kind, const std::string& id) {
    const std::string_view target = kind == "agent" ? "agents" : "users";
    if (holds(actor_kinds, std::string_view(kind)) && find_row(target, id) != nullptr) return;
    add(place, column, fmt::format("{} has no row with this id", target), row);
  }

  /// What columns say together.
  void check_whole(std::string_view table, const Json& row, const Loc& place) {
    if (table == "documents" || table == "document_revisions") check_text_of_document(row, place);
    if (table == "documents") check_node(row, place, "document");
    if (table == "projects") check_node(row, place, "project");
    if (table == "assets") check_node(row, place, "asset");
    if (table == "nodes") check_parent(row, place);
    if (table == "assets") check_bytes(row, place, "size_bytes", "content_sha256");
    if (table == "uploads" && find_text(row, "blob") != "")
      check_bytes(row, place, "received_bytes", "received_sha256");
    if (table == "sync_conflicts") check_subject(row, place);
    if (table.starts_with("sync_")) check_paths(row, place);
    if (table == "agents" && is_person(row)) {
      add(place, "handle", "A person of the Workspace has this handle", row);
    }
    if (table == "document_revisions") {
      const Json* document = find_row("documents", find_text(row, "document_id").value_or(""));
      const auto newest = document == nullptr ? std::nullopt : find_integer(*document, "content_revision");
      if (newest && find_integer(row, "content_revision").value_or(0) > *newest) {
        add(place, "content_revision", fmt::format("The document is at revision {} only", *newest), row);
      }
    }
    if (table == "sync_entries") {
      const bool is_present = find_integer(row, "present") == 1;
      const auto key = is_present ? std::optional(utf8::fold_key(find_text(row, "path").value_or(""))) : std::nullopt;
      if (find_text(row, "path_key") != key) {
        add(place, "path_key", "The key is the path in NFC, case-folded; null of a document that is not present", row);
      }
      const Json* source = find_row("sync_sources", find_text(row, "source_id").value_or(""));
      const auto newest = source == nullptr ? std::nullopt : find_integer(*source, "revision");
      for (const std::string_view column :
           {"revision", "first_entered_revision", "entered_revision", "path_revision", "text_revision"}) {
        if (newest && find_integer(row, column).value_or(0) > *newest) {
          add(place, column, fmt::format("The source is at revision {} only", *newest), row);
        }
      }
    }
    if (table == "agent_events" && find_text(row, "status") == "leased" && !find_integer(row, "lease_expires_at")) {
      add(place, "lease_expires_at", "A leased event has a lease that ends", row);
    }
  }

  bool is_person(const Json& agent) const {
    return person_handles_.contains(
        {find_text(agent, "workspace_id").value_or(""), to_lower(find_text(agent, "handle").value_or(""))});
  }

  void check_paths(const Json& row, const Loc& place) {
    for (const std::string_view column : {"path", "local_path"}) {
      const auto path = find_text(row, column);
      if (!path) continue;
      const auto problem = path_problem(*path);
      if (problem) add(place, column, "The path is refused: " + *problem, row);
      if (!problem && utf8::nfc(*path) != *path) add(place, column, "A path is in NFC", row);
    }
  }

  void check_text_of_document(const Json& row, const Loc& place) {
    const auto content = find_text(row, "content");
    if (!content) return;
    if (find_text(row, "content_sha256") != Sha256::of(*content).hex()) {
      add(place, "content_sha256", "This is not the SHA-256 of the content", row);
    }
    const auto size = find_integer(row, "size_bytes");
    if (size && *size != static_cast<std::int64_t>(content->size())) {
      add(place, "size_bytes", fmt::format("The content has {} bytes", content->size()), row);
    }
  }

  /// A state names the bytes of files and does not hold them: these must be the ones that the world has.
  void check_bytes(const Json& row, const Loc& place, std::string_view size, std::string_view sha256) {
    const std::string name = find_text(row, "blob").value_or("");
    auto known = bytes_.find(name);
    if (known == bytes_.end()) known = bytes_.emplace(name, sum_of(world_.blobs, name)).first;
    if (!known->second) {
      add(place, "blob", "This mock does not have the bytes of the file; a snapshot would have kept them", row);
    } else if (find_integer(row, size) != known->second->size_bytes ||
               find_text(row, sha256) != known->second->sha256) {
      add(place, "blob", "The bytes that this mock has under this name are not those of the file", row);
    }
  }

  void check_subject(const Json& row, const Loc& place) {
    const std::string subject = find_text(row, "subject").value_or("");
    if (subject.starts_with("path:") || find_row("documents", subject) != nullptr) return;
    add(place, "subject", "The subject is a document's id, or path: and a path", row);
  }

  void check_node(const Json& row, const Loc& place, std::string_view kind) {
    const Json* node = find_row("nodes", find_text(row, "node_id").value_or(""));
    if (node == nullptr) return;
    if (find_text(*node, "kind") != kind) add(place, "node_id", fmt::format("The node is not a {}", kind), row);
    if (find_text(*node, "workspace_id") != find_text(row, "workspace_id")) {
      add(place, "workspace_id", "The node is of another Workspace", row);
    }
  }

  void check_parent(const Json& row, const Loc& place) {
    std::set<std::string> above;
    for (const Json* node = &row; node != nullptr;) {
      const std::string parent = find_text(*node, "parent_id").value_or("");
      if (parent.empty()) return;
      if (!above.insert(parent).second || parent == find_text(row, "id")) {
        add(place, "parent_id", "The node is its own ancestor", row);
        return;
      }
      node = find_row("nodes", parent);
      if (node != nullptr && find_text(*node, "workspace_id") != find_text(row, "workspace_id")) {
        add(place, "parent_id", "The parent is of another Workspace", row);
        return;
      }
    }
  }

  const World& world_;
  const Json& tables_;
  const Loc& loc_;
  ValidationErrors& errors_;
  std::map<std::string, Row, std::less<>> by_id_ = {};
  std::set<std::pair<std::string, std::string>> person_handles_ = {};  // a Workspace, and the handle in lower case
  std::map<std::string, std::optional<ByteSum>> bytes_ = {};           // by the name of the blob; empty: not there
};

}  // namespace

void check_id_counters(const Json& tables, Ids ids, const Loc& loc, ValidationErrors& errors) {
  for (const auto& [table, kind] : id_kinds) {
    const Json* rows = find(tables, table);
    if (rows == nullptr) continue;
    std::set<std::string> there;
    for (const Json& row : *rows) there.insert(find_text(row, "id").value_or(""));
    for (std::size_t i = 0; i < rows->size(); ++i) {
      if (!there.contains(ids.uuid(kind))) continue;
      errors.add(within(loc, "id_counters"),
                 fmt::format("The next {} would get an id that {} has already", kind, table),
                 nullptr);
      break;
    }
  }
}

Result<void> check_state_tables(World& world, const Json& tables, const Loc& loc, ValidationErrors& errors) {
  WS_LET(const std::vector<std::string> known, state_tables(world.database));
  StateCheck check(world, tables, loc, errors);
  for (const auto& [table, rows] : tables.items()) {
    if (!holds(known, table)) {
      errors.add(within(loc, table), "extra_forbidden", "There is no such table", table);
    } else if (!rows.is_array()) {
      errors.add(within(loc, table), "list_type", "A table is a list of rows", rows);
    } else {
      WS_LET(const std::vector<TableColumn> columns, columns_of(world.database, table));
      check.check(table, columns);
    }
  }
  return {};
}

}  // namespace ws::mock::control
