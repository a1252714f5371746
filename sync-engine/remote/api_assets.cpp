#include "sync-engine/remote/api_assets.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/client/client.hpp"
#include "api-client/transfer/download.hpp"
#include "api-client/transfer/partial_file.hpp"
#include "api-client/transfer/upload.hpp"
#include "sync-engine/remote/answers.hpp"

namespace ws::sync {
namespace {

bool has_bytes(const Json& asset, std::uint64_t size_bytes, const Sha256& hash) {
  const auto size = find_number(asset, "size_bytes");
  const auto told = Sha256::from_hex(find_text(asset, "content_sha256").value_or(""));
  return (!size || *size == size_bytes) && (!told || *told == hash);
}

/// One upload, and what is known of an earlier one of the same bytes.
class OneUpload : public std::enable_shared_from_this<OneUpload> {
 public:
  OneUpload(Client& client, AssetUpload upload, std::function<void(Result<UploadedAsset>)> done)
      : client_(client), upload_(std::move(upload)), done_(std::move(done)) {}

  void begin() {
    if (!upload_.in_doubt) return send({});
    send(StartedUpload{.upload_id = upload_.in_doubt->upload_id,
                       .blob_name = upload_.in_doubt->blob_name,
                       .hash = upload_.hash,
                       .state = UploadState::finishing});
  }

 private:
  void send(std::optional<StartedUpload> resumed) {
    const bool is_resumed = resumed.has_value();
    UploadObserver observer{.begins_anew = false, .any_name = true, .progress = upload_.progress};
    observer.kept = [self = shared_from_this()](const StartedUpload& started) -> Result<void> {
      const bool is_finishing = started.state == UploadState::finishing;
      if (!is_finishing && !std::exchange(self->is_noted_, false)) return {};
      self->is_noted_ = is_finishing;
      const SentUpload sent{.upload_id = started.upload_id, .blob_name = started.blob_name};
      return self->upload_.sent(is_finishing ? std::optional(sent) : std::nullopt);
    };
    start_upload(
        client_,
        UploadFile{.path = upload_.from,
                   .file_name = upload_.file_name,
                   .mime_type = upload_.media_type,
                   .stamp = {.size_bytes = upload_.size_bytes, .changed_ns = upload_.modified_ns}},
        std::move(resumed),
        std::move(observer),
        [self = shared_from_this(), is_resumed](Result<Reply> reply) { self->take(std::move(reply), is_resumed); });
  }

  void take(Result<Reply> reply, bool is_resumed) {
    if (!reply) {
      if (!is_resumed) return done_(fail(std::move(reply).error()));
      // The service says that nothing came of it: its bytes are to be sent once more.
      const CallTrace& call = reply.error().call;
      const bool surely_nothing = call.operation == "files.put";
      // A service that does not know the upload any more never will: the second Asset is said.
      was_in_doubt_ = call.operation == "files.upload_finish" && (call.http_status == 404 || call.http_status == 410);
      if (surely_nothing || was_in_doubt_) return send({});
      return done_(fail(std::move(reply).error()));
    }
    const Json& asset = *reply->json;
    const std::string id = find_text(asset, "id").value_or("");
    if (!has_bytes(asset, upload_.size_bytes, upload_.hash)) {
      return done_(fail(Failure{.kind = Failure::Kind::integrity,
                                .what = fmt::format("the service has other bytes than {}", upload_.file_name),
                                .hint = "run the same command again",
                                .code = "hash_mismatch"}));
    }
    done_(UploadedAsset{.asset = id, .was_in_doubt = was_in_doubt_});
  }

  Client& client_;
  AssetUpload upload_;
  std::function<void(Result<UploadedAsset>)> done_;
  bool is_noted_ = false;
  bool was_in_doubt_ = false;
};

class ApiAssets final : public Assets {
 public:
  explicit ApiAssets(Client& client) : client_(client) {}

  void start(AssetUpload upload, std::function<void(Result<UploadedAsset>)> done) override {
    std::make_shared<OneUpload>(client_, std::move(upload), std::move(done))->begin();
  }

  void start(AssetDownload download, std::function<void(Result<void>)> done) override {
    auto file = PartialFile::open(download.to, download.asset + " " + download.hash.hex());
    if (!file) return done(fail(std::move(file).error()));
    const auto one = std::make_shared<OneDownload>(
        OneDownload{.download = std::move(download), .file = std::move(*file), .done = std::move(done)});
    receive(one);
  }

  bool run(std::chrono::milliseconds at_most) override {
    const bool any = client_.run(at_most);
    // Waiting and sending again is done here: not in the middle of what the client tells.
    for (const std::shared_ptr<OneDownload>& one : std::exchange(cut_, {})) {
      if (client_.spend_retry(++one->cuts)) {
        receive(one);
      } else {
        one->failure.code = cut_short;
        one->failure.hint = "run the same command again";
        one->done(fail(std::move(one->failure)));
      }
    }
    return any || !cut_.empty();
  }

  void start(const Attachment& file, std::function<void(Result<bool>)> done) override {
    client_.start({.operation = "files.get", .parameters = {{"asset_id", file.asset}}},
                  [file, done = std::move(done)](Result<Reply> reply) { done(is_proven(file, std::move(reply))); });
  }

  Result<bool> holds(const Attachment& file) override {
    return is_proven(file, client_.call({.operation = "files.get", .parameters = {{"asset_id", file.asset}}}));
  }

  Result<DocumentRevision> set_title(const std::string& document,
                                     const std::string& title,
                                     DocumentRevision revision) override {
    WS_LET(const Reply reply,
           client_.call({.operation = "docs.update",
                         .parameters = {{"document_id", document}},
                         .body = Json{{"title", title}, {"expected_content_revision", revision.number}}}));
    return DocumentRevision{read_number(*reply.json, "content_revision")};
  }

 private:
  static Result<bool> is_proven(const Attachment& file, Result<Reply> reply) {
    if (reply) {
      const auto told = Sha256::from_hex(find_text(*reply->json, "content_sha256").value_or(""));
      return told && has_bytes(*reply->json, file.size_bytes, file.hash);
    }
    const Failure::Kind kind = reply.error().kind;
    const bool is_out_of_reach = kind == Failure::Kind::not_found || kind == Failure::Kind::forbidden ||
                                 kind == Failure::Kind::usage || kind == Failure::Kind::invalid;
    return is_out_of_reach ? Result<bool>(false) : fail(Failure(reply.error()));
  }

  struct OneDownload {
    AssetDownload download = {};
    std::unique_ptr<PartialFile> file = {};
    std::function<void(Result<void>)> done = {};
    int cuts = 0;
    Failure failure = {};
  };

  void receive(const std::shared_ptr<OneDownload>& one) {
    start_download(client_,
                   {.asset_id = one->download.asset,
                    .size_bytes = one->download.size_bytes,
                    .sha256 = one->download.hash,
                    .progress = one->download.progress},
                   *one->file,
                   [this, one](Result<Downloaded> ended, bool may_go_on) {
                     if (ended) return one->done(one->file->finish(Replace::yes));
                     if (!may_go_on) return one->done(fail(std::move(ended).error()));
                     one->failure = std::move(ended).error();
                     cut_.push_back(one);
                   });
  }

  Client& client_;
  std::vector<std::shared_ptr<OneDownload>> cut_;
};

}  // namespace

std::unique_ptr<Assets> make_api_assets(Client& client) { return std::make_unique<ApiAssets>(client); }

}  // namespace ws::sync
