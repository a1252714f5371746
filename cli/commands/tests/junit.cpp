#include "cli/commands/tests/junit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands/shared/waiting.hpp"

namespace ws::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string xml;
  for (const char c : text) {
    switch (c) {
      case '&': xml += "&amp;"; break;
      case '<': xml += "&lt;"; break;
      case '>': xml += "&gt;"; break;
      case '"': xml += "&quot;"; break;
      case '\t':
      case '\r':
      case '\n': xml += fmt::format("&#{};", static_cast<int>(c)); break;
      default:
        // XML 1.0 has no form, not even an escaped one, for the other control characters.
        if (static_cast<unsigned char>(c) >= ' ') xml += c;
    }
  }
  return xml;
}

bool is_skipped(std::string_view status) { return status == "skipped" || status == "cancelled"; }

std::string case_to_junit(const Json& result, std::string_view suite) {
  const std::string status = find_text(result, "status").value_or("unknown");
  const double seconds = static_cast<double>(find_integer(result, "duration_ms").value_or(0)) / 1000;
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                escaped(suite),
                                escaped(find_text(result, "case_id").value_or("")),
                                seconds);
  const std::string message = escaped(find_text(result, "message").value_or(status));
  if (phase_of_status(status) == Phase::done) return xml + "/>\n";
  if (is_skipped(status)) return xml + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", message);
  return xml +
         fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n", escaped(status), message);
}

}  // namespace

std::string run_to_junit(const Json& run) {
  const std::string id = find_text(run, "id").value_or("run");
  const std::string suite = find_text(run, "suite_id").value_or("cases");
  std::string cases;
  int count = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  std::int64_t duration = 0;
  if (const Json* const results = find(run, "results"); results != nullptr && results->is_array()) {
    for (const Json& result : *results) {
      const std::string status = find_text(result, "status").value_or("unknown");
      ++count;
      if (is_skipped(status)) {
        ++skipped;
      } else if (phase_of_status(status) != Phase::done) {
        ++failures;
      }
      duration += find_integer(result, "duration_ms").value_or(0);
      cases += case_to_junit(result, suite);
    }
  }
  // A report without a failure is taken for a run that passed.
  if (failures == 0 && phase_of(run) == Phase::failed) {
    ++count;
    ++errors;
    const std::string status = escaped(find_text(run, "status").value_or("failed"));
    cases += fmt::format(
        "    <testcase classname=\"{0}\" name=\"{1}\" time=\"0.000\">\n      <error type=\"{2}\" message=\"the run "
        "ended "
        "with status {2}\"/>\n    </testcase>\n",
        escaped(suite),
        escaped(id),
        status);
  }
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                                         count,
                                         failures,
                                         errors,
                                         skipped,
                                         static_cast<double>(duration) / 1000);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{0}\" {1}>\n  <testsuite name=\"{2}\" {1}>\n"
      "{3}  </testsuite>\n</testsuites>\n",
      escaped(id),
      counts,
      escaped(suite),
      cases);
}

}  // namespace ws::cli
