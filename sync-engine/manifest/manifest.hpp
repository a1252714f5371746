/// The list of attachments of a source: documents that people can read, and that `ws` alone writes.
///
/// `_attachments.md` holds one table, a row a file, sorted by path. Where it grows too long for one document it is
/// divided: the rows of a range of paths lie in `_attachments-2.md` and so on, in the order in which they were needed.
/// The last line of each part counts its rows and has their hash: rows that are missing from a part whose hash fits
/// were taken out by `ws`; rows that a person took out prove nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/model/attachment.hpp"

namespace ws::sync {

/// Above this a part is divided: a document holds 1 MiB, and what was divided has room to grow.
inline constexpr std::size_t max_part_bytes = std::size_t{768} << 10U;

struct ManifestPart {
  AttachmentTree rows = {};
  std::uint64_t edition = 0;  ///< rises with every write of any part
  bool is_whole = true;       ///< false: edited by hand, cut, or of another version: what is missing proves nothing
  bool operator==(const ManifestPart&) const = default;
};

/// "_attachments.md" for 1, "_attachments-2.md" for 2.
RelativePath manifest_path(std::size_t part);

std::string render_manifest(const AttachmentTree& rows, std::uint64_t edition);

/// Empty: the text is no list of attachments at all, but something that a person keeps under that name. Rows that
/// cannot be read, or name a place that a tree must not have, are left out.
std::optional<ManifestPart> parse_manifest(std::string_view text);

/// One row of a part, with its line end: what it adds to the part's size.
std::string render_row(const RelativePath& path, const Attachment& row);

/// Which rows go to which part. Each keeps the paths that it has, a new path goes to the part that holds its
/// neighbours, and a part that would be too long gives its second half to a new one. `parts`: the paths that each has
/// now; of the answer at least as many.
std::vector<AttachmentTree> divide_rows(const AttachmentTree& rows,
                                        const std::vector<AttachmentTree>& parts,
                                        std::size_t max_bytes = max_part_bytes);

}  // namespace ws::sync
