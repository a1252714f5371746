// `ws docs export DIR`, `ws docs get ID... -o DIR/`: documents as a folder of Markdown files.
#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/docs/export_folder.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/calls_ahead.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/output/failure.hpp"
#include "cli/terminal/progress.hpp"
#include "sync-engine/reconcile/guard.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Documents between two writes of the manifest: what an export that is killed does again.
constexpr std::size_t save_interval = 50;

struct Listed {
  std::string id = {};
  std::string title = {};
  std::int64_t revision = 0;
  std::optional<Failure> refused = {};  ///< it cannot be asked for
};

Listed listed_of(const Json& item) {
  return {.id = find_text(item, "id").value_or(""),
          .title = find_text(item, "title").value_or(""),
          .revision = find_integer(item, "content_revision").value_or(0)};
}

Call get_call(const std::string& id) {
  return {.operation = "docs.get", .parameters = {{"document_id", id}}, .validate = false};
}

/// The documents of the manifest that are not among the listed ones.
std::vector<Listed> unlisted_of(const ExportFolder& folder, const std::vector<Listed>& documents) {
  std::set<std::string> there;
  for (const Listed& document : documents) there.insert(document.id);
  std::vector<Listed> unlisted;
  for (const auto& [id, file] : folder.files()) {
    if (!there.contains(id)) unlisted.push_back({.id = id, .title = file.name, .revision = file.revision});
  }
  return unlisted;
}

class Export {
 public:
  Export(Session& session, Client& client, ExportFolder& folder, fs::path shown)
      : session_(session), client_(client), folder_(folder), shown_(std::move(shown)) {}

  /// What ends the whole export is its failure; the documents until then are exported.
  Result<void> take(const std::vector<Listed>& documents, ProgressLine& line) {
    CallsAhead calls(client_);
    std::deque<Need> needs;  // of those that are looked at, and not done yet
    std::size_t done = 0;
    for (const Listed& document : documents) {
      while (calls.size() < reads_ahead && done + needs.size() < documents.size()) {
        const Listed& next = documents[done + needs.size()];
        needs.push_back(need_of(next));
        if (needs.back() == Need::read) calls.start(get_call(next.id));
      }
      auto exported = one(document, needs.front(), calls);
      needs.pop_front();
      if (!exported) WS_TRY(fail_one(document, std::move(exported).error(), line));
      line.update("exporting", ++done, documents.size());
      if (done % save_interval == 0) WS_TRY(folder_.save());
    }
    line.clear();
    return folder_.save();
  }

  /// The documents of the manifest that were not listed. With `remove` each is asked for by its id: a list may be
  /// short, so only what says of itself that it is archived is gone.
  Result<void> take_unlisted(const std::vector<Listed>& documents, bool remove, ProgressLine& line) {
    const std::vector<Listed> unlisted = unlisted_of(folder_, documents);
    CallsAhead calls(client_);
    std::size_t done = 0;
    for (const Listed& document : unlisted) {
      while (remove && calls.size() < reads_ahead && done + calls.size() < unlisted.size())
        calls.start(get_call(unlisted[done + calls.size()].id));
      if (!remove) {
        add(document, name(ExportState::unlisted), nullptr);
        continue;
      }
      if (auto asked = take_missing(document, calls.take()); !asked)
        WS_TRY(fail_one(document, std::move(asked).error(), line));
      line.update("asking for missing documents", ++done, unlisted.size());
    }
    line.clear();
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
    for (const auto& [state, count] : counts_) {
      const bool is_not_visible = state == name(ExportState::not_visible);
      counts += fmt::format(
          "{}{} {}", counts.empty() ? "" : ", ", count, is_not_visible ? "not visible with this key" : state);
    }
    const std::string folder = clean(shown_.string(), Breaks::space);
    const bool is_dry = session_.has("dry-run");
    session_.printer().sentence(
        counts.empty() ? "There are no documents to export"
                       : fmt::format("{} to {}: {}", is_dry ? "Would export" : "Exported", folder, counts));
    if (counts_.contains(name(ExportState::unlisted)))
      session_.note(
          "unlisted: not in the list of documents; their files stay, and --delete removes those of archived ones");
    if (counts_.contains(name(ExportState::not_visible)))
      session_.note("not visible with this key: removed, or not shared with you; their files stay");
    if (counts_.contains("kept")) session_.note("kept: their files were changed here, and --force replaces them");
    return has_failed_ ? ExitCode::partial : ExitCode::done;
  }

 private:
  /// What ends the whole export is passed on; the failure of one document is its row.
  Result<void> fail_one(const Listed& document, Failure why, ProgressLine& line) {
    const bool ends = why.kind == Failure::Kind::auth || why.kind == Failure::Kind::unreachable ||
                      why.kind == Failure::Kind::cancelled || why.kind == Failure::Kind::rate_limited;
    if (ends) {
      line.clear();
      WS_TRY(folder_.save());
      return fail(std::move(why));
    }
    add(document, "failed", &why);
    has_failed_ = true;
    return {};
  }

  Result<void> take_missing(const Listed& document, Result<Reply> reply) {
    if (!reply) {
      const int status = reply.error().call.http_status;
      if (status != 403 && status != 404 && status != 410) return fail(std::move(reply).error());
      add(document, name(ExportState::not_visible), nullptr);
      return {};
    }
    const bool is_gone =
        find_text(*reply->json, "status") == "archived" || find_bool(*reply->json, "deleted").value_or(false);
    if (!is_gone) return put(document, *reply->json);
    const std::string file = folder_.files().at(document.id).name;
    WS_LET(const ExportState state, folder_.remove(document.id));
    add(document, name(state), nullptr, file);
    return {};
  }

  /// What is to be done about a document.
  enum class Need { nothing, keep, read, refuse };

  Need need_of(const Listed& document) const {
    if (document.refused) return Need::refuse;
    if (folder_.is_current(document.id, document.revision, document.title)) return Need::nothing;
    return !session_.has("force") && folder_.is_changed_here(document.id) ? Need::keep : Need::read;
  }

  /// `calls`: with the answer of one that is read, as the oldest.
  Result<void> one(const Listed& document, Need need, CallsAhead& calls) {
    switch (need) {
      case Need::nothing: add(document, name(ExportState::unchanged), nullptr); return {};
      case Need::keep: add(document, name(ExportState::kept), nullptr); return {};
      case Need::refuse: return fail(*document.refused);
      case Need::read: break;
    }
    WS_LET(const Reply reply, calls.take());
    return put(document, *reply.json);
  }

  /// The document as the service answered for it.
  Result<void> put(const Listed& document, const Json& answer) {
    const auto content = find_text(answer, "content");
    if (!content) return fail(Failure::Kind::internal, "the server's answer has no content");
    Listed read = listed_of(answer);
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
  std::map<std::string, std::size_t, std::less<>> counts_;
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

/// Fails with `conflict` where so many files would be removed that it has to be confirmed, as a sync is.
Result<void> check_deletes(Session& session, const ExportFolder& folder, const std::vector<Listed>& documents) {
  const std::size_t tracked = folder.files().size();
  const std::size_t lost = unlisted_of(folder, documents).size();
  const bool is_surprise =
      lost > 0 &&
      (documents.empty() || sync::needs_confirmation(sync::Guard{.deletes_here = lost, .tracked = tracked}));
  if (!is_surprise || session.has("allow-deletes")) return {};
  const std::string what = fmt::format("{} of {} exported documents are missing from the service's list",
                                       lost == tracked ? "all" : std::to_string(lost),
                                       tracked);
  if (session.terminal().may_ask()) {
    session.note(what + ": the files of those that are archived would be removed");
    if (session.confirm_word("type `delete` to continue, anything else to cancel:", "delete")) return {};
  }
  const std::string& word = session.arguments().words.front();
  return fail(
      Failure{.kind = Failure::Kind::conflict,
              .what = "stopped: " + what + "; nothing was changed",
              .hint = "to confirm: " +
                      ShellCommand{"ws", "docs", "export", "--delete", "--allow-deletes"}.path(word).in_backticks(),
              .code = "delete_guard"});
}

/// Opened for whom the key is.
Result<ExportFolder> open_folder(Session& session, Client& client, const fs::path& folder) {
  WS_LET(const Reply reply, client.call({.operation = "me.get", .validate = false}));
  const Json& me = *reply.json;
  const auto id_in = [&me](std::string_view member) {
    const Json* const found = find(me, member);
    return found == nullptr ? std::string() : find_text(*found, "id").value_or("");
  };
  ExportOwner owner{
      .base_url = client.options().base_url, .workspace_id = id_in("workspace"), .owner_id = id_in("user")};
  if (owner.owner_id.empty()) owner.owner_id = id_in("agent");
  return ExportFolder::open(folder, std::move(owner), session.has("dry-run"));
}

Result<ExitCode> export_all(Session& session) {
  const fs::path folder = session.arguments().words.front();
  // With --project the others were not asked for.
  const bool is_whole = !session.has("project");
  const bool removes = is_whole && session.has("delete");
  WS_LET(Client * client, session.client());
  WS_LET(ExportFolder opened, open_folder(session, *client, folder));
  WS_LET(const std::vector<Listed> documents, list_documents(session, *client));
  if (removes) WS_TRY(check_deletes(session, opened, documents));
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine line(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  Export run(session, *client, opened, folder);
  WS_TRY(run.take(documents, line));
  if (is_whole) WS_TRY(run.take_unlisted(documents, removes, line));
  return run.print();
}

}  // namespace

Result<ExitCode> get_into_folder(Session& session, const Batch& batch) {
  const fs::path folder = session.arguments().value("output").value_or(".");
  WS_LET(Client * client, session.client());
  WS_LET(ExportFolder opened, open_folder(session, *client, folder));
  std::vector<Listed> documents;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    if (!seen.insert(batch.ids[i]).second) continue;
    Listed document{.id = batch.ids[i]};
    if (!batch.calls[i]) document.refused = batch.calls[i].error();
    documents.push_back(std::move(document));
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
              "DIR/.ws-export.json says which file holds which revision, of which Workspace and person. Files that "
              "you changed are kept, without --force. With --delete, where many documents are missing from the list "
              "it stops with exit 7 and changes nothing, as `ws sync` does; what is missing but not archived keeps "
              "its file. To work on the files and send changes back, use `ws sync` instead.",
          .arguments = {{.placeholder = "DIR", .help = "the folder; created if it does not exist"}},
          .flags = {{.name = "project",
                     .placeholder = "ID",
                     .help = "only the documents of this Project",
                     .names = Subject::project},
                    {.name = "delete", .help = "remove the files of documents that are archived; not with --project"},
                    {.name = "allow-deletes", .help = "continue where the guard against mass deletion would stop"}},
          .examples = {"ws docs export backup", "ws docs export backup --delete --json"},
          .run = export_all};
}

}  // namespace ws::cli
