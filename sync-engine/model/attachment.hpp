/// A file beside the documents, which the source keeps as an Asset.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api-client/base/sha256.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// The bytes at one path, as the list of attachments says them.
struct Attachment {
  std::uint64_t size_bytes = 0;
  Sha256 hash = {};
  std::string media_type = {};
  std::string asset = {};  ///< the id of an Asset that holds these bytes
  auto operator<=>(const Attachment&) const = default;
};

/// What is known of an upload after its bytes were sent: enough to finish it, or to learn that it was finished.
struct SentUpload {
  std::string upload_id = {};
  std::string blob_name = {};
};

/// By path in NFC, the form of the service.
using AttachmentTree = std::map<RelativePath, Attachment>;
/// The row at the path; empty: there is none.
std::optional<Attachment> row_at(const AttachmentTree& rows, const RelativePath& path);
/// Empty: of no file.
std::optional<Sha256> hash_of(const std::optional<Attachment>& file);

/// Where the list of attachments is kept in a source. Nothing is written or read at these places of a tree.
bool is_manifest_path(std::string_view path);

}  // namespace ws::sync
