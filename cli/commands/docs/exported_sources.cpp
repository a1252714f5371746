#include "cli/commands/docs/exported_sources.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/suggestion.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/state/tree_register.hpp"
#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/manifest/manifest.hpp"
#include "sync-engine/model/file_name.hpp"
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/remote/api_remote.hpp"

namespace ws::cli {
namespace {

constexpr std::size_t min_ending = 4;

bool may_mean(const TiedTree& tree, const std::string& word) {
  return tree.name == word || tree.source_id == word ||
         (word.size() >= min_ending && std::string_view(tree.source_id).ends_with(word));
}

/// The id of the source that a word names: an id, and of those of the register its name or the ending of its id.
Result<WantedSource> named_source(const std::vector<TiedTree>& trees, const std::string& word) {
  std::map<std::string, std::string> meant;  // names, by id
  std::vector<std::string> known;
  for (const TiedTree& tree : trees) {
    known.push_back(tree.name);
    if (may_mean(tree, word)) meant.emplace(tree.source_id, tree.name);
  }
  if (meant.size() == 1) return WantedSource{.id = meant.begin()->first, .name = meant.begin()->second};
  if (meant.size() > 1) {
    return fail(Failure::Kind::usage,
                fmt::format("`{}` names {} sources; nothing was changed", clean(word, Breaks::space), meant.size()),
                "give the id of one: `ws sync roots` shows them");
  }
  if (is_uuid(word)) return WantedSource{.id = word};
  const std::string similar = suggestion(word, known);
  return fail(
      Failure::Kind::usage,
      fmt::format("no source with the id or name `{}` is known here; nothing was changed", clean(word, Breaks::space)),
      similar.empty() ? "`ws sync roots` shows those that are synced here" : similar);
}

Json json_of(const std::map<std::string, std::string>& texts) {
  Json value = Json::object();
  for (const auto& [key, text] : texts) value[key] = text;
  return value;
}

std::map<std::string, std::string> texts_in(const Json& value, std::string_view member) {
  std::map<std::string, std::string> texts;
  const Json* const found = find(value, member);
  if (found == nullptr || !found->is_object()) return texts;
  for (const auto& [key, text] : found->items()) {
    if (text.is_string()) texts.emplace(key, text.get<std::string>());
  }
  return texts;
}

/// What a cursor that the service no longer takes, or a counter that it never had, is answered with.
bool is_about_request(const Failure& failure) {
  return failure.kind == Failure::Kind::usage || failure.kind == Failure::Kind::invalid ||
         failure.kind == Failure::Kind::conflict;
}

}  // namespace

bool is_out_of_sight(const Failure& failure) {
  const int status = failure.call.http_status;
  return status == 403 || status == 404 || status == 410;
}

Result<std::vector<WantedSource>> wanted_sources(const Session& session, const ExportFolder& folder) {
  WS_LET(std::vector<TiedTree> trees, TreeRegister(session.paths().state).all());
  std::erase_if(trees, [&](const TiedTree& tree) { return tree.base_url != folder.base_url(); });
  std::map<std::string, WantedSource> wanted;
  for (const std::string& word : session.arguments().values("source")) {
    WS_LET(WantedSource source, named_source(trees, word));
    source.is_named = true;
    wanted.insert_or_assign(source.id, source);
  }
  for (const TiedTree& tree : trees) {
    if (is_uuid(tree.source_id)) wanted.try_emplace(tree.source_id, WantedSource{tree.source_id, tree.name});
  }
  for (const auto& [source, prefix] : folder.source_folders) {
    if (is_uuid(source)) wanted.try_emplace(source, WantedSource{.id = source});
  }
  std::vector<WantedSource> sources;
  for (auto& [id, source] : wanted) sources.push_back(std::move(source));
  return sources;
}

void ExportedSources::read_told() {
  const auto text = read_file(folder_.path() / export_sources);
  const auto value = text ? parse_bounded(*text) : fail(Failure(text.error()));
  const Json* const sources =
      value && find_text(*value, "base_url") == folder_.base_url() ? find(*value, "sources") : nullptr;
  if (sources == nullptr || !sources->is_object()) return;
  for (const auto& [source, each] : sources->items()) {
    const auto revision = find_integer(each, "revision").value_or(0);
    if (revision <= 0 || !folder_.source_folders.contains(source)) continue;
    told_.emplace(source,
                  Told{.revision = static_cast<std::uint64_t>(revision),
                       .paths = texts_in(each, "paths"),
                       .lists = texts_in(each, "lists")});
  }
}

Result<void> ExportedSources::save() const {
  if (folder_.is_dry_run() || read_.empty()) return {};
  Json sources = Json::object();
  for (const auto& [source, told] : told_) {
    sources[source] = {{"revision", told.revision}, {"paths", json_of(told.paths)}, {"lists", json_of(told.lists)}};
  }
  const Json value = {{"v", 1}, {"base_url", folder_.base_url()}, {"sources", std::move(sources)}};
  return write_file(folder_.path() / export_sources, dump(value) + "\n");
}

Result<void> ExportedSources::read(Session& session,
                                   Client& client,
                                   const std::vector<WantedSource>& wanted,
                                   const Visit& visit) {
  if (wanted.empty()) return {};
  read_told();
  const auto remote = sync::make_api_remote(client);
  for (const WantedSource& source : wanted) {
    if (source.is_named) named_.insert(source.id);
  }
  std::vector<std::string> refused;
  WS_LET(const std::vector<WantedSource> readable, settle_folders(*remote, wanted, refused));
  for (const WantedSource& source : readable) {
    auto done = read_one(*remote, source, visit);
    if (!done && !is_out_of_sight(done.error())) return done;
    if (!done) refuse(source, done.error(), refused);
  }
  if (!refused.empty()) {
    session.note(fmt::format(
        "not visible with this key{}: source {}; documents of it lie flat, but those that have a place here keep it",
        lacks_scope_ ? " (it lacks sync:read)" : "",
        fmt::join(refused, ", ")));
  }
  return {};
}

void ExportedSources::refuse(const WantedSource& source, const Failure& why, std::vector<std::string>& refused) {
  refused.push_back(source.name.empty() ? source.id : clean(source.name, Breaks::space));
  lacks_named_ = lacks_named_ || source.is_named;
  lacks_scope_ = lacks_scope_ || why.code == "missing_scope";
}

Result<std::vector<WantedSource>> ExportedSources::settle_folders(sync::Remote& remote,
                                                                  const std::vector<WantedSource>& wanted,
                                                                  std::vector<std::string>& refused) {
  std::vector<WantedSource> readable;
  for (WantedSource source : wanted) {
    if (folder_.source_folders.contains(source.id)) {
      readable.push_back(std::move(source));
      continue;
    }
    const auto info = remote.find_source(source.id);
    if (!info && !is_out_of_sight(info.error())) return fail(Failure(info.error()));
    if (!info) {
      refuse(source, info.error(), refused);
      continue;
    }
    if (!info->name.empty()) source.name = info->name;
    readable.push_back(std::move(source));
  }
  const bool is_only = readable.size() == 1 && folder_.source_folders.empty();
  for (const WantedSource& source : readable) {
    if (!folder_.source_folders.contains(source.id))
      folder_.source_folders.emplace(source.id, folder_for(source, is_only));
  }
  return readable;
}

/// A source alone lies as in its synced folder, so that links from the root hold, too; of several each has a folder.
std::string ExportedSources::folder_for(const WantedSource& source, bool is_only) const {
  if (is_only) return "";
  const std::string of_id = sync::file_name(sync::NamedBy::id, source.id);
  const std::string of_name = sync::file_name(sync::NamedBy::title, source.name);
  for (const std::string& name : {of_name, fmt::format("{} ({})", of_name, of_id.substr(of_id.size() - 8)), of_id}) {
    const bool is_taken =
        std::ranges::any_of(folder_.source_folders, [&](const auto& each) { return each.second == name + "/"; });
    if (!of_name.empty() && !is_taken && folder_.is_free_for("", name)) return name + "/";
  }
  return of_id + "/";
}

Result<void> ExportedSources::read_one(sync::Remote& remote, const WantedSource& source, const Visit& visit) {
  const auto known = told_.find(source.id);
  const Told before = known == told_.end() ? Told{} : known->second;
  auto told = pull(remote, source.id, before, visit);
  const bool is_refused_since = !told && before.revision > 0 && is_about_request(told.error());
  const bool is_behind = told && told->revision < before.revision;
  if (is_refused_since || is_behind) told = pull(remote, source.id, {}, visit);
  if (!told) return fail(std::move(told).error());
  // A list that is empty proves nothing: what lies here keeps its place.
  if (told->paths.empty() && told->lists.empty()) return {};
  take(source.id, *told);
  told_.insert_or_assign(source.id, *std::move(told));
  read_.insert(source.id);
  return {};
}

Result<ExportedSources::Told> ExportedSources::pull(sync::Remote& remote,
                                                    const std::string& source,
                                                    const Told& known,
                                                    const Visit& visit) const {
  Told told = known;
  std::set<std::string> seen;
  std::vector<sync::DocumentId> unread;
  const auto take_item = [&](const sync::PulledItem& item) -> Result<void> {
    const std::string& id = item.document.text();
    if (id.empty()) return {};
    seen.insert(id);
    if (item.deleted) {
      told.paths.erase(id);
      told.lists.erase(id);
      return {};
    }
    if (item.path.empty()) return {};
    const bool may_be_list = sync::is_manifest_path(item.path);
    if (may_be_list && !item.content) unread.push_back(item.document);
    if (may_be_list && item.content && sync::parse_manifest(*item.content)) {
      told.paths.erase(id);
      told.lists.insert_or_assign(id, *item.content);
      return {};
    }
    told.lists.erase(id);
    told.paths.insert_or_assign(id, item.path);
    const auto place = place_in(source, item.path);
    return place && !may_be_list ? visit(item, *place) : Result<void>();
  };
  WS_LET(const sync::PullEnd end, remote.pull(source, {known.revision}, take_item));
  if (!end.source_id.empty() && end.source_id != source) {
    return fail(Failure{.kind = Failure::Kind::integrity,
                        .what = fmt::format("the service answered for another source than {}", source),
                        .hint = "run the same command again",
                        .code = "foreign_source"});
  }
  for (const sync::DocumentId& document : unread) {
    const auto item = remote.content(document);
    if (!item && !is_out_of_sight(item.error())) return fail(Failure(item.error()));
    if (!item || !item->content || !sync::parse_manifest(*item->content)) continue;
    told.paths.erase(document.text());
    told.lists.insert_or_assign(document.text(), *item->content);
  }
  // Every living document came, though only changes were asked for.
  if (end.complete) {
    const auto is_unseen = [&seen](const auto& each) { return !seen.contains(each.first); };
    std::erase_if(told.paths, is_unseen);
    std::erase_if(told.lists, is_unseen);
  }
  told.revision = end.revision ? end.revision->number : 0;
  return told;
}

std::optional<ExportPlace> ExportedSources::place_in(const std::string& source, const std::string& path) const {
  const auto folder = folder_.source_folders.find(source);
  if (folder == folder_.source_folders.end()) return std::nullopt;
  const auto place = sync::RelativePath::parse(folder->second + path);
  // Both alone: a path that is refused in its tree lies nowhere.
  if (!place || !sync::RelativePath::parse(path) || is_export_own(place->text())) return std::nullopt;
  return ExportPlace{.path = place->string(), .source = source};
}

void ExportedSources::take(const std::string& source, const Told& told) {
  for (const auto& [document, path] : told.paths) {
    auto place = place_in(source, path);
    if (place && sync::is_markdown(place->path)) places_.insert_or_assign(document, *std::move(place));
  }
  sync::KnownList list;
  for (const auto& [document, text] : told.lists) {
    lists_.insert(document);
    sync::take_part(list, {.document = sync::DocumentId(document), .text = text});
  }
  for (const auto& [path, file] : list.rows()) {
    const auto place = place_in(source, path.string());
    if (place && !sync::is_markdown(place->path)) pictures_.insert_or_assign(place->path, WantedPicture{file, source});
  }
}

std::optional<ExportPlace> ExportedSources::place_of(const std::string& document) const {
  const auto place = places_.find(document);
  if (place != places_.end()) return place->second;
  // A source that was not read now takes nothing out of its place.
  const auto known = folder_.files().find(document);
  if (known == folder_.files().end() || known->second.source.empty() || is_read(known->second.source))
    return std::nullopt;
  return ExportPlace{.path = known->second.name, .source = known->second.source};
}

}  // namespace ws::cli
