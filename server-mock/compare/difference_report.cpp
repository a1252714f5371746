#include "server-mock/compare/difference_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/yaml.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/pages/pages.hpp"

namespace ws::mock::compare {
namespace {

std::string_view default_of(std::string_view key) {
  const auto switches = assumption_switches();
  const auto found = std::ranges::find(switches, key, &AssumptionSwitch::key);
  return found == switches.end() ? std::string_view() : found->values.front();
}

bool is_moved(const SwitchValue& one) { return !one.value.empty() && one.value != default_of(one.key); }

std::string render_switches(const DifferenceReport& report) {
  std::string text = fmt::format("{:<22} {:<18} {:<9} {}\n", "ASSUMPTION", "VALUE", "HOW SURE", "SHOWN BY");
  for (const SwitchValue& one : report.switches) {
    const std::string shown_by = one.value.empty() ? "it takes " + one.needs : one.shown_by;
    text += fmt::format("{:<22} {:<18} {:<9} {}\n",
                        one.key,
                        one.value.empty() ? "-" : one.value + (is_moved(one) ? " *" : ""),
                        name(one.certainty),
                        shown_by);
  }
  const std::string line = assume_line(report);
  if (!line.empty()) text += fmt::format("\nA mock like it (* is not the mock's default):\n  ws-mock {}\n", line);
  return text;
}

std::string render_findings(const DifferenceReport& report) {
  std::map<std::string, std::vector<const Finding*>> by_operation;
  for (const Finding& one : report.findings) by_operation[one.operation].push_back(&one);
  std::string text;
  for (const auto& [operation, findings] : by_operation) {
    text += fmt::format("\n{}\n", operation);
    for (const Finding* one : findings) {
      const std::string times = one->times > 1 ? fmt::format(", {} times", one->times) : "";
      text += fmt::format("  {:<9} {}: {}\n            {} (exchange {}{})\n",
                          name(one->kind),
                          one->where,
                          one->what,
                          one->shown_by,
                          one->exchange,
                          times);
    }
  }
  return text;
}

/// Suggested rows for the operation table's files, by schema.
std::string render_patch(const DifferenceReport& report) {
  std::string text;
  std::string schema;
  for (const UnknownField& one : report.unknown) {
    if (one.schema != schema) text += fmt::format("  {}\n", one.schema);
    schema = one.schema;
    text += fmt::format("    + assumed(optional(\"{}\", {})),\n", one.member, one.type);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

DifferenceReport make_report(std::string other_side,
                             const Exchanges& exchanges,
                             const Findings& findings,
                             std::vector<SwitchValue> switches) {
  DifferenceReport report = {.other_side = std::move(other_side),
                             .switches = std::move(switches),
                             .findings = findings.all(),
                             .unknown = findings.unknown(),
                             .exchanges = exchanges.size()};
  std::set<std::string> seen;
  for (const Exchange& one : exchanges) seen.insert(one.operation);
  for (const contract::Operation* operation : contract::operations()) {
    if (!seen.contains(std::string(operation->id))) report.not_seen.emplace_back(operation->id);
  }
  return report;
}

bool differs(const DifferenceReport& report) {
  return !report.findings.empty() || !report.unknown.empty() || std::ranges::any_of(report.switches, is_moved);
}

std::string assume_line(const DifferenceReport& report) {
  std::string line;
  for (const SwitchValue& one : report.switches) {
    if (is_moved(one)) line += fmt::format("{}--assume {}={}", line.empty() ? "" : " ", one.key, one.value);
  }
  return line;
}

std::string assumptions_yaml(const DifferenceReport& report) {
  Json values = Json::object();
  for (const SwitchValue& one : report.switches) {
    if (!one.value.empty()) values[std::string(one.key)] = one.value;
  }
  return fmt::format("# What {} shows, for `ws-mock --assume-file`.\n{}", report.other_side, to_yaml(values));
}

Json to_json(const DifferenceReport& report) {
  Json switches = Json::array();
  for (const SwitchValue& one : report.switches) {
    switches.push_back({{"key", one.key},
                        {"value", one.value.empty() ? Json(nullptr) : Json(one.value)},
                        {"default", default_of(one.key)},
                        {"certainty", name(one.certainty)},
                        {"exchange", one.value.empty() ? Json(nullptr) : Json(one.exchange)},
                        {"shown_by", one.value.empty() ? Json(nullptr) : Json(one.shown_by)},
                        {"needs", one.needs}});
  }
  Json differences = Json::array();
  for (const Finding& one : report.findings) {
    differences.push_back({{"operation", one.operation},
                           {"kind", name(one.kind)},
                           {"where", one.where},
                           {"what", one.what},
                           {"exchange", one.exchange},
                           {"shown_by", one.shown_by},
                           {"times", one.times}});
  }
  Json unknown = Json::array();
  for (const UnknownField& one : report.unknown) {
    unknown.push_back({{"schema", one.schema}, {"member", one.member}, {"type", one.type}});
  }
  return {{"v", 1},
          {"other_side", report.other_side},
          {"alike", !differs(report)},
          {"switches", std::move(switches)},
          {"assume", assume_line(report)},
          {"differences", std::move(differences)},
          {"unknown_fields", std::move(unknown)},
          {"operations_not_seen", report.not_seen},
          {"exchanges", report.exchanges},
          {"requests", report.requests},
          {"stopped", report.stopped.empty() ? Json(nullptr) : Json(report.stopped)},
          {"not_archived", report.left}};
}

std::string render_text(const DifferenceReport& report) {
  std::string text =
      fmt::format("{}: {} exchanges\n\n{}", report.other_side, report.exchanges, render_switches(report));
  if (!report.findings.empty()) {
    text += fmt::format("\n{} difference{} from the mock:\n{}",
                        report.findings.size(),
                        report.findings.size() == 1 ? "" : "s",
                        render_findings(report));
  }
  if (!report.unknown.empty()) {
    text += "\nMembers that the API table of ws-mock does not list (rows for api-client/contract/operations/):\n" +
            render_patch(report);
  }
  if (!report.not_seen.empty()) text += fmt::format("\nOperations not seen: {}\n", joined(report.not_seen));
  if (!report.left.empty()) text += fmt::format("\nCould not be archived or revoked: {}\n", joined(report.left));
  if (!report.stopped.empty()) text += fmt::format("\nNot complete, because it stopped: {}\n", report.stopped);
  if (!differs(report)) text += "\nNo difference from the mock with its defaults.\n";
  return text;
}

std::string render_junit(const DifferenceReport& report) {
  std::string cases;
  std::size_t failures = 0;
  const auto add = [&](std::string_view class_name, std::string_view case_name, const std::string& failure) {
    const std::string head =
        fmt::format("  <testcase classname=\"{}\" name=\"{}\"", pages::escape(class_name), pages::escape(case_name));
    if (failure.empty()) {
      cases += head + "/>\n";
      return;
    }
    ++failures;
    cases += fmt::format("{}>\n    <failure message=\"{}\"/>\n  </testcase>\n", head, pages::escape(failure));
  };
  for (const SwitchValue& one : report.switches) {
    add("assumptions", one.key, is_moved(one) ? fmt::format("{} ({})", one.value, one.shown_by) : "");
  }
  for (const Finding& one : report.findings) {
    add(one.operation, fmt::format("{} {}", name(one.kind), one.where), fmt::format("{} ({})", one.what, one.shown_by));
  }
  for (const UnknownField& one : report.unknown) {
    add("unknown fields", one.schema + "." + one.member, "not in the API table");
  }
  const std::size_t all = report.switches.size() + report.findings.size() + report.unknown.size();
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ws-mock diff\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      all,
      failures,
      cases);
}

}  // namespace ws::mock::compare
