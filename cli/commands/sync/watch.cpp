// `ws sync watch`: keeps a folder in step until it is stopped.
#include "sync-engine/watch/watch.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/sync/tree.hpp"
#include "sync-engine/binding/status_socket.hpp"
#include "sync-engine/binding/tree_config.hpp"
#include "sync-engine/watch/inotify_events.hpp"

namespace ws::cli {
namespace {

constexpr std::chrono::milliseconds min_interval{1'000};
constexpr std::chrono::milliseconds max_interval = std::chrono::hours{24};

Result<sync::WatchOptions> watch_options(const Session& session) {
  sync::WatchOptions options;
  WS_LET(options.run, run_options(session));
  options.run.hold_deletes = true;  // nobody is asked: what the guard would stop waits, the rest goes on
  options.run.backs_off = true;
  if (const auto text = session.arguments().value("interval")) {
    const auto interval = parse_duration(*text);
    if (!interval || *interval < min_interval || *interval > max_interval) {
      return fail(Failure::Kind::usage, "--interval takes a time from 1s to 24h, not `" + *text + "`");
    }
    options.interval = *interval;
  }
  return options;
}

/// What the watch says: reports on stdout, the rest on stderr.
class WatchReporter {
 public:
  WatchReporter(Session& session, SyncTree& tree) : session_(session), tree_(tree) {}

  void show(const sync::Report& report) {
    tree_.progress->clear();
    sum_.add(only_done(report));
    // One report a line: who reads a stream need not find the end of a document.
    if (session_.format() == Format::json) return session_.printer().item(sync::to_json(report));
    print_report(session_, tree_, report, ReportStage::done, stamp());
    print_stop(session_, tree_, report, exit_code_of_run(report, 0));
  }
  void print_failure(const Failure& failure) {
    note(fmt::format("{}; trying again until it works", clean(failure.what, Breaks::space)));
  }
  void note(std::string_view text) {
    tree_.progress->clear();
    const std::string time = stamp();
    session_.note(time + std::string(text), time.size());
  }
  /// The last line: what all of it came to.
  void print_sum() {
    const std::string text = sum_.text();
    note("stopped watching: " + (text.empty() ? "nothing was synced" : text));
  }

 private:
  static sync::Report only_done(const sync::Report& report) {
    sync::Report done;
    std::copy_if(report.rows.begin(), report.rows.end(), std::back_inserter(done.rows), [](const sync::Row& row) {
      return row.state == sync::Row::State::done && row.action.kind != sync::ActionKind::conflict;
    });
    return done;
  }

  /// The time of day, before each line that a person reads.
  std::string stamp() const {
    if (session_.format() != Format::table) return {};
    const std::time_t seconds = std::chrono::system_clock::to_time_t(session_.world().clock.now());
    std::tm local{};
    ::localtime_r(&seconds, &local);
    return fmt::format("{:02}:{:02}:{:02}  ", local.tm_hour, local.tm_min, local.tm_sec);
  }

  Sum sum_;
  Session& session_;
  SyncTree& tree_;
};

/// `ws sync status` of other programs asks at `.ws/watch.sock`.
class SocketRequests final : public sync::StatusRequests {
 public:
  SocketRequests(Session& session, SyncTree& tree, const sync::WsFolder& folder, sync::StatusSocket socket)
      : session_(session), tree_(tree), folder_(folder), socket_(std::move(socket)) {}

  bool is_asked() override { return socket_.is_asked(); }
  void answer(std::string_view text) override { socket_.answer(text); }
  std::optional<sync::CleanStatus> make_status() override {
    if (!open_engine(session_, tree_)) return std::nullopt;
    const auto status = tree_.engine->clean_status();
    tree_.progress->clear();
    return status ? *status : std::nullopt;
  }
  std::string state_stamp() override { return sync::state_stamp(folder_); }

 private:
  Session& session_;
  SyncTree& tree_;
  const sync::WsFolder& folder_;
  sync::StatusSocket socket_;
};

Result<ExitCode> watch(Session& session) {
  if (session.has("dry-run")) {
    return fail(Failure::Kind::usage, "`ws sync watch` has no dry run", "`ws sync plan` shows what a run would do");
  }
  WS_LET(sync::WatchOptions options, watch_options(session));
  const std::vector<std::string>& words = session.arguments().words;
  const std::filesystem::path start =
      words.empty() ? std::filesystem::current_path() : std::filesystem::absolute(words.front());
  WS_LET(SyncTree tree, open_tree(session, start, Network::needed));
  WS_LET(const sync::RootFolder root, sync::RootFolder::open(tree.root));
  WS_LET(const sync::TreeLock lock, sync::TreeLock::take_for_watch(root, session.world().clock.now()));
  WS_LET(Client * client, session.client());
  WS_LET(const sync::WsFolder folder, sync::WsFolder::open(tree.root, session.settings().trusted));
  WS_LET(const sync::TreeConfig config, sync::read_config(folder));
  sync::FileKinds kinds = sync::FileKinds::with(config.include);
  WS_LET(const auto events, sync::InotifyEvents::open(tree.root, std::move(kinds), &session.world().cancelled));
  // Without a socket, every `ws sync status` scans the tree itself.
  std::optional<SocketRequests> status_requests;
  if (auto socket = sync::StatusSocket::listen(folder)) {
    events->also_wait_for(socket->fd());
    status_requests.emplace(session, tree, folder, std::move(*socket));
  }
  WatchReporter voice(session, tree);
  const std::string watching = fmt::format("watching {}{}, and the service every {} s; Ctrl-C stops it",
                                           clean(tree.root.string(), Breaks::space),
                                           tree.account.empty() ? "" : " as " + tree.account,
                                           options.interval.count() / 1000);
  const std::string seldom = fmt::format(
      "this system allows no more watched folders (fs.inotify.max_user_watches): some are checked only every {} s",
      options.interval.count() / 1000);
  const sync::WatchCallbacks callbacks{.run = [&](const sync::RunOptions& run) -> Result<sync::Report> {
                                         client->start_afresh();
                                         // A fresh engine each time: configuration, state and the folder itself may
                                         // have changed since.
                                         WS_TRY(check_server(session, tree));
                                         WS_TRY(open_engine(session, tree));
                                         auto report = tree.engine->run(run);
                                         tree.progress->clear();
                                         return report;
                                       },
                                       .on_report = [&](const sync::Report& report) { voice.show(report); },
                                       .on_error = [&](const Failure& failure) { voice.print_failure(failure); },
                                       .on_recovery = [&] { voice.note("in sync again"); },
                                       .on_first_sync = [&] { voice.note(watching); },
                                       .on_partial_watch = [&] { voice.note(seldom); },
                                       .must_stop = [&] { return session.world().cancelled.load(); },
                                       .status_requests = status_requests ? &*status_requests : nullptr};
  const Result<void> ended = sync::watch(*events, options, callbacks);
  voice.print_sum();
  WS_TRY(ended);
  return ExitCode::done;
}

std::vector<Flag> watch_flags() {
  std::vector<Flag> flags = {{.name = "interval",
                              .placeholder = "S",
                              .help = "how often to check the service while nothing changes",
                              .limits = "1s-24h",
                              .fallback = "30"}};
  for (Flag& flag : run_flags()) {
    if (flag.name == "no-merge" || flag.name == "on-conflict" || flag.name == "accept-deletes" ||
        flag.name == "device-name") {
      flags.push_back(std::move(flag));
    }
  }
  return flags;
}

}  // namespace

Command sync_watch_command() {
  return {.words = "sync watch",
          .summary = "Sync again and again until stopped",
          .details =
              "A change here is sent when its file is closed and has not changed for half a second, or less once the "
              "habits of your editor are known. The service is checked twice a second while somebody edits on either "
              "side, then less and less often, down to once per interval. A delete is sent after 5 s, so that a file "
              "that is written again keeps its document. Deletes that `ws sync` would ask about are held back and "
              "reported once; everything else is synced. Without a network it keeps trying. With --json every report "
              "is one line, and nothing is printed while nothing happens. While it runs, `ws sync status` asks it what "
              "changed here instead of reading the whole folder. Ctrl-C ends it after the current step.",
          .arguments = {{.placeholder = "DIR",
                         .help = "a synced folder, or one in it; the working directory, if not given",
                         .count = Count::optional}},
          .flags = watch_flags(),
          .examples = {"ws sync watch", "ws sync watch ~/notes --interval 10s --json"},
          .runs_on = true,
          .run = watch};
}

}  // namespace ws::cli
