// `ws files download`: to the files' own names, to a given one, or to stdout.
#include "api-client/transfer/download.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/replaced_file.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/transfer/partial_file.hpp"
#include "cli/commands/files/commands.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/terminal/progress.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

/// Standard output: bytes that were written cannot be taken back.
class StandardOutput final : public Destination {
 public:
  explicit StandardOutput(Terminal& terminal) : terminal_(terminal) {}
  std::uint64_t size_bytes() const override { return size_; }
  std::string etag() const override { return etag_; }
  Result<void> set_etag(const std::string& etag) override {
    etag_ = etag;
    return {};
  }
  Result<void> append(std::string_view piece) override {
    terminal_.write(Stream::out, piece);
    stream_.update(piece);
    size_ += piece.size();
    return {};
  }
  Result<void> restart() override {
    if (size_ == 0) return {};
    return fail(Failure{.kind = Failure::Kind::integrity,
                        .what = "the file changed after a part of it was written to stdout",
                        .hint = "download it to a file",
                        .code = "file_changed"});
  }
  Result<Sha256> hash() override { return stream_.finish(); }

 private:
  Terminal& terminal_;
  Sha256Stream stream_;
  std::uint64_t size_ = 0;
  std::string etag_;
};

/// The name that the service gives, if it is one that may stand in a folder of ours (`safety.md`, "Path rules").
std::string own_name(Session& session, const std::string& id, const Json& asset) {
  std::string name = find_text(asset, "original_file_name").value_or("");
  name = name.substr(name.find_last_of("/\\") == std::string::npos ? 0 : name.find_last_of("/\\") + 1);
  const bool usable = !name.empty() && name.front() != '.' && !sync::dangerous_part(name) &&
                      sync::RelativePath::parse(name).has_value();
  if (usable) return name;
  session.note(fmt::format("the file's own name cannot be used here; it is saved as {}", id));
  return id;
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

/// One download from the Asset's description to the finished file.
class OneDownload {
 public:
  OneDownload(Session& session, Client& client, ProgressLine& line, const std::string& id)
      : session_(session), client_(client), line_(line), id_(id) {}

  /// What was done, as our own JSON; null for stdout.
  Result<Json> run() {
    WS_LET(const Reply reply,
           client_.call({.operation = "files.get", .parameters = {{"asset_id", id_}}, .validate = false}));
    const Json& asset = *reply.json;
    name_ = find_text(asset, "original_file_name").value_or("");
    request_ = {.asset_id = id_, .sha256 = Sha256::from_hex(find_text(asset, "content_sha256").value_or(""))};
    if (const auto size = find_integer(asset, "size_bytes"); size && *size >= 0) {
      request_.size_bytes = static_cast<std::uint64_t>(*size);
    }
    request_.progress = [this](std::uint64_t received) {
      line_.update("downloading", received, request_.size_bytes.value_or(0), Counted::bytes, name_);
    };
    if (session_.arguments().value("output") == "-") return to_stdout();
    return to_file(target_of(session_, id_, asset));
  }

 private:
  void note_unchecked(const Downloaded& done) {
    line_.clear();
    if (!done.is_checked) session_.note("note: the service told no hash of " + id_ + "; the bytes are not checked");
  }

  Result<Json> to_stdout() {
    StandardOutput out(session_.terminal());
    WS_LET(const Downloaded done, download(client_, request_, out));
    note_unchecked(done);
    return Json();
  }

  /// What a failed write leaves on the disk, and what to do with it.
  static Failure with_leftover(Failure failure, const PartialFile& part) {
    if (failure.kind != Failure::Kind::disk || part.size_bytes() == 0 || !failure.hint.empty()) return failure;
    failure.hint = fmt::format("{} bytes are saved: free some space and run the same command again to resume; or {}",
                               part.size_bytes(),
                               ShellCommand{"rm"}.path(part.path().string()).path(part.notes().string()).ticked());
    return failure;
  }

  Result<Json> to_file(const fs::path& named) {
    WS_TRY(check_free(session_, named));
    WS_LET(const fs::path target, follow_link(named));
    const std::string identity = id_ + (request_.sha256 ? " " + request_.sha256->hex() : "");
    WS_LET(const auto part, PartialFile::open(target, identity));
    auto received = download(client_, request_, *part);
    if (!received) return fail(with_leftover(std::move(received).error(), *part));
    const Downloaded done = *received;
    if (auto finished = part->finish(session_.has("force") ? Replace::yes : Replace::no); !finished) {
      return fail(with_leftover(std::move(finished).error(), *part));
    }
    note_unchecked(done);
    return Json{{"v", 1},
                {"id", id_},
                {"path", named.string()},
                {"size_bytes", done.size_bytes},
                {"content_sha256", done.sha256.hex()},
                {"checked", done.is_checked},
                {"resumed_at_bytes", done.resumed_at_bytes}};
  }

  Session& session_;
  Client& client_;
  ProgressLine& line_;
  std::string id_;
  std::string name_;
  DownloadRequest request_;
};

void print_done(Session& session, const Json& done) {
  if (done.is_null()) return;
  if (!is_for_people(session)) return session.printer().resource(done, {});
  session.printer().line(find_text(done, "path").value_or(""));
}

Result<ExitCode> download_files(Session& session) {
  const contract::Operation& operation = operation_of("files.content");
  WS_LET(const std::vector<std::string> ids, ids_of(session));
  WS_LET(const std::vector<Call> calls, batch_calls(session, operation, ids));
  const auto output = session.arguments().value("output");
  std::error_code ignored;
  const bool into_folder = !output || output->ends_with('/') || std::filesystem::is_directory(*output, ignored);
  if (ids.size() > 1 && !into_folder) {
    return fail(Failure::Kind::usage, "several files do not go into one", "name a folder with -o, or none");
  }
  if (session.has("dry-run")) {
    for (const Call& call : calls) WS_TRY(print_request(session, call));
    return ExitCode::done;
  }
  WS_LET(Client * client, session.client());
  if (output && output->ends_with('/')) WS_TRY(make_folders(*output));
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine line(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  if (ids.size() == 1) {
    WS_LET(const Json done, OneDownload(session, *client, line, ids.front()).run());
    line.clear();
    print_done(session, done);
    return ExitCode::done;
  }
  std::vector<BatchItem> items;
  for (const std::string& id : ids) {
    Result<Json> done = OneDownload(session, *client, line, id).run();
    line.clear();
    if (done) {
      items.push_back({id, Reply{.json = std::move(*done)}});
    } else {
      const bool over = done.error().kind == Failure::Kind::auth || done.error().kind == Failure::Kind::cancelled;
      if (over) return fail(done.error());
      items.push_back({id, fail(done.error())});
    }
  }
  return print_batch(session, operation_of("files.content"), items, "ws.downloaded");
}

}  // namespace

Command files_download_command() {
  Command command = operation_command(operation_of("files.content"));
  command.summary = "Download files";
  command.details =
      "Run the same command again to resume a download that was interrupted. The hash of the bytes is checked before "
      "the file gets its name. Without -o it has the file's own name, in the working directory.";
  command.arguments.front().count = Count::any;
  command.flags.push_back(stdin_flag());
  command.examples = {"ws files download 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b",
                      "ws files download 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b -o - | sha256sum"};
  command.writes_output = true;
  command.run = download_files;
  return command;
}

}  // namespace ws::cli
