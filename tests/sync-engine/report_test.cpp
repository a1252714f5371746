// The JSON of `status`, `plan` and `run` against its written schema, for every kind of row.
#include "sync-engine/model/report.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync {
namespace {

using test::path;

// Each member is required and no other is allowed, but those whose name ends in `?`, which may be missing. A list holds
// what its one element says. A text names the allowed types, or, between bars, the allowed words.
constexpr std::string_view schema = R"({
  "v": "|1|",
  "source_id": "string",
  "base_revision": "number",
  "revision": "number",
  "actions": [{
    "path": "string",
    "action": "|push_create|push_update|push_delete|push_move|pull_create|pull_update|pull_delete|pull_move|conflict|unchanged|merge|adopt|",
    "reason": "string",
    "document_id": "string or null",
    "previous_path": "string or null",
    "state": "|planned|staged|done|failed|",
    "error": {"kind": "string", "code": "string or null", "message": "string", "hint": "string or null"}
  }],
  "conflicts": [{
    "id": "string or null",
    "path": "string",
    "kind": "|revision|hash|edit_delete|delete_edit|path|rewound|attachment|",
    "document_id": "string or null"
  }],
  "skipped": [{
    "path": "string",
    "reason": "|symlink|unreadable|not_utf8|holds_nul|too_large|ignored|twin|dangerous_name|busy|special|unportable_name|refused|"
  }],
  "detached": [{"path": "string", "document_id": "string", "reason": "string"}],
  "counts": "object",
  "clean": "boolean",
  "remarks": [{"path": "string or null", "remark": "|unportable_name|same_revision|state_remade|"}],
  "operation?": "number",
  "guard?": {"deletes_here": "number", "deletes_there": "number",
             "emptied_here": "number", "emptied_there": "number", "absent": "number", "tracked": "number",
             "empty_listing": "boolean", "foreign_source": "boolean",
             "files_deleted_here": "number", "files_deleted_there": "number", "files_tracked": "number"},
  "held_back?": {"deletes_here": "number", "deletes_there": "number",
             "emptied_here": "number", "emptied_there": "number", "absent": "number", "tracked": "number",
             "empty_listing": "boolean", "foreign_source": "boolean",
             "files_deleted_here": "number", "files_deleted_there": "number", "files_tracked": "number"},
  "growth?": {"files": "number", "bytes": "number"},
  "not_included": "number",
  "ended_by?": {"kind": "string", "code": "string or null", "message": "string", "hint": "string or null"}
})";

std::string type_of(const Json& value) {
  if (value.is_number()) return "number";
  return value.type_name();
}

bool names_type(const std::string& allowed, const std::string& type) {
  return (" " + allowed + " ").find(" " + type + " ") != std::string::npos;
}

/// What breaks the schema, as "actions.0.path: number"; empty: nothing.
std::string violation(const Json& rule, const Json& value, const std::string& at) {
  if (rule.is_string()) {
    const auto allowed = rule.get<std::string>();
    if (allowed.front() != '|') return names_type(allowed, type_of(value)) ? "" : at + ": " + type_of(value);
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    return allowed.find("|" + word + "|") == std::string::npos ? at + ": " + word : "";
  }
  if (rule.is_array()) {
    if (!value.is_array()) return at + ": no list";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto wrong = violation(rule[0], value[i], at + "." + std::to_string(i)); !wrong.empty()) return wrong;
    }
    return "";
  }
  if (value.is_null() && at.ends_with("error")) return "";
  if (!value.is_object()) return at + ": no object";
  std::size_t known = 0;
  for (const auto& [key, inner] : rule.items()) {
    const bool optional = key.back() == '?';
    const std::string name = optional ? key.substr(0, key.size() - 1) : key;
    if (!value.contains(name)) {
      if (optional) continue;
      return at + ": misses " + name;
    }
    ++known;
    if (auto wrong = violation(inner, value.at(name), at + "." + name); !wrong.empty()) return wrong;
  }
  return known == value.size() ? "" : at + ": a member that nobody wrote down";
}

std::string violation(const Report& report) {
  const auto rule = parse_bounded(schema);
  REQUIRE(rule);
  return violation(*rule, to_json(report), "report");
}

constexpr ActionKind kinds[] = {ActionKind::push_create,
                                ActionKind::push_update,
                                ActionKind::push_delete,
                                ActionKind::push_move,
                                ActionKind::pull_create,
                                ActionKind::pull_update,
                                ActionKind::pull_delete,
                                ActionKind::pull_move,
                                ActionKind::conflict,
                                ActionKind::unchanged,
                                ActionKind::merge,
                                ActionKind::adopt};

Report full_report() {
  Report report{.source_id = "s", .base_revision = {1}, .revision = {2}};
  for (const ActionKind kind : kinds) {
    for (const Row::State state : {Row::State::planned, Row::State::staged, Row::State::done, Row::State::failed}) {
      Row row{.action = {.kind = kind, .path = path("a.md"), .reason = "edited here"}, .state = state};
      if (state == Row::State::done) row.action.document = DocumentId("d");
      if (state == Row::State::done) row.action.previous_path = path("b.md");
      if (state == Row::State::failed) row.fail({.kind = Failure::Kind::conflict, .what = "it moved"});
      report.rows.push_back(std::move(row));
    }
  }
  for (int number = 0; number <= static_cast<int>(ConflictCase::attachment_folder_here); ++number) {
    const auto which = static_cast<ConflictCase>(number);
    report.conflicts.push_back({.which = which, .path = path("a.md")});
    report.conflicts.push_back({.which = which, .path = path("a.md"), .document = DocumentId("d"), .id = "c"});
  }
  for (int reason = 0; reason <= static_cast<int>(SkipReason::unportable_name); ++reason) {
    report.skipped.push_back({.path = "a.md", .reason = static_cast<SkipReason>(reason)});
  }
  report.detached.push_back({.path = path("a.md"), .document = DocumentId("d"), .reason = "absent"});
  report.remarks = {{.word = Remark::Word::unportable_name, .path = "a:b.md"}, {.word = Remark::Word::state_remade}};
  return report;
}

}  // namespace

TEST_CASE("report: its JSON is as the schema says, for every kind of row, conflict and reason", "[sync-engine]") {
  CHECK(violation(Report{}) == "");
  Report report = full_report();
  CHECK(violation(report) == "");
  report.guard = Guard{.deletes_here = 12, .tracked = 20};
  report.ended_by = Failure{.kind = Failure::Kind::auth, .what = "no key", .hint = "run `ws login`", .code = "expired"};
  CHECK(violation(report) == "");
}

TEST_CASE("report: the schema refuses what is not in it", "[sync-engine]") {
  const auto rule = parse_bounded(schema);
  REQUIRE(rule);
  Json value = to_json(full_report());
  value["actions"][0]["state"] = "perhaps";
  CHECK(violation(*rule, value, "report") == "report.actions.0.state: perhaps");
  value = to_json(full_report());
  value["actions"][0].erase("reason");
  CHECK(violation(*rule, value, "report") == "report.actions.0: misses reason");
  value = to_json(full_report());
  value["more"] = 1;
  CHECK(violation(*rule, value, "report") == "report: a member that nobody wrote down");
}

TEST_CASE("report: the counts tell each kind once, and how many failed", "[sync-engine]") {
  const Json counts = to_json(full_report()).at("counts");
  CHECK(counts.at("push_create") == 4);
  CHECK(counts.at("failed") == 12);
}

}  // namespace ws::sync
