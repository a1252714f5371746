/// Rows of uploads and assets; their bytes are in the world's `Blobs`.
///
/// An asset belongs to its Workspace: every member sees it, editors may organize it. It has its own node, at the
/// Workspace root until it is moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sha256.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Upload {
  std::string id = {};
  std::string workspace_id = {};
  std::string blob_name = {};
  std::string file_name = {};
  std::string mime_type = {};
  std::int64_t size_bytes = 0;  ///< as declared
  std::int64_t created_at = 0;
  std::int64_t expires_at = 0;
  std::optional<std::int64_t> received_bytes = {};  ///< empty: nothing received yet
  std::string received_sha256 = {};
  std::string blob = {};      ///< empty: no bytes (any more)
  std::string asset_id = {};  ///< empty: not finalized
};
#define WS_UPLOAD_COLUMNS                                                                                   \
  "id, workspace_id, blob_name, file_name, mime_type, size_bytes, created_at, expires_at, received_bytes, " \
  "received_sha256, blob, asset_id"
Result<std::optional<Upload>> find_upload(World& world, std::string_view id);
/// Finds an upload by the secret of its URL.
Result<std::optional<Upload>> find_upload_of(World& world, std::string_view secret);

struct Asset {
  std::string id = {};
  std::string node_id = {};
  std::string parent_node_id = {};
  std::string project_id = {};
  std::string workspace_id = {};
  std::string title = {};
  std::string original_file_name = {};
  std::string mime_type = {};
  std::int64_t size_bytes = 0;
  std::string content_sha256 = {};
  std::string blob = {};
  bool is_text = false;
  std::string processing_status = "ready";
  std::int64_t created_at = 0;
};
#define WS_ASSET_COLUMNS                                                                                     \
  "a.id, a.node_id, n.parent_id, n.project_id, a.workspace_id, n.title, a.original_file_name, a.mime_type, " \
  "a.size_bytes, a.content_sha256, a.blob, a.is_text, a.processing_status, a.created_at"
Result<std::optional<Asset>> find_asset(World& world, std::string_view id);
/// The asset of a node; empty if the node has none.
Result<std::optional<std::string>> asset_on(World& world, std::string_view node_id);
Json to_json(const Asset& asset);

struct VisibleAsset {
  Asset asset = {};
  contract::Role role = contract::Role::none;  ///< of the caller, in the Workspace of the asset
};
/// Fails with 404 where no Workspace of the caller has an asset with that id.
ApiResult<VisibleAsset> find_visible_asset(World& world, const ServiceCall& call, std::string_view id);

/// The beginning of a text asset, cut at a code point boundary.
Result<std::string> text_of_asset(World& world, std::string_view blob, std::size_t at_most);
/// Only the first bytes of a text asset are searched, since the index is in memory.
inline constexpr std::size_t searched_text_bytes = std::size_t{256} << 10U;

/// Whether bytes with this media type are text: UTF-8 without control characters. `head` is their beginning.
bool is_text(std::string_view mime_type, std::string_view head);

// Uploads: receives the bytes at the secret URL that `files.upload_start` returned.
//
// The URL is the authorization: no key is needed. The bytes may be sent again until the upload is finalized; the last
// complete PUT counts.

/// "/uploads/SECRET", outside `/v1`.
inline constexpr std::string_view upload_root = "/uploads/";
std::string upload_path(std::string_view secret);
/// The secret of an upload path; empty for other paths.
std::string_view upload_secret(std::string_view path);
bool is_upload(std::string_view path);
/// `path` as logs and the journal may show it: without the secret of an upload, and without parts that hold a key.
std::string shown_path(std::string_view path);
inline constexpr std::int64_t upload_lifetime_ms = 3'600'000;

class UploadPut {
 public:
  /// `declared_bytes`: the request's `Content-Length`; `media_type`: its `Content-Type`. Fails with 404, 409
  /// `upload_consumed` (`asset_id`), 410 `upload_expired`, 400 (not the `upload_headers`) or 413 before any byte is
  /// received.
  static ApiResult<UploadPut> begin(World& world,
                                    std::string_view secret,
                                    std::string_view media_type,
                                    std::optional<std::uint64_t> declared_bytes);

  /// Fails with 413 above the declared size, with 500 if the disk fails.
  ApiResult<void> take(std::string_view piece);
  std::uint64_t size_bytes() const { return writer_.size_bytes(); }
  /// All bytes were received; they are durable when this returns. Repeats the checks of `begin`. 404 if the world was
  /// cleared meanwhile.
  ApiResult<void> finish(World& world);

 private:
  UploadPut(std::string upload_id, std::uint64_t at_most, BlobWriter&& writer)
      : upload_id_(std::move(upload_id)), at_most_bytes_(at_most), writer_(std::move(writer)) {}

  std::string upload_id_;
  std::uint64_t at_most_bytes_;
  BlobWriter writer_;
  Sha256Stream hash_ = {};
};

/// Replaces the bytes that the upload has received by those of the writer, in one transaction. Fails with `disk`.
Result<void> replace_bytes(World& world, const struct Upload& upload, BlobWriter& writer, const Sha256& sha256);

/// The `Content-Type` of `upload_headers`, which the PUT must have.
std::string upload_media_type(const struct Upload& upload);

/// 409 `upload_consumed` with `asset_id`, or 410 `upload_expired`.
ApiResult<void> require_open(const World& world, const struct Upload& upload);

/// Removes the bytes of expired uploads. The rows stay, so that later calls get 410.
Result<void> forget_expired_uploads(World& world);

// Organization runs: turn a text asset into documents, one for each heading.
//
// Clients see each phase of a run: a phase ends when it has been read once, or after 5 seconds of the world's clock.
// The documents are created at the end, in the name of who started the run, under the target root or beside the asset.

/// Moves all runs to the phase of the current time. Costs one query if nothing is due.
Result<void> advance_due_runs(World& world);

/// One document of the result.
struct DocumentSection {
  std::string title = {};
  std::string_view content = {};  ///< points into the text
};
/// One section for each heading of any level, with the text up to the next heading. Text before the first heading gets
/// the title `fallback`. Pure.
std::vector<DocumentSection> split_documents(std::string_view text, std::string_view fallback);

// The `Content-Disposition` and `Content-Type` of a download (RFC 6266, RFC 8187). Pure.

/// `attachment; filename="..."`, and also `filename*=UTF-8''...` if the name is not plain ASCII. The value is one line
/// of printable ASCII for every name.
std::string content_disposition(std::string_view file_name);

/// The given media type if it is well-formed ("text/plain; charset=utf-8"), else `application/octet-stream`.
std::string safe_media_type(std::string_view mime_type);

}  // namespace ws::mock
