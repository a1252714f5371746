// The files beside the notes: what they are, where they stand, which notes show them.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"
#include "cli/output/human.hpp"

namespace ws::cli {
namespace {

Json attachment_to_json(const sync::ListedAttachment& one) {
  Json notes = Json::array();
  for (const sync::RelativePath& note : one.notes) notes.push_back(note.string());
  const bool has_asset = one.file && !one.file->asset.empty();
  const bool has_hash = one.file && one.file->hash != Sha256();
  return {{"path", one.path.string()},
          {"bytes", one.file ? Json(one.file->size_bytes) : Json()},
          {"asset_id", has_asset ? Json(one.file->asset) : Json()},
          {"state", one.state},
          {"notes", std::move(notes)},
          {"media_type", one.file && !one.file->media_type.empty() ? Json(one.file->media_type) : Json()},
          {"content_sha256", has_hash ? Json(one.file->hash.hex()) : Json()}};
}

Result<ExitCode> list_attachments(Session& session) {
  WS_LET(SyncTree tree, open_tree(session, std::filesystem::current_path(), Network::none));
  WS_LET(const std::vector<sync::ListedAttachment> all, tree.engine->attachments());
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  const bool is_cells = session.format() == Format::tsv || session.format() == Format::csv;
  for (const sync::ListedAttachment& one : all) {
    Json value = attachment_to_json(one);
    if (is_cells) value["notes"] = fmt::format("{}", fmt::join(find_texts(value, "notes"), ", "));
    list["data"].push_back(std::move(value));
  }
  return print_own_list(session, "ws.attachments", list);
}

/// One line for each file, with the notes that show it and who wrote the link.
void name_shown(Session& session, const std::vector<sync::ListedAttachment>& files) {
  for (const sync::ListedAttachment& one : files) {
    std::vector<std::string> notes;
    for (const sync::RelativePath& note : one.notes) notes.push_back(clean(note.text(), Breaks::space));
    session.note(fmt::format("{}  shown by {}{}",
                             clean(one.path.text(), Breaks::space),
                             fmt::join(notes, ", "),
                             one.by.empty() ? "" : ", edited by " + clean(one.by, Breaks::space)));
  }
}

Result<ExitCode> choose(Session& session,
                        SyncTree& tree,
                        sync::FileChoice choice,
                        const std::vector<std::string>& names) {
  WS_LET(const std::vector<sync::RelativePath> files, tree.engine->choose_attachments(choice, names));
  if (session.format() == Format::json || session.format() == Format::ndjson || session.format() == Format::yaml) {
    Json paths = Json::array();
    for (const sync::RelativePath& file : files) paths.push_back(file.string());
    session.printer().json({{"v", 1}, {"paths", std::move(paths)}});
    return ExitCode::done;
  }
  for (const sync::RelativePath& file : files) session.printer().line(clean(file.text(), Breaks::space));
  if (choice != sync::FileChoice::refuse && session.format() == Format::table) {
    session.note(fmt::format("{} {} {}",
                             program_for(tree).add({"sync"}).in_backticks(),
                             choice == sync::FileChoice::add ? "sends" : "takes",
                             files.size() == 1 ? "it" : "them"));
  }
  return ExitCode::done;
}

Result<ExitCode> add_shown(Session& session, SyncTree& tree) {
  WS_LET(std::vector<sync::ListedAttachment> shown, tree.engine->attachments());
  std::erase_if(shown, [](const sync::ListedAttachment& one) { return one.state != "foreign"; });
  if (shown.empty()) {
    session.note("every file that notes show is synced or decided");
    return ExitCode::done;
  }
  name_shown(session, shown);
  WS_LET(const bool agreed, session.confirm(fmt::format("send {}?", counted(shown.size(), "file"))));
  if (!agreed) return fail(Failure::Kind::usage, "not confirmed; nothing was changed");
  std::vector<std::string> names;
  names.reserve(shown.size());
  for (const sync::ListedAttachment& one : shown) names.push_back(one.path.string());
  return choose(session, tree, sync::FileChoice::add, names);
}

Result<ExitCode> choose_named(Session& session, sync::FileChoice choice) {
  const std::vector<std::string>& words = session.arguments().words;
  const bool all_shown = choice == sync::FileChoice::add && session.has("shown");
  if (words.empty() != all_shown) {
    return fail(Failure::Kind::usage,
                choice == sync::FileChoice::add ? "give the files to sync, or --shown" : "give the files");
  }
  WS_LET(SyncTree tree, open_tree(session, std::filesystem::current_path(), Network::none));
  if (all_shown) return add_shown(session, tree);
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const std::string& word : words) names.push_back(path_in_tree(tree.root, word));
  return choose(session, tree, choice, names);
}

std::vector<Word> file_words(std::string placeholder, std::string help, Count count) {
  return {{.placeholder = std::move(placeholder), .help = std::move(help), .count = count}};
}

}  // namespace

Command sync_attachments_command() {
  return {
      .words = "sync attachments",
      .summary = "List the files that notes show or link to",
      .details =
          "Shows path, size, state, the notes that show the file, and its Asset, as of the last sync and without "
          "the network. `attachments:` in .ws/config.yaml says which files are synced. A file that only a text from "
          "the service shows is `foreign`: `ws sync attachments add` sends it. What arrives and could do harm is "
          "`held`: `ws sync attachments accept` accepts it. `ws sync attachments refuse` refuses either.",
      .examples = {"ws sync attachments", "ws sync attachments --json"},
      .run = list_attachments};
}

Command sync_attachments_list_command() {
  Command command = sync_attachments_command();
  command.words = "sync attachments list";
  command.examples = {"ws sync attachments list", "ws sync attachments list --json"};
  return command;
}

Command sync_attachments_add_command() {
  return {.words = "sync attachments add",
          .summary = "Sync files that a text from the service shows",
          .details =
              "A link that somebody else wrote does not make `ws sync` send a file of this folder. This command does: "
              "the next `ws sync` sends the files, whether a note shows them or not. --shown lists the files that such "
              "links show, with who wrote the links, and asks first.",
          .arguments = file_words("PATH", "a file, or a glob of files", Count::any),
          .flags = {{.name = "shown", .help = "all files that texts from the service show, after a question"}},
          .examples = {"ws sync attachments add img/plan.png", "ws sync attachments add 'img/*.png'"},
          .run = [](Session& session) { return choose_named(session, sync::FileChoice::add); }};
}

Command sync_attachments_accept_command() {
  return {.words = "sync attachments accept",
          .summary = "Accept files of the service that are held",
          .details =
              "A file is held if its kind is not one of `attachments_kinds:`, if it would replace a file here that was "
              "never synced, or one that can be run. The next `ws sync` receives it; what it replaces can be restored. "
              "If the file gets other bytes on the service, it is held again.",
          .arguments = file_words("PATH", "a file that is held", Count::many),
          .examples = {"ws sync attachments accept data/model.json"},
          .run = [](Session& session) { return choose_named(session, sync::FileChoice::accept); }};
}

Command sync_attachments_refuse_command() {
  return {
      .words = "sync attachments refuse",
      .summary = "Refuse files: do not sync them, and stop listing them",
      .details =
          "For a file that is held, or that a text from the service shows. It applies to these bytes in this folder, "
          "and changes nothing on the service or elsewhere.",
      .arguments = file_words("PATH", "a file that is held or foreign", Count::many),
      .examples = {"ws sync attachments refuse deploy.sh"},
      .run = [](Session& session) { return choose_named(session, sync::FileChoice::refuse); }};
}

}  // namespace ws::cli
