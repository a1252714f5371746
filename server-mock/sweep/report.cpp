#include "server-mock/sweep/report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "server-mock/output/print.hpp"

namespace ws::mock::sweep {
namespace {

constexpr std::size_t rows_named = 4;

/// Wraps at spaces and indents each line by `indent`.
std::string indented(std::string_view text, std::size_t indent, std::size_t width) {
  return std::string(indent, ' ') + wrapped(text, width - indent, indent) + "\n";
}

/// A journal line, truncated to the width.
std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

TerminalText styled(std::string_view text, const char* code, bool colour) {
  return colour ? TerminalText::styled(text, code) : TerminalText(text);
}

/// The command `ws-mock sweep --replay ROW -- CMD` to paste, with the flags that affect the row.
std::string replay_command(const std::string& row, const Report& report) {
  std::string text = "ws-mock sweep --replay " + shell_word(row);
  for (const std::string& word : report.flags) text += " " + shell_word(word);
  text += " --";
  for (const std::string& word : report.command) text += " " + shell_word(word);
  return text;
}

/// Findings of one kind in one operation, with common advice.
using Group = std::vector<std::pair<const RowResult*, const Finding*>>;
std::map<std::string, Group> groups_of(const Report& report, const Accepted& accepted) {
  std::map<std::string, Group> groups;
  for (const RowResult& result : report.rows) {
    for (const Finding& finding : result.findings) {
      if (accepted.contains(finding.id)) continue;
      const std::string where = result.row.operation.empty() ? "the whole run" : result.row.operation;
      groups[where + "\n" + finding.word + "\n" + finding.advice].emplace_back(&result, &finding);
    }
  }
  return groups;
}

TerminalText render_finding(const Finding& finding, const ReportView& view) {
  TerminalText text = indented(finding.sentence, 2, view.width);
  for (const std::string& line : finding.lines) text += styled(cut("    " + line, view.width), "2", view.colour) + "\n";
  return text + indented("fix: " + finding.advice, 2, view.width);
}

TerminalText render_group(const std::string& name, const Group& group, const Report& report, const ReportView& view) {
  const auto& [result, finding] = group.front();
  const std::size_t count = group.size();
  TerminalText text = styled(name.substr(0, name.find('\n')), "1", view.colour) + "  " +
                      styled(finding->word, "1;31", view.colour) +
                      fmt::format("  {} row{}\n", count, count == 1 ? "" : "s");
  text += render_finding(*finding, view);
  if (count > 1) {
    std::string others = "also:";
    for (std::size_t i = 1; i < std::min(count, rows_named + 1); ++i) others += " " + group[i].first->row.id;
    if (count > rows_named + 1) others += fmt::format(" and {} more", count - rows_named - 1);
    text += indented(others, 2, view.width);
  }
  // Not wrapped, so that it can be pasted.
  return text + "  again: " + replay_command(result->row.id, report) + "\n\n";
}

std::size_t count_verdict(const Report& report, RowResult::Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(report.rows, verdict, &RowResult::verdict));
}

std::string_view name_of(RowResult::Verdict verdict) {
  switch (verdict) {
    case RowResult::Verdict::passed: return "passed";
    case RowResult::Verdict::recovered: return "recovered";
    case RowResult::Verdict::found: return "found";
  }
  return "";
}

Json to_json(const Finding& finding, const Accepted& accepted) {
  return {{"id", finding.id},
          {"word", finding.word},
          {"sentence", finding.sentence},
          {"journal", finding.lines},
          {"advice", finding.advice},
          {"accepted", accepted.contains(finding.id)}};
}

Json to_json(const std::vector<Finding>& findings, const Accepted& accepted) {
  Json all = Json::array();
  for (const Finding& one : findings) all.push_back(to_json(one, accepted));
  return all;
}

Json row_to_json(const Report& report, const RowResult& result, const Accepted& accepted) {
  return {{"id", result.row.id},
          {"operation", text_or_null(result.row.operation)},
          {"request", result.row.request},
          {"fault", result.row.fault.empty() ? result.row.assumption : result.row.fault},
          {"verdict", name_of(result.verdict)},
          {"exit", result.end.exit},
          {"rerun_exit", result.rerun_exit ? Json(*result.rerun_exit) : Json(nullptr)},
          {"took_ms", result.end.took.count()},
          {"findings", to_json(result.findings, accepted)},
          {"journal", result.journal},
          {"stdout", result.end.out},
          {"stderr", result.end.err},
          {"replay", replay_command(result.row.id, report)}};
}

Coverage coverage_of(const Report& report) {
  Coverage coverage;
  coverage.add(report.clean.sent);
  coverage.finish();
  for (const RowResult& result : report.rows) {
    coverage.faults.insert(result.row.fault.empty() ? result.row.assumption : result.row.fault);
  }
  return coverage;
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

constexpr std::string_view page =
#include "sweep_report_text.inc"
    ;

}  // namespace

std::size_t new_findings(const Report& report, const Accepted& accepted) {
  std::size_t count = 0;
  const auto add = [&](const std::vector<Finding>& findings) {
    for (const Finding& one : findings) count += accepted.contains(one.id) ? 0 : 1;
  };
  add(report.clean_findings);
  for (const RowResult& result : report.rows) add(result.findings);
  return count;
}

std::vector<std::string> stale_ids(const Report& report, const Accepted& accepted) {
  std::set<std::string> met;
  std::set<std::string> run;
  for (const Finding& one : report.clean_findings) met.insert(one.id);
  for (const RowResult& result : report.rows) {
    run.insert(result.row.id);
    for (const Finding& one : result.findings) met.insert(one.id);
  }
  std::vector<std::string> stale;
  for (const auto& [id, reason] : accepted) {
    const std::string row = id.substr(id.find(':') + 1);
    const bool is_known = std::ranges::find(report.plan.known, row) != report.plan.known.end();
    if (!met.contains(id) && (run.contains(row) || !is_known)) stale.push_back(id);
  }
  return stale;
}

TerminalText render_text(const Report& report, const ReportView& view) {
  TerminalText text;
  for (const std::string& note : report.plan.notes) text += indented("note: " + note, 0, view.width);
  for (const Finding& finding : report.clean_findings) {
    if (view.accepted.contains(finding.id)) continue;
    text += styled("clean run", "1", view.colour) + "  " + styled(finding.word, "1;31", view.colour) + "\n" +
            render_finding(finding, view) + "\n";
  }
  for (const auto& [name, group] : groups_of(report, view.accepted)) text += render_group(name, group, report, view);
  const std::size_t found = new_findings(report, view.accepted);
  std::size_t all = 0;
  for (const RowResult& result : report.rows) all += result.findings.size();
  const std::size_t known = all + report.clean_findings.size() - found;
  std::string counts = fmt::format("rows: {}; passed: {}; failed, then recovered when run again: {}; with findings: {}",
                                   report.rows.size(),
                                   count_verdict(report, RowResult::Verdict::passed),
                                   count_verdict(report, RowResult::Verdict::recovered),
                                   count_verdict(report, RowResult::Verdict::found));
  if (known > 0) counts += fmt::format(" ({} known by --accept)", known);
  for (const std::string& id : stale_ids(report, view.accepted)) {
    text += indented(fmt::format("outdated: {} of --accept was not found; delete its line", id), 0, view.width);
  }
  if (report.plan.left_out > 0) counts += fmt::format("; left out by --sample or --max-rows: {}", report.plan.left_out);
  if (report.was_stopped) counts += "; stopped before the end";
  text += indented(counts, 0, view.width);
  text += fmt::format("{:.1f} s\n\n", static_cast<double>(report.took.count()) / 1000);
  return text + render(coverage_of(report));
}

Json to_json(const Report& report, const Accepted& accepted) {
  Json rows = Json::array();
  for (const RowResult& result : report.rows) rows.push_back(row_to_json(report, result, accepted));
  Json clean = Json::array();
  Json requests = Json::array();
  for (const auto& [name, digest] : request_digests(report.clean.sent)) {
    requests.push_back({{"request", name}, {"sha256", digest}});
  }
  for (const SentRequest& sent : report.clean.sent) clean.push_back(line_of(sent));
  return {
      {"v", 1},
      {"command", report.command},
      {"date", report.date},
      {"clean",
       {{"took_ms", report.clean.end.took.count()}, {"journal", std::move(clean)}, {"requests", std::move(requests)}}},
      {"clean_findings", to_json(report.clean_findings, accepted)},
      {"counts",
       {{"rows", report.rows.size()},
        {"passed", count_verdict(report, RowResult::Verdict::passed)},
        {"recovered", count_verdict(report, RowResult::Verdict::recovered)},
        {"found", count_verdict(report, RowResult::Verdict::found)},
        {"new_findings", new_findings(report, accepted)},
        {"left_out", report.plan.left_out}}},
      {"notes", report.plan.notes},
      {"stale_accepted", stale_ids(report, accepted)},
      {"took_ms", report.took.count()},
      {"own_ms", report.command_time.count()},
      {"stopped", report.was_stopped},
      {"rows", std::move(rows)},
      {"coverage", to_json(coverage_of(report))}};
}

std::string render_junit(const Report& report, const Accepted& accepted) {
  std::size_t failures = 0;
  std::size_t skipped = 0;
  std::string cases;
  for (const RowResult& result : report.rows) {
    const std::string_view group = result.row.operation.empty() ? std::string_view("switches") : result.row.operation;
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                         xml(group),
                         xml(result.row.id),
                         static_cast<double>(result.end.took.count()) / 1000);
    std::string inside;
    std::string known;
    for (const Finding& one : result.findings) {
      if (const auto found = accepted.find(one.id); found != accepted.end()) {
        known = fmt::format("{} is accepted: {}", one.word, found->second);
        continue;
      }
      std::string detail;
      for (const std::string& line : one.lines) detail += line + "\n";
      detail += "fix: " + one.advice + "\nagain: " + replay_command(result.row.id, report) + "\n";
      inside += fmt::format(
          "    <failure type=\"{}\" message=\"{}\">{}</failure>\n", one.word, xml(one.sentence), xml(detail));
    }
    failures += inside.empty() ? 0 : 1;
    if (inside.empty() && !known.empty()) {
      ++skipped;
      inside = fmt::format("    <skipped message=\"{}\"/>\n", xml(known));
    }
    cases += inside.empty() ? "/>\n" : ">\n" + inside + "  </testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ws-mock sweep\" tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n",
      report.rows.size(),
      failures,
      skipped,
      static_cast<double>(report.took.count()) / 1000,
      cases);
}

std::string render_html(const Report& report, const Accepted& accepted) {
  std::string data = dump(to_json(report, accepted));
  // "</script>" would end the element that contains the data, and "<!--<script>" would swallow what follows it.
  data = replace_all(std::move(data), "<", "\\u003c");
  constexpr std::string_view mark = "<!--DATA-->";
  std::string text(page);
  return text.replace(text.find(mark), mark.size(), data);
}

TerminalText render_row(const RowResult& result, const ReportView& view) {
  TerminalText text = styled(result.row.id, "1", view.colour) + "  " + result.row.request + "\n";
  for (const std::string& line : result.journal) text += "    " + line + "\n";
  if (!result.end.out.empty()) text += "stdout:\n" + result.end.out + (result.end.out.ends_with('\n') ? "" : "\n");
  if (!result.end.err.empty()) text += "stderr:\n" + result.end.err + (result.end.err.ends_with('\n') ? "" : "\n");
  text += fmt::format("exit {}", result.end.exit);
  if (result.rerun_exit) text += fmt::format(", then {} when it was run again without the fault", *result.rerun_exit);
  text += "\n\n";
  if (result.findings.empty()) return text + "nothing found\n";
  for (const Finding& finding : result.findings) {
    text += styled(finding.word, "1;31", view.colour) + "\n" + render_finding(finding, view) + "\n";
  }
  return text;
}

std::string render_plan(const Plan& plan) {
  std::string text;
  for (const Row& row : plan.rows) text += fmt::format("{:<40} {}\n", row.id, row.request);
  for (const std::string& note : plan.notes) text += "note: " + note + "\n";
  return text + fmt::format("rows: {}\n", plan.rows.size());
}

}  // namespace ws::mock::sweep
