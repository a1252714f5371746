// Every limit of the table at min-1, min, max and max+1, found by walking the table; and the limits of the API
// document, copied by hand, so that a wrong number in the table is seen.
#include <functional>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "api-client/contract/validate.hpp"
#include "tests/support/samples.hpp"

using namespace ws::contract;
using ws::Json;
using ws::test::sample;
using ws::test::text_of;

namespace {

/// Puts a value into its place in an otherwise valid body, and says what is wrong with the body.
using Try = std::function<std::vector<Violation>(const Json&)>;

/// How often the walk looked, so that a walk past everything does not pass.
struct Looked {
  int limits = 0;
  int fields = 0;
};

void refuses(const Try& attempt, const Json& value, const std::string& type, const Json& context = nullptr) {
  const std::vector<Violation> found = attempt(value);
  REQUIRE(found.size() == 1);
  CHECK(found.front().type == type);
  if (!context.is_null()) CHECK(*found.front().context == context);
}

void accepts(const Try& attempt, const Json& value) {
  const std::vector<Violation> found = attempt(value);
  CAPTURE(found.empty() ? "" : render(found.front()));
  CHECK(found.empty());
}

void check_string(const Type& type, const Try& attempt, Looked& looked) {
  for (const int width : {1, 2, 4}) {
    CAPTURE(width);
    if (type.min && *type.min > 0) {
      refuses(attempt, text_of(*type.min - 1, width), "string_too_short", {{"min_length", *type.min}});
      ++looked.limits;
    }
    if (type.min) accepts(attempt, text_of(*type.min, width));
    if (type.max) {
      accepts(attempt, text_of(*type.max, width));
      refuses(attempt, text_of(*type.max + 1, width), "string_too_long", {{"max_length", *type.max}});
      ++looked.limits;
    }
    if (type.max_bytes) {
      accepts(attempt, text_of(*type.max_bytes / width, width));
      refuses(attempt, text_of(*type.max_bytes / width, width) + "a", "string_too_long");
      ++looked.limits;
    }
  }
}

void check_integer(const Type& type, const Try& attempt, Looked& looked) {
  if (type.min) {
    refuses(attempt, *type.min - 1, "greater_than_equal", {{"ge", *type.min}});
    accepts(attempt, *type.min);
    ++looked.limits;
  }
  if (type.max) {
    accepts(attempt, *type.max);
    refuses(attempt, *type.max + 1, "less_than_equal", {{"le", *type.max}});
    ++looked.limits;
  }
}

void check_wrong_types(const Type& type, const Try& attempt) {
  switch (type.kind) {
    case Kind::string: return refuses(attempt, 5, "string_type");
    case Kind::integer:
      for (const Json& value : {Json("5"), Json(true), Json(1.5)}) refuses(attempt, value, "int_type");
      return;
    case Kind::boolean:
      for (const Json& value : {Json("true"), Json(1)}) refuses(attempt, value, "bool_type");
      return;
    case Kind::uuid:
      accepts(attempt, "019A0000-0000-7000-8000-00000000000A");
      for (const char* text : {"", "x", "019a000000007000800000000000000a", "{019a0000-0000-7000-8000-00000000000a}"}) {
        refuses(attempt, text, "uuid_parsing");
      }
      return refuses(attempt, 5, "uuid_parsing");
    case Kind::choice:
      for (const std::string_view value : type.values) accepts(attempt, value);
      refuses(attempt, "no such value", "literal_error");
      refuses(attempt, "", "literal_error");
      return refuses(attempt, 5, "literal_error");
    case Kind::array: return refuses(attempt, Json::object(), "list_type");
    case Kind::object:
    case Kind::free_object: return refuses(attempt, Json::array(), "dict_type");
    case Kind::number:
    case Kind::date_time:
    case Kind::text_map:
    case Kind::any: FAIL("no request holds one of these");
  }
}

void check_object(const Schema& schema, const Try& attempt, Looked& looked);

Json items_of(const Type& type, std::int64_t count) {
  Json items = Json::array();
  for (std::int64_t i = 0; i < count; ++i) items.push_back(sample(*type.items));
  return items;
}

void check_type(const Type& type, const Try& attempt, Looked& looked);

void check_array(const Type& type, const Try& attempt, Looked& looked) {
  if (type.min && *type.min > 0) {
    refuses(attempt, items_of(type, *type.min - 1), "too_short");
    ++looked.limits;
  }
  if (type.min) accepts(attempt, items_of(type, *type.min));
  if (type.max) {
    accepts(attempt, items_of(type, *type.max));
    refuses(attempt,
            items_of(type, *type.max + 1),
            "too_long",
            {{"field_type", "List"}, {"max_length", *type.max}, {"actual_length", *type.max + 1}});
    ++looked.limits;
  }
  check_type(
      *type.items, [&](const Json& item) { return attempt(Json::array({item})); }, looked);
}

void check_type(const Type& type, const Try& attempt, Looked& looked) {
  check_wrong_types(type, attempt);
  if (type.kind == Kind::string) check_string(type, attempt, looked);
  if (type.kind == Kind::integer) check_integer(type, attempt, looked);
  if (type.kind == Kind::array) check_array(type, attempt, looked);
  if (type.kind == Kind::object) check_object(*type.object, attempt, looked);
}

void check_object(const Schema& schema, const Try& attempt, Looked& looked) {
  for (const Field& field : schema.fields) {
    const std::string name(field.name);
    CAPTURE(schema.name, name);
    ++looked.fields;
    const Try with_field = [&](const Json& value) {
      Json object = sample(schema);
      object[name] = value;
      return attempt(object);
    };
    check_type(field.type, with_field, looked);
    if (field.null == Null::yes) {
      accepts(with_field, nullptr);
    } else {
      CHECK(with_field(nullptr).size() == 1);
    }
    Json without = sample(schema);
    without.erase(name);
    if (field.presence == Presence::required) {
      refuses(attempt, without, "missing");
    } else {
      accepts(attempt, without);
    }
  }
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Valid texts for the parameters of one place, but for `except`.
Pairs sample_pairs(const Operation& operation, In in, std::string_view except) {
  Pairs pairs;
  for (const Parameter& parameter : operation.parameters) {
    if (parameter.in != in || parameter.field.name == except || parameter.field.presence == Presence::optional)
      continue;
    const Json value = sample(parameter.field.type);
    pairs.emplace_back(parameter.field.name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return pairs;
}

Try parameter_attempt(const Operation& operation, const Parameter& parameter) {
  return [&](const Json& value) {
    const std::string_view name = parameter.field.name;
    Pairs pairs[3];
    for (const In in : {In::path, In::query, In::header}) {
      pairs[static_cast<std::size_t>(in)] = sample_pairs(operation, in, name);
    }
    pairs[static_cast<std::size_t>(parameter.in)].emplace_back(
        name, value.is_string() ? value.get<std::string>() : value.dump());
    return validate_parameters(operation, pairs[0], pairs[1], pairs[2]).violations;
  };
}

/// A limit of the API document: characters of a text, value of an integer, items of a list.
struct Published {
  std::string_view operation;
  std::string_view field;
  std::optional<std::int64_t> min;
  std::int64_t max;
  std::string_view fallback = {};
};

// Copied by hand from the API document's endpoint tables and "Limits".
constexpr std::optional<std::int64_t> none = {};
constexpr Published published[] = {
    {"workspaces.create", "Idempotency-Key", none, 128},
    {"projects.create", "Idempotency-Key", none, 128},
    {"nodes.move", "Idempotency-Key", none, 128},
    {"questions.create", "Idempotency-Key", none, 128},
    {"docs.create", "Idempotency-Key", none, 128},
    {"tests.run_launch", "Idempotency-Key", none, 128},
    {"questions.list", "limit", 1, 100, "20"},
    {"conversations.list", "limit", 1, 100, "20"},
    {"docs.list", "limit", 1, 100, "50"},
    {"files.list", "limit", 1, 100, "50"},
    {"tests.cases_list", "limit", 1, 100, "50"},
    {"tests.suites_list", "limit", 1, 100, "50"},
    {"tests.runs_list", "limit", 1, 100, "50"},
    {"tests.cases_list", "cursor", none, 500},
    {"tests.suites_list", "cursor", none, 500},
    {"tests.runs_list", "cursor", none, 500},
    {"tests.cases_list", "query", none, 200},
    {"tests.cases_list", "capability", none, 160},
    {"tests.cases_list", "owner", none, 160},
    {"tests.cases_list", "role", none, 80},
    {"tests.cases_list", "cost_class", none, 40},
    {"tests.cases_list", "suite_id", none, 120},
    {"tests.suites_list", "query", none, 200},
    {"tests.runs_list", "status", none, 32},
    {"tests.runs_list", "case_id", none, 160},
    {"tests.runs_list", "suite_id", none, 160},
    {"files.upload_start", "size_bytes", 1, 104'857'600},
    {"files.upload_finish", "size_bytes", 1, 104'857'600},
    {"files.upload_start", "file_name", 1, 255},
    {"files.upload_finish", "file_name", 1, 255},
    {"files.upload_start", "mime_type", 1, 255, "\"application/octet-stream\""},
    {"files.upload_finish", "mime_type", 1, 255, "\"application/octet-stream\""},
    {"files.upload_finish", "blob_name", 1, 1024},
    {"comments.add", "body", 1, 12'000},
    {"comments.reply", "body", 1, 12'000},
    {"comments.add", "entry_point", none, 64},
    {"comments.reply", "entry_point", none, 64},
    {"comments.set_status", "entry_point", none, 64},
    {"comments.reply", "source_event_lease_token", 20, 200},
    {"files.organize", "instruction", 1, 8000},
    {"agents.create", "handle", 1, 64},
    {"agents.create", "display_name", 1, 100},
    {"agents.create", "avatar_url", none, 500},
    {"agents.create", "permissions", 1, 3},
    {"agents.update", "display_name", 1, 100},
    {"agents.update", "avatar_url", none, 500},
    {"agents.update", "permissions", 1, 3},
    {"auth.start", "client_name", 1, 100},
    {"auth.start", "cli_version", 1, 40},
    {"auth.start", "scopes", 1, 12},
    {"auth.token", "device_code", 32, 200},
    {"events.renew", "lease_token", 20, 200},
    {"events.complete", "lease_token", 20, 200},
    {"events.fail", "lease_token", 20, 200},
    {"events.claim", "lease_seconds", 30, 900, "300"},
    {"events.renew", "lease_seconds", 30, 900, "300"},
    {"events.claim", "wait_seconds", 0, 30, "0"},
    {"events.fail", "error", 1, 4000},
    {"events.claim", "worker_id", 1, 120},
};

/// The value whose size is `size`, by the kind of the field.
Json value_of_size(const Type& type, std::int64_t size) {
  if (type.kind == Kind::string) return text_of(size, 2);
  return type.kind == Kind::array ? items_of(type, size) : Json(size);
}

}  // namespace

TEST_CASE("limits: every field of every body is held to the table, at its edges", "[contract]") {
  Looked looked;
  for (const Operation* operation : operations()) {
    if (operation->request == nullptr) continue;
    CAPTURE(operation->id);
    const Try attempt = [&](const Json& body) { return validate_body(*operation, &body).violations; };
    check_object(*operation->request, attempt, looked);
  }
  CHECK(looked.limits > 100);
  CHECK(looked.fields > 90);
}

TEST_CASE("limits: every path, query and header value is held to the table, at its edges", "[contract]") {
  Looked looked;
  for (const Operation* operation : operations()) {
    for (const Parameter& parameter : operation->parameters) {
      CAPTURE(operation->id, parameter.field.name);
      ++looked.fields;
      const Try attempt = parameter_attempt(*operation, parameter);
      const Type& type = parameter.field.type;
      if (type.kind == Kind::string) check_string(type, attempt, looked);
      if (type.kind == Kind::integer) check_integer(type, attempt, looked);
      if (type.kind == Kind::integer) refuses(attempt, "x", "int_parsing");
      if (type.kind == Kind::boolean) refuses(attempt, "maybe", "bool_parsing");
      if (type.kind == Kind::uuid) refuses(attempt, "x", "uuid_parsing");
      if (type.kind == Kind::choice) refuses(attempt, "no such value", "literal_error");
      accepts(attempt, sample(type));
    }
  }
  CHECK(looked.limits > 60);
  CHECK(looked.fields > 60);
}

TEST_CASE("limits: the table has the numbers of the API document", "[contract]") {
  for (const Published& limit : published) {
    CAPTURE(limit.operation, limit.field);
    const Operation* operation = find_operation(limit.operation);
    REQUIRE(operation != nullptr);
    const Parameter* parameter = find_parameter(*operation, limit.field);
    const Field* field = parameter != nullptr ? &parameter->field : find_field(*operation->request, limit.field);
    REQUIRE(field != nullptr);
    CHECK(field->source == Source::published);
    CHECK(field->type.limits == Source::published);
    CHECK(field->type.min == limit.min);
    CHECK(field->fallback == limit.fallback);
    const Try attempt = [&](const Json& value) {
      if (parameter != nullptr) return parameter_attempt(*operation, *parameter)(value);
      Json body = sample(*operation->request);
      body[std::string(limit.field)] = value;
      return validate_body(*operation, &body).violations;
    };
    accepts(attempt, value_of_size(field->type, limit.max));
    CHECK(attempt(value_of_size(field->type, limit.max + 1)).size() == 1);
    if (!limit.min) continue;
    accepts(attempt, value_of_size(field->type, *limit.min));
    if (*limit.min > 0 || field->type.kind == Kind::integer) {
      CHECK(attempt(value_of_size(field->type, *limit.min - 1)).size() == 1);
    }
  }
}

TEST_CASE("limits: what breaks only an assumed limit says so", "[contract]") {
  const Json body = {{"title", text_of(301)}, {"content", "text"}};
  const auto title = validate_body(*find_operation("docs.create"), &body).violations;
  REQUIRE(title.size() == 1);
  CHECK(title.front().limit == Source::assumed);

  const Json question = {{"prompt", text_of(8001)}, {"sources", {"elsewhere"}}};
  const auto prompt = validate_body(*find_operation("questions.create"), &question).violations;
  REQUIRE(prompt.size() == 2);
  CHECK(prompt[0].limit == Source::assumed);
  CHECK(prompt[1].limit == Source::assumed);

  // The document's own two names for the first providers are placeholders.
  const Json agent = {{"handle", "h"}, {"display_name", "d"}, {"provider", "acme"}};
  const auto provider = validate_body(*find_operation("agents.create"), &agent).violations;
  REQUIRE(provider.size() == 1);
  CHECK(provider.front().limit == Source::assumed);

  const Json comment = {{"body", text_of(12'001)}};
  const auto text = validate_body(*find_operation("comments.add"), &comment).violations;
  REQUIRE(text.size() == 1);
  CHECK(text.front().limit == Source::published);
}
