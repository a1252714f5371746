// `ws docs export DIR`, `ws docs get ID... -o DIR/`: documents as a folder of Markdown files.
#include <algorithm>
#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/docs/export_folder.hpp"
#include "cli/commands/docs/exported_pictures.hpp"
#include "cli/commands/docs/exported_sources.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/calls_ahead.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/output/failure.hpp"
#include "cli/terminal/progress.hpp"
#include "sync-engine/binding/tree_binding.hpp"
#include "sync-engine/manifest/manifest.hpp"
#include "sync-engine/model/relative_path.hpp"
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

/// Whether it is a part of a list of attachments, as `ws` wrote it.
bool is_attachment_list(const std::string& text) {
  if (!text.starts_with("# Attachments\n")) return false;
  const auto list = sync::parse_manifest(text);
  return list && list->is_whole;
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

/// Whether documents that were named are exported, or all that there are: then lists of attachments are left out.
enum class Scope { named, all };

class Export {
 public:
  Export(Session& session, Client& client, ExportFolder& folder, fs::path shown, Scope scope)
      : session_(session),
        client_(client),
        folder_(folder),
        shown_(std::move(shown)),
        scope_(scope),
        sources_(folder),
        pictures_(
            session,
            client,
            folder,
            sources_,
            [this](const std::string& file, const std::string& asset, std::string_view state, const Failure* why) {
              add_picture(file, asset, state, why);
            }) {}

  const ExportedSources& sources() const { return sources_; }
  const ExportedPictures& pictures() const { return pictures_; }

  /// Where the documents lie, of the sources that say it. With `takes_texts` those that come along are exported at
  /// once where nothing is in their way: then they are not asked for one by one.
  Result<void> take_sources(const std::vector<Listed>& documents, bool takes_texts, ProgressLine& line) {
    WS_LET(const std::vector<WantedSource> wanted, wanted_sources(session_, folder_));
    std::map<std::string, const Listed*> listed;
    for (const Listed& document : documents) listed.emplace(document.id, &document);
    std::size_t seen = 0;
    const auto visit = [&](const sync::PulledItem& item, const ExportPlace& place) -> Result<void> {
      line.update("reading sources", ++seen, 0);
      const auto found = listed.find(item.document.text());
      if (!takes_texts || found == listed.end()) return {};
      return take_pulled(*found->second, item, place, line);
    };
    WS_TRY(sources_.read(session_, client_, wanted, visit));
    line.clear();
    has_failed_ = has_failed_ || sources_.lacks_named();
    return {};
  }

  /// Keeps what the sources said, and removes what earlier exports took for a document: parts of their lists.
  Result<void> settle_sources() {
    WS_TRY(sources_.save());
    for (const std::string& id : sources_.lists()) WS_TRY(drop_list(id));
    return {};
  }

  /// What ends the whole export is its failure; the documents until then are exported.
  Result<void> take(const std::vector<Listed>& all, ProgressLine& line) {
    std::vector<Listed> documents;
    for (const Listed& document : all) {
      if (!done_.contains(document.id)) documents.push_back(document);
    }
    WS_TRY(make_room(documents));
    CallsAhead calls(client_);
    std::deque<Need> needs;  // of those that are looked at, and not done yet
    std::size_t done = 0;
    for (const Listed& document : documents) {
      while (calls.size() < reads_ahead && done + needs.size() < documents.size()) {
        const Listed& next = documents[done + needs.size()];
        needs.push_back(need_of(next, sources_.place_of(next.id)));
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

  /// The pictures of the sources of which a document is exported.
  Result<void> take_pictures(const std::vector<Listed>& documents, ProgressLine& line) {
    std::set<std::string> of_sources;
    for (const Listed& document : documents) {
      if (const auto place = sources_.places().find(document.id); place != sources_.places().end())
        of_sources.insert(place->second.source);
    }
    WS_TRY(pictures_.take(of_sources, line));
    has_failed_ = has_failed_ || pictures_.lacks_named();
    return {};
  }

  /// What is in the manifest and was not listed. With `remove` each is asked for by its id: a list may be short, so
  /// only what says of itself that it is archived is gone.
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
    WS_TRY(pictures_.take_unlisted(remove, line));
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
    const std::string folder = clean(shown_.string(), Breaks::space);
    const bool is_dry = session_.has("dry-run");
    const std::string notes = in_words(counts_);
    const std::string both = picture_counts_.empty() ? notes : notes + "; pictures: " + in_words(picture_counts_);
    session_.printer().sentence(counts_.empty()
                                    ? "There are no documents to export"
                                    : fmt::format("{} to {}: {}", is_dry ? "Would export" : "Exported", folder, both));
    const auto has = [this](std::string_view state) {
      return counts_.contains(state) || picture_counts_.contains(state);
    };
    if (has(name(ExportState::unlisted)))
      session_.note(
          "unlisted: not in the list of documents; their files stay, and --delete removes those of archived ones");
    if (has(name(ExportState::not_visible)))
      session_.note("not visible with this key: removed, or not shared with you; their files stay");
    if (has("kept")) session_.note("kept: their files were changed here, and --force replaces them");
    return has_failed_ ? ExitCode::partial : ExitCode::done;
  }

 private:
  /// What ends the whole export is passed on; the failure of one document is its row.
  Result<void> fail_one(const Listed& document, Failure why, ProgressLine& line) {
    if (ends_export(why)) {
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
      if (!is_out_of_sight(reply.error())) return fail(std::move(reply).error());
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
  enum class Need { nothing, move, keep, read, refuse, leave_out };

  Need need_of(const Listed& document, const std::optional<ExportPlace>& place) const {
    if (document.refused) return Need::refuse;
    if (scope_ == Scope::all && folder_.is_left_out(document.id, document.revision)) return Need::leave_out;
    if (folder_.has_text(document.id, document.revision))
      return folder_.is_in_place(document.id, document.title, place) ? Need::nothing : Need::move;
    return !session_.has("force") && folder_.is_changed_here(document.id) ? Need::keep : Need::read;
  }

  /// `calls`: with the answer of one that is read, as the oldest.
  Result<void> one(const Listed& document, Need need, CallsAhead& calls) {
    switch (need) {
      case Need::nothing: add(document, name(ExportState::unchanged), nullptr); return {};
      case Need::move: return move(document);
      case Need::keep: add(document, name(ExportState::kept), nullptr); return {};
      case Need::refuse: return fail(*document.refused);
      case Need::leave_out: return {};
      case Need::read: break;
    }
    WS_LET(const Reply reply, calls.take());
    return put(document, *reply.json);
  }

  Result<void> move(const Listed& document) {
    const std::string old = folder_.files().at(document.id).name;
    WS_TRY(folder_.move(document.id, document.title, sources_.place_of(document.id)));
    const bool is_moved = folder_.files().at(document.id).name != old;
    add(document, name(is_moved ? ExportState::updated : ExportState::unchanged), nullptr);
    return {};
  }

  /// The document as the service answered for it.
  Result<void> put(const Listed& document, const Json& answer) {
    auto content = find_text(answer, "content");
    if (!content) return fail(Failure::Kind::internal, "the answer of the service is not usable: it has no content");
    Listed read = listed_of(answer);
    if (read.title.empty()) read.title = document.title;
    read.id = document.id;
    const auto place = sources_.place_of(document.id);
    if (scope_ == Scope::all && !place && is_attachment_list(*content)) {
      folder_.leave_out(document.id, read.revision);
      return drop_list(document.id);
    }
    return put(read, *std::move(content), place);
  }

  Result<void> put(const Listed& document, std::string content, std::optional<ExportPlace> place) {
    WS_LET(const ExportState state,
           folder_.put({.id = document.id,
                        .revision = document.revision,
                        .title = document.title,
                        .content = std::move(content),
                        .place = std::move(place)},
                       session_.has("force")));
    add(document, name(state), nullptr);
    return {};
  }

  /// A document whose text came with its place. What is in the way of anything waits until all places are known.
  Result<void> take_pulled(const Listed& document,
                           const sync::PulledItem& item,
                           const ExportPlace& place,
                           ProgressLine& line) {
    if (!item.content || !item.revision.is_known() || !sync::is_markdown(place.path)) return {};
    Listed pulled = document;
    pulled.revision = static_cast<std::int64_t>(item.revision.number);
    const auto known = folder_.files().find(document.id);
    const bool lies_elsewhere = known != folder_.files().end() && known->second.name != place.path;
    if (lies_elsewhere || done_.contains(document.id) || need_of(pulled, place) != Need::read ||
        !folder_.is_free_for(document.id, place.path))
      return {};
    done_.insert(document.id);
    auto exported = put(pulled, *item.content, place);
    return exported ? exported : fail_one(document, std::move(exported).error(), line);
  }

  /// Files that lie where others are to lie step aside first.
  Result<void> make_room(const std::vector<Listed>& documents) {
    std::map<std::string, ExportPlace> places;
    for (const Listed& document : documents) {
      if (auto place = sources_.place_of(document.id)) places.emplace(document.id, *std::move(place));
    }
    return folder_.make_room(places);
  }

  /// An export of an earlier version may have a list as a document.
  Result<void> drop_list(const std::string& id) {
    const auto known = folder_.files().find(id);
    if (known == folder_.files().end()) return {};
    const Listed list{.id = id, .title = known->second.name, .revision = known->second.revision};
    WS_LET(const ExportState state, folder_.remove(id));
    add(list, name(state), nullptr, list.title);
    return {};
  }

  static std::string in_words(const std::map<std::string, std::size_t, std::less<>>& counts) {
    std::string words;
    for (const auto& [state, count] : counts) {
      const bool is_not_visible = state == name(ExportState::not_visible);
      words += fmt::format(
          "{}{} {}", words.empty() ? "" : ", ", count, is_not_visible ? "not visible with this key" : state);
    }
    return words;
  }

  void add_picture(const std::string& file, const std::string& asset, std::string_view state, const Failure* why) {
    ++picture_counts_[std::string(state)];
    has_failed_ = has_failed_ || why != nullptr;
    rows_.push_back({{"id", asset},
                     {"kind", "picture"},
                     {"state", state},
                     {"file", file},
                     {"title", sync::last_part(file)},
                     {"content_revision", nullptr},
                     {"error", why == nullptr ? Json() : failure_to_json(*why, exit_code_of(*why, 0))}});
  }

  void add(const Listed& document, std::string_view state, const Failure* why, const std::string& file = {}) {
    const auto known = folder_.files().find(document.id);
    const std::string name = known == folder_.files().end() ? file : known->second.name;
    ++counts_[std::string(state)];
    rows_.push_back({{"id", document.id},
                     {"kind", "document"},
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
  Scope scope_;
  ExportedSources sources_;
  ExportedPictures pictures_;
  std::set<std::string> done_;  ///< documents whose texts came with their source
  Json rows_ = Json::array();
  std::map<std::string, std::size_t, std::less<>> counts_;
  std::map<std::string, std::size_t, std::less<>> picture_counts_;
  bool has_failed_ = false;
};

Result<std::vector<Listed>> list_documents(Session& session, Client& client) {
  const Call call{.operation = "docs.list", .parameters = {{"limit", "100"}}};
  const auto project = session.arguments().value("project");
  std::vector<Listed> documents;
  std::size_t without_id = 0;
  WS_TRY(client.each_item(call, [&](const Json& item) {
    Listed document = listed_of(item);
    const bool is_archived = find_text(item, "status") == "archived";
    const bool is_wanted = !project || find_text(item, "project_id") == project;  // the API cannot be asked for it
    const bool is_taken = !is_archived && is_wanted;
    if (is_taken && document.id.empty()) ++without_id;
    if (is_taken && !document.id.empty()) documents.push_back(std::move(document));
    return Result<bool>(!session.world().cancelled.load());
  }));
  if (session.world().cancelled.load())
    return fail(
        Failure::Kind::cancelled, "stopped before anything was exported", "run the same command again to continue");
  if (without_id > 0)
    session.note(fmt::format("warning: {} of the listed documents have no id, and are not exported", without_id));
  return documents;
}

/// "all of 4 exported documents": how many of what is in the folder.
std::string lost_of(std::size_t lost, std::size_t tracked, std::string_view what) {
  return fmt::format("{} of {} exported {}", lost == tracked ? "all" : std::to_string(lost), tracked, what);
}

/// Fails with `conflict` where so many files would be removed that it has to be confirmed, as a sync is.
Result<void> check_deletes(
    Session& session, const ExportFolder& folder, bool is_list_empty, std::size_t lost, std::size_t lost_pictures) {
  const std::size_t tracked = folder.files().size();
  const sync::Guard guard{.deletes_here = lost,
                          .tracked = tracked,
                          .files_deleted_here = lost_pictures,
                          .files_tracked = folder.pictures().size()};
  const bool is_surprise = lost + lost_pictures > 0 && (is_list_empty || sync::needs_confirmation(guard));
  if (!is_surprise || session.has("allow-deletes")) return {};
  const std::string notes = lost > 0 ? lost_of(lost, tracked, "documents") : "";
  const std::string pictures = lost_pictures > 0 ? lost_of(lost_pictures, guard.files_tracked, "pictures") : "";
  const std::string what = fmt::format("{}{}{} are missing from the service's list{}",
                                       notes,
                                       notes.empty() || pictures.empty() ? "" : " and ",
                                       pictures,
                                       pictures.empty() ? "" : "s");
  if (session.terminal().may_ask()) {
    session.note(what + ": the files of those that are archived would be removed");
    if (session.confirm_word("type `delete` to continue; anything else cancels:", "delete")) return {};
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
  if (const auto synced = sync::find_root(folder)) {
    session.note(
        fmt::format("{} is in the synced folder {}: the next `ws sync` there sends what is exported, unless "
                    "`.wsignore` leaves it out",
                    clean(folder.string(), Breaks::space),
                    clean(synced->string(), Breaks::space)));
  }
  WS_LET(std::vector<Listed> documents, list_documents(session, *client));
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine line(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  Export run(session, *client, opened, folder, Scope::all);
  // Before the guard has weighed nothing is changed, unless there is nothing that it could weigh.
  const bool is_new = opened.files().empty() && opened.pictures().empty();
  WS_TRY(run.take_sources(documents, !removes || is_new, line));
  const std::set<std::string>& lists = run.sources().lists();
  std::erase_if(documents, [&](const Listed& document) { return lists.contains(document.id); });
  if (removes) {
    const std::vector<Listed> lost = unlisted_of(opened, documents);
    const auto is_list = [&](const Listed& document) { return lists.contains(document.id); };
    const auto lost_lists = static_cast<std::size_t>(std::ranges::count_if(lost, is_list));
    WS_TRY(
        check_deletes(session, opened, documents.empty(), lost.size() - lost_lists, run.pictures().unlisted().size()));
  }
  WS_TRY(run.settle_sources());
  WS_TRY(run.take(documents, line));
  WS_TRY(run.take_pictures(documents, line));
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
  Export run(session, *client, opened, folder, Scope::named);
  WS_TRY(run.take(documents, line));
  return run.print();
}

Command docs_export_command() {
  return {
      .words = "docs export",
      .summary = "Save every document as a Markdown file",
      .details =
          "Documents of the sources that `ws sync roots` shows, that --source names, or that lie in DIR already, lie "
          "in their folders, with the pictures beside them: links hold. One source lies in DIR itself, each of "
          "several in DIR/NAME. Every other document becomes DIR/TITLE.md. Run it again and only what changed on "
          "the service is fetched: DIR/.ws-export.json says which file holds which revision, of which Workspace and "
          "person. Files that you changed are kept, without --force. With --delete, where much is missing from the "
          "list it stops with exit 7 and changes nothing, as `ws sync` does; what is missing but not archived keeps "
          "its file. To work on the files and send changes back, use `ws sync` instead.",
      .arguments = {{.placeholder = "DIR", .help = "the folder; created if it does not exist"}},
      .flags = {{.name = "project",
                 .placeholder = "ID",
                 .help = "only the documents of this Project",
                 .names = Subject::project},
                {.name = "source",
                 .placeholder = "ID",
                 .is_repeated = true,
                 .help = "lay out this source in its folders too; DIR remembers it"},
                {.name = "delete", .help = "remove the files of documents that are archived; not with --project"},
                {.name = "allow-deletes", .help = "continue even if the guard against mass deletion would stop"}},
      .examples = {"ws docs export backup", "ws docs export backup --delete --json"},
      .run = export_all};
}

}  // namespace ws::cli
