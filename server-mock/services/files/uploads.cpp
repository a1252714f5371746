#include <vector>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/contract/secrets.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Unexpected too_large(std::uint64_t declared) {
  return refuse({.status = 413,
                 .code = "payload_too_large",
                 .message = "The upload was declared with " + std::to_string(declared) + " bytes, and no more"});
}

}  // namespace

std::string upload_path(std::string_view secret) { return std::string(upload_root).append(secret); }

std::string_view upload_secret(std::string_view path) {
  return path.starts_with(upload_root) ? path.substr(upload_root.size()) : std::string_view();
}

bool is_upload(std::string_view path) { return path.starts_with(upload_root); }

std::string shown_path(std::string_view path) {
  if (is_upload(path)) return "/uploads/[redacted]";
  std::string shown;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/', 1));
    shown += contract::looks_like_key(part.substr(part.starts_with('/'))) ? "/[redacted]" : std::string(part);
    path.remove_prefix(part.size());
  }
  return shown;
}

ApiResult<void> require_open(const World& world, const Upload& upload) {
  if (!upload.asset_id.empty()) {
    return refuse({.status = 409,
                   .code = "upload_consumed",
                   .message = "The upload has become a file already",
                   .members = Json{{"asset_id", upload.asset_id}}});
  }
  if (world.now() >= upload.expires_at) {
    return refuse({.status = 410, .code = "upload_expired", .message = "The upload has expired: start a new one"});
  }
  return {};
}

std::string upload_media_type(const Upload& upload) { return safe_media_type(upload.mime_type); }

ApiResult<UploadPut> UploadPut::begin(World& world,
                                      std::string_view secret,
                                      std::string_view media_type,
                                      std::optional<std::uint64_t> declared_bytes) {
  WS_API_LET(const std::optional<Upload> upload, find_upload_of(world, secret));
  if (!upload) return not_found("upload");
  WS_API_TRY(require_open(world, *upload));
  if (const std::string wanted = upload_media_type(*upload); !equal_ignoring_case(trimmed(media_type), wanted)) {
    return refuse({.status = 400,
                   .code = "invalid_request",
                   .message = "The PUT needs the upload_headers of the upload: Content-Type: " + wanted});
  }
  const auto at_most = static_cast<std::uint64_t>(upload->size_bytes);
  if (declared_bytes.value_or(0) > at_most) return too_large(at_most);
  WS_API_LET(BlobWriter writer, world.blobs.begin());
  return UploadPut(upload->id, at_most, std::move(writer));
}

ApiResult<void> UploadPut::take(std::string_view piece) {
  if (writer_.size_bytes() + piece.size() > at_most_bytes_) return too_large(at_most_bytes_);
  hash_.update(piece);
  WS_API_TRY(writer_.write(piece));
  return {};
}

ApiResult<void> UploadPut::finish(World& world) {
  WS_API_LET(const std::optional<Upload> upload, find_upload(world, upload_id_));
  if (!upload) return not_found("upload");
  WS_API_TRY(require_open(world, *upload));
  if (world.open_transactions > 0) return {};  // a dry run that is rolled back: files cannot be
  WS_API_TRY(replace_bytes(world, *upload, writer_, hash_.finish()));
  return {};
}

Result<void> replace_bytes(World& world, const Upload& upload, BlobWriter& writer, const Sha256& sha256) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  const std::string blob = world.new_blob();
  WS_TRY(world.blobs.keep(writer, blob));
  const auto record = [&]() -> Result<void> {
    WS_TRY(put(world,
               "update uploads set received_bytes = ?, received_sha256 = ?, blob = ? where id = ?",
               static_cast<std::int64_t>(writer.size_bytes()),
               sha256.hex(),
               blob,
               upload.id));
    return work.commit();
  };
  if (auto recorded = record(); !recorded) {
    world.blobs.remove(blob);
    return fail(std::move(recorded).error());
  }
  world.drop_blob(upload.blob);
  return {};
}

Result<void> forget_expired_uploads(World& world) {
  WS_LET(const std::vector<std::string> blobs,
         read_rows(world,
                   read_text,
                   "select blob from uploads where blob <> '' and asset_id = '' and expires_at <= ?",
                   world.now()));
  if (blobs.empty()) return {};
  {
    WS_LET(UnitOfWork work, UnitOfWork::begin(world));
    WS_TRY(
        put(world, "update uploads set blob = '' where blob <> '' and asset_id = '' and expires_at <= ?", world.now()));
    WS_TRY(work.commit());
  }
  for (const std::string& blob : blobs) world.drop_blob(blob);
  return {};
}

}  // namespace ws::mock
