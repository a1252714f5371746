// The files beside the notes: what they are, where they stand, which notes show them.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/sync/tree.hpp"

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
  tree.progress->clear();
  return print_own_list(session, "ws.attachments", list);
}

}  // namespace

Command sync_attachments_command() {
  return {.words = "sync attachments",
          .summary = "List the files that notes show",
          .details =
              "Shows path, size, state, the notes that show the file, and its Asset, as of the last sync and without "
              "the network. `attachments:` in .ws/config.yaml says which files are synced.",
          .examples = {"ws sync attachments", "ws sync attachments --json"},
          .run = list_attachments};
}

}  // namespace ws::cli
