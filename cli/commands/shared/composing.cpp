#include "cli/commands/shared/composing.hpp"

#include <set>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/text.hpp"
#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/names.hpp"
#include "cli/commands/shared/values.hpp"

namespace ws::cli {

const contract::Operation& operation_of(std::string_view id) { return *contract::find_operation(id); }

Flag stdin_flag() { return {.name = "stdin", .help = "take ids from stdin too, one a line"}; }

Result<std::vector<GivenId>> ids_of(Session& session) {
  std::vector<GivenId> ids;
  for (const std::string& word : session.arguments().words) {
    const auto refused = session.refused_words().find(ids.size());
    ids.push_back({.id = word});
    if (refused != session.refused_words().end()) ids.back().refused = refused->second;
  }
  if (session.has("stdin")) {
    // A search names a document once for each place that it was found in.
    std::set<std::string> seen(session.arguments().words.begin(), session.arguments().words.end());
    WS_LET(const std::string text, read_stdin());
    std::size_t number = 0;
    for (const std::string_view line : split_lines(text)) {
      ++number;
      const std::string given(trimmed_end(line, " \r"));
      if (given.empty()) continue;
      auto id = resolve_line(session, given);
      if (!id && !names_nothing(id.error())) return fail(std::move(id).error());
      if (!seen.insert(id.value_or(given)).second) continue;
      ids.push_back({.id = id.value_or(given), .line = number});
      if (!id) ids.back().refused = std::move(id).error();
    }
    return ids;
  }
  if (ids.empty()) {
    const Command& command = session.command();
    const std::string placeholder = command.arguments.empty() ? "ID" : command.arguments.front().placeholder;
    return fail(Failure::Kind::usage,
                "the argument " + placeholder + " is missing",
                "give it, or use --stdin; " + ShellCommand{"ws"}.words(command.words).add({"--help"}).in_backticks() +
                    " shows more");
  }
  return ids;
}

bool is_one(const Session& session, const std::vector<GivenId>& given) {
  return given.size() == 1 && !session.has("stdin");
}

Failure at_line(const GivenId& given, Failure failure) {
  if (given.line > 0) failure.what = fmt::format("line {} of stdin: {}", given.line, failure.what);
  return failure;
}

Result<int> parse_number(std::string_view flag, const std::string& text, int least, int most) {
  const auto number = parse_whole<int>(text);
  if (number && *number >= least && *number <= most) return *number;
  return fail(Failure::Kind::usage, fmt::format("--{} takes an integer, {}-{}, not `{}`", flag, least, most, text));
}

Result<int> number_flag(const Session& session, std::string_view flag, int fallback, int least, int most) {
  const auto text = session.arguments().value(flag);
  return text ? parse_number(flag, *text, least, most) : Result<int>(fallback);
}

namespace {
constexpr int usual_file_jobs = 8;
constexpr int max_file_jobs = 16;
}  // namespace

Flag file_jobs_flag(std::string help) {
  return {.name = "jobs",
          .placeholder = "N",
          .help = std::move(help),
          .limits = fmt::format("1-{}", max_file_jobs),
          .fallback = std::to_string(usual_file_jobs)};
}

Result<std::size_t> file_jobs(const Session& session) {
  WS_LET(const int jobs, number_flag(session, "jobs", usual_file_jobs, 1, max_file_jobs));
  return static_cast<std::size_t>(jobs);
}

bool is_for_people(const Session& session) {
  for (const std::string_view flag : {"json", "format", "fields", "jq", "template"}) {
    if (session.has(flag)) return false;
  }
  return !session.settings().format;
}

bool prints_text(Session& session) {
  const bool has_members = session.format() == Format::yaml || is_json(session.format());
  return !has_members && session.printer().fields().empty() && !session.printer().is_shaped();
}

bool may_walk(Session& session) {
  // A machine-readable format means that a script reads the output.
  return session.terminal().may_ask() && session.format() == Format::table;
}

Result<std::string> secret_of(Session& session, std::string_view flag, std::string_view variable) {
  if (const auto given = session.arguments().value(flag)) return read_secret(*given, "--" + std::string(flag));
  std::string secret = session.world().environment.text(variable).value_or("");
  trim_end(secret, "\r\n");
  return secret;
}

}  // namespace ws::cli
