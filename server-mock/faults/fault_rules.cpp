#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/suggestion.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/operations/fields.hpp"
#include "server-mock/faults/faults.hpp"
#include "server-mock/faults/operation_names.hpp"

namespace ws::mock {
namespace {

using contract::optional;
using contract::required;
using contract::Schema;

constexpr contract::Type any_argument = {};
constexpr std::string_view phases[] = {"before", "after"};
constexpr contract::Field effect_fields[] = {
    optional("status", any_argument),         optional("headers", contract::text_map()),
    optional("body", any_argument),           optional("retry_after", any_argument),
    optional("delay_ms", any_argument),       optional("hang", any_argument),
    optional("reset", any_argument),          optional("close_without_answer", any_argument),
    optional("truncate_at", any_argument),    optional("dribble", any_argument),
    optional("bad_json", any_argument),       optional("wrong_length", any_argument),
    optional("bad_hash", any_argument),       optional("stall_ms", any_argument),
    optional("empty_page", any_argument),     optional("repeat_page", any_argument),
    optional("cut_upload", any_argument),     optional("damage_upload", any_argument),
    optional("expire_key", any_argument),     optional("revoke_key", any_argument),
    optional("lose_lease", any_argument),     optional("bump_revision", any_argument),
    optional("remove_member", any_argument),  optional("small_pages", any_argument),
    optional("other_origin", any_argument),   optional("then_down", any_argument),
    optional("time_offset", any_argument),    optional("slow_operation_ms", any_argument),
    optional("fail_operation", any_argument),
};
constexpr Schema effect_schema = {.name = "Effect", .fields = effect_fields};
constexpr contract::Field rule_fields[] = {
    optional("id", contract::string(1, 100)),
    optional("operation", contract::string(1, 100)),
    optional("method", contract::string(1, 20)),
    optional("path", contract::string(1, 200)),
    optional("nth", contract::integer_at_least(1)),
    optional("every", contract::integer_at_least(1)),
    optional("after", contract::integer_at_least(0)),
    optional("times", contract::integer_at_least(1)),
    optional("for_ms", contract::integer(1, 600'000)),
    optional("probability", contract::number()),
    optional("phase", contract::choice(phases)),
    required("effect", contract::object(effect_schema)),
};
constexpr Schema rule_schema = {.name = "FaultRule", .fields = rule_fields};

constexpr contract::Field status_fields[] = {
    optional("status", contract::integer(200, 599)),
    optional("code", contract::integer(200, 599)),
    optional("headers", contract::text_map()),
    optional("body", any_argument),
};
constexpr Schema status_schema = {.name = "Status", .fields = status_fields};
constexpr contract::Field dribble_fields[] = {
    optional("bytes", contract::integer(1, 1 << 30)),
    optional("every_ms", contract::integer(0, 600'000)),
};
constexpr Schema dribble_schema = {.name = "Dribble", .fields = dribble_fields};

constexpr std::int64_t longest_delay_ms = 600'000;
constexpr std::int64_t usual_wrong_length = 10;

/// Reads the members of one effect, in each of their forms.
class EffectReader {
 public:
  EffectReader(const Json& value, const Loc& loc, ValidationErrors& errors)
      : value_(value), loc_(loc), errors_(errors) {}

  Effect read() {
    Effect effect;
    read_answer(effect);
    read_end(effect);
    read_time(effect.delay, "delay_ms");
    if (const auto at = number("truncate_at", {"bytes", "at"}, std::int64_t{1} << 40)) {
      effect.truncate_at = static_cast<std::uint64_t>(*at);
    }
    read_dribble(effect);
    read_wrong_length(effect);
    effect.bad_json = flag("bad_json");
    effect.bad_hash = flag("bad_hash");
    read_time(effect.stall, "stall_ms");
    effect.empty_page = flag("empty_page");
    effect.repeat_page = flag("repeat_page");
    effect.cut_upload = flag("cut_upload");
    effect.damage_upload = flag("damage_upload");
    effect.expire_key = flag("expire_key");
    effect.revoke_key = flag("revoke_key");
    effect.lose_lease = flag("lose_lease");
    effect.bump_revision = flag("bump_revision");
    effect.remove_member = flag("remove_member");
    effect.small_pages = flag("small_pages");
    read_other_origin(effect);
    effect.then_down = flag("then_down");
    read_time_offset(effect);
    read_time(effect.slow_operation, "slow_operation_ms");
    effect.fail_operation = flag("fail_operation");
    return effect;
  }

 private:
  Loc at(std::string_view name) const { return within(loc_, std::string(name)); }
  void add_error(std::string_view name, std::string_view message) {
    const Json* given = find(value_, name);
    errors_.add(at(name), message, given == nullptr ? value_ : *given);
  }

  /// `true`, `{}` and `null` enable the effect, `false` does not.
  bool flag(std::string_view name) {
    const Json* given = find(value_, name);
    if (given == nullptr) return false;
    if (given->is_boolean()) return given->get<bool>();
    if (given->is_null() || given->is_object()) return true;
    add_error(name, fmt::format("{} takes true or {{}}", name));
    return false;
  }

  /// A number, or an object that has it as one of these members.
  std::optional<std::int64_t> number(std::string_view name,
                                     std::initializer_list<std::string_view> names,
                                     std::int64_t most) {
    const Json* given = find(value_, name);
    if (given == nullptr) return std::nullopt;
    const Json* inner = given;
    for (const std::string_view one : names) {
      if (given->is_object() && find(*given, one) != nullptr) inner = find(*given, one);
    }
    if (inner->is_number_integer() && *inner >= 0 && *inner <= most) return inner->get<std::int64_t>();
    add_error(name, fmt::format("{} takes an integer from 0 to {}", name, most));
    return std::nullopt;
  }

  void read_time(std::chrono::milliseconds& time, std::string_view name) {
    if (const auto ms = number(name, {"ms", name}, longest_delay_ms)) time = std::chrono::milliseconds(*ms);
  }

  void read_retry_after(Effect& effect) {
    const Json* after = find(value_, "retry_after");
    if (after == nullptr) return;
    if (after->is_null()) {
      effect.retry_after = "";
      return;
    }
    const Json* inner = find(*after, "seconds");
    if (inner == nullptr) inner = after;
    if (inner->is_number_integer() && *inner >= 0) {
      effect.retry_after = dump(*inner);
    } else if (inner->is_string() && !inner->get_ref<const std::string&>().empty() &&
               http::is_field_value(inner->get_ref<const std::string&>())) {
      effect.retry_after = inner->get<std::string>();
    } else {
      add_error("retry_after", "retry_after takes seconds, the text of the field, or null: none");
    }
    // Without `status` it is sent with 429.
    effect.answer = Substitute{.status = 429};
  }

  void read_answer(Effect& effect) {
    read_retry_after(effect);
    const Json* status = find(value_, "status");
    if (status == nullptr) {
      for (const std::string_view name : {"headers", "body"}) {
        if (find(value_, name) != nullptr) add_error(name, fmt::format("{} belongs to a status", name));
      }
      return;
    }
    Json whole = status->is_object() ? *status : Json{{"status", *status}};
    for (const std::string_view name : {"headers", "body"}) {
      if (const Json* beside = find(value_, name); beside != nullptr) whole[std::string(name)] = *beside;
    }
    errors_.check(whole, status_schema, at("status"));
    const auto code = find_integer(whole, find(whole, "status") != nullptr ? "status" : "code");
    if (!code) add_error("status", "status takes the number of a status, or an object with one");
    effect.answer = Substitute{.status = static_cast<int>(code.value_or(503))};
    if (const Json* headers = find(whole, "headers"); headers != nullptr && headers->is_object()) {
      for (const auto& [name, text] : headers->items()) {
        if (!text.is_string()) continue;
        effect.answer->headers.emplace_back(name, text.get<std::string>());
        if (http::is_field_name(name) && http::is_field_value(effect.answer->headers.back().second)) continue;
        errors_.add(within(within(at("status"), "headers"), name),
                    "A header's name is a token without blanks, its value one line",
                    text);
      }
    }
    if (const Json* body = find(whole, "body"); body != nullptr) effect.answer->body = *body;
  }

  void read_end(Effect& effect) {
    using End = http::WireFault::End;
    constexpr std::pair<std::string_view, End> ends[] = {
        {"hang", End::hang}, {"reset", End::reset}, {"close_without_answer", End::close_without_answer}};
    for (const auto& [name, end] : ends) {
      if (!flag(name)) continue;
      if (effect.end != End::as_usual) add_error(name, "Give only one of hang, reset and close_without_answer");
      effect.end = end;
    }
  }

  /// `true`: this server by another host name; or the origin.
  void read_other_origin(Effect& effect) {
    const Json* given = find(value_, "other_origin");
    if (given == nullptr || !given->is_string()) {
      effect.other_origin = flag("other_origin");
      return;
    }
    effect.other_origin = true;
    effect.origin = given->get<std::string>();
    const bool is_http = effect.origin.starts_with("http://") || effect.origin.starts_with("https://");
    if (!is_http || effect.origin.find('/', effect.origin.find("//") + 2) != std::string::npos) {
      add_error("other_origin", "other_origin takes true, or an origin: \"http://localhost:4712\"");
    }
  }

  void read_time_offset(Effect& effect) {
    const Json* given = find(value_, "time_offset");
    if (given == nullptr) return;
    effect.time_offset = given->is_string() ? given->get<std::string>() : std::string();
    if (!offset_minutes(effect.time_offset)) add_error("time_offset", "time_offset takes +HH:MM or -HH:MM");
  }

  void read_dribble(Effect& effect) {
    const Json* given = find(value_, "dribble");
    if (given == nullptr) return;
    const Json whole = given->is_null() || *given == true ? Json::object() : *given;
    errors_.check(whole, dribble_schema, at("dribble"));
    effect.dribble_bytes = static_cast<std::uint64_t>(find_integer(whole, "bytes").value_or(1));
    effect.dribble_every = std::chrono::milliseconds(find_integer(whole, "every_ms").value_or(10));
  }

  void read_wrong_length(Effect& effect) {
    const Json* given = find(value_, "wrong_length");
    if (given == nullptr) return;
    if (const auto by = find_integer(*given, "by")) {
      effect.wrong_length = WrongLength{.by = *by};
    } else if (given->is_number() || (given->is_object() && !given->empty())) {
      const auto declared = number("wrong_length", {"length", "bytes", "content_length"}, std::int64_t{1} << 40);
      if (declared) effect.wrong_length = WrongLength{.declared = static_cast<std::uint64_t>(*declared)};
    } else if (flag("wrong_length")) {
      effect.wrong_length = WrongLength{.by = usual_wrong_length};
    }
  }

  const Json& value_;
  Loc loc_;
  ValidationErrors& errors_;
};

std::uint64_t rule_count(const Json& value, std::string_view name) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, find_integer(value, name).value_or(0)));
}

void check_target(const Json& value, const Loc& loc, ValidationErrors& errors) {
  const auto operation = find_text(value, "operation");
  if (operation && !names_operation(*operation)) {
    errors.add(within(loc, "operation"), no_such_operation(*operation), *operation);
  }
  if (const auto path = find_text(value, "path"); path && !path->starts_with('/') && !path->starts_with('*')) {
    errors.add(within(loc, "path"), "A path starts with a slash", *path);
  } else if (path && (*path == "/_mock" || path->starts_with("/_mock/"))) {
    errors.add(within(loc, "path"), "Control calls are never faulted", *path);
  } else if (operation && names_operation(*operation) && operation->find_first_not_of('*') != std::string::npos) {
    // Without an operation any path and method may be asked for: the answer is a 404 then, which the rule changes.
    const std::string method = find_text(value, "method").value_or("");
    if (operations_that_match({.operation = *operation, .method = method}).empty()) {
      errors.add(within(loc, "method"), never_matched(*operation), method);
    } else if (operations_that_match({*operation, method, path.value_or("")}).empty()) {
      errors.add(within(loc, "path"), never_matched(*operation), *path);
    }
  }
  for (const char* name : {"operation", "method", "path"}) {
    if (find(value, name) != nullptr) return;
  }
  errors.add(
      within(loc, "operation"), "missing", "Name the requests: operation (\"*\" is any), or method and path", value);
}

bool has_member(const contract::Operation& operation, std::string_view name) {
  return operation.request != nullptr && contract::find_field(*operation.request, name) != nullptr;
}

/// Whether an answer of the operation holds a hash of bytes.
bool shows_hash(const contract::Operation& operation) {
  const auto is_hash = [](const contract::Field& field) { return field.name.find("sha256") != std::string_view::npos; };
  for (const contract::Response& response : operation.responses) {
    if (response.body == contract::Body::bytes) return true;
    if (response.schema == nullptr) continue;
    for (const contract::Schema* const schema : contract::reached_from(*response.schema)) {
      if (std::any_of(schema->fields.begin(), schema->fields.end(), is_hash)) return true;
    }
  }
  return false;
}

/// Effects that not every request can have, with those that can.
struct BoundEffect {
  std::string_view name = {};
  bool Effect::*is_on = nullptr;
  bool (*can_have)(const contract::Operation& operation) = nullptr;
};
constexpr BoundEffect bound_effects[] = {
    {"lose_lease",
     &Effect::lose_lease,
     [](const contract::Operation& operation) {
       return operation.id == "events.claim" || operation.path.find("{event_id}") != std::string_view::npos ||
              has_member(operation, "source_event_id");
     }},
    {"bump_revision",
     &Effect::bump_revision,
     [](const contract::Operation& operation) {
       const auto has = [&operation](const char* name) { return has_member(operation, name); };
       return operation.id == "docs.create" || operation.path.find("{document_id}") != std::string_view::npos ||
              operation.path.find("{conflict_id}") != std::string_view::npos || has("document_id") || has("items") ||
              has("entries") || has("push_ids");
     }},
    {"bad_hash", &Effect::bad_hash, shows_hash},
    {"empty_page",
     &Effect::empty_page,
     [](const contract::Operation& operation) {
       const contract::Schema* const answer = operation.responses.front().schema;
       return answer == nullptr || contract::find_field(*answer, "data") != nullptr;
     }},
    {"repeat_page",
     &Effect::repeat_page,
     [](const contract::Operation& operation) {
       const contract::Parameter* const cursor = contract::find_parameter(operation, "cursor");
       return cursor != nullptr && cursor->in == contract::In::query;
     }},
    {"small_pages",
     &Effect::small_pages,
     [](const contract::Operation& operation) {
       const contract::Parameter* const limit = contract::find_parameter(operation, "limit");
       return limit != nullptr && limit->in == contract::In::query;
     }},
    {"other_origin",
     &Effect::other_origin,
     [](const contract::Operation& operation) {
       const contract::Schema* const answer = operation.responses.front().schema;
       return answer != nullptr && contract::find_field(*answer, "upload_url") != nullptr;
     }},
    {"fail_operation",
     &Effect::fail_operation,
     [](const contract::Operation& operation) { return operation.id == "files.organize"; }},
    {"cut_upload", &Effect::cut_upload, nullptr},
    {"damage_upload", &Effect::damage_upload, nullptr},
};

/// Refuses an effect that none of the requests can have.
void check_effects(const FaultRule& rule, const Loc& loc, ValidationErrors& errors) {
  if (rule.operation.find_first_not_of('*') == std::string::npos) return;
  const auto named = operations_that_match({rule.operation, rule.method, rule.path});
  for (const BoundEffect& effect : bound_effects) {
    if (!(rule.effect.*effect.is_on)) continue;
    const auto can_have = [&effect](const std::string& name) {
      const contract::Operation* const operation = contract::find_operation(name);
      if (effect.can_have == nullptr) return name == "upload.put";
      return operation != nullptr && effect.can_have(*operation);
    };
    if (named.empty() || std::ranges::any_of(named, can_have)) continue;
    std::vector<std::string> able;
    std::ranges::copy_if(operation_names(), std::back_inserter(able), can_have);
    errors.add(
        within(loc, std::string(effect.name)),
        fmt::format("{} has no effect on {}; {}", effect.name, rule.operation, nearest_names(rule.operation, able)),
        rule.operation);
  }
}

void check_turns(const Json& value, const Loc& loc, ValidationErrors& errors) {
  int given = 0;
  for (const char* name : {"nth", "every", "after"}) {
    const Json* turn = find(value, name);
    if (turn != nullptr && ++given > 1) errors.add(within(loc, name), "Give only one of nth, every and after", *turn);
  }
  const Json* chance = find(value, "probability");
  if (chance != nullptr && chance->is_number() && (*chance <= 0.0 || *chance > 1.0)) {
    errors.add(within(loc, "probability"), "A probability is a number above 0, at most 1", *chance);
  }
}

}  // namespace

std::optional<FaultRule> read_fault_rule(const Json& value, const Loc& loc, ValidationErrors& errors) {
  const std::size_t before = errors.all().size();
  errors.check(value, rule_schema, loc);
  if (!value.is_object()) return std::nullopt;
  check_target(value, loc, errors);
  check_turns(value, loc, errors);
  FaultRule rule = {.id = find_text(value, "id").value_or(""),
                    .operation = find_text(value, "operation").value_or(""),
                    .method = find_text(value, "method").value_or(""),
                    .path = find_text(value, "path").value_or(""),
                    .nth = rule_count(value, "nth"),
                    .every = rule_count(value, "every"),
                    .times = rule_count(value, "times"),
                    .phase = find_text(value, "phase").value_or("before") == "after" ? Phase::after : Phase::before,
                    .text = value};
  if (find(value, "after") != nullptr) rule.after = rule_count(value, "after");
  rule.for_ms = find_integer(value, "for_ms");
  if (const Json* chance = find(value, "probability"); chance != nullptr && chance->is_number()) {
    rule.probability = chance->get<double>();
  }
  if (const Json* effect = find(value, "effect"); effect != nullptr && effect->is_object()) {
    const Loc place = within(loc, "effect");
    const std::size_t so_far = errors.all().size();
    rule.effect = EffectReader(*effect, place, errors).read();
    if (rule.effect == Effect{} && errors.all().size() == so_far) {
      errors.add(place, "The rule has no effect; one is {\"status\": 503}", *effect);
    }
    check_effects(rule, place, errors);
  }
  if (errors.all().size() > before) return std::nullopt;
  return rule;
}

std::vector<FaultRule> read_fault_rules(const Json& value, const Loc& loc, ValidationErrors& errors) {
  const Json* list = &value;
  Loc place = loc;
  for (const std::string_view name : {"faults", "rules"}) {
    const Json* inner = find(value, name);
    if (inner == nullptr || !inner->is_array()) continue;
    list = inner;
    place = within(loc, std::string(name));
    for (const auto& [member, other] : value.items()) {
      if (member != name)
        errors.add(within(loc, member), "extra_forbidden", unknown_member_message(member, {{name}}), other);
    }
    break;
  }
  std::vector<FaultRule> rules;
  const auto read = [&](const Json& one, const Loc& at) {
    if (auto rule = read_fault_rule(one, at, errors)) rules.push_back(std::move(*rule));
  };
  if (!list->is_array()) {
    read(*list, place);
  } else {
    for (std::size_t i = 0; i < list->size(); ++i) read((*list)[i], within(place, i));
  }
  return rules;
}

}  // namespace ws::mock
