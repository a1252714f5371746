// `ws files upload`: one or many files, several in parallel, resuming uploads of earlier runs.
#include "api-client/transfer/upload.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/media_type.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/state/pending_uploads.hpp"
#include "cli/terminal/progress.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr int usual_jobs = 4;
constexpr int max_jobs = 16;
/// A smaller file is sent again after a kill: a record of its start, flushed to the disk, costs more than its bytes.
constexpr std::uint64_t recorded_from_bytes = std::uint64_t{1} << 20U;

std::string sample_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes(mime_sample_bytes, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return bytes;
}

Result<UploadFile> file_of(const Session& session, const std::string& path) {
  WS_LET(const FileStamp stamp, stamp_of(path));
  std::error_code error;
  UploadFile file{.path = fs::absolute(path, error), .stamp = stamp};
  file.file_name = session.arguments().value("file-name").value_or(fs::path(path).filename().string());
  if (!utf8::is_valid(file.file_name)) {
    return fail(Failure::Kind::usage, path + ": its name is not UTF-8", "give one with --file-name");
  }
  const auto type = session.arguments().value("mime-type");
  file.mime_type = type ? *type : media_type_of(file.file_name, sample_of(path));
  return file;
}

/// Checked against the published limits, all of them before the first is sent.
Result<std::vector<UploadFile>> files_of(Session& session, const std::vector<std::string>& paths) {
  std::vector<UploadFile> files;
  for (const std::string& path : paths) {
    WS_LET(UploadFile file, file_of(session, path));
    const auto checked = check_call(session, operation_of("files.upload_start"), upload_start_call(file));
    if (!checked) {
      Failure failure = checked.error();
      failure.what = path + ": " + failure.what;
      return fail(std::move(failure));
    }
    files.push_back(std::move(file));
  }
  return files;
}

/// An upload whose record cannot be written (read-only home) goes on, and cannot be resumed.
void keep(Session& session, const std::vector<PendingUpload>& uploads) {
  auto kept = PendingUploads(session.paths().state).save_all(uploads);
  if (!kept) session.note("note: an interrupted upload of this file cannot be resumed: " + kept.error().what);
}
void keep(Session& session, const PendingUpload& upload) { keep(session, std::vector{upload}); }

/// Before its finalize an upload is recorded on the disk: then it may have become an Asset. So many records, or those
/// of so long, are flushed together.
constexpr std::size_t max_records = 64;
constexpr std::chrono::milliseconds longest_wait_for_records{100};

/// The record is removed only after the Asset's id was printed: a repeat of a killed run finds the Asset by it.
void forget_once_told(Session& session, const std::string& upload_id) {
  session.after_output([pending = PendingUploads(session.paths().state), upload_id] { pending.forget(upload_id); });
}

/// All uploads of one command: a bounded number in parallel, with one progress line.
class Uploads {
 public:
  Uploads(Session& session, Client& client, std::vector<std::string> names, std::vector<UploadFile> files)
      : session_(session),
        client_(client),
        pending_(session.paths().state),
        earlier_(pending_.list(session.world().clock.now())),
        names_(std::move(names)),
        files_(std::move(files)),
        upload_ids_(files_.size()),
        sent_(files_.size(), 0),
        results_(files_.size()) {
    for (const UploadFile& file : files_) total_ += file.stamp.size_bytes;
  }

  Result<std::vector<BatchItem>> run(int jobs) {
    WS_LET(const BaseUrl url, session_.base_url());
    base_url_ = url.text;
    WS_LET(const ProgressStyle style, parse_progress(session_.arguments().value("progress"), session_.terminal()));
    ProgressLine line(session_.terminal(), session_.has("quiet") ? ProgressStyle::none : style);
    while (ended_ < files_.size()) {
      go_on(static_cast<std::size_t>(jobs));
      if (stopped_ && next_ == ended_) break;
      client_.run(unrecorded_.empty() ? std::chrono::milliseconds{200} : longest_wait_for_records);
      record();
      std::uint64_t sent = 0;
      for (const std::uint64_t bytes : sent_) sent += bytes;
      const std::string more =
          files_.size() == 1 ? files_.front().file_name : fmt::format("{} of {} files done", ended_, files_.size());
      line.update("uploading", sent, total_, Counted::bytes, more);
    }
    return collect();
  }

 private:
  /// Those under way but for those that wait for their record, or for their turn after it.
  std::size_t busy() const { return next_ - ended_ - waiting_.size() - recorded_.size(); }

  /// No more than `jobs` at a time.
  void go_on(std::size_t jobs) {
    while (busy() < jobs && !recorded_.empty()) {
      const std::function<void()> send = std::move(recorded_.front());
      recorded_.pop_front();
      send();
    }
    while (busy() < jobs && next_ < files_.size() && !stopped_) start(next_++);
  }

  /// Writes the records that wait, once they are many, or nothing else is under way, or they have waited.
  void record() {
    if (unrecorded_.empty()) return;
    const bool is_late = std::chrono::steady_clock::now() - waiting_since_ >= longest_wait_for_records;
    const bool may_be_more = busy() > 0 || (next_ < files_.size() && !stopped_);
    if (may_be_more && !is_late && unrecorded_.size() < max_records) return;
    keep(session_, std::exchange(unrecorded_, {}));
    for (std::function<void()>& send : waiting_) recorded_.push_back(std::move(send));
    waiting_.clear();
  }

  void start(std::size_t place) {
    const UploadFile& file = files_[place];
    std::optional<StartedUpload> resumed;
    if (auto pending = PendingUploads::find(earlier_, file, base_url_, session_.world().clock.now())) {
      resumed = std::move(pending->started);
      if (session_.has("verbose")) session_.note(names_[place] + ": resuming the upload " + resumed->upload_id);
    }
    UploadObserver observer;
    if (resumed) upload_ids_[place] = resumed->upload_id;
    observer.kept = [this, place, &file](const StartedUpload& started) {
      const bool is_new = std::exchange(upload_ids_[place], started.upload_id) != started.upload_id;
      const bool is_mere_start = is_new && file.stamp.size_bytes < recorded_from_bytes;
      if (!is_mere_start) keep(session_, PendingUpload{.started = started, .file = file, .base_url = base_url_});
      return Result<void>();
    };
    // One that may have become an Asset is always recorded: it is asked for before the file is sent again.
    observer.finishing = [this, place, &file](const StartedUpload& started, std::function<void()> send) {
      upload_ids_[place] = started.upload_id;
      if (unrecorded_.empty()) waiting_since_ = std::chrono::steady_clock::now();
      unrecorded_.push_back({.started = started, .file = file, .base_url = base_url_});
      waiting_.push_back(std::move(send));
    };
    observer.forgotten = [this](const StartedUpload& started) { pending_.forget(started.upload_id); };
    observer.progress = [this, place](std::uint64_t bytes) { sent_[place] = bytes; };
    start_upload(client_, file, std::move(resumed), std::move(observer), [this, place](Result<Reply> reply) {
      ++ended_;
      // A missing key, or a signal, ends the other uploads too.
      if (!reply && (reply.error().kind == Failure::Kind::auth || reply.error().kind == Failure::Kind::cancelled)) {
        stopped_ = reply.error();
      }
      if (!reply && reply.error().call.applied == Applied::unknown) {
        reply.error().hint = "run the same command again to resume; `ws files list` shows whether the file is there";
      }
      if (reply) forget_once_told(session_, upload_ids_[place]);
      results_[place] = std::move(reply);
    });
  }

  Result<std::vector<BatchItem>> collect() {
    std::vector<BatchItem> items;
    bool any_done = false;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!results_[i]) {
        results_[i] = fail(Failure{.kind = stopped_->kind, .what = "not sent: " + stopped_->what});
      }
      any_done = any_done || *results_[i];
      items.push_back({names_[i], std::move(*results_[i])});
    }
    if (stopped_ && (!any_done || stopped_->kind == Failure::Kind::cancelled)) return fail(*stopped_);
    return items;
  }

  Session& session_;
  Client& client_;
  PendingUploads pending_;
  std::vector<PendingUpload> earlier_;  ///< of earlier runs
  std::vector<std::string> names_;
  std::vector<UploadFile> files_;
  std::vector<std::string> upload_ids_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::optional<Result<Reply>>> results_;
  std::vector<PendingUpload> unrecorded_;       ///< whose finalize waits until this is on the disk
  std::vector<std::function<void()>> waiting_;  ///< these finalizes
  std::deque<std::function<void()>> recorded_;  ///< those that may be sent
  std::chrono::steady_clock::time_point waiting_since_;
  std::string base_url_;
  std::uint64_t total_ = 0;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  std::optional<Failure> stopped_;
};

/// Only the first of the three calls; what the last one needs is kept.
Result<ExitCode> start_only(Session& session, const UploadFile& file) {
  WS_LET(Client * client, session.client());
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(const Reply reply, client->call(upload_start_call(file)));
  WS_LET(const StartedUpload started, read_started_upload(*reply.json));
  keep(session, {.started = started, .file = file, .base_url = url.text});
  print_reply(session, operation_of("files.upload_start"), reply);
  if (is_for_people(session)) {
    session.note("finish it with " + ShellCommand{"ws", "files", "finalize", started.upload_id}.in_backticks());
  }
  return ExitCode::done;
}

Result<ExitCode> upload(Session& session) {
  WS_LET(const std::vector<std::string> paths, ids_of(session));
  WS_LET(const int jobs, number_flag(session, "jobs", usual_jobs, 1, max_jobs));
  if (session.has("file-name") && paths.size() > 1) return fail(Failure::Kind::usage, "--file-name names one file");
  WS_LET(std::vector<UploadFile> files, files_of(session, paths));
  if (session.has("dry-run")) {
    for (const UploadFile& file : files) WS_TRY(print_request(session, upload_start_call(file)));
    return ExitCode::done;
  }
  if (session.has("start-only")) {
    if (files.size() != 1) return fail(Failure::Kind::usage, "--start-only starts one upload");
    return start_only(session, files.front());
  }
  WS_LET(Client * client, session.client());
  WS_LET(std::vector<BatchItem> items, Uploads(session, *client, paths, std::move(files)).run(jobs));
  if (items.size() != 1) return print_batch(session, operation_of("files.upload_finish"), items, "ws.uploaded");
  if (!items.front().reply) return fail(items.front().reply.error());
  return print_reply(session, operation_of("files.upload_finish"), *items.front().reply);
}

/// From what was kept when it was started; flags and --body win.
Result<Call> finalize_call(Session& session, const Result<PendingUpload>& pending) {
  const contract::Operation& operation = operation_of("files.upload_finish");
  WS_LET(Call call, build_call(session, operation));
  if (!pending || !call.body->is_object()) return call;
  Json body = *upload_finish_call(pending->file, pending->started).body;
  body.update(*call.body);
  call.body = std::move(body);
  return call;
}

Result<ExitCode> finalize(Session& session) {
  const contract::Operation& operation = operation_of("files.upload_finish");
  const PendingUploads kept(session.paths().state);
  const Result<PendingUpload> pending = kept.load(session.arguments().words.front());
  WS_LET(Call call, finalize_call(session, pending));
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  if (!pending) {
    WS_LET(const Reply reply, client->call(std::move(call)));
    return print_reply(session, operation, reply);
  }
  // As a resumed upload: the bytes are sent if the service does not have them yet.
  StartedUpload started = pending->started;
  started.state = UploadState::finishing;
  UploadObserver observer{.begins_anew = false};
  observer.forgotten = [&kept](const StartedUpload& one) { kept.forget(one.upload_id); };
  std::optional<Result<Reply>> result;
  start_upload(*client, pending->file, std::move(started), std::move(observer), [&result](Result<Reply> reply) {
    result = std::move(reply);
  });
  while (!result) client->run(std::chrono::milliseconds{1000});
  if (!*result) return fail(result->error());
  forget_once_told(session, pending->started.upload_id);
  return print_reply(session, operation, **result);
}

Result<ExitCode> list_pending(Session& session) {
  Json list = {{"v", 1}, {"data", Json::array()}, {"next_cursor", nullptr}};
  for (const PendingUpload& upload : PendingUploads(session.paths().state).list(session.world().clock.now())) {
    const bool in_doubt = upload.started.state == UploadState::finishing;
    list["data"].push_back({{"upload_id", upload.started.upload_id},
                            {"file_name", upload.file.file_name},
                            {"size_bytes", upload.file.stamp.size_bytes},
                            {"state", in_doubt ? "finishing" : "started"},
                            {"expires_at", upload.started.expires_at},
                            {"path", upload.file.path.string()},
                            {"base_url", upload.base_url}});
  }
  return print_own_list(session, "ws.uploads", list);
}

}  // namespace

Command files_uploads_command() {
  return {.words = "files uploads",
          .summary = "List unfinished uploads of this machine; no network",
          .details = "`ws files finalize UPLOAD` finishes one, as does the command that began it, run again.",
          .examples = {"ws files uploads"},
          .run = list_pending};
}

Command files_upload_command() {
  Command command = operation_command(
      "files.upload_start",
      {.summary = "Upload files",
       .details =
           "Run the same command again to resume an upload that was interrupted: a file becomes one Asset, not two.",
       .arguments = {{.placeholder = "PATH", .help = "1 byte to 100 MiB each", .count = Count::any}},
       .examples = {"ws files upload report.pdf", "ls *.png | ws files upload --stdin --jobs 8 --json"},
       .run = upload},
      {"size-bytes", "body"});
  std::erase_if(command.flags, [](const Flag& flag) { return flag.letter == 'F' || flag.letter == 'J'; });
  command.flags.push_back(
      {.name = "jobs", .placeholder = "N", .help = "files sent in parallel", .limits = "1-16", .fallback = "4"});
  command.flags.push_back(
      {.name = "start-only", .help = "only start the upload; `ws files finalize UPLOAD` finishes it"});
  command.flags.push_back({.name = "stdin", .help = "take paths from stdin too, one a line"});
  return command;
}

Command files_finalize_command() {
  return operation_command(
      "files.upload_finish",
      {.details = "The flags are for uploads that were started on another machine.", .run = finalize});
}

}  // namespace ws::cli
