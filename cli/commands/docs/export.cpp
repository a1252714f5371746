// `ws docs export DIR`, `ws docs get ID... -o DIR/`: documents as a folder of Markdown files.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/docs/export_folder.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/output/failure.hpp"
#include "cli/terminal/progress.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Documents between two writes of the manifest: what an export that is killed does again.
constexpr std::size_t save_interval = 50;

struct Listed {
  std::string id = {};
  std::string title = {};
  std::int64_t revision = 0;
};

Listed listed_of(const Json& item) {
  return {.id = find_text(item, "id").value_or(""),
          .title = find_text(item, "title").value_or(""),
          .revision = find_integer(item, "content_revision").value_or(0)};
}

class Export {
 public:
  Export(Session& session, Client& client, ExportFolder& folder, fs::path shown)
      : session_(session), client_(client), folder_(folder), shown_(std::move(shown)) {}

  /// What ends the whole export is its failure; the documents until then are exported.
  Result<void> take(const std::vector<Listed>& documents, ProgressLine& line) {
    std::size_t done = 0;
    for (const Listed& document : documents) {
      if (auto exported = one(document); !exported) {
        const Failure& why = exported.error();
        const bool ends = why.kind == Failure::Kind::auth || why.kind == Failure::Kind::unreachable ||
                          why.kind == Failure::Kind::cancelled || why.kind == Failure::Kind::rate_limited;
        if (ends) {
          line.clear();
          WS_TRY(folder_.save());
          return fail(std::move(exported).error());
        }
        add(document, "failed", &why);
        has_failed_ = true;
      }
      line.update("exporting", ++done, documents.size());
      if (done % save_interval == 0) WS_TRY(folder_.save());
    }
    line.clear();
    return folder_.save();
  }

  /// The documents of the manifest that were not listed.
  Result<void> note_gone(const std::vector<Listed>& documents, bool remove) {
    std::set<std::string> there;
    for (const Listed& document : documents) there.insert(document.id);
    const std::map<std::string, ExportedFile> known = folder_.files();
    for (const auto& [id, file] : known) {
      if (there.contains(id)) continue;
      const Listed gone{.id = id, .title = file.name, .revision = file.revision};
      ExportState state = ExportState::gone;
      if (remove) {
        WS_LET(state, folder_.remove(id));
      }
      add(gone, name(state), nullptr, file.name);
    }
    return remove ? folder_.save() : Result<void>();
  }

  ExitCode print() {
    if (session_.format() != Format::table) {
      Json list = {{"v", 1}, {"folder", shown_.string()}, {"data", std::move(rows_)}, {"next_cursor", nullptr}};
      session_.printer().list("ws.exported", list, {});
      return has_failed_ ? ExitCode::partial : ExitCode::done;
    }
    for (const Json& row : rows_) {
      if (row["state"] == "failed") {
        session_.note(fmt::format("{}: {}",
                                  clean(row["title"].get<std::string>(), Breaks::space),
                                  row["error"]["message"].get<std::string>()));
      }
    }
    std::string counts;
    for (const auto& [state, count] : counts_)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, state);
    const std::string folder = clean(shown_.string(), Breaks::space);
    const bool is_dry = session_.has("dry-run");
    session_.printer().sentence(
        counts.empty() ? "There are no documents to export"
                       : fmt::format("{} to {}: {}", is_dry ? "Would export" : "Exported", folder, counts));
    if (counts_.contains("gone"))
      session_.note("gone: archived, or no longer shared with you; their files stay, and --delete removes them");
    if (counts_.contains("kept")) session_.note("kept: their files were changed here, and --force replaces them");
    return has_failed_ ? ExitCode::partial : ExitCode::done;
  }

 private:
  Result<void> one(const Listed& document) {
    if (folder_.is_current(document.id, document.revision, document.title)) {
      add(document, name(ExportState::unchanged), nullptr);
      return {};
    }
    if (!session_.has("force") && folder_.is_changed_here(document.id)) {
      add(document, name(ExportState::kept), nullptr);
      return {};
    }
    WS_LET(const Reply reply,
           client_.call({.operation = "docs.get", .parameters = {{"document_id", document.id}}, .validate = false}));
    const auto content = find_text(*reply.json, "content");
    if (!content) return fail(Failure::Kind::internal, "the server's answer has no content");
    Listed read = listed_of(*reply.json);
    if (read.title.empty()) read.title = document.title;
    read.id = document.id;
    WS_LET(const ExportState state,
           folder_.put(document.id, read.revision, read.title, *content, session_.has("force")));
    add(read, name(state), nullptr);
    return {};
  }

  void add(const Listed& document, std::string_view state, const Failure* why, const std::string& file = {}) {
    const auto known = folder_.files().find(document.id);
    const std::string name = known == folder_.files().end() ? file : known->second.name;
    ++counts_[std::string(state)];
    rows_.push_back({{"id", document.id},
                     {"state", state},
                     {"file", name.empty() ? Json() : Json(name)},
                     {"title", document.title},
                     {"content_revision", document.revision},
                     {"error", why == nullptr ? Json() : failure_to_json(*why, exit_code_of(*why, 0))}});
  }

  Session& session_;
  Client& client_;
  ExportFolder& folder_;
  fs::path shown_;
  Json rows_ = Json::array();
  std::map<std::string, std::size_t> counts_;
  bool has_failed_ = false;
};

Result<std::vector<Listed>> list_documents(Session& session, Client& client) {
  const Call call{.operation = "docs.list", .parameters = {{"limit", "100"}}};
  const auto project = session.arguments().value("project");
  std::vector<Listed> documents;
  WS_TRY(client.each_item(call, [&](const Json& item) {
    Listed document = listed_of(item);
    const bool is_archived = find_text(item, "status") == "archived";
    const bool is_wanted = !project || find_text(item, "project_id") == project;  // the API cannot be asked for it
    if (!document.id.empty() && !is_archived && is_wanted) documents.push_back(std::move(document));
    return Result<bool>(!session.world().cancelled.load());
  }));
  if (session.world().cancelled.load())
    return fail(
        Failure::Kind::cancelled, "stopped before anything was exported", "run the same command again to continue");
  return documents;
}

Result<ExitCode> export_all(Session& session) {
  const fs::path folder = session.arguments().words.front();
  WS_LET(Client * client, session.client());
  WS_LET(ExportFolder opened, ExportFolder::open(folder, client->options().base_url, session.has("dry-run")));
  WS_LET(const std::vector<Listed> documents, list_documents(session, *client));
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine line(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  Export run(session, *client, opened, folder);
  WS_TRY(run.take(documents, line));
  // With --project the others were not asked for.
  if (!session.has("project")) WS_TRY(run.note_gone(documents, session.has("delete")));
  return run.print();
}

}  // namespace

Result<ExitCode> get_into_folder(Session& session, const std::vector<std::string>& ids) {
  const fs::path folder = session.arguments().value("output").value_or(".");
  WS_LET(Client * client, session.client());
  WS_LET(ExportFolder opened, ExportFolder::open(folder, client->options().base_url, session.has("dry-run")));
  std::vector<Listed> documents;
  // A search names a document once for each place that it was found in.
  std::set<std::string> seen;
  for (const std::string& id : ids) {
    if (seen.insert(id).second) documents.push_back({.id = id});
  }
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine line(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  Export run(session, *client, opened, folder);
  WS_TRY(run.take(documents, line));
  return run.print();
}

Command docs_export_command() {
  return {.words = "docs export",
          .summary = "Save every document as a Markdown file",
          .details =
              "Each document becomes DIR/TITLE.md. Run it again and only what changed on the service is fetched: "
              "DIR/.ws-export.json says which file holds which revision. Files that you changed are kept, without "
              "--force. To work on "
              "the files and send changes back, use `ws sync` instead.",
          .arguments = {{.placeholder = "DIR", .help = "the folder; created if it does not exist"}},
          .flags = {{.name = "project",
                     .placeholder = "ID",
                     .help = "only the documents of this Project",
                     .names = Subject::project},
                    {.name = "delete", .help = "remove the files of documents that are gone"}},
          .examples = {"ws docs export backup", "ws docs export backup --delete --json"},
          .run = export_all};
}

}  // namespace ws::cli
