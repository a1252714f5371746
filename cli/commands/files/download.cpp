// `ws files download`: to the files' own names, to a given one, or to stdout.
#include "api-client/transfer/download.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/transfer/partial_file.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/output/human.hpp"
#include "cli/terminal/progress.hpp"
#include "sync-engine/model/file_name.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Standard output, a device or a pipe: bytes that were written cannot be taken back.
class StreamOutput final : public Destination {
 public:
  explicit StreamOutput(std::function<Result<void>(std::string_view)> write) : write_(std::move(write)) {}
  std::uint64_t size_bytes() const override { return size_; }
  std::string etag() const override { return etag_; }
  Result<void> set_etag(const std::string& etag) override {
    etag_ = etag;
    return {};
  }
  Result<void> append(std::string_view piece) override {
    WS_TRY(write_(piece));
    stream_.update(piece);
    size_ += piece.size();
    return {};
  }
  Result<void> restart() override {
    if (size_ == 0) return {};
    return fail(Failure{.kind = Failure::Kind::integrity,
                        .what = "the file changed after a part of it was written",
                        .hint = "download it to a file",
                        .code = "file_changed"});
  }
  Result<Sha256> hash() override { return stream_.finish(); }

 private:
  std::function<Result<void>(std::string_view)> write_;
  Sha256Stream stream_;
  std::uint64_t size_ = 0;
  std::string etag_;
};

/// The name that the service gives, if it is one that may stand in a folder of ours.
std::string own_name(Session& session, const std::string& id, const Json& asset) {
  std::string name = sync::file_name(sync::NamedBy::given, find_text(asset, "original_file_name").value_or(""));
  if (!name.empty()) return name;
  name = sync::file_name(sync::NamedBy::id, id);
  session.note(fmt::format("the file's own name cannot be used here; it is saved as {}", name));
  return name;
}

/// `-o`: a file, or a folder that the file's own name goes into.
fs::path target_of(Session& session, const std::string& id, const Json& asset) {
  const auto output = session.arguments().value("output");
  if (!output) return own_name(session, id, asset);
  std::error_code ignored;
  const bool is_folder = output->ends_with('/') || fs::is_directory(*output, ignored);
  return is_folder ? fs::path(*output) / own_name(session, id, asset) : fs::path(*output);
}

Result<void> check_free(const Session& session, const fs::path& target) {
  std::error_code ignored;
  const auto status = fs::symlink_status(target, ignored);
  if (status.type() == fs::file_type::none) {
    return fail(Failure::Kind::disk, "cannot write " + target.string() + ": " + ignored.message());
  }
  if (!fs::exists(status)) return {};
  if (fs::is_directory(status)) return fail(Failure::Kind::disk, target.string() + " is a folder");
  if (session.has("force")) return {};
  return fail(Failure::Kind::disk, "the file " + target.string() + " exists already", "add --force to replace it");
}

/// So many, or so much, wait for the disk together.
constexpr std::size_t max_received = 64;
constexpr std::uint64_t max_received_bytes = std::uint64_t{16} << 20U;

/// One download, from the Asset's description to the finished file.
struct OneDownload {
  std::string id = {};
  std::string name = {};                ///< as the service has it
  std::optional<Failure> refused = {};  ///< it cannot be asked for
  DownloadRequest request = {};
  fs::path target = {};  ///< as the user named it
  std::unique_ptr<PartialFile> part = {};
  std::uint64_t received_bytes = 0;
  int cuts = 0;
  Failure cut = {};
  bool is_described = false;
  bool is_ended = false;
  Downloaded done = {};
  Result<Json> result = fail(Failure{.kind = Failure::Kind::cancelled, .what = "not downloaded"});
};

void take_facts(OneDownload& one, const Json& asset) {
  one.name = find_text(asset, "original_file_name").value_or("");
  one.request.asset_id = one.id;
  one.request.sha256 = Sha256::from_hex(find_text(asset, "content_sha256").value_or(""));
  if (const auto size = find_integer(asset, "size_bytes"); size && *size >= 0) {
    one.request.size_bytes = static_cast<std::uint64_t>(*size);
  }
}

Call description_of(const std::string& id) {
  return {.operation = "files.get", .parameters = {{"asset_id", id}}, .validate = false};
}

void note_unchecked(Session& session, const OneDownload& one, const Downloaded& done) {
  if (!done.is_checked)
    session.note("note: the service gave no usable hash of " + one.id + "; the bytes are not checked");
}

Result<void> download_to_stream(Session& session, Client& client, ProgressLine& line, const std::string& id) {
  const std::string path = session.arguments().value("output").value_or("-");
  const Descriptor stream = path == "-" ? Descriptor() : open_stream(path);
  const auto write = [&](std::string_view piece) -> Result<void> {
    if (path == "-") {
      session.terminal().write(Stream::out, piece);
      return {};
    }
    if (stream && write_all(stream.get(), piece)) return {};
    return fail(Failure::Kind::disk, "cannot write " + path + ": " + std::strerror(errno));
  };
  OneDownload one{.id = id};
  WS_LET(const Reply reply, client.call(description_of(id)));
  take_facts(one, *reply.json);
  one.request.progress = [&](std::uint64_t received) {
    line.update("downloading", received, one.request.size_bytes.value_or(0), Counted::bytes, one.name);
  };
  StreamOutput out(write);
  WS_LET(const Downloaded done, download(client, one.request, out));
  line.clear();
  note_unchecked(session, one, done);
  return {};
}

/// What a failed write leaves on the disk, and what to do with it.
Failure with_leftover(Failure failure, const PartialFile& part) {
  if (failure.kind != Failure::Kind::disk || part.size_bytes() == 0 || !failure.hint.empty()) return failure;
  failure.hint = fmt::format("{} bytes are saved: free some space and run the same command again to resume; or {}",
                             part.size_bytes(),
                             ShellCommand{"rm"}.path(part.path().string()).path(part.notes().string()).in_backticks());
  return failure;
}

/// All downloads to files of one command: a few at a time, with one progress line.
class Downloads {
 public:
  Downloads(Session& session, Client& client, ProgressLine& line, const Batch& batch, std::size_t jobs)
      : session_(session), client_(client), line_(line), jobs_(jobs), files_(batch.ids.size()) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      files_[i].id = batch.ids[i];
      if (!batch.calls[i]) files_[i].refused = batch.calls[i].error();
    }
  }

  /// What was done, as our own JSON, in the order of the ids. A missing key, or a signal, ends them all: `stopped`.
  std::vector<Result<Json>> run() {
    while (!is_idle() || !received_.empty() || !waiting_.empty() || (next_ < files_.size() && !stopped_)) {
      // As many are described ahead as are received: no file waits for its own description.
      while (next_ - turn_ + described_.size() < jobs_ && next_ < files_.size() && !stopped_) describe(files_[next_++]);
      client_.run(std::chrono::milliseconds{200});
      go_on_with_cut();
      receive_described();
      const bool is_full = received_.size() >= max_received || unfinished_bytes_ >= max_received_bytes;
      if (is_idle() || is_full) finish_received();
      const std::string more =
          files_.size() == 1 ? files_.front().name : fmt::format("files done: {} of {}", ended_, files_.size());
      if (received_bytes_ > 0) line_.update("downloading", received_bytes_, announced_bytes_, Counted::bytes, more);
    }
    line_.clear();
    std::vector<Result<Json>> results;
    for (OneDownload& one : files_) results.push_back(std::move(one.result));
    return results;
  }
  const std::optional<Failure>& stopped() const { return stopped_; }

 private:
  bool is_idle() const { return turn_ == next_ && described_.empty() && receiving_ == 0; }

  void describe(OneDownload& one) {
    if (one.refused) {
      end(one, fail(*one.refused));
      return take_turns();
    }
    client_.start(description_of(one.id), [this, &one](Result<Reply> reply) {
      if (reply) {
        take_facts(one, *reply->json);
        announced_bytes_ += one.request.size_bytes.value_or(0);
        line_.clear();
        one.target = target_of(session_, one.id, *reply->json);
        one.is_described = true;
      } else {
        end(one, fail(std::move(reply).error()));
      }
      take_turns();
      receive_described();
    });
  }

  /// In the order of the ids, whatever is described first: of two files with one name the first comes first.
  void take_turns() {
    for (; turn_ < next_ && (files_[turn_].is_described || files_[turn_].is_ended); ++turn_) {
      if (!files_[turn_].is_ended) described_.push_back(&files_[turn_]);
    }
  }

  void receive_described() {
    while (receiving_ < jobs_ && !described_.empty()) {
      OneDownload& one = *described_.front();
      described_.pop_front();
      open(one);
    }
  }

  /// Of two files with one name the second waits for the first: then it is decided what becomes of it.
  void open(OneDownload& one) {
    if (targets_.contains(one.target)) return waiting_.push_back(&one);
    if (is_there_already(one)) return end(one, report_of(one));
    auto opened = open_part(one);
    if (!opened) return end(one, fail(std::move(opened).error()));
    targets_.insert(one.target);
    one.request.progress = [this, &one](std::uint64_t bytes) {
      received_bytes_ += bytes - one.received_bytes;
      one.received_bytes = bytes;
    };
    receive(one);
  }

  /// An earlier run has saved these very bytes: then there is nothing left to do.
  bool is_there_already(OneDownload& one) const {
    if (!one.request.sha256 || session_.has("force")) return false;
    const Descriptor file(::open(one.target.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size != one.request.size_bytes.value_or(size) || Sha256::of_file(file.get()) != one.request.sha256)
      return false;
    one.done = {.size_bytes = size, .sha256 = *one.request.sha256, .is_checked = true, .resumed_at_bytes = size};
    return true;
  }

  Result<void> open_part(OneDownload& one) const {
    WS_TRY(check_free(session_, one.target));
    WS_LET(const fs::path target, follow_link(one.target));
    const std::string identity = one.id + (one.request.sha256 ? " " + one.request.sha256->hex() : "");
    WS_LET(one.part, PartialFile::open(target, identity));
    return {};
  }

  void receive(OneDownload& one) {
    ++receiving_;
    start_download(client_, one.request, *one.part, [this, &one](Result<Downloaded> ended, bool may_go_on) {
      --receiving_;
      if (ended) {
        one.done = *ended;
        unfinished_bytes_ += one.done.size_bytes;
        received_.push_back(&one);
      } else if (may_go_on) {
        one.cut = std::move(ended).error();
        cut_.push_back(&one);
      } else {
        give_up(one, std::move(ended).error());
      }
    });
  }

  /// Waiting and sending again is done here: not in the middle of what the client tells.
  void go_on_with_cut() {
    for (OneDownload* const one : std::exchange(cut_, {})) {
      if (client_.spend_retry(++one->cuts)) {
        receive(*one);
      } else {
        give_up(*one, std::move(one->cut));
      }
    }
  }

  void give_up(OneDownload& one, Failure failure) {
    targets_.erase(one.target);
    end(one, fail(with_leftover(std::move(failure), *one.part)));
  }

  void finish_received() {
    std::vector<PartialFile*> parts;
    for (OneDownload* const one : received_) parts.push_back(one->part.get());
    const auto ends = PartialFile::finish_all(parts, session_.has("force") ? Replace::yes : Replace::no);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      OneDownload& one = *received_[i];
      if (ends[i]) {
        targets_.erase(one.target);
        end(one, report_of(one));
      } else {
        give_up(one, ends[i].error());
      }
    }
    received_.clear();
    unfinished_bytes_ = 0;
    for (OneDownload* const one : std::exchange(waiting_, {})) {
      if (!stopped_) open(*one);
    }
  }

  Json report_of(const OneDownload& one) {
    line_.clear();
    note_unchecked(session_, one, one.done);
    return Json{{"v", 1},
                {"id", one.id},
                {"path", one.target.string()},
                {"size_bytes", one.done.size_bytes},
                {"content_sha256", one.done.sha256.hex()},
                {"checked", one.done.is_checked},
                {"resumed_at_bytes", one.done.resumed_at_bytes}};
  }

  void end(OneDownload& one, Result<Json> result) {
    using Kind = Failure::Kind;
    if (!result && (result.error().kind == Kind::auth || result.error().kind == Kind::cancelled)) {
      stopped_ = result.error();
    }
    one.result = std::move(result);
    one.part.reset();
    one.is_ended = true;
    ++ended_;
  }

  Session& session_;
  Client& client_;
  ProgressLine& line_;
  std::size_t jobs_;  ///< so many are received at a time
  std::vector<OneDownload> files_;
  std::set<fs::path> targets_;          ///< of those that are under way or received
  std::deque<OneDownload*> described_;  ///< whose bytes were not asked for yet
  std::vector<OneDownload*> waiting_;   ///< for their target
  std::vector<OneDownload*> cut_;       ///< to go on where they were cut
  std::vector<OneDownload*> received_;  ///< whole, and not flushed yet
  std::uint64_t unfinished_bytes_ = 0;  ///< of these
  std::uint64_t received_bytes_ = 0;
  std::uint64_t announced_bytes_ = 0;
  std::size_t next_ = 0;
  std::size_t turn_ = 0;  ///< before `next_`: whose description is awaited
  std::size_t receiving_ = 0;
  std::size_t ended_ = 0;
  std::optional<Failure> stopped_;
};

void print_done(Session& session, const Json& done) {
  if (!is_for_people(session)) return session.printer().resource(done);
  const std::string path = find_text(done, "path").value_or("");
  // A script takes the line for the name.
  if (!session.terminal().is_terminal(Stream::out)) return session.printer().line(path);
  const auto size = static_cast<std::uint64_t>(find_integer(done, "size_bytes").value_or(0));
  session.printer().line(fmt::format("saved {} ({})", clean(path, Breaks::space), human_size(size)));
}

Result<ExitCode> download_files(Session& session) {
  const contract::Operation& operation = operation_of("files.content");
  WS_LET(const Batch batch, batch_of(session, operation));
  const std::vector<std::string>& ids = batch.ids;
  const auto output = session.arguments().value("output");
  std::error_code ignored;
  const bool into_folder = !output || output->ends_with('/') || std::filesystem::is_directory(*output, ignored);
  if (!batch.is_one && !into_folder) {
    return fail(Failure::Kind::usage, "several files cannot be saved as one", "give a folder with -o, or leave -o out");
  }
  WS_LET(const std::size_t jobs, file_jobs(session));
  if (session.has("dry-run")) return print_requests(session, batch);
  WS_LET(Client * client, session.client(2 * jobs));
  if (output && output->ends_with('/')) WS_TRY(make_folders(*output));
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine line(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  if (output && (output == "-" || is_stream(*output))) {
    WS_TRY(batch.calls.front());
    WS_TRY(download_to_stream(session, *client, line, ids.front()));
    return ExitCode::done;
  }
  Downloads downloads(session, *client, line, batch, jobs);
  std::vector<Result<Json>> results = downloads.run();
  const bool any_done = std::ranges::any_of(results, [](const Result<Json>& each) { return each.has_value(); });
  if (downloads.stopped() && !any_done) return fail(*downloads.stopped());
  if (batch.is_one) {
    WS_LET(const Json done, std::move(results.front()));
    print_done(session, done);
    return ExitCode::done;
  }
  std::vector<BatchItem> items;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Result<Reply> reply = fail(Failure{});
    if (results[i]) {
      reply = Reply{.json = std::move(*results[i])};
    } else {
      reply = fail(std::move(results[i]).error());
    }
    items.push_back({ids[i], std::move(reply)});
  }
  const ExitCode exit = print_batch(session, operation_of("files.content"), items, "ws.downloaded");
  if (downloads.stopped()) return fail(*downloads.stopped());
  return exit;
}

}  // namespace

Command files_download_command() {
  Command command = operation_command(
      "files.content",
      {.summary = "Download files",
       .details = "A download that is cut goes on where it was, in three sends at most; run the same command again to "
                  "resume it then, or after a kill. The hash of the bytes is "
                  "checked before the file gets its name. Without -o it has the file's own name, in the working "
                  "directory.",
       .examples = {"ws files download 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b",
                    "ws files download 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b -o - | sha256sum"},
       .writes_output = true,
       .run = download_files});
  command.arguments.front().count = Count::any;
  command.flags.push_back(file_jobs_flag("files received in parallel"));
  command.flags.push_back(stdin_flag());
  return command;
}

}  // namespace ws::cli
