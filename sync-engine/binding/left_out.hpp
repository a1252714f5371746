/// What a tree leaves out on purpose (`sync.md`, "Left out here on purpose"): `leave_out:` in `.ws/config.yaml`.
///
/// A document is named by its id, so that it stays out wherever the service moves it; a folder by its path, so that
/// what is new in it stays out too, and what is moved out of it arrives. None of it is ever a delete there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/model/entry.hpp"

namespace ws::sync {

struct LeftOut {
  std::set<DocumentId> documents = {};
  std::set<RelativePath> places = {};  ///< folders, and files that are no documents

  /// As it stands in the file: an id, or a path, with or without a slash at its end. Fails with `invalid`.
  Result<void> add(std::string_view name);
  /// Whether the path is the place or lies beneath it, in whichever Unicode form either is written.
  static bool covers(const RelativePath& place, std::string_view path);
  /// Whether the path is one of the places, or beneath one.
  bool takes(std::string_view path) const;
  /// Whether the document is one of them, or its path on the service is taken.
  bool takes(const DocumentId& document, const RelativePath& path) const {
    return documents.contains(document) || takes(path.text());
  }
  bool empty() const { return documents.empty() && places.empty(); }
  std::vector<std::string> names() const;
  bool operator==(const LeftOut&) const = default;
};

/// Writes the list into the file and leaves every other line as it is. `notes`: what stands behind a name for people,
/// the path of a document. Fails with `disk`, or with `usage` where the file does not come out as it was meant.
Result<void> write_left_out(const WsFolder& folder,
                            const LeftOut& wanted,
                            const std::map<DocumentId, RelativePath>& notes);

}  // namespace ws::sync
