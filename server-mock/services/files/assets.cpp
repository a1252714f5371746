#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// Media types that are never text, whatever their first bytes look like.
constexpr std::array<std::string_view, 6> binary_types = {
    "image/", "audio/", "video/", "font/", "application/pdf", "application/zip"};

bool is_stray_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\x1B') || code == 0x7F;
}

/// Removes an incomplete code point at the end.
std::string_view whole_code_points(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && text.size() - end < 3 && (static_cast<unsigned char>(text[end - 1]) & 0xC0U) == 0x80U) --end;
  if (end > 0 && static_cast<unsigned char>(text[end - 1]) >= 0xC0U) --end;
  return utf8::is_valid(text) ? text : text.substr(0, end);
}

}  // namespace

Result<std::optional<Upload>> find_upload(World& world, std::string_view id) {
  return read_row(world, read_as<Upload>, "select " WS_UPLOAD_COLUMNS " from uploads where id = ?", id);
}

Result<std::optional<Upload>> find_upload_of(World& world, std::string_view secret) {
  return read_row(world,
                  read_as<Upload>,
                  "select " WS_UPLOAD_COLUMNS " from uploads where secret_sha256 = ?",
                  Sha256::of(secret).hex());
}

Result<std::optional<Asset>> find_asset(World& world, std::string_view id) {
  return read_row(world,
                  read_as<Asset>,
                  "select " WS_ASSET_COLUMNS " from assets a join nodes n on n.id = a.node_id where a.id = ?",
                  id);
}

Result<std::optional<std::string>> asset_on(World& world, std::string_view node_id) {
  return read_row(world, read_text, "select id from assets where node_id = ?", node_id);
}

Json to_json(const Asset& asset) {
  const std::string self = "/v1/files/" + asset.id;
  return {{"id", asset.id},
          {"object", "workspace_asset"},
          {"node_id", asset.node_id},
          {"title", asset.title},
          {"parent_node_id", text_or_null(asset.parent_node_id)},
          {"original_file_name", asset.original_file_name},
          {"mime_type", asset.mime_type},
          {"size_bytes", asset.size_bytes},
          {"content_sha256", asset.content_sha256},
          {"status", "stored"},
          {"sensitivity_status", "clear"},
          {"sensitivity_reasons", Json::array()},
          {"ai_read_policy", "allowed"},
          {"processing_status", asset.processing_status},
          {"created_at", rfc3339(asset.created_at)},
          {"links", {{"self", self}, {"content", self + "/content"}, {"organize", self + ":organize"}}}};
}

ApiResult<VisibleAsset> find_visible_asset(World& world, const ServiceCall& call, std::string_view id) {
  WS_API_LET(std::optional<Asset> asset, find_asset(world, id));
  if (!asset) return not_found("file");
  WS_API_LET(const contract::Role role, role_in(world, call.caller, asset->workspace_id));
  if (role == contract::Role::none) return not_found("file");
  return VisibleAsset{.asset = std::move(*asset), .role = role};
}

Result<std::string> text_of_asset(World& world, std::string_view blob, std::size_t at_most) {
  WS_LET(const BlobReader reader, world.blobs.open(std::string(blob)));
  std::string text(at_most, '\0');
  WS_LET(const std::size_t size, reader.read(0, text));
  text.resize(whole_code_points(std::string_view(text).substr(0, size)).size());
  text.shrink_to_fit();
  return text;
}

bool is_text(std::string_view mime_type, std::string_view head) {
  const auto says = [&](std::string_view type) { return mime_type.starts_with(type); };
  if (std::ranges::any_of(binary_types, says) && !says("image/svg")) return false;
  return !head.empty() && utf8::is_valid(whole_code_points(head)) && std::ranges::none_of(head, is_stray_control);
}

}  // namespace ws::mock
