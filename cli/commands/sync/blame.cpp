// Who wrote each line of a file last.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/sync/tree.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t short_state_id = 10;
constexpr std::size_t max_name_columns = 24;

std::string who_wrote(const sync::BlamedLine& line) {
  return line.commit ? clean(line.author.name, Breaks::space) : "not synced yet";
}

Json line_to_json(const sync::BlamedLine& line, std::size_t number) {
  const bool is_known = line.commit.has_value();
  return {{"line", number},
          {"revision", line.revision ? Json(line.revision->number) : Json()},
          {"author", is_known ? Json(line.author.name) : Json()},
          {"time", is_known ? Json(to_rfc3339(line.author.time)) : Json()},
          {"text", line.text},
          {"state", is_known ? Json(line.commit->hex().substr(0, short_state_id)) : Json()}};
}

std::string padded(std::string text, std::size_t columns) {
  text.resize(text.size() + columns - std::min(columns, utf8::columns(text)), ' ');
  return text;
}

std::string shown_line(const sync::BlamedLine& line,
                       std::size_t number,
                       std::size_t number_columns,
                       std::size_t columns) {
  const std::string revision = line.revision ? std::to_string(line.revision->number) : "-";
  // "2026-11-23 06:10"
  std::string time = line.commit ? to_rfc3339(line.author.time).substr(0, 16) : std::string(16, ' ');
  std::ranges::replace(time, 'T', ' ');
  return fmt::format("{:>4} ({} {} {:>{}}) {}",
                     revision,
                     padded(who_wrote(line), columns),
                     time,
                     number,
                     number_columns,
                     clean(line.text, Breaks::space));
}

Result<ExitCode> blame(Session& session) {
  const std::string& given = session.arguments().words.front();
  WS_LET(SyncTree tree, open_tree(session, std::filesystem::current_path(), Network::none));
  WS_LET(const sync::RelativePath path, path_argument(tree.root, given));
  WS_LET(const std::vector<sync::BlamedLine> lines, tree.engine->blame(path));
  if (session.format() != Format::table) {
    Json list = {{"v", 1}, {"path", path.text()}, {"data", Json::array()}, {"next_cursor", nullptr}};
    for (std::size_t i = 0; i < lines.size(); ++i) list["data"].push_back(line_to_json(lines[i], i + 1));
    session.printer().list("ws.blame", list, {});
    return ExitCode::done;
  }
  std::size_t columns = 0;
  for (const sync::BlamedLine& line : lines) columns = std::max(columns, utf8::columns(who_wrote(line)));
  columns = std::min(columns, max_name_columns);
  std::string page;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    page += shown_line(lines[i], i + 1, std::to_string(lines.size()).size(), columns) + "\n";
  }
  session.printer().page(page);
  return ExitCode::done;
}

}  // namespace

Command sync_blame_command() {
  return {
      .words = "sync blame",
      .summary = "Show who wrote each line of a file last",
      .details =
          "Shows for each line the revision of the document that added it, who wrote it, and when: named as the "
          "service names them, on every machine. What several people changed between two runs here counts as the last "
          "one's: the service names no other. It reads the local history, without the network; `git -C "
          ".ws/history.git blame main -- PATH` shows the same.",
      .arguments = {{.placeholder = "PATH", .help = "a file in the folder"}},
      .examples = {"ws sync blame notes/a.md", "ws sync blame notes/a.md --json"},
      .run = blame};
}

}  // namespace ws::cli
