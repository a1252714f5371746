#include "api-client/transfer/upload.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/contract/problem.hpp"
#include "api-client/http/transport.hpp"

namespace ws {
namespace {

constexpr std::int64_t nanoseconds_of_a_second = 1'000'000'000;

FileStamp stamp_from(const struct stat& status) {
  return {.size_bytes = static_cast<std::uint64_t>(status.st_size),
          .changed_ns = status.st_mtim.tv_sec * nanoseconds_of_a_second + status.st_mtim.tv_nsec};
}

auto disk(const std::filesystem::path& path, std::string_view reason) {
  return fail(Failure::Kind::disk, fmt::format("cannot read {}: {}", path.string(), reason));
}

auto changed(const std::filesystem::path& path) {
  return fail(Failure::Kind::disk,
              fmt::format("{} changed after its upload was started", path.string()),
              "run the same command again");
}

/// Reads a file for an upload: streamed while it is sent, hashed on the way, never whole in memory.
///
/// Only one state of the file is sent: if the file changes during the upload, the exchange fails.
class FileSource final : public http::BodySource {
 public:
  /// `hash` outlives the exchange, and is set once the last byte was read.
  FileSource(const UploadFile& file,
             std::shared_ptr<std::optional<Sha256>> hash,
             std::function<void(std::uint64_t)> progress)
      : path_(file.path), stamp_(file.stamp), hash_(std::move(hash)), progress_(std::move(progress)) {
    hash_->reset();
  }
  /// Fails with `disk`: not readable, or no longer in the state that `stamp` names.
  Result<void> open();

  std::uint64_t size_bytes() const override { return stamp_.size_bytes; }
  Result<std::size_t> read(char* buffer, std::size_t capacity) override;

 private:
  Descriptor descriptor_;
  std::filesystem::path path_;
  FileStamp stamp_;
  std::uint64_t offset_ = 0;
  Sha256Stream stream_;
  std::shared_ptr<std::optional<Sha256>> hash_;
  std::function<void(std::uint64_t sent_bytes)> progress_;
};

Result<void> FileSource::open() {
  descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat status {};
  if (!descriptor_ || ::fstat(descriptor_.get(), &status) != 0) return disk(path_, std::strerror(errno));
  if (!S_ISREG(status.st_mode) || stamp_from(status) != stamp_) return changed(path_);
  return {};
}

Result<std::size_t> FileSource::read(char* buffer, std::size_t capacity) {
  const std::size_t wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(capacity, stamp_.size_bytes - std::min(offset_, stamp_.size_bytes)));
  if (wanted == 0) return std::size_t{0};
  const ssize_t count = read_some_at(descriptor_.get(), buffer, wanted, static_cast<off_t>(offset_));
  if (count < 0) return disk(path_, std::strerror(errno));
  if (count == 0) return changed(path_);
  const auto got = static_cast<std::size_t>(count);
  stream_.update({buffer, got});
  offset_ += got;
  if (progress_) progress_(offset_);
  if (offset_ < stamp_.size_bytes) return got;
  // Check before the last bytes are sent: a mix of two states of the file must not become an Asset.
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0 || stamp_from(status) != stamp_) return changed(path_);
  *hash_ = stream_.finish();
  return got;
}

/// Another request would be answered differently, the same one later not.
bool is_refusal_of_request(int status) {
  return status >= 400 && status < 500 && status != 401 && status != 408 && status != 429;
}

/// One upload from start to end. It lives as long as a callback of the client holds it.
class Upload : public std::enable_shared_from_this<Upload> {
 public:
  Upload(Client& client, UploadFile file, UploadObserver observer, std::function<void(Result<Reply>)> done)
      : client_(client), file_(std::move(file)), observer_(std::move(observer)), done_(std::move(done)) {}

  void begin(std::optional<StartedUpload> resumed) {
    if (!resumed) return start();
    resumed_ = true;
    started_ = std::move(*resumed);
    in_doubt_ = started_.state == UploadState::finishing;
    if (started_.state != UploadState::started) return finish();
    put();
  }

 private:
  using Step = void (Upload::*)(Result<Reply>);

  std::function<void(Result<Reply>)> then(Step step) {
    return [self = shared_from_this(), step](Result<Reply> reply) { (self.get()->*step)(std::move(reply)); };
  }

  void start() {
    resumed_ = false;
    in_doubt_ = false;
    client_.start(upload_start_call(file_), then(&Upload::on_started));
  }

  void on_started(Result<Reply> reply) {
    if (!reply) return done_(std::move(reply));
    auto started = started_upload_of(*reply);
    if (!started) return done_(fail(std::move(started).error()));
    started_ = std::move(*started);
    if (auto kept = keep(); !kept) return done_(fail(std::move(kept).error()));
    put();
  }

  void put() {
    BytesPut put{.url = started_.upload_url, .headers = started_.upload_headers};
    put.open = [self = shared_from_this()]() -> Result<std::unique_ptr<http::BodySource>> {
      auto source = std::make_unique<FileSource>(self->file_, self->hash_, self->observer_.progress);
      WS_TRY(source->open());
      return std::unique_ptr<http::BodySource>(std::move(source));
    };
    client_.start(std::move(put), then(&Upload::on_put));
  }

  void on_put(Result<Reply> reply) {
    if (reply) return finish();
    // The upload address of an earlier run may have expired; services report that in different ways. It may as well be
    // an Asset by now, of another run: only the finalize tells.
    if (may_begin_anew() && is_refusal_of_request(reply.error().call.http_status)) {
      put_refused_ = true;
      return finish();
    }
    done_(std::move(reply));
  }

  void finish() {
    started_.state = UploadState::finishing;
    // Where somebody else has sent the bytes, they should be those of the file.
    if (*hash_ || !started_.hash) started_.hash = *hash_ ? *hash_ : hash_of(file_);
    if (observer_.finishing) return observer_.finishing(started_, [self = shared_from_this()] { self->send_finish(); });
    if (auto kept = keep(); !kept) return done_(fail(std::move(kept).error()));
    send_finish();
  }

  void send_finish() { client_.start(upload_finish_call(file_, started_), then(&Upload::on_finished)); }

  void on_finished(Result<Reply> reply) {
    if (reply) return check(std::move(reply));
    const Failure& failure = reply.error();
    const int status = failure.call.http_status;
    if (failure.code == "upload_consumed") {
      const auto details = parse_bounded(failure.call.details);
      const auto id = details ? find_text(contract::holder_of(*details, "asset_id"), "asset_id") : std::nullopt;
      if (id) return read_asset(*id);
    }
    if (failure.code == "upload_incomplete") {
      if (put_refused_) return start_anew();
      if (resumed_ && !*hash_) {
        in_doubt_ = false;
        started_.state = UploadState::started;
        return put();
      }
    }
    if (may_begin_anew() && !in_doubt_ && (status == 404 || status == 410)) return start_anew();
    if ((in_doubt_ || put_refused_) && is_refusal_of_request(status)) return look_among_assets(std::move(reply));
    if (failure.call.applied == Applied::no) {
      // What is sure of this finalize says nothing about that of the earlier run.
      if (in_doubt_) {
        reply.error().call.applied = Applied::unknown;
      } else {
        started_.state = UploadState::started;
        static_cast<void>(keep());
      }
    }
    done_(std::move(reply));
  }

  bool may_begin_anew() const { return resumed_ && observer_.begins_anew; }

  void start_anew() {
    if (observer_.forgotten) observer_.forgotten(started_);
    put_refused_ = false;
    start();
  }

  /// The refusal tells nothing of the finalize of an earlier run: the service may have forgotten an upload that became
  /// an Asset.
  void look_among_assets(Result<Reply> refusal) {
    client_.start({.operation = "files.list", .parameters = {{"limit", "100"}}},
                  [self = shared_from_this(), refusal = std::move(refusal).error()](const Result<Reply>& list) mutable {
                    const auto id = list ? self->find_ours(*list->json) : std::nullopt;
                    if (id) return self->read_asset(*id);
                    if (!list) refusal = list.error();
                    // A list without it proves nothing: it is bounded, and an Asset may come without a hash.
                    if (self->in_doubt_) return self->done_(fail(in_doubt(std::move(refusal))));
                    if (!list) return self->done_(fail(std::move(refusal)));
                    self->start_anew();
                  });
  }

  /// The id of the Asset with these bytes, under this name.
  std::optional<std::string> find_ours(const Json& list) const {
    const Json* const data = find(list, "data");
    if (!started_.hash || data == nullptr || !data->is_array()) return std::nullopt;
    for (const Json& asset : *data) {
      const bool is_named = observer_.any_name || find_text(asset, "original_file_name") == file_.file_name;
      const auto size = find_integer(asset, "size_bytes").value_or(-1);
      if (!is_named || size != static_cast<std::int64_t>(file_.stamp.size_bytes)) continue;
      if (Sha256::from_hex(find_text(asset, "content_sha256").value_or("")) == started_.hash)
        return find_text(asset, "id");
    }
    return std::nullopt;
  }

  static Failure in_doubt(Failure failure) {
    using Kind = Failure::Kind;
    const bool keeps_kind =
        failure.kind == Kind::auth || failure.kind == Kind::forbidden || failure.kind == Kind::cancelled;
    if (!keeps_kind) failure.kind = Kind::unknown_outcome;
    failure.call.applied = Applied::unknown;
    return failure;
  }

  /// The upload is an Asset already: the service received an earlier finalize whose answer was lost.
  void read_asset(const std::string& id) {
    client_.start({.operation = "files.get", .parameters = {{"asset_id", id}}}, then(&Upload::check));
  }

  void check(Result<Reply> reply) {
    if (!reply) {
      reply.error().call.applied = Applied::yes;
      return done_(std::move(reply));
    }
    const Json& asset = *reply->json;
    const std::string id = find_text(asset, "id").value_or("");
    if (id.empty()) {
      return done_(fail(in_doubt({.what = "files.upload_finish: the answer has no id of an Asset",
                                  .code = "unusable_answer",
                                  .call = {.operation = "files.upload_finish", .http_status = reply->status}})));
    }
    const auto size = find_integer(asset, "size_bytes");
    const auto sha256 = Sha256::from_hex(find_text(asset, "content_sha256").value_or(""));
    const bool other_size = size && static_cast<std::uint64_t>(*size) != file_.stamp.size_bytes;
    if (!other_size && (!sha256 || !started_.hash || *sha256 == *started_.hash)) return done_(std::move(reply));
    if (observer_.forgotten) observer_.forgotten(started_);
    done_(fail(Failure{
        .kind = Failure::Kind::integrity,
        .what = fmt::format(
            "the service has other bytes than {}: a different {}", file_.path.string(), other_size ? "size" : "hash"),
        .hint = "check with " + ShellCommand{"ws", "files", "get", id}.in_backticks(),
        .code = "hash_mismatch",
        .call = {.operation = "files.upload_finish", .applied = Applied::yes}}));
  }

  Result<void> keep() const { return observer_.kept ? observer_.kept(started_) : Result<void>(); }

  Client& client_;
  UploadFile file_;
  UploadObserver observer_;
  std::function<void(Result<Reply>)> done_;
  StartedUpload started_;
  bool resumed_ = false;
  bool in_doubt_ = false;     ///< an earlier run sent a finalize, and nobody knows what became of it
  bool put_refused_ = false;  ///< of the upload of an earlier run
  std::shared_ptr<std::optional<Sha256>> hash_ = std::make_shared<std::optional<Sha256>>();
};

Json file_members(const UploadFile& file) {
  return {{"file_name", file.file_name}, {"mime_type", file.mime_type}, {"size_bytes", file.stamp.size_bytes}};
}

}  // namespace

Result<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return disk(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return disk(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file");
  return stamp_from(status);
}

std::optional<Sha256> hash_of(const UploadFile& file) {
  const Descriptor opened(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!opened) return std::nullopt;
  const auto hash = Sha256::of_file(opened.get());
  const auto now = stamp_of(file.path);
  return now && *now == file.stamp ? hash : std::nullopt;
}

Call upload_start_call(const UploadFile& file) {
  return {.operation = "files.upload_start", .body = file_members(file), .validate = false};
}

Call upload_finish_call(const UploadFile& file, const StartedUpload& started) {
  Json body = {{"upload_id", started.upload_id}, {"blob_name", started.blob_name}};
  body.update(file_members(file));
  return {.operation = "files.upload_finish", .body = std::move(body), .validate = false};
}

std::optional<StartedUpload> read_started_upload(const Json& answer) {
  const auto text = [&answer](std::string_view key) { return find_text(answer, key).value_or(""); };
  StartedUpload started{.upload_id = text("upload_id"),
                        .blob_name = text("blob_name"),
                        .upload_url = text("upload_url"),
                        .expires_at = text("expires_at")};
  if (const Json* headers = find(answer, "upload_headers"); headers != nullptr && headers->is_object()) {
    for (const auto& header : headers->items()) {
      if (const auto* value = header.value().get_ptr<const Json::string_t*>()) {
        started.upload_headers.emplace_back(header.key(), *value);
      }
    }
  }
  const bool is_put = text("upload_method").empty() || text("upload_method") == "PUT";
  if (started.upload_id.empty() || started.upload_url.empty() || !is_put) return std::nullopt;
  return started;
}

Result<StartedUpload> started_upload_of(const Reply& reply) {
  if (auto started = read_started_upload(*reply.json)) return std::move(*started);
  return fail(unusable_answer("files.upload_start", reply, "it does not say where the bytes go"));
}

void start_upload(Client& client,
                  UploadFile file,
                  std::optional<StartedUpload> resumed,
                  UploadObserver observer,
                  std::function<void(Result<Reply>)> done) {
  const auto upload = std::make_shared<Upload>(client, std::move(file), std::move(observer), std::move(done));
  upload->begin(std::move(resumed));
}

}  // namespace ws
