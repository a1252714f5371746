#include "cli/output/members.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/output/format.hpp"

namespace ws::cli {
namespace {

struct OwnList {
  std::string_view shape;
  std::string_view members;
};

/// So that a misspelt member is noticed in an empty list too.
constexpr OwnList own_lists[] = {
    {"ws.attachments", "path bytes asset_id state notes media_type content_sha256"},
    {"ws.blame", "line revision author time text state"},
    {"ws.conflicts", "id path kind reason own here_only device document_id base local remote content"},
    {"ws.diff", "side path before after hunks what bytes_before bytes_after"},
    {"ws.keys",
     "profile account_name base_url workspace_id workspace_name key_id audience scopes created_at expires_at current"},
    {"ws.links", "path line column target problem message nearest"},
    {"ws.roots", "folder state name source_id base_url"},
    {"ws.run_rows", "action path previous_path way document_id before after hunks"},
    {"ws.runs",
     "run time kind command device revision_before revision_after counts undoes partial taken_back finished note"},
    {"ws.states", "state time author message files first id changes"},
    {"ws.sync_report", "state action path previous_path reason document_id"},
    {"ws.handled", "v id kind outcome exit error"},
    {"ws.uploads", "upload_id file_name size_bytes state expires_at path base_url"},
};

std::string_view first_step(std::string_view path) { return path.substr(0, path.find('.')); }

std::string_view below(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

bool may_have(const Json& value, std::string_view path) {
  if (path.empty() || value.is_null() || value.is_array()) return true;
  const Json* const member = find(value, first_step(path));
  return member != nullptr && may_have(*member, below(path));
}

/// Where the path leaves what the schema describes, anything may be there.
bool may_have(const contract::Schema& schema, std::string_view path) {
  const contract::Field* const field = contract::find_field(schema, first_step(path));
  if (field == nullptr) return false;
  const std::string_view rest = below(path);
  if (rest.empty() || field->type.kind != contract::Kind::object || field->type.object == nullptr) {
    const bool is_plain = field->type.kind != contract::Kind::array &&
                          field->type.kind != contract::Kind::free_object &&
                          field->type.kind != contract::Kind::text_map && field->type.kind != contract::Kind::any;
    return rest.empty() || !is_plain;
  }
  return may_have(*field->type.object, rest);
}

Failure no_member(std::string_view path, const std::vector<std::string>& known) {
  return {.kind = Failure::Kind::usage,
          .what = "there is no member `" + std::string(path) + "`",
          .hint = known.empty() ? "" : fmt::format("the members are {}", fmt::join(known, ", ")),
          .code = "unknown_member"};
}

/// Integers beyond 64 bits were read as doubles, which from there on are all whole.
bool is_exact(const Json& number, Numbers numbers) {
  constexpr std::int64_t most = std::int64_t{1} << 53U;
  if (number.is_number_float()) {
    const auto value = number.get<double>();
    return value < 0x1p64 && value > -0x1p63;
  }
  if (numbers == Numbers::of_64_bits) return true;
  if (number.is_number_unsigned()) return number.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  const auto value = number.get<std::int64_t>();
  return value >= -most && value <= most;
}

/// The first number that is not exact, and its dotted path.
const Json* find_inexact(const Json& value, Numbers numbers, std::string& path) {
  if (value.is_number()) return is_exact(value, numbers) ? nullptr : &value;
  if (!value.is_structured()) return nullptr;
  const std::size_t length = path.size();
  for (const auto& member : value.items()) {
    if (member.value().is_string()) continue;
    path += (path.empty() ? "" : ".") + member.key();
    if (const Json* const found = find_inexact(member.value(), numbers, path)) return found;
    path.resize(length);
  }
  return nullptr;
}

void add_name(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

/// The names beside the step at which the path fails.
std::vector<std::string> names_for(std::string_view path,
                                   const std::vector<const Json*>& items,
                                   const contract::Schema* schema) {
  std::vector<std::string> names;
  std::vector<const Json*> inner;
  for (const Json* item : items) {
    const Json* const member = find(*item, first_step(path));
    if (member != nullptr && member->is_object() && !below(path).empty()) inner.push_back(member);
    if (!item->is_object()) continue;
    for (const auto& one : item->items()) add_name(names, one.key());
  }
  const contract::Field* const field = schema == nullptr ? nullptr : contract::find_field(*schema, first_step(path));
  const bool has_inner_schema = field != nullptr && field->type.kind == contract::Kind::object;
  if (!inner.empty() || (has_inner_schema && !below(path).empty())) {
    return names_for(below(path), inner, has_inner_schema ? field->type.object : nullptr);
  }
  if (schema != nullptr) {
    for (const contract::Field& one : schema->fields) add_name(names, one.name);
  }
  return names;
}

}  // namespace

const contract::Schema* item_schema(std::string_view operation) {
  const contract::Operation* const known = contract::find_operation(operation);
  if (known == nullptr || known->responses.empty()) return nullptr;
  const contract::Schema* const answer = known->responses.front().schema;
  if (answer == nullptr) return nullptr;
  for (const std::string_view name : item_members) {
    const contract::Field* const list = contract::find_field(*answer, name);
    if (list == nullptr || list->type.items == nullptr) continue;
    return list->type.items->kind == contract::Kind::object ? list->type.items->object : nullptr;
  }
  return answer;
}

std::vector<std::string> own_members(std::string_view shape) {
  const auto* const list = std::ranges::find(own_lists, shape, &OwnList::shape);
  std::vector<std::string> names;
  if (list == std::end(own_lists)) return names;
  std::istringstream words{std::string(list->members)};
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

Result<void> check_members(const std::vector<std::string>& paths,
                           const std::vector<const Json*>& items,
                           std::string_view shape) {
  const contract::Schema* const schema = item_schema(shape);
  if (items.empty() && schema != nullptr) return check_members(paths, *schema);
  if (items.empty()) {
    const std::vector<std::string> names = own_members(shape);
    for (const std::string& path : paths) {
      const bool is_known = std::ranges::find(names, first_step(path)) != names.end();
      if (!names.empty() && !is_known) return fail(no_member(path, names));
    }
    return {};
  }
  for (const std::string& path : paths) {
    const auto has = [&path](const Json* item) { return may_have(*item, path); };
    if (std::ranges::any_of(items, has) || (schema != nullptr && may_have(*schema, path))) continue;
    return fail(no_member(path, names_for(path, items, schema)));
  }
  return {};
}

Result<void> check_numbers(const Json& value, Numbers numbers) {
  std::string path;
  const Json* const found = find_inexact(value, numbers, path);
  if (found == nullptr) return {};
  const bool is_jq = numbers == Numbers::of_53_bits && found->is_number_integer();
  return fail(Failure{
      .kind = Failure::Kind::usage,
      .what = is_jq
                  ? fmt::format("--jq would change the number {} of `{}`: jq computes with 53 bits", dump(*found), path)
                  : fmt::format("the number of `{}` has more than 64 bits, and would be changed", path),
      .hint = "--json prints one answer (one id, one page) as it came; --fields leaves a member out",
      .code = "inexact_number"});
}

Result<void> check_members(const std::vector<std::string>& paths, const contract::Schema& schema) {
  for (const std::string& path : paths) {
    if (!may_have(schema, path)) return fail(no_member(path, names_for(path, {}, &schema)));
  }
  return {};
}

}  // namespace ws::cli
