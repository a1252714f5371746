#include "server-mock/pipeline/assumption_effects.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace ws::mock {
namespace {

using contract::Field;
using contract::Kind;
using contract::Operation;
using contract::Schema;
using contract::Type;

const Schema* schema_of(const Operation& operation, int status) {
  const auto found = std::ranges::find(operation.responses, status, &contract::Response::status);
  if (found != operation.responses.end()) return found->schema;
  return operation.responses.empty() ? nullptr : operation.responses.front().schema;
}

/// Calls `visit(object, schema)` for every object with a known schema, inner objects first.
template <class Visit>
void for_each_object(Json& value, const Schema& schema, const Visit& visit) {
  if (!value.is_object()) return;
  for (const Field& field : schema.fields) {
    const bool array = field.type.kind == Kind::array;
    const Type& type = array ? *field.type.items : field.type;
    if (type.kind != Kind::object || find(value, field.name) == nullptr) continue;
    Json& member = value[std::string(field.name)];
    if (!array) {
      for_each_object(member, *type.object, visit);
    } else if (member.is_array()) {
      for (Json& item : member) for_each_object(item, *type.object, visit);
    }
  }
  visit(value, schema);
}

void add_unknown_fields(Json& object, const Schema& /*schema*/) {
  object["x_unknown_text"] = "an unknown field";
  object["x_unknown_object"] = {{"nested", Json::array({1, nullptr, "two"})}};
}

void thin_out(Json& object, const Schema& schema, std::string_view how) {
  for (const Field& field : schema.fields) {
    if (is_kept(field) || find(object, field.name) == nullptr) continue;
    if (how == "null") {
      object[std::string(field.name)] = nullptr;
    } else {
      object.erase(std::string(field.name));
    }
  }
}

bool is_sync(const Operation& operation) { return operation.id.starts_with("sync."); }

}  // namespace

bool is_kept(const Field& field) {
  if (field.source == contract::Source::published || field.type.kind == Kind::uuid) return true;
  if (field.name.ends_with("_id") || field.name.ends_with("_ids")) return true;
  if (field.name == "content" || field.name == "content_revision" || field.name == "lease_token") return true;
  const Kind kind = field.type.kind == Kind::array ? field.type.items->kind : field.type.kind;
  return kind == Kind::object || kind == Kind::uuid;
}

void apply_assumptions(const Operation& operation, const Assumptions& assumptions, Answer& answer) {
  if (answer.status >= 400) return;
  const Schema* schema = schema_of(operation, answer.status);
  const std::string_view fields = assumptions.value("assumed_fields");
  if (fields != "full" && schema != nullptr && !is_sync(operation)) {
    for_each_object(*answer.body, *schema, [&](Json& object, const Schema& of) { thin_out(object, of, fields); });
  }
  if (assumptions.is("list_extra", "unknown_fields") && schema != nullptr) {
    for_each_object(*answer.body, *schema, add_unknown_fields);
  }
}

std::string assumptions_behind(const Operation& operation,
                               const Assumptions& assumptions,
                               int status,
                               std::string_view code) {
  std::string text;
  const auto add = [&](std::string_view key) {
    if (!text.empty()) text += ", ";
    text.append(key).append("=").append(assumptions.value(key));
  };
  const auto add_moved = [&](std::string_view key, std::string_view usual) {
    if (!assumptions.is(key, usual)) add(key);
  };
  if (code == "revision_conflict") add("revision_mismatch");
  if (operation.id == "events.renew" && status == 200) add("renew_from");
  if (operation.id == "workspaces.create" && (status == 201 || code == "forbidden")) add("workspace_create");
  if (operation.id == "auth.token" && status != 200) add("device_pending");
  if (status < 400) {
    add_moved("list_extra", "none");
    if (!is_sync(operation)) add_moved("assumed_fields", "full");
  } else if (status != 422) {
    add("error_style");
  }
  if (status == 401 || status == 403 || status == 415 || status == 422) add_moved("auth_order", "auth_first");
  return text;
}

}  // namespace ws::mock
