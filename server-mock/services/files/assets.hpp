/// Rows of uploads and assets; their bytes are in the world's `Blobs`.
///
/// An asset belongs to its Workspace: every member sees it, editors may organize it. It has its own node, at the
/// Workspace root until it is moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/service.hpp"
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

/// 404 if there is none of that id in the caller's Workspaces.
struct VisibleAsset {
  Asset asset = {};
  contract::Role role = contract::Role::none;
};
ApiResult<VisibleAsset> find_visible_asset(World& world, const ServiceCall& call, std::string_view id);

/// The beginning of a text asset, cut at a code point boundary.
Result<std::string> text_of_asset(World& world, std::string_view blob, std::size_t at_most);
/// Only the first bytes of a text asset are searched, since the index is in memory.
inline constexpr std::size_t searched_text_bytes = std::size_t{256} << 10U;

/// Whether bytes with this media type are text: UTF-8 without control characters. `head` is their beginning.
bool is_text(std::string_view mime_type, std::string_view head);

}  // namespace ws::mock
