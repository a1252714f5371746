#include "api-client/contract/operations.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"

namespace ws::contract {

namespace {

using Pointers = std::array<const Operation*, operation_count>;

template <std::size_t count>
constexpr void append(Pointers& all, std::size_t& size, const Operation (&table)[count]) {
  for (std::size_t i = 0; i < count; ++i) all.at(size++) = &table[i];
}

constinit const Pointers all_operations = [] {
  Pointers all = {};
  std::size_t size = 0;
  append(all, size, authorization_table);
  append(all, size, workspace_table);
  append(all, size, question_table);
  append(all, size, search_table);
  append(all, size, document_table);
  append(all, size, comment_table);
  append(all, size, file_table);
  append(all, size, sync_table);
  append(all, size, agent_table);
  append(all, size, event_table);
  append(all, size, test_table);
  append(all, size, discovery_table);
  return all;
}();

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
  for (const Operation* operation : all_operations) {
    collect(operation->request, found);
    for (const Response& response : operation->responses) collect(response.schema, found);
  }
  return found;
}

}  // namespace

constinit const std::span<const std::string_view> all_scopes = requestable_scopes;

std::span<const Operation* const> operations() { return all_operations; }

const Operation* find_operation(std::string_view id) {
  const auto found = std::ranges::find(all_operations, id, &Operation::id);
  return found == all_operations.end() ? nullptr : *found;
}

const Operation* find_command(std::string_view command) {
  const auto found = std::ranges::find(all_operations, command, &Operation::command);
  return found == all_operations.end() ? nullptr : *found;
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
  // Found on first use and never changed: a constant that spans files cannot be computed while compiling.
  static const std::vector<const Schema*> all = collect_all();
  return all;
}

}  // namespace ws::contract
