#include "api-client/contract/validate.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "api-client/contract/operations.hpp"
#include "tests/support/samples.hpp"

using namespace ws::contract;
using ws::Json;

namespace {

Json parsed(std::string_view text) { return ws::parse_bounded(text).value(); }

/// The 422 body of a request body; the expectations below are what pydantic 2.13 answers for the same model.
Json refusal(std::string_view operation, std::string_view text) {
  const Json body = parsed(text);
  return to_json(validate_body(*find_operation(operation), &body).violations);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Findings query(std::string_view operation, const Pairs& pairs) {
  return validate_parameters(*find_operation(operation), {}, pairs, {});
}

/// The type of the only violation; "" where there is none.
std::string only_type(const Findings& findings) {
  if (findings.violations.empty()) return "";
  REQUIRE(findings.violations.size() == 1);
  return findings.violations.front().type;
}

}  // namespace

TEST_CASE("validate: all violations of a body come at once, in pydantic's words", "[contract]") {
  CHECK(refusal("events.claim", R"({"lease_seconds": 29, "wait_seconds": true})") == parsed(R"({"detail": [
    {"loc": ["body", "worker_id"], "msg": "Field required", "type": "missing",
     "input": {"lease_seconds": 29, "wait_seconds": true}},
    {"loc": ["body", "lease_seconds"], "msg": "Input should be greater than or equal to 30",
     "type": "greater_than_equal", "input": 29, "ctx": {"ge": 30}},
    {"loc": ["body", "wait_seconds"], "msg": "Input should be a valid integer", "type": "int_type", "input": true}
    ], "code": "validation_error"})"));
}

TEST_CASE("validate: lengths, lists and choices are told as pydantic tells them", "[contract]") {
  CHECK(refusal("agents.update", R"({"display_name": "", "permissions": ["read", "admin"]})") == parsed(R"({"detail": [
    {"loc": ["body", "display_name"], "msg": "String should have at least 1 character", "type": "string_too_short",
     "input": "", "ctx": {"min_length": 1}},
    {"loc": ["body", "permissions", 1], "msg": "Input should be 'read', 'comment' or 'edit'", "type": "literal_error",
     "input": "admin", "ctx": {"expected": "'read', 'comment' or 'edit'"}}
    ], "code": "validation_error"})"));
  CHECK(refusal("agents.update", R"({"permissions": []})") == parsed(R"({"detail": [
    {"loc": ["body", "permissions"], "msg": "List should have at least 1 item after validation, not 0",
     "type": "too_short", "input": [], "ctx": {"field_type": "List", "min_length": 1, "actual_length": 0}}
    ], "code": "validation_error"})"));
  CHECK(refusal("agents.update", R"({"permissions": ["x", "y", "z", "w"]})") == parsed(R"({"detail": [
    {"loc": ["body", "permissions"], "msg": "List should have at most 3 items after validation, not 4",
     "type": "too_long", "input": ["x", "y", "z", "w"],
     "ctx": {"field_type": "List", "max_length": 3, "actual_length": 4}}
    ], "code": "validation_error"})"));
}

TEST_CASE("validate: a text that is no UUID is told why, as pydantic tells it", "[contract]") {
  const std::pair<std::string, std::string> cases[] = {
      {"019a0000-0000-7000-8000-00000000000", "invalid group length in group 4: expected 12, found 11"},
      {"019a00000-000-7000-8000-000000000000", "invalid group length in group 0: expected 8, found 9"},
      {"", "invalid length: expected length 32 for simple format, found 0"},
      {"019a0000-0000-7000-8000-00000000000g", "invalid character: found `g` at 36"},
      {"019a0000-0000-7000-8000:000000000000", "invalid character: found `:` at 24"},
      {"a-b", "invalid group count: expected 5, found 2"},
      {"é19a", "invalid character: found `é` at 1"},
  };
  for (const auto& [text, fault] : cases) {
    const Json body = {{"target_root_node_id", text}, {"instruction", "x"}};
    const auto found = validate_body(*find_operation("files.organize"), &body).violations;
    REQUIRE(found.size() == 1);
    CHECK(found.front().message == "Input should be a valid UUID, " + fault);
    CHECK(*found.front().context == Json{{"error", fault}});
  }
}

TEST_CASE("validate: a body that is missing, null or no object is one violation", "[contract]") {
  const Operation& operation = *find_operation("agents.update");
  CHECK(to_json(validate_body(operation, nullptr).violations) ==
        parsed(R"({"detail": [{"loc": ["body"], "msg": "Field required", "type": "missing", "input": null}],
                   "code": "validation_error"})"));
  const Json null = nullptr;
  CHECK(only_type(validate_body(operation, &null)) == "missing");
  const Json list = Json::array();
  CHECK(only_type(validate_body(operation, &list)) == "dict_type");
  const Json empty = Json::object();
  CHECK(validate_body(operation, &empty).violations.empty());
  CHECK(validate_body(*find_operation("docs.get"), nullptr).violations.empty());
}

TEST_CASE("validate: an integer that no 64 bits hold is out of range, not another number", "[contract]") {
  for (const char* text : {"9223372036854775808", "18446744073709551615", "99999999999999999999999"}) {
    CAPTURE(text);
    const std::string body = std::string(R"({"worker_id": "w", "wait_seconds": )") + text + "}";
    CHECK(refusal("events.claim", body)["detail"][0]["type"] == "less_than_equal");
    const std::string negative = std::string(R"({"worker_id": "w", "wait_seconds": -)") + text + "}";
    CHECK(refusal("events.claim", negative)["detail"][0]["type"] == "greater_than_equal");
  }
  // No upper limit: it still is no integer that could be kept.
  const std::string body = R"({"title": "t", "expected_content_revision": 99999999999999999999})";
  CHECK(refusal("docs.update", body)["detail"][0]["type"] == "int_parsing");
  CHECK(only_type(query("docs.list", {{"limit", "99999999999999999999"}})) == "less_than_equal");
  CHECK(only_type(query("docs.list", {{"limit", "-99999999999999999999"}})) == "greater_than_equal");
}

TEST_CASE("validate: query values are lax, as pydantic is", "[contract]") {
  for (const char* text : {"5", "05", "+5", " 5", "5.0", "5.00", "1_0", "5\t"}) {
    CAPTURE(text);
    CHECK(only_type(query("docs.list", {{"limit", text}})).empty());
  }
  for (const char* text : {"", "x", "5.5", "0x5", "1e1", "5.", ".0", "1__0", "_1", "1_", "+-5", "- 5", "٥"}) {
    CAPTURE(text);
    CHECK(only_type(query("docs.list", {{"limit", text}})) == "int_parsing");
  }
  for (const char* text : {"true", "1", "yes", "on", "t", "y", "T", "oN", "false", "0", "no", "off", "f", "N"}) {
    CAPTURE(text);
    CHECK(only_type(query("agents.list", {{"include_revoked", text}})).empty());
  }
  for (const char* text : {"", "maybe", " true", "2"}) {
    CAPTURE(text);
    CHECK(only_type(query("agents.list", {{"include_revoked", text}})) == "bool_parsing");
  }
}

TEST_CASE("parse_lax: the value that a lax text stands for", "[contract]") {
  CHECK(parse_lax(integer(1, 100), "05") == Json(5));
  CHECK(parse_lax(integer(1, 100), "1_0.0") == Json(10));
  CHECK(parse_lax(integer(), "-7") == Json(-7));
  CHECK(parse_lax(integer(1, 100), "101").is_null());
  CHECK(parse_lax(boolean(), "Yes") == Json(true));
  CHECK(parse_lax(boolean(), "off") == Json(false));
  CHECK(parse_lax(boolean(), "2").is_null());
  CHECK(parse_lax(string(), "05") == Json("05"));
}

TEST_CASE("validate: a query value given twice is a violation that shows both", "[contract]") {
  const Findings findings = query("docs.list", {{"limit", "5"}, {"limit", "6"}});
  CHECK(to_json(findings.violations) == parsed(R"({"detail": [
    {"loc": ["query", "limit"], "msg": "Input should be a valid integer", "type": "int_type", "input": ["5", "6"]}
    ], "code": "validation_error"})"));
  CHECK(only_type(query("docs.list", {{"cursor", "a"}, {"cursor", "a"}})) == "string_type");
  CHECK(only_type(query("agents.list", {{"include_revoked", "1"}, {"include_revoked", "1"}})) == "bool_type");
}

TEST_CASE("validate: bytes that are no UTF-8 are no text", "[contract]") {
  CHECK(only_type(query("docs.list", {{"cursor", "\xff"}})) == "string_type");
}

TEST_CASE("validate: header names are compared without regard to case", "[contract]") {
  const Pairs headers = {{"idempotency-key", ws::test::text_of(129)}};
  const auto found = validate_parameters(*find_operation("docs.create"), {}, {}, headers).violations;
  REQUIRE(found.size() == 1);
  CHECK(render(found.front()) == "header.Idempotency-Key: String should have at most 128 characters");
}

TEST_CASE("validate: what the table does not know is reported, wherever it stands", "[contract]") {
  const Json body = parsed(R"({"source_id": "019a0000-0000-7000-8000-00000000000a", "plan_id":
    "019a0000-0000-7000-8000-00000000000a", "items": [{"path": "a.md", "action": "push_create", "colour": 1}],
    "extra": null})");
  const Findings findings = validate_body(*find_operation("sync.push"), &body);
  CHECK(findings.violations.empty());
  const std::vector<std::vector<Step>> expected = {
      {std::string("body"), std::string("items"), std::size_t{0}, std::string("colour")},
      {std::string("body"), std::string("extra")}};
  CHECK(findings.unknown == expected);
  CHECK(query("docs.list", {{"colour", "red"}}).unknown ==
        std::vector<std::vector<Step>>{{std::string("query"), std::string("colour")}});
  CHECK(to_json(std::vector{extra_forbidden(expected[0], 1)})["detail"][0] == parsed(R"(
    {"loc": ["body", "items", 0, "colour"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden",
     "input": 1})"));
}

TEST_CASE("validate: a body that is no JSON has its own violation", "[contract]") {
  CHECK(to_json(std::vector{json_invalid("Expecting value", 5)}) == parsed(R"({"detail": [
    {"loc": ["body", 5], "msg": "JSON decode error", "type": "json_invalid", "input": {},
     "ctx": {"error": "Expecting value"}}], "code": "validation_error"})"));
}

TEST_CASE("validate: the report on a hostile body stays small", "[contract]") {
  Json items = Json::array();
  for (int i = 0; i < 10'000; ++i) items.push_back({{"path", 1}, {"x", ws::test::text_of(500)}});
  const Json body = {{"entries", items}};
  const Findings findings = validate_body(*find_operation("sync.plan"), &body);
  CHECK(findings.violations.size() == max_findings);
  CHECK(findings.unknown.size() <= max_findings);
  CHECK(ws::dump(to_json(findings.violations)).size() < 1'000'000);

  const Json longer = {{"body", ws::test::text_of(20'000)}};
  CHECK(ws::dump(refusal("comments.add", ws::dump(longer))).size() < 600);
}

TEST_CASE("validate: values of any kind in any place are violations, never a crash", "[contract]") {
  ws::SeededRandom random(3);
  const Json values[] = {
      nullptr, true, -1, 1e300, "", "x", Json::array(), {nullptr}, Json::object(), {{"a", {{"b", 1}}}}};
  const auto any = [&] { return values[random.below(std::size(values))]; };
  std::size_t found = 0;
  for (const Operation* operation : operations()) {
    if (operation->request == nullptr) continue;
    for (int round = 0; round < 100; ++round) {
      Json body = ws::test::full_sample(*operation->request);
      for (auto& [key, member] : body.items()) {
        if (random.below(2) == 0) continue;
        member = member.is_array() && random.below(2) == 0 ? Json::array({any(), any()}) : any();
      }
      const Findings findings = validate_body(*operation, &body);
      for (const Violation& violation : findings.violations) CHECK(render(violation).starts_with("body."));
      found += findings.violations.size();
    }
  }
  CHECK(found > 1000);
}

TEST_CASE("validate_response: published fields must stand, assumed ones may be missing or null", "[contract]") {
  for (const Schema* schema : schemas()) {
    CAPTURE(schema->name);
    const Json full = ws::test::full_sample(*schema);
    CHECK(validate_response(full, *schema).violations.empty());
    for (const Field& field : schema->fields) {
      CAPTURE(field.name);
      Json without = full;
      without.erase(std::string(field.name));
      Json nulled = full;
      nulled[std::string(field.name)] = nullptr;
      const bool is_promised = field.source == Source::published && field.presence == Presence::required;
      CHECK(validate_response(without, *schema).violations.empty() != is_promised);
      const bool takes_null = field.source == Source::assumed || field.null == Null::yes;
      CHECK(validate_response(nulled, *schema).violations.empty() == takes_null);
    }
  }
}

TEST_CASE("validate_response: unknown fields are no violation", "[contract]") {
  const Schema* agent = find_operation("agents.update")->responses.front().schema;
  Json body = ws::test::full_sample(*agent);
  body["new_in_v2"] = 1;
  const Findings findings = validate_response(body, *agent);
  CHECK(findings.violations.empty());
  CHECK(findings.unknown.size() == 1);
}
