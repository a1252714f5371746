#include "server-mock/journal/verify.hpp"

#include <algorithm>
#include <limits>
#include <regex>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/operations/fields.hpp"
#include "api-client/contract/secrets.hpp"
#include "server-mock/faults/operation_names.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/target.hpp"

namespace ws::mock {
namespace {

using contract::optional;

constexpr std::size_t max_nearest = 3;

constexpr contract::Type any = {};
constexpr contract::Field match_fields[] = {
    optional("operation", contract::string(1, 100)),
    optional("method", contract::string(1, 20)),
    optional("path", contract::string(1, 300)),
    optional("status", any),
    optional("query", contract::free_object()),
    optional("headers", contract::free_object()),
    optional("body", any),
};
constexpr contract::Schema match_schema = {.name = "Match", .fields = match_fields};
constexpr contract::Field verification_fields[] = {
    contract::required("match", any),
    optional("times", contract::integer_at_least(0)),
    optional("min", contract::integer_at_least(0)),
    optional("max", contract::integer_at_least(0)),
    optional("in_order", contract::boolean()),
};
constexpr contract::Schema verification_schema = {.name = "Verification", .fields = verification_fields};

bool is_subset(const Json& wanted, const Json& given) {
  if (wanted.is_object() && given.is_object()) {
    return std::ranges::all_of(wanted.items(), [&](const auto& member) {
      const Json* found = find(given, member.key());
      return found != nullptr && is_subset(member.value(), *found);
    });
  }
  if (wanted.is_array() && given.is_array()) {
    if (wanted.size() != given.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!is_subset(wanted[i], given[i])) return false;
    }
    return true;
  }
  return wanted == given;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : dump(value); }

Json status_of(const Exchange& exchange) { return exchange.status == 0 ? Json() : Json(exchange.status); }

bool status_fits(const Json& wanted, const Json& given) {
  if (!wanted.is_string()) return wanted == given;
  const auto& text = wanted.get_ref<const std::string&>();
  const std::string number = given.is_number() ? dump(given) : std::string();
  return text.size() == number.size() &&
         std::ranges::equal(text, number, [](char a, char b) { return a == b || a == 'x' || a == 'X'; });
}

/// The first header of that name, compared without case.
const Json* find_field(const Json& headers, std::string_view name) {
  for (const auto& [key, value] : headers.items()) {
    if (equal_ignoring_case(key, name)) return &value;
  }
  return nullptr;
}

/// `true`: there is such a field; `false`: there is none; `{pattern: REGEX}`: a part of it fits; else the whole text.
bool header_fits(const Json& wanted, const Json* given) {
  if (wanted.is_boolean()) return wanted.get<bool>() == (given != nullptr);
  if (given == nullptr) return false;
  const auto pattern = find_text(wanted, "pattern");
  return pattern ? std::regex_search(text_of(*given), std::regex(*pattern)) : text_of(*given) == text_of(wanted);
}

/// Refuses other forms of a header, and patterns that are none.
void check_header(const Json& wanted, const Loc& loc, ValidationErrors& errors) {
  if (!wanted.is_object()) return;
  const auto pattern = find_text(wanted, "pattern");
  if (!pattern || wanted.size() != 1) {
    errors.add(loc, "A header is its text, true, false or {pattern: REGEX}", wanted);
    return;
  }
  try {
    const std::regex tried(*pattern);
  } catch (const std::regex_error&) {
    errors.add(loc, "The pattern is not a regular expression", wanted);
  }
}

const std::vector<Json> matches_of(const Json& verification) {
  const Json& match = *find(verification, "match");
  return match.is_array() ? match.get<std::vector<Json>>() : std::vector<Json>{match};
}

/// How many expectations of the list are met in order, with other requests in between.
std::size_t matched_in_order(const std::vector<Json>& matches, std::span<const Exchange> entries) {
  std::size_t next = 0;
  for (const Exchange& entry : entries) {
    if (next < matches.size() && differences(matches[next], entry).empty()) ++next;
  }
  return next;
}

std::int64_t count_of(const Json& match, std::span<const Exchange> entries) {
  return std::ranges::count_if(entries, [&](const Exchange& entry) { return differences(match, entry).empty(); });
}

/// Those with the fewest differences, newest first.
Json nearest(const Json& match, std::span<const Exchange> entries) {
  std::vector<std::pair<std::vector<std::string>, const Exchange*>> found;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (std::vector<std::string> missed = differences(match, *entry); !missed.empty()) {
      found.emplace_back(std::move(missed), &*entry);
    }
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first.size(); });
  Json nearest = Json::array();
  for (const auto& [missed, entry] : std::span(found).first(std::min(found.size(), max_nearest))) {
    nearest.push_back({{"seq", entry->seq},
                       {"method", entry->method},
                       {"path", entry->path},
                       {"query", text_or_null(entry->query)},
                       {"operation", text_or_null(entry->operation)},
                       {"status", status_of(*entry)},
                       {"differences", missed}});
  }
  return nearest;
}

/// Compares segment by segment; a path parameter matches any segment.
std::size_t path_distance(const std::vector<std::string>& path, const std::vector<std::string>& wanted) {
  std::size_t distance = 0;
  for (std::size_t i = 0; i < std::max(path.size(), wanted.size()); ++i) {
    const std::string_view a = i < path.size() ? std::string_view(path[i]).substr(0, 64) : std::string_view();
    const std::string_view b = i < wanted.size() ? std::string_view(wanted[i]) : std::string_view();
    if (!a.empty() && !b.empty() && glob_matches(b, a)) continue;
    distance += a.empty() || b.empty() ? 8 : std::min<std::size_t>(8, edit_distance(a, b));
  }
  return distance;
}

/// "The nearest are GET /v1/documents, ..."
std::string nearest_paths(const std::string& method, const std::string& path) {
  std::string text;
  for (const Json& one : nearest_operations(method, path)) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "the nearest are " : ", ", text_of(one["method"]), text_of(one["path"]));
  }
  return text;
}

/// Whether an entry has what these conditions ask of it, whatever others ask.
bool is_seen(std::span<const Exchange> entries, const Json& condition) {
  return std::ranges::any_of(entries, [&](const Exchange& entry) { return differences(condition, entry).empty(); });
}

/// Whether a status that the mock or a fault rule can answer fits: a number, or "4xx".
bool is_status(const Json& wanted) {
  constexpr int first = 200;
  constexpr int last = 599;
  if (wanted.is_null()) return true;  // no answer
  for (int status = first; status <= last; ++status) {
    if (status_fits(wanted, status)) return true;
  }
  return false;
}

/// Conditions that no request can meet, alone or together: with `times: 0` they would pass unseen. What the journal has
/// seen is possible, whatever the table says.
void check_possible(const Json& match, std::span<const Exchange> entries, const Loc& loc, ValidationErrors& errors) {
  const std::string operation = find_text(match, "operation").value_or("");
  const std::string method = find_text(match, "method").value_or("");
  const std::string path = find_text(match, "path").value_or("");
  const bool has_operation = operation.find_first_not_of('*') != std::string::npos;
  if (const Json* status = find(match, "status"); status != nullptr && !is_status(*status)) {
    errors.add(within(loc, "status"), "A status is a number from 200 to 599, or a pattern such as \"4xx\"", *status);
  }
  std::vector<std::string> methods = {"HEAD", "OPTIONS"};
  for (const contract::Operation* const one : contract::operations()) methods.emplace_back(contract::name(one->method));
  const auto has_name = [&method](const std::string& known) {
    return equal_ignoring_case(method, known) || glob_matches(method, known);
  };
  if (!method.empty() && std::ranges::none_of(methods, has_name) && !is_seen(entries, {{"method", method}})) {
    errors.add(within(loc, "method"), no_such("method", to_upper(method), methods), method);
    return;
  }
  const auto is_among = [&](const RequestPattern& pattern) { return !operations_that_match(pattern).empty(); };
  if (has_operation && !method.empty() && !is_among({.operation = operation, .method = method})) {
    errors.add(within(loc, "method"), never_matched(operation), method);
  } else if (has_operation && !path.empty() && !is_among({operation, method, path})) {
    errors.add(within(loc, "path"), never_matched(operation), path);
  } else if (!path.empty() && !is_among({.path = path}) && !is_seen(entries, {{"path", path}})) {
    errors.add(within(loc, "path"), fmt::format("There is no path {}; {}", path, nearest_paths(method, path)), path);
  } else if (!path.empty() && !method.empty() && !equal_ignoring_case(method, "OPTIONS") &&
             !is_among({.method = method, .path = path}) && !is_seen(entries, {{"method", method}, {"path", path}})) {
    // (OPTIONS is no operation, but is answered at every path.)
    errors.add(within(loc, "method"),
               fmt::format("No operation is {} {}; {}", to_upper(method), path, nearest_paths(method, path)),
               method);
  }
}

using Types = std::vector<const contract::Type*>;
using Values = std::vector<const Json*>;

/// `seen`: what the journal has in the place of `wanted`.
void check_body(const Json& wanted, const Types& types, const Values& seen, const Loc& loc, ValidationErrors& errors) {
  const auto is_free = [](const contract::Type* type) {
    return type->kind == contract::Kind::any || type->kind == contract::Kind::free_object;
  };
  if (std::ranges::any_of(types, is_free)) return;
  if (wanted.is_array()) {
    Types items;
    for (const contract::Type* type : types) {
      if (type->items != nullptr) items.push_back(type->items);
    }
    Values seen_items;
    for (const Json* value : seen) {
      if (!value->is_array()) continue;
      for (const Json& item : *value) seen_items.push_back(&item);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) check_body(wanted[i], items, seen_items, within(loc, i), errors);
  }
  if (!wanted.is_object()) return;
  std::vector<std::string> known;
  for (const contract::Type* type : types) {
    if (type->object == nullptr) continue;
    for (const contract::Field& field : type->object->fields) known.emplace_back(field.name);
  }
  for (const auto& [name, value] : wanted.items()) {
    Types inner;
    for (const contract::Type* type : types) {
      if (type->object == nullptr) continue;
      for (const contract::Field& field : type->object->fields) {
        if (field.name == name) inner.push_back(&field.type);
      }
    }
    Values seen_inner;
    for (const Json* one : seen) {
      if (const Json* found = find(*one, name); found != nullptr) seen_inner.push_back(found);
    }
    if (!inner.empty()) {
      check_body(value, inner, seen_inner, within(loc, name), errors);
    } else if (seen_inner.empty()) {
      errors.add(within(loc, name), no_such("member", name, known), value);
    }
  }
}

/// Any client may send any header, so that a name that nobody knows is no fault; one that is nearly a known one is.
bool is_misspelled(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t most_typos = 2;
  const std::size_t near = std::min(most_typos, name.size() / 4);
  return std::ranges::find(known, name) == known.end() &&
         std::ranges::any_of(known, [&](const std::string& one) { return edit_distance(name, one) <= near; });
}

void check_match_names(const Json& match, std::span<const Exchange> entries, const Loc& loc, ValidationErrors& errors) {
  const std::string pattern = find_text(match, "operation").value_or("*");
  if (!names_operation(pattern)) {
    errors.add(within(loc, "operation"), no_such_operation(pattern), pattern);
    return;
  }
  check_possible(match, entries, loc, errors);
  std::vector<contract::Type> requests;
  std::vector<std::string> parameters;
  std::vector<std::string> headers;
  for (const std::string_view name : contract::shown_headers()) headers.emplace_back(name);
  for (const std::string_view name : contract::credential_headers()) headers.emplace_back(name);
  const std::string method = find_text(match, "method").value_or("");
  const std::string path = find_text(match, "path").value_or("");
  const std::vector<std::string> possible = operations_that_match({pattern, method, path});
  bool is_described = !possible.empty();
  for (const std::string& name : possible) {
    const contract::Operation* operation = contract::find_operation(name);
    if (operation == nullptr) {
      is_described = is_described && pattern.find('*') != std::string::npos;
      continue;
    }
    if (operation->request != nullptr) {
      requests.push_back({.kind = contract::Kind::object, .object = operation->request});
    }
    for (const contract::Parameter& parameter : operation->parameters) {
      if (parameter.in == contract::In::query) parameters.emplace_back(parameter.field.name);
      if (parameter.in == contract::In::header) headers.push_back(to_lower(parameter.field.name));
    }
  }
  Values bodies;
  for (const Exchange& entry : entries) {
    for (const auto& [name, value] : entry.request_headers->items()) headers.push_back(name);
    if (!glob_matches(pattern, entry.operation)) continue;
    bodies.push_back(&*entry.request_body);
    for (auto& [name, value] : http::parse_query(entry.query)) parameters.push_back(name);
  }
  if (const Json* body = find(match, "body"); body != nullptr && is_described) {
    Types types;
    for (const contract::Type& type : requests) types.push_back(&type);
    check_body(*body, types, bodies, within(loc, "body"), errors);
  }
  if (const Json* query = find(match, "query"); query != nullptr && is_described) {
    for (const auto& [name, value] : query->items()) {
      if (std::ranges::find(parameters, name) != parameters.end()) continue;
      errors.add(within(within(loc, "query"), name), no_such("parameter", name, parameters), value);
    }
  }
  const Json* wanted = find(match, "headers");
  if (wanted == nullptr) return;
  for (const auto& [name, value] : wanted->items()) {
    check_header(value, within(within(loc, "headers"), name), errors);
    if (!is_misspelled(to_lower(name), headers)) continue;
    errors.add(within(within(loc, "headers"), name), no_such("header", name, headers), value);
  }
}

}  // namespace

void check_names(const Json& verification, std::span<const Exchange> entries, ValidationErrors& errors) {
  const Loc place = within({std::string("body")}, "match");
  const Json* match = find(verification, "match");
  if (match == nullptr) return;
  if (!match->is_array()) return check_match_names(*match, entries, place, errors);
  for (std::size_t i = 0; i < match->size(); ++i) check_match_names((*match)[i], entries, within(place, i), errors);
}

std::vector<std::string> differences(const Json& match, const Exchange& exchange) {
  std::vector<std::string> found;
  const auto differ = [&](std::string_view what, const Json& wanted, std::string_view given) {
    found.push_back(fmt::format("{}: {}, not {}", what, given, text_of(wanted)));
  };
  const auto check_name = [&](std::string_view what, const Json& wanted, const std::string& given) {
    const bool fits = !given.empty() && wanted.is_string() && glob_matches(text_of(wanted), given);
    if (!fits) differ(what, wanted, given.empty() ? "null" : given);
  };
  for (const auto& [name, wanted] : match.items()) {
    if (name == "operation") {
      check_name(name, wanted, exchange.operation);
    } else if (name == "path") {
      check_name(name, wanted, exchange.path);
    } else if (name == "method") {
      if (!equal_ignoring_case(text_of(wanted), exchange.method)) check_name(name, wanted, exchange.method);
    } else if (name == "status") {
      if (!status_fits(wanted, status_of(exchange))) differ(name, wanted, dump(status_of(exchange)));
    } else if (name == "body") {
      if (!is_subset(wanted, *exchange.request_body)) differ(name, wanted, text_of(*exchange.request_body));
    } else if (name == "headers") {
      for (const auto& [field, text] : wanted.items()) {
        const Json* value = find_field(*exchange.request_headers, field);
        if (!header_fits(text, value)) differ("header " + field, text, value == nullptr ? "none" : text_of(*value));
      }
    } else if (name == "query") {
      const http::Pairs query = http::parse_query(exchange.query);
      for (const auto& [parameter, text] : wanted.items()) {
        const bool there = std::ranges::find(query, std::pair(std::string(parameter), text_of(text))) != query.end();
        if (!there) differ("query " + parameter, text, exchange.query.empty() ? "null" : exchange.query);
      }
    }
  }
  return found;
}

void check_verification(const Json& verification, ValidationErrors& errors) {
  const Loc in_body = {std::string("body")};
  errors.check(verification, verification_schema, in_body);
  const Json* match = find(verification, "match");
  if (match == nullptr) return;
  const Loc place = within(in_body, "match");
  if (match->is_array()) {
    for (std::size_t i = 0; i < match->size(); ++i) errors.check((*match)[i], match_schema, within(place, i));
  } else {
    errors.check(*match, match_schema, place);
  }
  if (find(verification, "times") == nullptr) return;
  for (const char* bound : {"min", "max"}) {
    const Json* given = find(verification, bound);
    if (given != nullptr) errors.add(within(in_body, bound), "Either times, or min and max", *given);
  }
}

Json verify(const Json& verification, std::span<const Exchange> entries) {
  const std::vector<Json> matches = matches_of(verification);
  if (find_bool(verification, "in_order").value_or(false) && matches.size() > 1) {
    const std::size_t matched = matched_in_order(matches, entries);
    Json result = {{"verified", matched == matches.size()}, {"matched", matched}};
    if (matched == matches.size()) return result;
    result["expected"] = {{"in_order", matches.size()}};
    result["nearest"] = nearest(matches[matched], entries);
    return result;
  }
  const auto times = find_integer(verification, "times");
  const bool bounded = times || find(verification, "max") != nullptr || find(verification, "min") != nullptr;
  const std::int64_t min = times.value_or(find_integer(verification, "min").value_or(bounded ? 0 : 1));
  const std::int64_t max =
      times.value_or(find_integer(verification, "max").value_or(std::numeric_limits<std::int64_t>::max()));
  std::int64_t matched = 0;
  for (const Json& match : matches) {
    matched = count_of(match, entries);
    if (matched >= min && matched <= max) continue;
    Json expected = {{"min", min}};
    if (max != std::numeric_limits<std::int64_t>::max()) expected["max"] = max;
    return {{"verified", false},
            {"matched", matched},
            {"expected", std::move(expected)},
            // Where more came than expected, nothing is missing.
            {"nearest", matched > max ? Json::array() : nearest(match, entries)}};
  }
  return {{"verified", true}, {"matched", matched}};
}

Json nearest_operations(const std::string& method, const std::string& path) {
  const auto segments = http::split_path(path).value_or(std::vector<std::string>{path});
  std::vector<std::pair<std::size_t, const contract::Operation*>> found;
  for (const contract::Operation* operation : contract::operations()) {
    const auto wanted = http::split_path(operation->path).value_or(std::vector<std::string>());
    const std::size_t other_method = contract::name(operation->method) == method ? 0 : 1;
    found.emplace_back(path_distance(segments, wanted) * 2 + other_method, operation);
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, const contract::Operation*>::first);
  Json near = Json::array();
  for (std::size_t i = 0; i < max_nearest; ++i) {
    const contract::Operation& operation = *found[i].second;
    near.push_back(
        {{"operation", operation.id}, {"method", contract::name(operation.method)}, {"path", operation.path}});
  }
  return near;
}

}  // namespace ws::mock
