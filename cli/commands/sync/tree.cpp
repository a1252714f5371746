#include "cli/commands/sync/tree.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/host_name.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/sync/tree_account.hpp"
#include "cli/state/tree_register.hpp"
#include "sync-engine/conflict_store/renew_client.hpp"
#include "sync-engine/remote/api_remote.hpp"

namespace ws::cli {
namespace {

constexpr int retries_of_a_run = 100;  // `safety.md`, promise 11
constexpr std::size_t rows_on_a_terminal = 40;

const Flag only_flag = {
    .name = "only", .placeholder = "GLOB", .help = "only files whose path matches, as in 'notes/*'"};
const Flag wait_lock_flag = {.name = "wait-lock",
                             .placeholder = "S",
                             .help = "how long to wait for another ws that is running in this folder",
                             .fallback = "0"};

const Flag device_flag = {.name = "device-name",
                          .placeholder = "NAME",
                          .help = "what this machine is called in runs, conflicts and commits",
                          .fallback = "the host name"};

/// Host names are shortened to their first label.
std::string device_name(const Session& session) {
  constexpr std::size_t longest = 60;
  const std::string& set = session.settings().device_name.value;
  const std::string host = host_name();
  return std::string(utf8::prefix(clean(set.empty() ? host.substr(0, host.find('.')) : set, Breaks::space), longest));
}

std::string_view stage_word(sync::Stage stage) {
  switch (stage) {
    case sync::Stage::scan: return "looking at files";
    case sync::Stage::pull: return "receiving";
    case sync::Stage::write: return "writing";
    case sync::Stage::push: return "sending";
    case sync::Stage::commit: return "publishing";
    case sync::Stage::upload: return "sending files";
    case sync::Stage::download: return "receiving files";
  }
  return "";
}

/// Empty: conflicts stay open.
Result<std::optional<sync::Keep>> parse_on_conflict(const std::string& text) {
  const auto keep = sync::find_keep(text);
  if (text == "open" || (keep && keep != sync::Keep::merged)) return keep;
  return fail(Failure::Kind::usage, "--on-conflict takes open, mine, theirs or both, not `" + text + "`");
}

Result<void> check_server_of(Session& session, const sync::TreeBinding& binding) {
  WS_LET(const BaseUrl url, session.base_url());
  if (url.origin == binding.origin) return {};
  return fail(Failure{.kind = Failure::Kind::usage,
                      .what = "this folder syncs with " + binding.base_url + ", not with " + url.text,
                      .hint = "leave out --base-url and WS_BASE_URL, or name the folder's server",
                      .code = "foreign_server"});
}

/// Another folder that this user has tied and that has this tree's very `client_id`: one of the two is a copy.
std::optional<std::filesystem::path> find_twin_tree(const Session& session,
                                                    const std::filesystem::path& root,
                                                    const sync::TreeBinding& binding) {
  const auto trees = TreeRegister(Paths::of(session.world().environment).state).all();
  if (!trees) return std::nullopt;
  for (const TiedTree& tree : *trees) {
    std::error_code error;
    if (tree.source_id != binding.source_id || std::filesystem::equivalent(tree.folder, root, error) || error) continue;
    const auto other = sync::read_binding(tree.folder, session.settings().trusted);
    if (other && other->client_id == binding.client_id) return tree.folder;
  }
  return std::nullopt;
}

/// Two trees with one `client_id` would take each other's conflicts for their own: the copy gets one of its own.
Result<sync::TreeBinding> settle_copy(Session& session, const std::filesystem::path& root, sync::TreeBinding binding) {
  const auto twin = find_twin_tree(session, root, binding);
  if (!twin) return binding;
  WS_LET(const bool agreed,
         session.confirm("this folder is a copy of the synced folder " + twin->string() +
                         ": sync it as a folder of its own?"));
  if (!agreed) {
    return fail(Failure::Kind::usage,
                "this folder is a copy of the synced folder " + twin->string(),
                "--yes syncs it as a folder of its own; or remove its .ws");
  }
  return sync::renew_client(root, session.world().clock, session.world().random, session.settings().trusted);
}

}  // namespace

std::vector<Flag> run_flags() {
  return {
      {.name = "allow-deletes", .help = "continue even if the guard against mass deletion would stop"},
      {.name = "keep-archived", .help = "keep the files here that were archived on the service"},
      {.name = "allow-large", .help = "receive the files that the guard against growth would make wait"},
      {.name = "accept-deletes",
       .help = "archive documents whose file was deleted here, even if they were edited on the service"},
      {.name = "no-merge", .help = "do not merge: an edit on both sides is a conflict"},
      {.name = "on-conflict",
       .placeholder = "HOW",
       .help = "decide conflicts at once",
       .limits = "open, mine or local, theirs or remote, both",
       .fallback = "open"},
      {.name = "message",
       .letter = 'm',
       .placeholder = "TEXT",
       .help = "of the commit",
       .limits = "at most 500 characters"},
      only_flag,
      device_flag,
      wait_lock_flag,
  };
}

Flag flag_named(std::string_view name) {
  for (Flag& flag : run_flags()) {
    if (flag.name == name) return flag;
  }
  return {};
}

std::vector<Flag> step_flags() { return {only_flag, device_flag, wait_lock_flag}; }

Result<sync::RunOptions> run_options(const Session& session) {
  sync::RunOptions options{.merge = !session.has("no-merge"),
                           .accept_deletes = session.has("accept-deletes"),
                           .allow_deletes = session.has("allow-deletes"),
                           .keep_archived = session.has("keep-archived"),
                           .allow_large = session.has("allow-large"),
                           .offline = session.has("offline"),
                           .dry_run = session.has("dry-run"),
                           .message = session.arguments().value("message").value_or("")};
  if (const auto text = session.arguments().value("on-conflict")) {
    WS_LET(options.on_conflict, parse_on_conflict(*text));
  }
  if (const auto glob = session.arguments().value("only")) {
    options.only = [pattern = utf8::nfc(*glob)](const sync::RelativePath& path) {
      return ::fnmatch(pattern.c_str(), utf8::nfc(path.text()).c_str(), 0) == 0;
    };
  }
  return options;
}

namespace {

/// `path` with the names that are on disk where those that were typed differ from them in Unicode form alone, which
/// nobody can see.
std::filesystem::path as_on_disk(const std::filesystem::path& root, const std::filesystem::path& path) {
  std::filesystem::path found;
  for (const std::filesystem::path& part : path) {
    std::error_code error;
    const std::filesystem::path folder = root / found;
    std::filesystem::path name = part;
    if (!std::filesystem::exists(std::filesystem::symlink_status(folder / part, error))) {
      const std::string wanted = utf8::nfc(part.string());
      for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (utf8::nfc(it->path().filename().string()) == wanted) name = it->path().filename();
      }
    }
    found /= name;
  }
  return found;
}

}  // namespace

std::string path_in_tree(const std::filesystem::path& root, const std::string& given) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(given);
  // The name itself may be a link, or not there any more; the folders above it are what they are.
  const std::filesystem::path folder = std::filesystem::weakly_canonical(whole.parent_path(), error);
  const std::filesystem::path canonical_root = std::filesystem::weakly_canonical(root, error);
  if (error) return given;
  const std::filesystem::path path = (folder / whole.filename()).lexically_normal().lexically_relative(canonical_root);
  std::string text = as_on_disk(canonical_root, path).generic_string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();  // a folder, as shells complete it
  return text;
}

Result<sync::RelativePath> path_argument(const std::filesystem::path& root, const std::string& given) {
  return sync::RelativePath::parse(path_in_tree(root, given)).map_error([&](Failure failure) {
    failure.kind = Failure::Kind::usage;
    failure.hint = fmt::format("{} is not in the synced folder {}", given, root.string());
    return failure;
  });
}

void register_tree(const Session& session, const std::filesystem::path& root, const sync::TreeBinding& binding) {
  const TreeRegister trees(Paths::of(session.world().environment).state);
  static_cast<void>(trees.add({.folder = std::filesystem::absolute(root).lexically_normal(),
                               .name = binding.name,
                               .source_id = binding.source_id,
                               .base_url = binding.base_url}));
}

Result<SyncTree> open_tree(Session& session, const std::filesystem::path& start, Network network) {
  SyncTree tree;
  WS_LET(tree.root, sync::find_root(start));
  tree.is_elsewhere = session.arguments().value("C").has_value();
  if (network != Network::none) {
    WS_LET(sync::TreeBinding binding, sync::read_binding(tree.root, session.settings().trusted));
    WS_TRY(session.prefer_server(binding.base_url, binding.origin));
    WS_TRY(check_server_of(session, binding));
    if (network == Network::needed) {
      WS_LET(binding, settle_copy(session, tree.root, std::move(binding)));
      // Only then: a copy that is merely looked at must not make the original a copy of it.
      register_tree(session, tree.root, binding);
    }
    WS_LET(const sync::Account account, use_account_of(session, tree.root, binding, network));
    tree.account = account_name(account);
    session.allow_retries(retries_of_a_run);
    WS_LET(Client * client, session.client());
    tree.remote = sync::make_api_remote(*client);
  }
  WS_TRY(open_engine(session, tree));
  return tree;
}

namespace {

/// The command line with the command's own flags: for the record of what it did.
std::string called_as(const Session& session) {
  ShellCommand called{"ws"};
  // What everybody types for `ws sync run`.
  called.words(session.command().words == "sync run" ? "sync" : session.command().words);
  std::string line = called.text();
  for (const Flag& flag : session.command().flags) {
    if (!session.has(flag.name)) continue;
    if (!flag.takes_value()) line += " " + flag.spelled();
    for (const std::string& value : session.arguments().values(flag.name)) {
      if (flag.takes_value()) line += " " + flag.spelled() + "=" + shell_word(value);
    }
  }
  for (const std::string& word : session.arguments().words) line += " " + shell_word(word);
  return line;
}

/// Who works here, as the history names them.
std::string user_name(const Environment& environment) {
  if (const auto name = environment.text("GIT_AUTHOR_NAME")) return *name;
  const passwd* const account = getpwuid(geteuid());
  if (account == nullptr) return {};
  // "Ada Lovelace,room 2,..."
  const std::string_view full = account->pw_gecos == nullptr ? std::string_view() : account->pw_gecos;
  const std::string name(full.substr(0, full.find(',')));
  return name.empty() ? std::string(account->pw_name) : name;
}

}  // namespace

Result<void> check_server(Session& session, const SyncTree& tree) {
  WS_LET(const sync::TreeBinding binding, sync::read_binding(tree.root, session.settings().trusted));
  return check_server_of(session, binding);
}

Result<void> open_engine(Session& session, SyncTree& tree) {
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  tree.progress =
      std::make_unique<ProgressLine>(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  sync::EngineOptions options{.cancelled = &session.world().cancelled, .trusted = session.settings().trusted};
  options.progress = [line = tree.progress.get()](const sync::Progress& progress) {
    const bool is_transfer = progress.stage == sync::Stage::upload || progress.stage == sync::Stage::download;
    line->update(
        stage_word(progress.stage), progress.done, progress.total, is_transfer ? Counted::bytes : Counted::items);
  };
  options.command = called_as(session);
  options.user = user_name(session.world().environment);
  options.device = device_name(session);
  if (const auto wait = session.arguments().value("wait-lock")) {
    auto duration = parse_duration(*wait);
    if (!duration) return fail(Failure::Kind::usage, "--wait-lock takes a time like 30 or 2m, not `" + *wait + "`");
    options.wait_lock = *duration;
  }
  WS_LET(tree.engine, sync::SyncEngine::open(tree.root, tree.remote.get(), session.world().clock, std::move(options)));
  return {};
}

Invocation invocation_of(Session& session, const SyncTree& tree) {
  const std::string& words = session.command().words;
  const bool is_undo = words == "sync undo" || words == "sync redo";
  std::string verb = is_undo ? words.substr(words.find(' ') + 1) : std::string();
  // A number: `undo` has refused anything else.
  if (is_undo && !session.arguments().words.empty()) verb += " " + session.arguments().words.front();
  return {.program = program_for(tree),
          .only = session.arguments().value("only").value_or(""),
          .verb = std::move(verb),
          .may_walk = may_walk(session)};
}

ShellCommand program_for(const SyncTree& tree) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (!tree.is_elsewhere && !error && std::filesystem::equivalent(tree.root, here, error)) return {"ws"};
  return ShellCommand{"ws", "-C"}.path(tree.root.string());
}

namespace {

bool names_members(const Session& session) { return session.has("fields") || session.has("template"); }

/// For pipes: what `--fields` and the other formats make of a list, and its plain form at once.
void print_rows(Session& session, const sync::Report& report, ReportStage stage) {
  const bool is_plain = session.format() == Format::tsv && !names_members(session);
  if (is_plain) return session.printer().raw(report_to_tsv(report, stage));
  Json items = report_items(report);
  // What is new here has no id yet.
  if (session.format() == Format::ids) {
    std::erase_if(items.get_ref<Json::array_t&>(), [](const Json& item) { return item["document_id"].is_null(); });
  }
  session.printer().list("ws.sync_report", {{"data", std::move(items)}}, {});
}

/// Whether the last run said the same about the files that it left alone; from now on it has.
bool were_told(const Session& session, const SyncTree& tree, const sync::Report& report) {
  std::string told;
  for (const sync::Skipped& each : report.skipped) told += fmt::format("{}\n{}\n", each.path, sync::name(each.reason));
  for (const sync::Detached& each : report.detached) told += fmt::format("{}\n{}\n", each.path.text(), each.reason);
  if (report.not_included > 0) told += fmt::format("{}\n", report.not_included);
  const std::string mark = told.empty() ? "" : Sha256::of(told).hex();
  const TreeRegister trees(Paths::of(session.world().environment).state);
  const std::filesystem::path folder = std::filesystem::absolute(tree.root).lexically_normal();
  if (trees.told(folder) == mark) return true;
  trees.set_told(folder, mark);
  return false;
}

}  // namespace

void print_report(
    Session& session, const SyncTree& tree, const sync::Report& report, ReportStage stage, std::string stamp) {
  Invocation called = invocation_of(session, tree);
  called.stamp = std::move(stamp);
  // An undo leaves such files out of its report.
  const bool tells_of_all = called.verb.empty() && stage == ReportStage::done;
  called.were_told =
      tells_of_all && session.format() == Format::table && !session.has("verbose") && were_told(session, tree, report);
  switch (session.format()) {
    case Format::table: {
      if (names_members(session)) break;
      std::string text =
          render_report(report, stage, session.terminal(), session.has("verbose") ? 0 : rows_on_a_terminal, called);
      trim_end(text, "\n");
      if (!text.empty()) session.printer().line(text);
      return;
    }
    case Format::json:
    case Format::ndjson:
    case Format::yaml:
      if (session.has("template")) break;  // a line a row
      return session.printer().json(sync::to_json(report));
    case Format::tsv:
    case Format::csv:
    case Format::ids: break;
  }
  print_rows(session, report, stage);
  for (const std::string& line : render_outcome(report, stage, called)) session.note(line);
}

void print_stop(Session& session, const SyncTree& tree, const sync::Report& report, ExitCode exit) {
  const bool is_shown = session.format() == Format::table || (!is_json(session.format()) && !session.has("quiet"));
  if (is_shown || report.ended_by) return;
  if (const auto stop = stop_of(report, invocation_of(session, tree))) session.print_failure(*stop, exit);
}

void print_undo_hint(Session& session, const SyncTree& tree, const sync::Report& report) {
  constexpr std::ptrdiff_t max_without_a_word = 10;
  using Kind = sync::ActionKind;
  const auto is_done = [](const sync::Row& row) { return row.state == sync::Row::State::done; };
  const auto removes = [&is_done](const sync::Row& row) {
    return is_done(row) && (row.action.kind == Kind::pull_delete || row.action.kind == Kind::push_delete);
  };
  const auto replaces = [&is_done](const sync::Row& row) {
    const Kind kind = row.action.kind;
    return is_done(row) && (kind == Kind::pull_update || kind == Kind::push_update || kind == Kind::merge);
  };
  const Format format = session.format();
  if (!report.operation || format == Format::json || format == Format::ndjson || format == Format::yaml) return;
  const bool is_small = std::ranges::count_if(report.rows, replaces) <= max_without_a_word;
  if (is_small && std::ranges::none_of(report.rows, removes)) return;
  ShellCommand undo = program_for(tree);
  undo.add({"sync", "undo", std::to_string(*report.operation)});
  const std::string line = "to undo this run, here and on the service: " + undo.in_backticks();
  format == Format::table ? session.printer().sentence(line) : session.note(line);
}

std::string_view keep_word(sync::Keep keep) {
  switch (keep) {
    case sync::Keep::local: return "mine";
    case sync::Keep::remote: return "theirs";
    case sync::Keep::both: return "both";
    case sync::Keep::merged: return "merged";
  }
  return "";
}

std::string kept_text(sync::Keep keep) {
  return keep == sync::Keep::merged ? "merged" : "kept " + std::string(keep_word(keep));
}

std::string_view what_follows(const sync::Conflict& conflict, sync::Keep keep) {
  const bool is_rename = conflict.which == sync::ConflictCase::renamed_on_both ||
                         conflict.which == sync::ConflictCase::renamed_on_both_kept_here ||
                         conflict.which == sync::ConflictCase::attachment_renamed_on_both;
  if (is_rename && keep == sync::Keep::remote) return "the file here has that name now";
  const bool needs_a_run = conflict.is_about(sync::ConflictSubject::place) ||
                           conflict.is_about(sync::ConflictSubject::revision) ||
                           (conflict.is_here_only() && keep != sync::Keep::remote);
  if (needs_a_run) return "the next `ws sync` carries it out";
  switch (keep) {
    case sync::Keep::local: return conflict.local ? "the service has it now" : "it is archived on the service";
    case sync::Keep::remote: return conflict.local ? "your version is in the local history" : "the file is back";
    case sync::Keep::both: return "the next `ws sync` sends your copy";
    case sync::Keep::merged: return "the service has the merged text now";
  }
  return {};
}

}  // namespace ws::cli
