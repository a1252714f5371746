#include "sync-engine/tie.hpp"

#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "sync-engine/state/state_store.hpp"
#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/tree_config.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tie_format = 1;
/// In `.ws/` while a source is being made.
constexpr const char* intent_name = "source.pending";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// An `init` that did not get to its end. Nothing was synced yet: it may be begun again.
bool is_unfinished(const fs::path& folder) {
  const fs::path own = folder / ".ws";
  return is_there(own) && !is_there(own / "source.json") && !is_there(own / "state.db");
}

Failure with_code(Failure::Kind kind, std::string what, std::string hint, std::string code) {
  return {.kind = kind, .what = std::move(what), .hint = std::move(hint), .code = std::move(code)};
}

}  // namespace

Result<fs::path> find_root(const fs::path& start) {
  std::error_code error;
  if (!fs::is_directory(start, error)) {
    return fail(with_code(Failure::Kind::usage, fmt::format("{} is not a folder", start.string()), "", "not_tied"));
  }
  fs::path place = fs::absolute(start, error).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // a trailing slash
  while (true) {
    if (is_there(place / ".ws")) return place;
    if (!place.has_relative_path()) break;
    place = place.parent_path();
  }
  return fail(with_code(Failure::Kind::usage,
                        fmt::format("{} is not in a synced folder: no .ws found here or above", start.string()),
                        "run `ws sync init`",
                        "not_tied"));
}

Result<Tie> read_tie(const fs::path& root) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(root / ".ws", error))) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws is a symbolic link, which could lead anywhere", root.string()),
                          "remove the link, then `ws sync init --source ID`",
                          "linked_marker"));
  }
  auto text = read_file(root / ".ws" / "source.json");
  if (!text && text.error().kind != Failure::Kind::not_found) return fail(std::move(text).error());
  if (!text) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{} has lost its marker .ws/source.json", root.string()),
                          "is the folder mounted? Restore the file, or remove .ws and run `ws sync init --source ID`",
                          "marker_missing"));
  }
  const auto parsed = parse_bounded(*text);
  if (!parsed) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws/source.json is damaged: {}", root.string(), parsed.error().what),
                          "restore the file, or remove .ws and run `ws sync init --source ID`",
                          "marker_damaged"));
  }
  const Json& value = *parsed;
  const std::int64_t found = find_integer(value, "format").value_or(0);
  if (found > tie_format) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws was written by a later version (format {})", root.string(), found),
                          "use the version of ws that wrote it",
                          "newer_format"));
  }
  Tie tie{.source_id = find_text(value, "source_id").value_or(""),
          .client_id = find_text(value, "client_id").value_or(""),
          .name = find_text(value, "name").value_or(""),
          .base_url = find_text(value, "base_url").value_or(""),
          .origin = find_text(value, "origin").value_or("")};
  if (tie.source_id.empty() || tie.client_id.empty()) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws/source.json names no source", root.string()),
                          "remove .ws and run `ws sync init --source ID`",
                          "marker_missing"));
  }
  return tie;
}

namespace {

Result<void> write_own_folder(const fs::path& own) {
  WS_TRY(make_folders(own / "tmp"));
  WS_TRY(make_folders(own / "conflicts"));
  WS_TRY(write_file(own / ".gitignore", "*\n"));
  return is_there(own / "config.yaml") ? Result<void>() : write_file(own / "config.yaml", config_template);
}

Failure maybe_made(const std::string& name) {
  Failure failure = with_code(Failure::Kind::unknown_outcome,
                              fmt::format("an earlier init here was cut off: it may have made a source `{}`", name),
                              fmt::format("look for an empty page of that name; join its source with {}, or remove the "
                                          "page and .ws/{}, and run this again",
                                          ShellCommand{"ws", "sync", "init", "--source", "ID"}.ticked(),
                                          intent_name),
                              "source_in_doubt");
  failure.call.applied = Applied::unknown;
  return failure;
}

/// Making a source cannot be repeated without making two: what may have been sent is noted, and never sent again.
Result<SourceInfo> create_source(const fs::path& own, const SourceRequest& request, Remote& remote) {
  if (is_there(own / intent_name)) return fail(maybe_made(request.name));
  WS_TRY(write_file(own / intent_name, request.name + "\n"));
  auto made = remote.create_source(request);
  std::error_code ignored;
  if (!made && made.error().call.applied == Applied::no) fs::remove(own / intent_name, ignored);
  return made;
}

bool is_same_id(std::string_view a, std::string_view b) { return utf8::fold_key(a) == utf8::fold_key(b); }

Failure another_source(std::string_view asked_for, std::string_view answered) {
  return with_code(Failure::Kind::integrity,
                   fmt::format("asked for the source {} the service answered for {}", asked_for, answered),
                   "check the base URL; nothing was tied",
                   "another_source");
}

/// A staged commit and recorded conflicts are the tree's from which this one was copied: the next run stages and
/// records its own.
Result<void> forget_the_others(const fs::path& root) {
  const fs::path file = root / ".ws" / "state.db";
  std::error_code error;
  if (fs::file_size(file, error) == 0 || error) return {};
  WS_LET(StateStore state, StateStore::open(file));
  WS_LET(const std::vector<Conflict> conflicts, state.conflicts());
  WS_LET(sqlite::Transaction transaction, state.begin());
  WS_TRY(state.clear_staged());
  for (const Conflict& conflict : conflicts) {
    if (!conflict.here_only) WS_TRY(state.drop_conflict(conflict.id));
  }
  WS_TRY(transaction.commit());
  for (const Conflict& conflict : conflicts) {
    if (!conflict.here_only) remove_conflict_files(root, conflict.id);
  }
  return {};
}

}  // namespace

Result<void> write_tie(const fs::path& root, const Tie& tie) {
  const fs::path own = root / ".ws";
  WS_TRY(write_own_folder(own));
  const Json value{{"format", tie_format},
                   {"source_id", tie.source_id},
                   {"client_id", tie.client_id},
                   {"name", tie.name},
                   {"base_url", tie.base_url},
                   {"origin", tie.origin}};
  // The marker comes last: a tree is tied once it is there.
  return write_file(own / "source.json", dump(value, 2) + "\n");
}

Result<Tie> renew_client(const fs::path& root, const Clock& clock, Random& random) {
  WS_LET(Tie tie, read_tie(root));
  WS_TRY(forget_the_others(root));
  tie.client_id = make_uuid_v7(clock.now(), random);
  WS_TRY(write_tie(root, tie));
  return tie;
}

Result<Tie> init(const InitOptions& options, Remote& remote, const Clock& clock, Random& random) {
  std::error_code error;
  const fs::path folder = fs::canonical(options.folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return fail(Failure::Kind::usage, fmt::format("{} is not a folder", options.folder.string()));
  }
  if (auto above = find_root(is_unfinished(folder) ? folder.parent_path() : folder)) {
    return fail(with_code(Failure::Kind::usage,
                          above->string() == folder.string()
                              ? fmt::format("{} is tied to a source already", folder.string())
                              : fmt::format("{} lies in the synced folder {}", folder.string(), above->string()),
                          "run `ws sync status`",
                          "already_tied"));
  }
  // All that the disk can refuse comes before the source is made.
  const fs::path own = folder / ".ws";
  const bool fresh = !is_there(own);
  if (auto written = write_own_folder(own); !written) return fail(std::move(written).error());
  const std::string name = options.name.empty() ? folder.filename().string() : options.name;
  const auto source =
      options.source_id.empty()
          ? create_source(
                own, {.name = name, .project_id = options.project_id, .root_node_id = options.root_node_id}, remote)
          : remote.find_source(options.source_id);
  if (!source) {
    if (fresh && source.error().call.applied == Applied::no) fs::remove_all(own, error);
    return fail(source.error());
  }
  if (!options.source_id.empty() && !is_same_id(source->id, options.source_id)) {
    if (fresh) fs::remove_all(own, error);
    return fail(another_source(options.source_id, source->id));
  }
  Tie tie{.source_id = source->id,
          .client_id = make_uuid_v7(clock.now(), random),
          .name = source->name,
          .base_url = options.base_url,
          .origin = options.origin};
  if (auto written = write_tie(folder, tie); !written) {
    Failure failure = std::move(written).error();
    failure.hint =
        "then join the source that was made: " + ShellCommand{"ws", "sync", "init", "--source=", source->id}.ticked();
    return fail(std::move(failure));
  }
  fs::remove(own / intent_name, error);
  // Before anything only looks at the tree: what writes nothing finds all there is.
  WS_TRY(StateStore::open(own / "state.db"));
  return tie;
}

}  // namespace ws::sync
