#include "api-client/contract/operations.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"

namespace ws::contract {
namespace {

std::array<Area, 12> areas() {
  return {authorization_operations,
          workspace_operations,
          question_operations,
          search_operations,
          document_operations,
          comment_operations,
          file_operations,
          sync_operations,
          agent_operations,
          event_operations,
          test_operations,
          discovery_operations};
}

std::vector<const Operation*> collect_operations() {
  std::vector<const Operation*> all;
  for (const Area& area : areas()) {
    for (const Operation& operation : area.operations) all.push_back(&operation);
  }
  return all;
}

void collect(const Schema* schema, std::vector<const Schema*>& found);

void collect(const Type& type, std::vector<const Schema*>& found) {
  if (type.items != nullptr) collect(*type.items, found);
  collect(type.object, found);
}

void collect(const Schema* schema, std::vector<const Schema*>& found) {
  if (schema == nullptr || std::ranges::find(found, schema) != found.end()) return;
  found.push_back(schema);
  for (const Field& field : schema->fields) collect(field.type, found);
}

std::vector<const Schema*> collect_all() {
  std::vector<const Schema*> found;
  for (const Operation* operation : operations()) {
    collect(operation->request, found);
    for (const Response& response : operation->responses) collect(response.schema, found);
  }
  return found;
}

}  // namespace

constinit const std::span<const std::string_view> all_scopes = requestable_scopes;

std::span<const Operation* const> operations() {
  // Collected on first use and never changed: a constant across several source files cannot be computed at compile
  // time.
  static const std::vector<const Operation*> all = collect_operations();
  return all;
}

std::string_view area_of(const Operation& operation) {
  for (const Area& area : areas()) {
    if (std::ranges::any_of(area.operations, [&](const Operation& one) { return &one == &operation; }))
      return area.name;
  }
  return {};
}

const Operation* find_operation(std::string_view id) {
  const auto found = std::ranges::find(operations(), id, &Operation::id);
  return found == operations().end() ? nullptr : *found;
}

const Parameter* find_parameter(const Operation& operation, std::string_view name) {
  for (const Parameter& parameter : operation.parameters) {
    if (parameter.field.name == name) return &parameter;
  }
  return nullptr;
}

const Field* find_field(const Schema& schema, std::string_view name) {
  const auto found = std::ranges::find(schema.fields, name, &Field::name);
  return found == schema.fields.end() ? nullptr : &*found;
}

std::vector<const Schema*> reached_from(const Schema& schema) {
  std::vector<const Schema*> found;
  collect(&schema, found);
  return found;
}

std::span<const Schema* const> schemas() {
  static const std::vector<const Schema*> all = collect_all();
  return all;
}

}  // namespace ws::contract
