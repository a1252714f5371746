#include "cli/commands/shared/names.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/suggestion.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/output/human.hpp"
#include "cli/state/tree_register.hpp"
#include "sync-engine/binding/tree_binding.hpp"
#include "sync-engine/state/state_store.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_candidates = 10;

struct Candidate {
  std::string id = {};
  std::string what = {};  ///< what tells it from the others, or empty
};

Failure several(const std::string& given, std::string_view noun, const std::vector<Candidate>& found) {
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), max_candidates); ++i) {
    list += (list.empty() ? "" : ", ") + found[i].id + (found[i].what.empty() ? "" : " (" + found[i].what + ")");
  }
  if (found.size() > max_candidates) list += fmt::format(" and {} more", found.size() - max_candidates);
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("`{}` names {} {}", given, found.size(), noun),
          .hint = "give one of the ids: " + list,
          .code = "ambiguous_name"};
}

/// The document of a file in a synced folder. Empty where `given` is no such file.
Result<std::optional<std::string>> document_of_file(Session& session, const std::string& given) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(given, error);
  if (error || !fs::is_regular_file(path, error)) return std::optional<std::string>();
  const auto root = sync::find_root(path.parent_path());
  if (!root) return std::optional<std::string>();
  WS_LET(const sync::WsFolder own, sync::WsFolder::open(*root, session.settings().trusted));
  WS_LET(const sync::TreeBinding binding, sync::read_binding(own));
  WS_TRY(session.prefer_server(binding.base_url, binding.origin));
  WS_LET(const BaseUrl url, session.base_url());
  if (url.origin != binding.origin) {
    return fail(Failure::Kind::usage,
                "the file " + given + " is synced with " + binding.base_url + ", not with " + url.text);
  }
  const auto place = sync::RelativePath::parse(path.lexically_relative(fs::weakly_canonical(*root, error)).string());
  if (!place) return std::optional<std::string>();
  WS_LET(sync::StateStore state, sync::StateStore::open(own.through("state.db")));
  WS_LET(const auto known, state.find_base(*place));
  if (!known) {
    return fail(Failure::Kind::usage,
                "the file " + given + " is not on the service yet",
                "run `ws sync` to create its document");
  }
  return std::optional<std::string>(known->document.text());
}

/// What a name that names nothing is followed by: the nearest one that there is, else where to look.
std::string with_nearest(const std::string& given, const std::vector<std::string>& known, const std::string& where) {
  const std::string near = suggestion(given, known);
  return near.empty() ? where : near + " " + where;
}

/// `near` gets some titles that are like it.
Result<std::vector<Candidate>> documents_titled(Session& session,
                                                const std::string& title,
                                                std::vector<std::string>& near) {
  constexpr std::size_t max_near = 50;
  const std::size_t max_distance = 1 + title.size() / 4;
  WS_LET(Client * client, session.client());
  const Time now = session.world().clock.now();
  std::vector<Candidate> found;
  WS_TRY(client->each_item(
      {.operation = "docs.list", .parameters = {{"limit", "100"}}}, [&](const Json& one) -> Result<bool> {
        const std::string other = find_text(one, "title").value_or("");
        const std::size_t longer = std::max(other.size(), title.size()) - std::min(other.size(), title.size());
        if (other != title && near.size() < max_near && longer <= max_distance &&
            edit_distance(title, other) <= max_distance)
          near.push_back(other);
        if (other != title) return true;
        const std::string changed = relative_time(find_text(one, "updated_at").value_or(""), now);
        found.push_back({.id = find_text(one, "id").value_or(""), .what = changed.empty() ? "" : "changed " + changed});
        return true;
      }));
  return found;
}

/// Empty where no id that was shown ends so.
Result<std::optional<std::string>> shown_id(Session& session, const std::string& given) {
  const auto shown = session.shown_ids();
  if (!shown) return std::optional<std::string>();
  const std::vector<std::string> ids = shown->ending_with(given);
  if (ids.empty()) return std::optional<std::string>();
  if (ids.size() == 1) return std::optional<std::string>(ids.front());
  std::vector<Candidate> candidates;
  candidates.reserve(ids.size());
  for (const std::string& id : ids) candidates.push_back({.id = id});
  return fail(several(given, "ids that were shown lately", candidates));
}

std::optional<std::string> last_of(Session& session, std::string_view kind) {
  const auto shown = session.shown_ids();
  return shown ? shown->last(kind) : std::nullopt;
}

Result<std::string> document_id(Session& session, const std::string& given) {
  WS_LET(const auto by_file, document_of_file(session, given));
  if (by_file) return *by_file;
  WS_LET(const auto by_ending, shown_id(session, given));
  if (by_ending) return *by_ending;
  std::vector<std::string> near;
  WS_LET(const std::vector<Candidate> titled, documents_titled(session, given, near));
  if (titled.size() == 1) return titled.front().id;
  if (titled.size() > 1) return fail(several(given, "documents", titled));
  return fail(Failure::Kind::not_found,
              "no document has the id, path or title `" + given + "`",
              nearest_file(given).empty()
                  ? with_nearest(given, near, "`ws docs list` and `ws search WORDS` show documents")
                  : nearest_file(given));
}

Result<std::string> agent_id(Session& session, const std::string& given) {
  WS_LET(const auto by_ending, shown_id(session, given));
  if (by_ending) return *by_ending;
  const std::string handle = given.substr(given.starts_with('@') ? 1 : 0);
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply, client->call({.operation = "agents.list", .parameters = {{"include_revoked", "true"}}}));
  const Json* const agents = find(*reply.json, "data");
  std::vector<std::string> handles;
  if (agents != nullptr && agents->is_array()) {
    for (const Json& agent : *agents) {
      if (find_text(agent, "handle") == handle) return find_text(agent, "id").value_or(given);
      handles.push_back(find_text(agent, "handle").value_or(""));
    }
  }
  return fail(Failure::Kind::not_found,
              "no agent has the id or handle `" + given + "`",
              with_nearest(handle, handles, "`ws agents list` shows them"));
}

/// The API has no list of Projects: titles are known of those that `ws` created.
Result<std::string> project_id(Session& session, const std::string& given) {
  WS_LET(const auto by_ending, shown_id(session, given));
  if (by_ending) return *by_ending;
  const auto shown = session.shown_ids();
  std::vector<Candidate> titled;
  for (std::string& id : shown ? shown->projects_titled(given) : std::vector<std::string>()) {
    titled.push_back({.id = std::move(id)});
  }
  if (titled.size() == 1) return titled.front().id;
  if (titled.size() > 1) return fail(several(given, "Projects", titled));
  return fail(Failure::Kind::usage,
              "no Project with the id or title `" + given + "` is known on this machine",
              with_nearest(
                  given,
                  shown ? shown->project_titles() : std::vector<std::string>(),
                  "give its id: the API cannot list Projects, so `ws` knows only the titles of those that it created"));
}

/// Of the sources that a folder of this user is synced with. Empty where none is meant.
Result<std::optional<std::string>> known_source(Session& session, const std::string& given) {
  constexpr std::size_t shortest_ending = 4;
  const auto trees = TreeRegister(session.paths().state).all();
  std::vector<Candidate> found;
  for (const TiedTree& tree : trees ? *trees : std::vector<TiedTree>()) {
    const bool is_meant = tree.name == given || (given.size() >= shortest_ending && tree.source_id.ends_with(given));
    if (is_meant && std::ranges::find(found, tree.source_id, &Candidate::id) == found.end())
      found.push_back({.id = tree.source_id, .what = tree.folder.string()});
  }
  if (found.size() > 1) return fail(several(given, "sources of synced folders", found));
  return found.empty() ? std::optional<std::string>() : std::optional(found.front().id);
}

/// `kind`: "document" of `document_id`.
Result<std::string> id_of_name(Session& session, Subject names, std::string_view kind, const std::string& given) {
  if (is_uuid(given) || given.empty() || names == Subject::text) return given;
  if (given == "last") {
    if (const auto last = last_of(session, kind)) return *last;
    if (names == Subject::document)
      return fail(Failure::Kind::usage,
                  "there is no last document: none was shown on this machine yet",
                  "`ws docs list` shows them");
    // Of conversations the service knows the last one, of agents and Projects it may be the name.
    if (names == Subject::thing && !kind.empty() && kind != "conversation")
      return fail(Failure::Kind::usage,
                  fmt::format("there is no last {}: none was created or shown by itself on this machine yet",
                              kind == "asset" ? "file" : kind));
  }
  if (kind == "source") {
    WS_LET(const auto source, known_source(session, given));
    if (source) return *source;
  }
  switch (names) {
    case Subject::text: return given;
    case Subject::document: return document_id(session, given);
    case Subject::agent: return agent_id(session, given);
    case Subject::project: return project_id(session, given);
    case Subject::thing: break;
  }
  WS_LET(const auto by_ending, shown_id(session, given));
  if (kind == "source" && !by_ending)
    return fail(Failure::Kind::not_found,
                fmt::format("no folder of this machine syncs a source `{}`", given),
                "give the source's id: `ws sync share` prints it where it is synced");
  return by_ending.value_or(given);  // the check of the call refuses it, with the limits
}

/// "asset" of `asset_id` and `asset`.
std::string kind_of(std::string_view field) {
  constexpr std::string_view ending = "_id";
  std::string kind(field.ends_with(ending) ? field.substr(0, field.size() - ending.size()) : field);
  return kind;
}

std::string kind_of_word(const Command& command, std::size_t place) {
  switch (command.arguments[place].names) {
    case Subject::document: return "document";
    case Subject::agent: return "agent";
    case Subject::project: return "project";
    default: break;
  }
  const auto* const operation = command.operation;
  if (operation == nullptr || place >= operation->arguments.size()) return {};
  return kind_of(operation->arguments[place].target);
}

Result<std::string> resolve_word(Session& session, std::size_t place, const std::string& given) {
  return id_of_name(session, session.command().arguments[place].names, kind_of_word(session.command(), place), given);
}

}  // namespace

bool names_nothing(const Failure& failure) {
  return failure.kind == Failure::Kind::usage || failure.kind == Failure::Kind::not_found;
}

Result<std::string> resolve_line(Session& session, const std::string& given) {
  if (session.has("no-validate") || session.command().arguments.empty()) return given;
  return resolve_word(session, 0, given);
}

std::string nearest_file(const std::filesystem::path& given) {
  constexpr std::size_t most = 5'000;
  std::error_code error;
  const fs::path folder = given.parent_path();
  std::vector<std::string> known;
  for (fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;
    known.push_back((folder / name).string());
    if (known.size() == most) break;
  }
  return suggestion(given.string(), known);
}

std::map<std::string, SyncedFile> synced_files(Session& session, const std::vector<std::string>& ids) {
  std::map<std::string, SyncedFile> files;
  const auto url = session.base_url();
  const auto trees = TreeRegister(session.paths().state).all();
  if (!url || !trees) return files;
  for (const TiedTree& tree : *trees) {
    if (http::origin_of(tree.base_url) != url->origin) continue;
    const auto own = sync::WsFolder::open(tree.folder, session.settings().trusted);
    if (!own) continue;
    auto state = sync::StateStore::open(own->through("state.db"));
    const auto base = state ? state->base() : fail(state.error());
    if (!base) continue;
    for (const std::string& id : ids) {
      const auto row = base->find(sync::DocumentId{id});
      if (row != base->end())
        files.insert_or_assign(id,
                               SyncedFile{.folder = tree.folder, .path = std::string(row->second.disk_path().text())});
    }
  }
  return files;
}

Result<void> resolve_names(Session& session) {
  if (session.has("no-validate")) return {};
  const std::vector<Word>& arguments = session.command().arguments;
  const bool is_batch = arguments.size() == 1 && arguments.front().count == Count::any &&
                        (session.arguments().words.size() > 1 || session.has("stdin"));
  for (std::size_t i = 0; i < session.arguments().words.size() && !arguments.empty(); ++i) {
    auto id = resolve_word(session, std::min(i, arguments.size() - 1), session.arguments().words[i]);
    if (!id && is_batch && names_nothing(id.error())) {
      session.refuse_word(i, std::move(id).error());
      continue;
    }
    if (!id) return fail(std::move(id).error());
    session.replace_word(i, *std::move(id));
  }
  for (const Flag& flag : session.command().flags) {
    const auto given = flag.takes_value() && !flag.is_repeated ? session.arguments().value(flag.name) : std::nullopt;
    if (!given || flag.names == Subject::text) continue;
    WS_LET(std::string id,
           id_of_name(session, flag.names, kind_of(flag.fills.empty() ? flag.name : flag.fills), *given));
    session.replace_value(flag.name, std::move(id));
  }
  return {};
}

}  // namespace ws::cli
