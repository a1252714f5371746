// `ws files upload`: one or many files, several in parallel, resuming uploads of earlier runs.
#include "api-client/transfer/upload.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/media_type.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/login/device_login.hpp"
#include "cli/commands/shared/account.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/outcomes.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/state/pending_uploads.hpp"
#include "cli/terminal/progress.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

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

/// Checked against the published limits.
Result<UploadFile> checked_file(Session& session, const std::string& path) {
  if (path.find('\0') != std::string::npos) return fail(Failure::Kind::usage, "a path cannot hold a NUL byte");
  WS_LET(UploadFile file, file_of(session, path));
  const contract::Type& size = find_member(operation_of("files.upload_start"), "size_bytes")->type;
  const auto bytes = static_cast<std::int64_t>(file.stamp.size_bytes);
  if (bytes < *size.min || bytes > *size.max)
    return fail(Failure::Kind::usage,
                fmt::format("{}: it has {} bytes; the service accepts {} to {}", path, bytes, *size.min, *size.max));
  if (auto checked = check_call(session, operation_of("files.upload_start"), upload_start_call(file)); !checked) {
    Failure failure = std::move(checked).error();
    failure.what = path + ": " + failure.what;
    return fail(std::move(failure));
  }
  return file;
}

/// An upload whose record cannot be written (read-only home) goes on, and cannot be resumed.
void keep(Session& session, const std::vector<PendingUpload>& uploads) {
  auto kept = PendingUploads(session.paths().state).save_all(uploads);
  if (!kept) session.note("note: an interrupted upload of this file cannot be resumed: " + kept.error().what);
}
void keep(Session& session, const PendingUpload& upload) { keep(session, std::vector{upload}); }

/// Before its finalize an upload is recorded on the disk: then it may have become an Asset. The records of as many as
/// are sent at a time, or of so long, are flushed together.
constexpr std::chrono::milliseconds longest_wait_for_records{100};

/// Between two looks whether another process has sent its files.
constexpr std::chrono::milliseconds wait_for_turns{100};

/// The record is removed only after the Asset's id was printed: a repeat of a killed run finds the Asset by it.
void forget_once_told(Session& session, const std::string& upload_id) {
  session.after_output([pending = PendingUploads(session.paths().state), upload_id] { pending.forget(upload_id); });
}

/// The files that were named, and the failure of each that cannot be sent.
struct NamedFiles {
  std::vector<std::string> names = {};
  std::vector<Result<UploadFile>> files = {};
  bool is_one = false;
};

/// All uploads of one command: a bounded number in parallel, with one progress line.
class Uploads {
 public:
  Uploads(Session& session,
          Client& client,
          NamedFiles named,
          std::string base_url,
          FinishedUploads finished,
          std::shared_ptr<const Uploader> who)
      : session_(session),
        client_(client),
        pending_(session.paths().state),
        finished_(std::move(finished)),
        who_(std::move(who)),
        rows_(session, operation_of("files.upload_finish"), "ws.uploaded"),
        names_(std::move(named.names)),
        is_one_(named.is_one),
        upload_ids_(names_.size()),
        sent_(names_.size(), 0),
        results_(names_.size()),
        base_url_(std::move(base_url)) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      files_.push_back(named.files[i] ? *named.files[i] : UploadFile());
      if (!named.files[i]) results_[i] = fail(named.files[i].error());
      if (follows_earlier(i)) continue;
      total_ += files_.back().stamp.size_bytes;
      of_others_.push_back(i);
    }
  }

  Result<ExitCode> run(std::size_t jobs) {
    WS_LET(const ProgressStyle style, parse_progress(session_.arguments().value("progress"), session_.terminal()));
    ProgressLine line(session_.terminal(), session_.has("quiet") ? ProgressStyle::none : style);
    while (ended_ < files_.size()) {
      if (queue_.empty() && begun_ == ended_) take_turns();
      go_on(jobs);
      if (stopped_ && begun_ == ended_) break;
      if (begun_ == ended_) {
        static_cast<void>(make_sleeper(&session_.world().cancelled)(wait_for_turns));
      } else {
        client_.run(unrecorded_.empty() ? std::chrono::milliseconds{200} : longest_wait_for_records);
      }
      record(jobs);
      std::uint64_t sent = 0;
      for (const std::uint64_t bytes : sent_) sent += bytes;
      const std::string more =
          files_.size() == 1 ? files_.front().file_name : fmt::format("files done: {} of {}", ended_, files_.size());
      line.update("uploading", sent, total_, Counted::bytes, more);
    }
    line.clear();
    if (any_new_ && !stopped_) finished_.flush();
    return print();
  }

 private:
  /// Whether the file of this place was named before, which then is sent for both: one file is one Asset.
  bool follows_earlier(std::size_t place) {
    if (session_.has("again") || results_[place]) return false;
    const UploadFile& file = files_[place];
    std::vector<std::size_t>& alike = firsts_[{file.file_name, file.mime_type, file.stamp.size_bytes}];
    for (const std::size_t earlier : alike) {
      if (files_[earlier].path != file.path && !has_same_bytes(earlier, place)) continue;
      followers_[earlier].push_back(place);
      return true;
    }
    alike.push_back(place);
    return false;
  }

  bool has_same_bytes(std::size_t one, std::size_t other) {
    for (const std::size_t place : {one, other}) {
      if (!hashes_.contains(place)) hashes_.emplace(place, hash_of(files_[place]));
    }
    return hashes_[one] && hashes_[other] && hashes_[one]->hex() == hashes_[other]->hex();
  }

  /// Of the files that another process was sending: what has become of them is read again.
  void take_turns() {
    if (session_.world().cancelled) stopped_ = Failure{.kind = Failure::Kind::cancelled, .what = "stopped"};
    finished_.end_turns();
    std::erase_if(of_others_, [this](std::size_t place) {
      if (!results_[place] && !finished_.take_turn(files_[place])) return false;
      queue_.push_back(place);
      return true;
    });
    if (!of_others_.empty() && !std::exchange(waits_, true)) {
      session_.note(names_[of_others_.front()] + ": another ws is uploading it; waiting for what becomes of it");
    }
    if (queue_.empty()) return;
    finished_.read();
    earlier_ = pending_.list(session_.world().clock.now());
  }

  /// Those under way but for those that wait for their record, or for their turn after it.
  std::size_t busy() const { return begun_ - ended_ - waiting_.size() - recorded_.size(); }

  /// No more than `jobs` at a time.
  void go_on(std::size_t jobs) {
    while (busy() < jobs && !recorded_.empty()) {
      const std::function<void()> send = std::move(recorded_.front());
      recorded_.pop_front();
      send();
    }
    while (busy() < jobs && !queue_.empty() && !stopped_) {
      const std::size_t place = queue_.front();
      queue_.pop_front();
      ++begun_;
      start(place);
    }
  }

  /// Writes the records that wait, once they are many, or nothing else is under way, or they have waited.
  void record(std::size_t jobs) {
    if (unrecorded_.empty()) return;
    const bool is_late = std::chrono::steady_clock::now() - waiting_since_ >= longest_wait_for_records;
    const bool may_be_more = busy() > 0 || (!queue_.empty() && !stopped_);
    if (may_be_more && !is_late && unrecorded_.size() < jobs) return;
    keep(session_, std::exchange(unrecorded_, {}));
    for (std::function<void()>& send : waiting_) recorded_.push_back(std::move(send));
    waiting_.clear();
  }

  void start(std::size_t place) {
    if (results_[place]) return end(place, std::move(*results_[place]));
    const UploadFile& file = files_[place];
    std::optional<Json> known;
    if (!session_.has("again")) known = finished_.take(file, *who_);
    if (!known) return begin(place);
    // What an earlier run left of it would be taken for an unfinished one.
    while (const auto left = unfinished(place)) {
      pending_.forget(left->started.upload_id);
      std::erase_if(earlier_,
                    [&left](const PendingUpload& each) { return each.started.upload_id == left->started.upload_id; });
    }
    const std::string id = find_text(*known, "id").value_or("");
    client_.start(
        {.operation = "files.get", .parameters = {{"asset_id", id}}, .validate = false},
        [this, place, asset = std::move(*known)](Result<Reply> reply) { on_known(place, asset, std::move(reply)); });
  }

  /// The service says whether it still has what an earlier run made.
  void on_known(std::size_t place, const Json& asset, Result<Reply> reply) {
    const int status = reply ? reply->status : reply.error().call.http_status;
    if (status == 404 || status == 410) return begin(place);
    const bool is_refused = status >= 400 && status < 500 && status != 401 && status != 408 && status != 429;
    if (!reply && !is_refused) return end(place, std::move(reply));  // nothing is known of it; nothing was sent
    const auto sha256 = reply ? find_text(*reply->json, "content_sha256") : std::nullopt;
    const auto recorded = find_text(asset, "content_sha256");
    if (sha256 && recorded && *sha256 != *recorded) return begin(place);
    if (session_.has("verbose")) session_.note(names_[place] + ": uploaded already; --again uploads it again");
    end(place, Reply{.status = status, .json = JsonBox(asset)});
  }

  /// What an earlier run left of the file; nothing with --again, which makes another Asset.
  std::optional<PendingUpload> unfinished(std::size_t place) const {
    if (session_.has("again")) return std::nullopt;
    return PendingUploads::find(earlier_, files_[place], base_url_, *who_, session_.world().clock.now());
  }

  void begin(std::size_t place) {
    const UploadFile& file = files_[place];
    std::optional<StartedUpload> resumed;
    if (auto pending = unfinished(place)) {
      resumed = std::move(pending->started);
      if (session_.has("verbose")) session_.note(names_[place] + ": resuming the upload " + resumed->upload_id);
    }
    UploadObserver observer;
    if (resumed) upload_ids_[place] = resumed->upload_id;
    observer.kept = [this, place, &file](const StartedUpload& started) {
      const bool is_new = std::exchange(upload_ids_[place], started.upload_id) != started.upload_id;
      const bool is_mere_start = is_new && file.stamp.size_bytes < recorded_from_bytes;
      if (!is_mere_start) keep(session_, {.started = started, .file = file, .base_url = base_url_, .who = *who_});
      return Result<void>();
    };
    // One that may have become an Asset is always recorded: it is asked for before the file is sent again.
    observer.finishing = [this, place, &file](const StartedUpload& started, std::function<void()> send) {
      upload_ids_[place] = started.upload_id;
      if (unrecorded_.empty()) waiting_since_ = std::chrono::steady_clock::now();
      unrecorded_.push_back({.started = started, .file = file, .base_url = base_url_, .who = *who_});
      waiting_.push_back(std::move(send));
    };
    observer.forgotten = [this](const StartedUpload& started) { pending_.forget(started.upload_id); };
    observer.progress = [this, place](std::uint64_t bytes) { sent_[place] = bytes; };
    start_upload(client_, file, std::move(resumed), std::move(observer), [this, place, &file](Result<Reply> reply) {
      if (!reply && reply.error().call.applied == Applied::unknown) {
        const bool is_again = session_.has("again");
        reply.error().hint = fmt::format(
            "run the same command {} to resume; `ws files list` shows whether the file is there, --again uploads it "
            "anew",
            is_again ? "without --again" : "again");
      }
      if (reply) {
        any_new_ = true;
        // Where it cannot be kept it is as unfinished uploads are: noted by `keep`.
        const bool is_kept = finished_.keep(file, *reply->json, *who_).has_value();
        if (is_kept) session_.outcomes().keep_elsewhere("files.upload_finish", std::string(shown_again));
        forget_once_told(session_, upload_ids_[place]);
      }
      end(place, std::move(reply));
    });
  }

  void end(std::size_t place, Result<Reply> reply) {
    ++ended_;
    // A missing key, or a signal, ends the other uploads too.
    if (!reply && (reply.error().kind == Failure::Kind::auth || reply.error().kind == Failure::Kind::cancelled)) {
      stopped_ = reply.error();
    }
    results_[place] = std::move(reply);
    if (!is_one_ && rows_.streams()) rows_.add({names_[place], *results_[place]});
    ended_places_.insert(place);
    for (const std::size_t follower : followers_[place]) {
      ++begun_;
      end(follower, *results_[place]);
    }
  }

  Result<ExitCode> print() {
    if (is_one_) {
      if (!*results_.front()) return fail(results_.front()->error());
      return print_reply(session_, operation_of("files.upload_finish"), **results_.front());
    }
    std::size_t done = 0;
    Applied applied = Applied::no;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!results_[i]) {
        Failure failure{.kind = stopped_->kind, .what = "not sent: " + stopped_->what};
        const auto left = unfinished(i);
        if (left && left->started.state == UploadState::finishing) failure.call.applied = Applied::unknown;
        results_[i] = fail(std::move(failure));
      }
      if (*results_[i]) {
        ++done;
      } else if (results_[i]->error().call.applied == Applied::unknown) {
        applied = Applied::unknown;
      }
    }
    if (done > 0 && applied == Applied::no) applied = Applied::yes;
    if (stopped_) stopped_->call.applied = applied;
    if (stopped_ && done == 0 && !rows_.streams()) return fail(*stopped_);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!rows_.streams() || !ended_places_.contains(i)) rows_.add({names_[i], *results_[i]});
    }
    const ExitCode exit = rows_.finish();
    if (!stopped_ || (done > 0 && stopped_->kind != Failure::Kind::cancelled)) return exit;
    if (stopped_->kind == Failure::Kind::cancelled) {
      stopped_->what = fmt::format("stopped; files uploaded: {} of {}", done, files_.size());
      stopped_->hint = "run the same command again: it goes on, and uploads no file twice";
    }
    return fail(*stopped_);
  }

  Session& session_;
  Client& client_;
  PendingUploads pending_;
  std::vector<PendingUpload> earlier_;  ///< of earlier runs
  FinishedUploads finished_;
  std::shared_ptr<const Uploader> who_;  ///< shared with the call that asks for it, which may outlive all uploads
  BatchRows rows_;
  std::vector<std::string> names_;
  std::vector<UploadFile> files_;
  bool is_one_;
  std::vector<std::string> upload_ids_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::optional<Result<Reply>>> results_;
  std::vector<PendingUpload> unrecorded_;       ///< whose finalize waits until this is on the disk
  std::vector<std::function<void()>> waiting_;  ///< these finalizes
  std::deque<std::function<void()>> recorded_;  ///< those that may be sent
  std::chrono::steady_clock::time_point waiting_since_;
  std::string base_url_;
  std::uint64_t total_ = 0;
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::vector<std::size_t>> firsts_ =
      {};                                                           ///< by name, type and size
  std::map<std::size_t, std::optional<Sha256>> hashes_ = {};        ///< as far as they were asked for
  std::map<std::size_t, std::vector<std::size_t>> followers_ = {};  ///< places of the same file, by the first
  std::vector<std::size_t> of_others_ = {};  ///< places of the files that wait for their turn: all, to begin with
  std::deque<std::size_t> queue_ = {};       ///< those that have it
  bool waits_ = false;                       ///< for others, as the user was told
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
  std::set<std::size_t> ended_places_;  ///< places of those that came to an end
  bool any_new_ = false;
  std::optional<Failure> stopped_;
};

Uploader uploader_by(const Key& key, const std::optional<sync::Account>& account) {
  return {.key = Sha256::of(key.credential.origin + "\n" + key.credential.secret).hex(),
          .account = account ? identity_of(*account) : ""};
}

/// Only the first of the three calls; what the last one needs is kept.
Result<ExitCode> start_only(Session& session, const UploadFile& file) {
  WS_LET(Client * client, session.client());
  WS_LET(const Key key, session.key());
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(const Reply reply, client->call(upload_start_call(file)));
  WS_LET(const StartedUpload started, started_upload_of(reply));
  keep(session,
       {.started = started, .file = file, .base_url = url.text, .who = uploader_by(key, known_account(session, key))});
  print_reply(session, operation_of("files.upload_start"), reply);
  if (is_for_people(session)) {
    session.note("finish it with " + ShellCommand{"ws", "files", "finalize", started.upload_id}.in_backticks());
  }
  return ExitCode::done;
}

constexpr std::string_view unknown_to_others = "so another key of the same person would upload the same again";

/// Whoever's key it is has their uploads again with another key. The service is asked once, beside the uploads, unless
/// what to send depends on the answer.
Result<std::shared_ptr<const Uploader>> uploader_of(Session& session,
                                                    Client& client,
                                                    const NamedFiles& named,
                                                    const FinishedUploads& finished) {
  WS_LET(const Key key, session.key());
  auto account = known_account(session, key);
  const auto may_know = [&finished](const Result<UploadFile>& file) { return file && finished.may_know(*file); };
  const PendingUploads pending(session.paths().state);
  const bool may_be_known = !session.has("again") && (std::ranges::any_of(named.files, may_know) ||
                                                      !pending.list(session.world().clock.now()).empty());
  if (!account && may_be_known) {
    WS_LET(account, account_of(session, key, unknown_to_others));
  }
  auto who = std::make_shared<Uploader>(uploader_by(key, account));
  if (!account) {
    client.start({.operation = "me.get", .validate = false, .repeat = false},
                 [&session, key, who](const Result<Reply>& reply) {
                   const auto told = account_told(session, key, reply, unknown_to_others);
                   if (told) who->account = identity_of(*told);
                 });
  }
  return who;
}

Result<ExitCode> upload(Session& session) {
  WS_LET(const std::vector<GivenId> given, ids_of(session));
  WS_LET(const std::size_t jobs, file_jobs(session));
  if (session.has("file-name") && !is_one(session, given))
    return fail(Failure::Kind::usage, "--file-name names one file");
  const bool ends_started = session.has("start-only");
  WS_TRY(check_named_members(session, operation_of(ends_started ? "files.upload_start" : "files.upload_finish")));
  NamedFiles named{.is_one = is_one(session, given)};
  Batch requests{.is_one = named.is_one};
  for (const GivenId& path : given) {
    auto file = checked_file(session, path.id);
    if (!file && named.is_one) return fail(std::move(file).error());
    if (!file) file = fail(at_line(path, std::move(file).error()));
    named.names.push_back(path.id);
    requests.ids.push_back(path.id);
    requests.calls.push_back(file ? Result<Call>(upload_start_call(*file)) : fail(file.error()));
    named.files.push_back(std::move(file));
  }
  if (session.has("dry-run")) return print_requests(session, requests);
  if (ends_started) {
    if (!named.is_one) return fail(Failure::Kind::usage, "--start-only starts one upload");
    WS_TRY(named.files.front());
    return start_only(session, *named.files.front());
  }
  WS_LET(Client * client, session.client(jobs));
  WS_LET(const BaseUrl url, session.base_url());
  FinishedUploads finished(session.paths().state, url.origin, session.world().clock.now(), !session.has("again"));
  finished.read();
  WS_LET(auto who, uploader_of(session, *client, named, finished));
  return Uploads(session, *client, std::move(named), url.text, std::move(finished), std::move(who)).run(jobs);
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
  const std::vector<std::string>& words = session.arguments().words;
  const Result<PendingUpload> pending = kept.load(words.empty() ? "" : words.front());
  WS_LET(Call call, finalize_call(session, pending));
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  if (!pending) {
    WS_LET(const Reply reply, client->call(std::move(call)));
    return print_reply(session, operation, reply);
  }
  // As a resumed upload: if the service does not have the bytes yet, those that the file has now are sent.
  UploadFile file = pending->file;
  const auto stamp = stamp_of(file.path);
  const bool is_of_other_size = stamp && stamp->size_bytes != file.stamp.size_bytes;
  if (stamp && !is_of_other_size) file.stamp = *stamp;
  StartedUpload started = pending->started;
  if (started.state == UploadState::started) started.state = UploadState::sent;
  UploadObserver observer{.begins_anew = false};
  observer.kept = [&session, &pending, &file](const StartedUpload& one) {
    keep(session, {.started = one, .file = file, .base_url = pending->base_url, .who = pending->who});
    return Result<void>();
  };
  observer.forgotten = [&kept](const StartedUpload& one) { kept.forget(one.upload_id); };
  std::optional<Result<Reply>> result;
  start_upload(*client, file, std::move(started), std::move(observer), [&result](Result<Reply> reply) {
    result = std::move(reply);
  });
  while (!result) client->run(std::chrono::milliseconds{1000});
  if (!*result && result->error().kind == Failure::Kind::disk && is_of_other_size) {
    result->error().hint =
        "upload what it holds now: " + ShellCommand{"ws", "files", "upload", file.path.string()}.in_backticks();
  }
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
  return {
      .words = "files uploads",
      .summary = "List unfinished uploads of this machine; no network",
      .details = "`ws files finalize UPLOAD` finishes one; so does the command that started it, if you run it again.",
      .examples = {"ws files uploads"},
      .run = list_pending};
}

Command files_upload_command() {
  Command command = operation_command(
      "files.upload_start",
      {.summary = "Upload files",
       .details =
           "Run the same command again to resume what was interrupted: a file becomes one Asset, not two. For 24 hours "
           "a file with the same bytes, name and type is not uploaded again with a key of the same person; what it "
           "became is "
           "printed, unless --again is given. In a batch a file that cannot be sent is a row that failed (exit 13), "
           "and the others are sent.",
       .arguments = {{.placeholder = "PATH", .help = "1 byte to 100 MiB each", .count = Count::any}},
       .examples = {"ws files upload report.pdf", "ls *.png | ws files upload --stdin --jobs 8 --json"},
       .run = upload},
      {"size-bytes", "body"});
  std::erase_if(command.flags, [](const Flag& flag) { return flag.letter == 'F' || flag.letter == 'J'; });
  command.flags.push_back(file_jobs_flag("files sent in parallel"));
  command.flags.push_back(
      {.name = "start-only", .help = "only start the upload; `ws files finalize UPLOAD` finishes it"});
  command.flags.push_back({.name = "again", .help = "upload files again that were uploaded already"});
  command.flags.push_back({.name = "stdin", .help = "take paths from stdin too, one a line"});
  return command;
}

Command files_finalize_command() {
  return operation_command(
      "files.upload_finish",
      {.details = "The flags are needed only for uploads that were started on another machine.", .run = finalize});
}

}  // namespace ws::cli
