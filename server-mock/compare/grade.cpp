#include "server-mock/compare/grade.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/uuid.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "server-mock/compare/probes.hpp"
#include "server-mock/http/target.hpp"

namespace ws::mock::compare {
namespace {

using contract::Field;
using contract::Kind;
using contract::Null;
using contract::Operation;
using contract::Schema;
using contract::Type;

/// Members with values of the API's enumerations: equal for the same request in the same state.
constexpr std::string_view word_members[] = {
    "status",       "kind",           "phase",         "object",          "action",       "permission", "audience",
    "role",         "error",          "author_kind",   "created_by_kind", "grantee_kind", "resolution", "cost_class",
    "target_scope", "selection_kind", "upload_method", "content_type",    "mime_type",    "code",       "provider"};
/// Numbers determined by the requests that were sent.
constexpr std::string_view number_members[] = {"content_revision",
                                               "current_content_revision",
                                               "expected_content_revision",
                                               "size_bytes",
                                               "open_count",
                                               "resolved_count",
                                               "needs_reanchor_count",
                                               "thread_count",
                                               "attempt",
                                               "retry_after_seconds",
                                               "expires_in",
                                               "interval"};
/// Response headers that clients rely on.
constexpr std::string_view compared_headers[] = {"etag",
                                                 "www-authenticate",
                                                 "retry-after",
                                                 "allow",
                                                 "accept-ranges",
                                                 "content-range",
                                                 "content-disposition",
                                                 "idempotent-replayed",
                                                 "x-request-id",
                                                 "content-type"};
/// Members that identify an item of a list besides its id, for items that existed before.
constexpr std::string_view naming_members[] = {
    "case_id", "suite_id", "handle", "original_file_name", "path", "prompt", "body", "title", "name"};

/// Search results and the wording of answers are not compared.
bool is_knowledge(std::string_view operation) {
  return operation.starts_with("search") || operation.starts_with("questions.");
}

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view type_name(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number_integer()) return "an integer";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  return value.is_array() ? "an array" : "an object";
}

bool is_same_type(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.is_number_integer() == b.is_number_integer();
  return type_name(a) == type_name(b);
}

std::string shown(const Json& value) {
  std::string text = dump(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string type_in_table(const Json& value) {
  if (value.is_boolean()) return "boolean()";
  if (value.is_number_integer()) return "integer()";
  if (value.is_number()) return "number()";
  if (value.is_object()) return "free_object()";
  if (value.is_array()) return "array_of(any_item)";
  return value.is_string() ? "string()" : "any()";
}

const Schema* answer_schema(const Exchange& exchange) {
  const Operation* operation = contract::find_operation(exchange.operation);
  return operation == nullptr ? nullptr : response_schema(*operation, exchange.status);
}

/// A pending login may be a 200 without a secret: this is a value of `device_pending`.
bool is_pending_login(const Exchange& exchange) {
  return exchange.operation == "auth.token" && exchange.status == 200 && exchange.response_body->is_object() &&
         find(*exchange.response_body, "secret") == nullptr;
}

/// The item's own id, which the binding maps.
std::string id_of_item(const Json& item) {
  for (const char* name : {"id", "document_id", "operation_id"}) {
    if (const auto id = find_text(item, name); id && is_uuid(*id)) return *id;
  }
  return {};
}

std::string name_of_item(const Json& item) {
  for (const std::string_view name : naming_members) {
    if (const auto text = find_text(item, name)) return fmt::format("{}={}", name, *text);
  }
  return {};
}

constexpr std::size_t nothing = std::string::npos;

/// For each item of `theirs`, the index of the same item in `ours`: matched by bound id, otherwise by a name that
/// occurs equally often in both.
std::vector<std::size_t> aligned(const Json& theirs, const Json& ours, const Binding& binding) {
  std::vector<std::size_t> places(theirs.size(), nothing);
  std::vector<bool> taken(ours.size(), false);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const std::string* id = binding.find(id_of_item(theirs[i]));
    if (id == nullptr) continue;
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (taken[k] || id_of_item(ours[k]) != *id) continue;
      places[i] = k;
      taken[k] = true;
      break;
    }
  }
  std::map<std::string, std::vector<std::size_t>> names;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    if (!taken[k] && !binding.is_bound(id_of_item(ours[k]))) names[name_of_item(ours[k])].push_back(k);
  }
  std::map<std::string, std::vector<std::size_t>> their_names;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (places[i] == nothing && binding.find(id_of_item(theirs[i])) == nullptr) {
      their_names[name_of_item(theirs[i])].push_back(i);
    }
  }
  for (const auto& [name, at] : their_names) {
    const auto found = names.find(name);
    if (name.empty() || found == names.end() || found->second.size() != at.size()) continue;
    for (std::size_t n = 0; n < at.size(); ++n) places[at[n]] = found->second[n];
  }
  return places;
}

}  // namespace

struct Grader::At {
  std::string where = "body";
  std::string_view member = {};
  bool has_same_values = true;  ///< the object was created by the same requests on both sides
  Null null = Null::no;
  bool binds = true;  ///< both are the same object, so their ids are bound to each other
};

std::string_view name(FindingKind kind) {
  switch (kind) {
    case FindingKind::status: return "status";
    case FindingKind::code: return "code";
    case FindingKind::missing: return "missing";
    case FindingKind::null: return "null";
    case FindingKind::type: return "type";
    case FindingKind::value: return "value";
    case FindingKind::items: return "items";
    case FindingKind::order: return "order";
    case FindingKind::repeated: return "repeated";
    case FindingKind::header: return "header";
  }
  return "";
}

void Findings::add(Finding finding) {
  const std::string key = fmt::format("{} {} {}",
                                      finding.operation,
                                      name(finding.kind),
                                      finding.kind == FindingKind::status ? finding.what : finding.where);
  const auto [found, is_new] = places_.emplace(key, all_.size());
  if (is_new) {
    all_.push_back(std::move(finding));
  } else {
    ++all_[found->second].times;
  }
}

std::vector<UnknownField> Findings::unknown() const {
  std::vector<UnknownField> fields;
  for (const auto& [field, seen] : unknown_) fields.push_back(field);
  return fields;
}

void Grader::report(FindingKind kind, const std::string& where, std::string what) {
  findings_.add(Finding{.kind = kind,
                        .operation = now_->operation.empty() ? "none" : now_->operation,
                        .where = where,
                        .what = std::move(what),
                        .exchange = now_->seq,
                        .shown_by = render_exchange(*now_)});
}

void Grader::grade_alone(const Exchange& exchange) {
  now_ = &exchange;
  if (exchange.status == 422) {
    const Json* detail = find(*exchange.response_body, "detail");
    if (detail == nullptr || !detail->is_array()) {
      report(FindingKind::type, "body/detail", "the document shows an array of validation errors for a 422");
    }
    return;
  }
  const Schema* schema = answer_schema(exchange);
  if (schema == nullptr || exchange.status >= 300 || is_pending_login(exchange)) return;
  if (exchange.method == "HEAD") return;
  if (exchange.response_body->is_null()) {
    if (exchange.response_bytes.value_or(0) < (std::uint64_t{4} << 20U)) {
      report(FindingKind::type, "body", "not JSON, where the document shows an object");
    }
    return;
  }
  for (const contract::Violation& one : contract::validate_response(*exchange.response_body, *schema).violations) {
    std::string where;
    for (const contract::Step& step : one.loc) {
      if (const auto* name = std::get_if<std::string>(&step)) where += (where.empty() ? "" : "/") + *name;
    }
    const bool is_missing = one.type == "missing";
    const bool is_null = one.input.is_null() && !is_missing;
    report(is_missing ? FindingKind::missing
           : is_null  ? FindingKind::null
                      : FindingKind::type,
           where,
           is_missing ? "missing, but the document requires it" : one.message);
  }
  collect_unknown(*exchange.response_body, *schema, nullptr);
  check_pages(exchange);
}

/// Collects unknown members, except those that the mock sends too.
void Grader::collect_unknown(const Json& theirs, const Schema& schema, const Json* ours) {
  if (!theirs.is_object()) return;
  for (const auto& [name, member] : theirs.items()) {
    const Field* field = contract::find_field(schema, name);
    if (field == nullptr) {
      if (name.starts_with("x_unknown_")) continue;  // added by the mock itself for list_extra=unknown_fields
      findings_.add(UnknownField{std::string(schema.name), name, type_in_table(member)});
      continue;
    }
    const bool is_array = field->type.kind == Kind::array;
    const Type& type = is_array ? *field->type.items : field->type;
    if (type.kind != Kind::object) continue;
    if (is_array && member.is_array()) {
      for (const Json& item : member) collect_unknown(item, *type.object, ours);
    } else if (!is_array) {
      collect_unknown(member, *type.object, ours);
    }
  }
}

void Grader::check_pages(const Exchange& theirs) {
  const Operation* operation = contract::find_operation(theirs.operation);
  const Json* data = find(*theirs.response_body, "data");
  if (operation == nullptr || operation->paging == contract::Paging::none || data == nullptr || !data->is_array()) {
    return;
  }
  const http::Pairs query = http::parse_query(theirs.query);
  const auto given = [&query](std::string_view name) {
    const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
    return found == query.end() ? std::nullopt : std::optional(found->second);
  };
  const auto cursor = given("cursor");
  if (operation->method == contract::Method::get) {
    const contract::Parameter* parameter = contract::find_parameter(*operation, "limit");
    const std::string fallback(parameter == nullptr ? "" : parameter->field.fallback);
    const auto limit = parse_bounded(given("limit").value_or(fallback));
    if (theirs.operation != "sync.pull" && limit && limit->is_number_unsigned() &&
        data->size() > limit->get<std::size_t>()) {
      report(FindingKind::items,
             "body/data",
             fmt::format("more items than the limit: {}, not {}", data->size(), limit->get<std::size_t>()));
    }
  }
  std::string list = theirs.operation + theirs.request_header("authorization");
  for (const auto& [name, value] : query) list += name == "cursor" ? "" : fmt::format("&{}={}", name, value);
  std::set<std::string>& seen = pages_[list];
  if (!cursor) seen.clear();
  std::set<std::string> here;
  for (const Json& item : *data) {
    std::string id = id_of_item(item);
    if (id.empty()) id = name_of_item(item);
    if (id.empty() || theirs.operation.starts_with("search")) continue;
    if (seen.contains(id)) report(FindingKind::repeated, "body/data", "an item of the page before comes again");
    if (!here.insert(id).second) report(FindingKind::repeated, "body/data", "an item comes twice");
  }
  seen.merge(here);
  if (cursor && find_text(*theirs.response_body, "next_cursor") == cursor) {
    report(FindingKind::repeated, "body/next_cursor", "the next page is this page");
  }
}

void Grader::grade_beside(const Exchange& exchange, const Replayed& ours) {
  now_ = &exchange;
  if (exchange.status < 300) remember_written(*exchange.request_body);
  const int status = ours.answer.status;
  if (exchange.status != status) {
    const bool is_elsewhere = ours.is_foreign && (exchange.status < 400 || status < 400);
    const bool is_shut_out = exchange.status == 403 && !permitted_.contains(exchange.operation);
    if (!is_elsewhere && !is_shut_out) {
      report(FindingKind::status, "status", fmt::format("{}; the mock answers {}", exchange.status, status));
    }
    return;
  }
  compare_headers(*exchange.response_headers, ours.answer.response_headers);
  auto parsed = ours.answer.response_body.empty() ? Result<Json>(Json()) : parse_bounded(ours.answer.response_body);
  if (!parsed || status == 304 || exchange.method == "HEAD") return;
  if (exchange.response_body->is_null() && parsed->is_object()) {
    if (exchange.response_bytes.value_or(0) < (std::uint64_t{4} << 20U))
      report(FindingKind::type, "body", "not JSON; the mock sends an object");
    return;
  }
  const Schema* schema = answer_schema(exchange);
  if (status >= 400 && (schema == nullptr || find(*parsed, "conflicts") == nullptr))
    return compare_errors(*exchange.response_body, *parsed);
  const Operation* operation = contract::find_operation(exchange.operation);
  if (schema == nullptr && operation != nullptr) schema = operation->responses.front().schema;
  if (schema == nullptr) return;
  // What the caller may see, and what already existed, differs from service to service.
  const bool is_own = !ours.is_foreign && exchange.operation != "me.get" && exchange.operation != "discovery.get" &&
                      exchange.operation != "tests.catalog";
  // An id of before that both sides know by chance (two mocks of one seed) names two objects.
  compare_objects(*exchange.response_body, *parsed, *schema, {.has_same_values = is_own, .binds = !ours.is_foreign});
}

void Grader::remember_written(const Json& body) {
  if (!body.is_object()) return;
  for (const auto& [name, value] : body.items()) {
    if (value.is_string()) written_.emplace(name, value.get<std::string>());
    if (value.is_object()) remember_written(value);
    if (value.is_array()) {
      for (const Json& item : value) remember_written(item);
    }
  }
}

void Grader::compare_headers(const Json& theirs, const ws::http::Headers& ours) {
  for (const std::string_view name : compared_headers) {
    const auto sent = ws::http::find_header(ours, name);
    const Json* has = find(theirs, name);
    if (sent && has == nullptr)
      report(FindingKind::header, fmt::format("header/{}", name), "missing; the mock sends it");
    if (!sent || has == nullptr || !has->is_string()) continue;
    const std::string text = to_lower(sent->substr(0, sent->find(';')));
    if (name == "content-type" && has->get<std::string>() != text) {
      report(FindingKind::header,
             "header/content-type",
             fmt::format("{}; the mock sends {}", has->get<std::string>(), text));
    }
  }
}

void Grader::compare_errors(const Json& theirs, const Json& ours) {
  if (!theirs.is_object() || !ours.is_object()) return;
  for (const auto& [name, mine] : ours.items()) {
    const Json* member = find(theirs, name);
    if (member == nullptr) {
      report(FindingKind::missing, "body/" + name, "missing; the mock sends it");
    } else if (!is_same_type(*member, mine)) {
      report(
          FindingKind::type, "body/" + name, fmt::format("{}; the mock sends {}", type_name(*member), type_name(mine)));
    } else if (name == "code" || name == "error" || name == "required_scope" || name == "required_role") {
      if (*member != mine)
        report(FindingKind::code, "body/" + name, fmt::format("{}; the mock says {}", shown(*member), shown(mine)));
    } else if (mine.is_number() && name.ends_with("revision") && *member != mine) {
      report(FindingKind::value, "body/" + name, fmt::format("{}; the mock says {}", shown(*member), shown(mine)));
    } else if (name == "detail" && mine.is_object()) {
      if (find_text(*member, "code") != find_text(mine, "code")) {
        report(FindingKind::code, "body/detail/code", fmt::format("{}; the mock says {}", shown(*member), shown(mine)));
      }
    }
  }
  const Json* detail = find(theirs, "detail");
  const Json* mine = find(ours, "detail");
  if (detail == nullptr || mine == nullptr || !detail->is_array() || !mine->is_array()) return;
  std::set<std::string> their_types;
  std::set<std::string> our_types;
  for (const Json& one : *detail) their_types.insert(find_text(one, "type").value_or(""));
  for (const Json& one : *mine) our_types.insert(find_text(one, "type").value_or(""));
  if (their_types != our_types) {
    report(FindingKind::code,
           "body/detail/type",
           fmt::format("{}; the mock says {}", shown(Json(their_types)), shown(Json(our_types))));
  }
}

void Grader::compare_objects(const Json& theirs, const Json& ours, const Schema& schema, const At& at) {
  if (!theirs.is_object() || !ours.is_object()) return;
  for (const auto& [name, mine] : ours.items()) {
    const Field* field = contract::find_field(schema, name);
    if (field == nullptr) continue;
    const Json* member = find(theirs, name);
    const std::string where = at.where + "/" + name;
    if (member == nullptr) {
      report(FindingKind::missing, where, "missing; the mock sends it");
      continue;
    }
    compare(*member,
            mine,
            field->type,
            {.where = where,
             .member = field->name,
             .has_same_values = at.has_same_values,
             .null = field->null,
             .binds = at.binds});
  }
}

void Grader::compare(const Json& theirs, const Json& ours, const Type& type, const At& at) {
  if (theirs.is_null() != ours.is_null()) {
    const bool may_be_null = at.null == Null::yes || is_knowledge(now_->operation);
    // `next_cursor` depends on the number of items, which is compared separately.
    if (may_be_null && (!at.has_same_values || at.member == "next_cursor")) return;
    return report(
        FindingKind::null, at.where, theirs.is_null() ? "null; not null in the mock" : "not null; null in the mock");
  }
  if (theirs.is_null()) return;
  if (!is_same_type(theirs, ours)) {
    return report(
        FindingKind::type, at.where, fmt::format("{}; the mock sends {}", type_name(theirs), type_name(ours)));
  }
  if (theirs.is_array()) return compare_arrays(theirs, ours, type, at);
  if (theirs.is_object()) {
    if (type.kind == Kind::object) return compare_objects(theirs, ours, *type.object, at);
    if (type.kind == Kind::any) return;
    for (const auto& [name, mine] : ours.items()) {
      const Json* member = find(theirs, name);
      if (member == nullptr) {
        // Members of free-form objects are determined by the request; those of maps by existing data.
        if (at.has_same_values) report(FindingKind::missing, at.where + "/" + name, "missing; the mock sends it");
      } else if (member->is_string() && mine.is_string()) {
        compare_texts(member->get<std::string>(),
                      mine.get<std::string>(),
                      contract::string(),
                      {.where = at.where + "/" + name, .member = name, .has_same_values = false, .binds = at.binds});
      }
    }
    return;
  }
  if (theirs.is_string()) return compare_texts(theirs.get<std::string>(), ours.get<std::string>(), type, at);
  const bool is_told = theirs.is_boolean() || contains(number_members, at.member);
  if (at.has_same_values && is_told && theirs != ours && !is_knowledge(now_->operation)) {
    report(FindingKind::value, at.where, fmt::format("{}; the mock says {}", shown(theirs), shown(ours)));
  }
}

void Grader::compare_texts(const std::string& theirs, const std::string& ours, const Type& type, const At& at) {
  const bool is_placeholder = !theirs.empty() && placeholder_length(theirs, 0) == theirs.size();
  if (is_placeholder || (is_uuid(theirs) && is_uuid(ours))) {
    if (!at.binds) return;
    const bool is_new = binding_.bind(theirs, ours);
    if (!is_new && at.has_same_values && !is_placeholder && !is_knowledge(now_->operation)) {
      report(FindingKind::value, at.where, "the id of another object");
    }
    return;
  }
  if (!at.has_same_values || type.kind == Kind::date_time) return;
  // The mock's clock may be ahead, so a timed operation may already have ended there.
  if (at.member == "status" && (theirs == "queued" || theirs == "running" || theirs == "pending")) return;
  const bool is_word = type.kind == Kind::choice || contains(word_members, at.member);
  const bool is_hash = at.member == "content_sha256" && !now_->operation.starts_with("files.");
  const bool is_read_back = written_.contains(
      {std::string(at.member), binding_.theirs_of(ours) != nullptr ? *binding_.theirs_of(ours) : ours});
  const bool is_knowing = is_knowledge(now_->operation) && !is_read_back && at.member != "status";
  if (theirs == ours || is_knowing || (!is_word && !is_hash && !is_read_back)) return;
  report(FindingKind::value, at.where, fmt::format("{}; the mock says {}", shown(theirs), shown(ours)));
}

void Grader::compare_arrays(const Json& theirs, const Json& ours, const Type& type, const At& at) {
  if (type.items == nullptr) return;
  const Type& item = *type.items;
  if (item.kind != Kind::object) {
    if (!theirs.empty() && !ours.empty())
      compare(theirs.front(),
              ours.front(),
              item,
              {.where = at.where,
               .member = at.member,
               .has_same_values = at.has_same_values && theirs.size() == ours.size() && item.kind == Kind::uuid,
               .binds = at.binds && theirs.size() == 1 && ours.size() == 1});
    return;
  }
  const std::vector<std::size_t> places = aligned(theirs, ours, binding_);
  std::size_t last = 0;
  bool in_order = true;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const bool is_known = places[i] != nothing;
    if (is_known) {
      in_order = in_order && places[i] >= last;
      last = places[i];
      compare(theirs[i],
              ours[places[i]],
              item,
              {.where = at.where, .has_same_values = at.has_same_values, .binds = at.binds});
    } else if (!ours.empty()) {
      compare(theirs[i], ours.front(), item, {.where = at.where, .has_same_values = false, .binds = false});
    }
  }
  if (is_knowledge(now_->operation)) return;
  if (!in_order) report(FindingKind::order, at.where, "the same items in another order");
  // An item known to both sides that only the mock lists. If the page is incomplete, it may be on another page.
  const Json* cursor = at.where == "body/data" ? find(*now_->response_body, "next_cursor") : nullptr;
  const bool is_cut = cursor != nullptr && cursor->is_string();
  for (std::size_t k = 0; k < ours.size() && !is_cut && at.has_same_values; ++k) {
    const bool is_there = std::ranges::find(places, k) != places.end();
    const bool is_known = binding_.is_bound(id_of_item(ours[k])) || (theirs.empty() && at.where != "body/data");
    if (!is_there && is_known) report(FindingKind::items, at.where, "an item is missing that the mock lists");
  }
}

}  // namespace ws::mock::compare
