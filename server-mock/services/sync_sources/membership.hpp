/// Which sources a document lies in, under which path, and since when: the rows of `sync_entries`.
///
/// A document lies in every source whose root is above it. Whatever changes in it raises each of these sources'
/// revision by one; what leaves stays as a tombstone, so that a pull can tell of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Source {
  std::string id = {};
  std::string workspace_id = {};
  std::string name = {};
  std::string root_node_id = {};
  std::string project_id = {};  ///< empty: its root is no Project
  std::int64_t revision = 0;
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
  std::optional<std::int64_t> last_committed_at = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};
Result<std::optional<Source>> find_source(World& world, std::string_view id);

/// A document's place in one source.
struct SyncEntry {
  std::string document_id = {};
  bool present = false;  ///< false: deleted, or moved out
  std::string path = {};
  std::int64_t revision = 0;                ///< of the source at the last change
  std::int64_t first_entered_revision = 0;  ///< when it came in for the first time, and for the last
  std::int64_t entered_revision = 0;
  std::int64_t path_revision = 0;
  std::int64_t text_revision = 0;
};
Result<std::optional<SyncEntry>> find_entry(World& world, std::string_view source_id, std::string_view document_id);
/// Who holds a path (or its twin).
Result<std::optional<SyncEntry>> find_holder(World& world, std::string_view source_id, std::string_view path_key);
/// The ids of those that lie in the folder with that key, at any depth.
Result<std::vector<std::string>> documents_in_folder(World& world,
                                                     std::string_view source_id,
                                                     std::string_view folder_key);

/// The sources whose root is `node_id` or above it.
Result<std::vector<std::string>> sources_above(World& world, std::string_view node_id);

/// `path`, or with ` (2)`, ` (3)` before its extension: the first that no other document holds.
Result<std::string> free_path(World& world,
                              std::string_view source_id,
                              std::string_view path,
                              std::string_view document_id);

/// Comes in at `path`, or at the one that the naming rule gives it.
Result<void> enter_source(World& world,
                          const std::string& source_id,
                          const Document& document,
                          const std::optional<std::string>& path);
/// Leaves a tombstone.
Result<void> leave_source(World& world, std::string_view source_id, std::string_view document_id);
Result<void> leave_all_sources(World& world, std::string_view document_id);
/// Text or title changed: raises every source that holds the document.
enum class Changed { text, title };
Result<void> touch_sources(World& world, std::string_view document_id, Changed what);

/// A path that the document is to have in one source.
struct PathWish {
  std::string source_id = {};
  std::string path = {};
};
/// After a move in the tree: leaves the sources that are no longer above, enters those that are now, and changes the
/// folder part of the path in the others.
Result<void> follow_move(World& world,
                         const Document& document,
                         const std::vector<std::string>& above,
                         const std::optional<PathWish>& wish);
/// Gives up the path before others take it: within one transaction, for swaps and chains.
Result<void> release_path(World& world, std::string_view source_id, std::string_view document_id);

}  // namespace ws::mock
