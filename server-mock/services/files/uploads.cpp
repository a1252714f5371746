#include "server-mock/services/files/uploads.hpp"

#include <vector>

#include <nlohmann/json.hpp>

#include "server-mock/services/files/assets.hpp"

namespace ws::mock {
namespace {

Refused too_large(std::uint64_t declared) {
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

std::string_view shown_path(std::string_view path) { return is_upload(path) ? "/uploads/[redacted]" : path; }

Served<void> require_open(const World& world, const Upload& upload) {
  if (!upload.asset_id.empty()) {
    return refuse({.status = 409,
                   .code = "upload_consumed",
                   .message = "The upload has become a file already",
                   .members = Json{{"asset_id", upload.asset_id}}});
  }
  if (world.now() >= upload.expires_at) {
    return refuse({.status = 410, .code = "upload_expired", .message = "The upload's hour is over: start a new one"});
  }
  return {};
}

Served<UploadPut> UploadPut::begin(World& world, std::string_view secret, std::optional<std::uint64_t> declared_bytes) {
  WS_SERVE_LET(const std::optional<Upload> upload, find_upload_of(world, secret));
  if (!upload) return not_found("upload");
  WS_SERVE(require_open(world, *upload));
  const auto at_most = static_cast<std::uint64_t>(upload->size_bytes);
  if (declared_bytes.value_or(0) > at_most) return too_large(at_most);
  WS_SERVE_LET(BlobWriter writer, world.blobs.begin());
  return UploadPut(upload->id, at_most, std::move(writer));
}

Served<void> UploadPut::take(std::string_view piece) {
  if (writer_.size_bytes() + piece.size() > at_most_bytes_) return too_large(at_most_bytes_);
  hash_.update(piece);
  WS_SERVE(writer_.write(piece));
  return {};
}

Served<void> UploadPut::finish(World& world) {
  WS_SERVE_LET(const std::optional<Upload> upload, find_upload(world, upload_id_));
  if (!upload) return not_found("upload");
  WS_SERVE(require_open(world, *upload));
  if (world.open_units > 0) return {};  // only tried out, to be undone: files know no rollback
  WS_SERVE_LET(UnitOfWork work, UnitOfWork::begin(world));
  const std::string blob = world.new_blob();
  WS_SERVE(world.blobs.keep(writer_, blob));
  const auto record = [&]() -> Result<void> {
    {
      WS_LET(
          const sqlite::Lent update,
          world.database.cached("update uploads set received_bytes = ?, received_sha256 = ?, blob = ? where id = ?"));
      update->bind_all(static_cast<std::int64_t>(writer_.size_bytes()), hash_.finish().hex(), blob, upload_id_);
      WS_TRY(update->run());
    }
    return work.commit();
  };
  if (auto recorded = record(); !recorded) {
    world.blobs.remove(blob);
    return refuse(std::move(recorded).error());
  }
  world.drop_blob(upload->blob);
  return {};
}

Result<void> forget_expired_uploads(World& world) {
  std::vector<std::string> blobs;
  {
    WS_LET(const sqlite::Lent rows,
           world.database.cached("select blob from uploads where blob <> '' and asset_id = '' and expires_at <= ?"));
    rows->bind(1, world.now());
    while (true) {
      WS_LET(const bool found, rows->step());
      if (!found) break;
      blobs.push_back(rows->string(0));
    }
  }
  if (blobs.empty()) return {};
  {
    WS_LET(UnitOfWork work, UnitOfWork::begin(world));
    WS_LET(
        const sqlite::Lent update,
        world.database.cached("update uploads set blob = '' where blob <> '' and asset_id = '' and expires_at <= ?"));
    update->bind(1, world.now());
    WS_TRY(update->run());
    WS_TRY(work.commit());
  }
  for (const std::string& blob : blobs) world.drop_blob(blob);
  return {};
}

}  // namespace ws::mock
