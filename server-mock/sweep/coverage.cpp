#include "server-mock/sweep/coverage.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/http/target.hpp"

namespace ws::mock::sweep {
namespace {

/// Optional members of the body and of the query.
std::set<std::string> optional_fields_of(const contract::Operation& operation) {
  std::set<std::string> names;
  const auto add = [&](const contract::Field& field) {
    if (field.presence == contract::Presence::optional) names.emplace(field.name);
  };
  for (const contract::Parameter& parameter : operation.parameters) {
    if (parameter.in == contract::In::query) add(parameter.field);
  }
  if (operation.request != nullptr) std::ranges::for_each(operation.request->fields, add);
  return names;
}

/// The part of a response's shape that is only assumed because the API document does not specify it; empty: none.
std::string guessed_shape(const contract::Operation& operation, int status) {
  const auto response = std::ranges::find(operation.responses, status, &contract::Response::status);
  if (response == operation.responses.end() || response->schema == nullptr) return {};
  const contract::Schema& schema = *response->schema;
  if (schema.source == contract::Source::assumed) return fmt::format("the fields of {}", schema.name);
  std::vector<std::string_view> names;
  for (const contract::Field& field : schema.fields) {
    if (field.source == contract::Source::assumed) names.push_back(field.name);
  }
  return names.empty() ? std::string() : fmt::format("{} of {}", fmt::join(names, ", "), schema.name);
}

std::set<std::string> names_sent(const SentRequest& sent) {
  std::set<std::string> names;
  if (const auto body = parse_bounded(sent.body); body && body->is_object()) {
    for (const auto& [name, value] : body->items()) names.insert(name);
  }
  for (const auto& [name, value] : http::parse_query(sent.query)) names.insert(name);
  return names;
}

}  // namespace

void Coverage::add(const std::vector<SentRequest>& sent) {
  for (const SentRequest& one : sent) {
    if (!one.fault.empty()) faults.insert(one.fault);
    if (one.operation.empty()) continue;
    OperationCoverage& counted = operations[one.operation];
    ++counted.requests;
    counted.statuses.insert(one.status);
    if (const contract::Operation* operation = contract::find_operation(one.operation)) {
      const std::string shape = guessed_shape(*operation, one.status);
      if (!shape.empty()) assumptions[shape].insert(one.method + " " + std::string(operation->path));
      const std::set<std::string> names = names_sent(one);
      for (const std::string& name : optional_fields_of(*operation)) {
        if (names.contains(name)) counted.optional_fields.insert(name);
      }
    }
    for (const std::string_view part : split(one.assumed, ',')) {
      if (!part.empty()) assumptions[std::string(trimmed(part))].insert(one.method + " " + one.path);
    }
  }
}

void Coverage::finish() {
  not_called.clear();
  for (const contract::Operation* operation : contract::operations()) {
    const auto found = operations.find(std::string(operation->id));
    if (found == operations.end()) {
      not_called.emplace_back(operation->id);
      continue;
    }
    for (const std::string& name : optional_fields_of(*operation)) {
      if (!found->second.optional_fields.contains(name)) found->second.unsent_fields.insert(name);
    }
  }
}

void CoverageReport::add(const Exchange& exchange) { coverage_.add({sent_request(exchange)}); }

Result<void> CoverageReport::write(const std::string& path) {
  coverage_.finish();
  const bool as_json = path.ends_with(".json");
  return write_named_file(path, as_json ? dump(to_json(coverage_), 2) + "\n" : render(coverage_));
}

Json to_json(const Coverage& coverage) {
  Json operations = Json::object();
  for (const auto& [id, counted] : coverage.operations) {
    operations[id] = {{"requests", counted.requests},
                      {"statuses", counted.statuses},
                      {"optional_fields_sent", counted.optional_fields},
                      {"optional_fields_never_sent", counted.unsent_fields}};
  }
  Json assumptions = Json::array();
  for (const auto& [key, requests] : coverage.assumptions) {
    assumptions.push_back({{"assumption", key}, {"requests", requests}});
  }
  return {{"operations", std::move(operations)},
          {"operations_never_called", coverage.not_called},
          {"faults", coverage.faults},
          {"assumptions", std::move(assumptions)}};
}

std::string render(const Coverage& coverage) {
  std::size_t known = coverage.not_called.size();
  for (const auto& [id, counted] : coverage.operations) known += contract::find_operation(id) == nullptr ? 0 : 1;
  std::string text = fmt::format("Coverage: called {} of the API's {} operations\n",
                                 known - coverage.not_called.size(),
                                 contract::operations().size());
  for (const auto& [id, counted] : coverage.operations) {
    std::vector<std::string> statuses;
    for (const int status : counted.statuses) statuses.push_back(status == 0 ? "no answer" : std::to_string(status));
    text += fmt::format("  {:<22} {:>4} x  {}\n", id, counted.requests, fmt::join(statuses, ", "));
  }
  if (coverage.assumptions.empty()) return text + "No answer depended on an assumption.\n";
  const std::size_t count = coverage.assumptions.size();
  text += fmt::format("The answers depend on {} assumption{} that the API document does not settle:\n",
                      count == 1 ? "this" : fmt::format("these {}", count),
                      count == 1 ? "" : "s");
  for (const auto& [key, requests] : coverage.assumptions) {
    text += fmt::format("  {}\n    {}\n", key, fmt::join(requests, ", "));
  }
  return text;
}

}  // namespace ws::mock::sweep
