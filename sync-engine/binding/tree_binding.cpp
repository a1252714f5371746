#include "sync-engine/binding/tree_binding.hpp"

#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "sync-engine/disk/root_folder.hpp"
#include "sync-engine/state/state_store.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tie_format = 1;
/// In `.ws/` while a source is being made.
constexpr const char* intent_name = "source.pending";
constexpr std::size_t max_marker_bytes = std::size_t{1} << 20U;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// An `init` that was interrupted. Nothing was synced yet: it may be repeated.
bool is_unfinished(const fs::path& folder) {
  const fs::path own = folder / ".ws";
  return is_there(own) && !is_there(own / "source.json") && !is_there(own / "state.db");
}

struct OlderTree {
  std::string source_id = {};
  std::string kept_as = {};  ///< ".ws.old-2026-11-27"
};

/// A `.ws` from before the first release is moved aside. Empty: there is none, or it is of today.
/// Not before the service has told of the source that is to be joined: a folder that lost its `.ws` to an `init` that
/// fails would not know it any more.
Result<std::optional<OlderTree>> move_older_aside(const fs::path& folder,
                                                  const InitOptions& options,
                                                  Remote& remote,
                                                  const Clock& clock) {
  if (!is_there(folder / ".ws" / "state.db")) return std::optional<OlderTree>{};
  WS_LET(const RootFolder root, RootFolder::open(folder));
  WS_LET(const WsFolder own, WsFolder::open(root, options.trusted));
  const auto state = StateStore::open(own.through("state.db"));
  if (state || state.error().code != "older_format") return std::optional<OlderTree>{};
  WS_LET(const TreeBinding binding, read_binding(own));
  WS_TRY(remote.find_source(options.source_id.empty() ? binding.source_id : options.source_id));
  WS_LET(const TreeLock lock, TreeLock::take(root, std::chrono::milliseconds(0)));
  const std::string day = to_rfc3339(clock.now()).substr(0, 10);
  OlderTree older{.source_id = binding.source_id, .kept_as = ".ws.old-" + day};
  for (int next = 2; is_there(folder / older.kept_as); ++next) older.kept_as = fmt::format(".ws.old-{}-{}", day, next);
  if (::renameat(root.fd(), ".ws", root.fd(), older.kept_as.c_str()) != 0) return disk_failure("cannot move", ".ws");
  return older;
}

/// A `.ws` of another user, in /tmp for example, does not make the folders below it part of a tree.
bool is_left_by_another_user(const fs::path& root, const fs::path& folder, const TrustedFolders& trusted) {
  if (root == folder) return false;
  const auto opened = WsFolder::open(root, trusted);
  return !opened && opened.error().code == "foreign_owner";
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
                        "`cd` to a synced folder (`ws sync roots` lists them), or set this one up: `ws sync init`",
                        "not_tied"));
}

Result<TreeBinding> read_binding(const fs::path& root, const TrustedFolders& trusted) {
  WS_LET(const WsFolder folder, WsFolder::open(root, trusted));
  return read_binding(folder);
}

Result<TreeBinding> read_binding(const WsFolder& folder) {
  const fs::path root = folder.path().parent_path();
  auto text = folder.read("source.json", max_marker_bytes);
  if (!text && text.error().kind != Failure::Kind::not_found) return fail(std::move(text).error());
  if (!text) {
    return fail(with_code(
        Failure::Kind::disk,
        fmt::format("the file .ws/source.json of {} is missing", root.string()),
        "check that the folder is mounted; restore the file, or remove .ws and run `ws sync init --source ID`",
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
  TreeBinding binding{.source_id = find_text(value, "source_id").value_or(""),
                      .client_id = find_text(value, "client_id").value_or(""),
                      .name = find_text(value, "name").value_or(""),
                      .base_url = find_text(value, "base_url").value_or(""),
                      .origin = find_text(value, "origin").value_or(""),
                      .profile = find_text(value, "profile").value_or(""),
                      .is_shared = find_bool(value, "shared").value_or(false)};
  if (const Json* const account = find(value, "account"); account != nullptr && account->is_object()) {
    const auto member = [&](std::string_view name) { return find_text(*account, name).value_or(""); };
    binding.account = Account{.id = member("id"),
                              .name = member("name"),
                              .signs_as = member("signs_as"),
                              .workspace_id = member("workspace_id"),
                              .workspace_name = member("workspace_name")};
  }
  if (binding.source_id.empty() || binding.client_id.empty()) {
    return fail(with_code(Failure::Kind::disk,
                          fmt::format("{}/.ws/source.json names no source", root.string()),
                          "remove .ws and run `ws sync init --source ID`",
                          "marker_missing"));
  }
  return binding;
}

namespace {

Result<WsFolder> make_own_folder(const fs::path& root, const InitOptions& options) {
  WS_LET(WsFolder own, WsFolder::make(root, options.trusted));
  WS_TRY(own.write(".gitignore", "*\n"));
  if (!own.has("config.yaml")) WS_TRY(own.write("config.yaml", new_config(options.attachments)));
  return own;
}

Failure maybe_made(const std::string& name) {
  Failure failure =
      with_code(Failure::Kind::unknown_outcome,
                fmt::format("an earlier `ws sync init` here was interrupted: it may have made the source `{}`", name),
                fmt::format("look for an empty page of that name; join its source with {}, or remove the "
                            "page and .ws/{}, and run this again",
                            ShellCommand{"ws", "sync", "init", "--source", "ID"}.in_backticks(),
                            intent_name),
                "source_in_doubt");
  failure.call.applied = Applied::unknown;
  return failure;
}

/// Creating a source is not idempotent: a request that may have been sent is recorded, and never sent again.
Result<SourceInfo> create_source(const WsFolder& own, const SourceRequest& request, Remote& remote) {
  if (own.has(intent_name)) {
    WS_LET(const std::string sent, own.read(intent_name, max_marker_bytes));
    return fail(maybe_made(sent.substr(0, sent.find('\n'))));
  }
  WS_TRY(own.write(intent_name, request.name + "\n"));
  auto made = remote.create_source(request);
  if (!made && made.error().call.applied == Applied::no) own.remove(intent_name);
  return made;
}

bool is_same_id(std::string_view a, std::string_view b) { return utf8::fold_key(a) == utf8::fold_key(b); }

Failure another_source(std::string_view asked_for, std::string_view answered) {
  return with_code(Failure::Kind::integrity,
                   fmt::format("the service answered for the source {1}, not for {0}", asked_for, answered),
                   "check the base URL; nothing was set up",
                   "another_source");
}

}  // namespace

Result<void> write_binding(const WsFolder& own, const TreeBinding& binding) {
  Json value{{"format", tie_format},
             {"source_id", binding.source_id},
             {"client_id", binding.client_id},
             {"name", binding.name},
             {"base_url", binding.base_url},
             {"origin", binding.origin}};
  if (binding.account) {
    value["account"] = {{"id", binding.account->id},
                        {"name", binding.account->name},
                        {"signs_as", binding.account->signs_as},
                        {"workspace_id", binding.account->workspace_id},
                        {"workspace_name", binding.account->workspace_name}};
    value["profile"] = binding.profile;
  }
  if (binding.is_shared) value["shared"] = true;
  // source.json is written last: with it the tree is bound.
  return own.write("source.json", dump(value, 2) + "\n");
}

Result<void> mark_shared(const fs::path& root, const TrustedFolders& trusted) {
  WS_LET(const WsFolder own, WsFolder::open(root, trusted));
  WS_LET(TreeBinding binding, read_binding(own));
  binding.is_shared = true;
  return write_binding(own, binding);
}

Result<void> bind_account(const fs::path& root,
                          const Account& account,
                          const std::string& profile,
                          const TrustedFolders& trusted) {
  WS_LET(const WsFolder own, WsFolder::open(root, trusted));
  WS_LET(TreeBinding binding, read_binding(own));
  binding.account = account;
  binding.profile = profile;
  return write_binding(own, binding);
}

Result<TreeBinding> init(const InitOptions& options, Remote& remote, const Clock& clock, Random& random) {
  std::error_code error;
  const fs::path folder = fs::canonical(options.folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return fail(Failure::Kind::usage, fmt::format("{} is not a folder", options.folder.string()));
  }
  WS_LET(const std::optional<OlderTree> older, move_older_aside(folder, options, remote, clock));
  const bool makes_source =
      options.source_id.empty() && (!older || !options.project_id.empty() || !options.root_node_id.empty());
  const std::string source_id = makes_source || !options.source_id.empty() ? options.source_id : older->source_id;
  const auto above = find_root(is_unfinished(folder) ? folder.parent_path() : folder);
  if (above && !is_left_by_another_user(*above, folder, options.trusted)) {
    return fail(with_code(Failure::Kind::usage,
                          above->string() == folder.string()
                              ? fmt::format("{} is a synced folder already", folder.string())
                              : fmt::format("{} is inside the synced folder {}", folder.string(), above->string()),
                          "run `ws sync status`",
                          "already_tied"));
  }
  // Everything that the disk can refuse is done before the source is created.
  const bool fresh = !is_there(folder / ".ws");
  WS_LET(const WsFolder own, make_own_folder(folder, options));
  const std::string name = options.name.empty() ? folder.filename().string() : options.name;
  const auto source =
      makes_source
          ? create_source(
                own, {.name = name, .project_id = options.project_id, .root_node_id = options.root_node_id}, remote)
          : remote.find_source(source_id);
  if (!source) {
    if (fresh && source.error().call.applied == Applied::no) fs::remove_all(folder / ".ws", error);
    return fail(source.error());
  }
  if (!makes_source && !is_same_id(source->id, source_id)) {
    if (fresh) fs::remove_all(folder / ".ws", error);
    return fail(another_source(source_id, source->id));
  }
  TreeBinding binding{.source_id = source->id,
                      .client_id = make_uuid_v7(clock.now(), random),
                      .name = source->name,
                      .base_url = options.base_url,
                      .origin = options.origin,
                      .account = options.account,
                      .profile = options.profile,
                      .kept_aside = older ? older->kept_as : ""};
  if (auto written = write_binding(own, binding); !written) {
    Failure failure = std::move(written).error();
    failure.hint = "then join the source that was made: " +
                   ShellCommand{"ws", "sync", "init", "--source=", source->id}.in_backticks();
    return fail(std::move(failure));
  }
  own.remove(intent_name);
  // Before anything only looks at the tree: what writes nothing finds all there is.
  WS_TRY(StateStore::open(own.through("state.db")));
  return binding;
}

Result<void> untie(const fs::path& root, const TrustedFolders& trusted) {
  WS_LET(const RootFolder folder, RootFolder::open(root));
  WS_TRY(WsFolder::open(folder, trusted));
  WS_LET(const TreeLock lock, TreeLock::take(folder, std::chrono::milliseconds(0)));
  // One step: a half of it is never found.
  constexpr const char* leaving = ".ws.removed";
  std::error_code ignored;
  fs::remove_all(root / leaving, ignored);
  if (::renameat(folder.fd(), ".ws", folder.fd(), leaving) != 0) return disk_failure("cannot remove", ".ws");
  std::error_code error;
  fs::remove_all(root / leaving, error);
  if (error) {
    return fail(Failure::Kind::disk,
                fmt::format("cannot remove all of {}: {}", leaving, error.message()),
                "the folder is no longer synced; remove the rest by hand");
  }
  return {};
}

}  // namespace ws::sync
