/// The documents of sync sources with their paths: the rows of `sync_entries`.
///
/// A document belongs to every source whose root is above it. Each change of the document increments the revision of
/// these sources. A document that leaves a source stays there as a tombstone, so that pulls report it.
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
  std::string project_id = {};  ///< empty: the root is not in a Project
  std::int64_t revision = 0;
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
  std::optional<std::int64_t> last_committed_at = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};
#define WS_SOURCE_COLUMNS                                                                                 \
  "id, workspace_id, name, root_node_id, project_id, revision, created_by_user_id, created_by_agent_id, " \
  "last_committed_at, created_at, updated_at"
Result<std::optional<Source>> find_source(World& world, std::string_view id);

/// A document in one source.
struct SyncEntry {
  std::string document_id = {};
  bool present = false;  ///< false: deleted, or moved out
  std::string path = {};
  std::int64_t revision = 0;                ///< revision of the source at the last change
  std::int64_t first_entered_revision = 0;  ///< revision when it first came in, and when it last did
  std::int64_t entered_revision = 0;
  std::int64_t path_revision = 0;
  std::int64_t text_revision = 0;
  std::string as_left = {};  ///< of a tombstone: the document when it left, as JSON
};
Result<std::optional<SyncEntry>> find_entry(World& world, std::string_view source_id, std::string_view document_id);
/// Gives a document that left a source (`as_left` of its entry is not empty) the state that it left with.
Result<void> show_as_left(Document& document, std::string_view as_left);
/// The document as the source shows it; empty without an entry.
Result<std::optional<Document>> find_entered(World& world, const std::optional<SyncEntry>& entry, WithContent content);
/// The document that has this path (compared by key).
Result<std::optional<SyncEntry>> find_holder(World& world, std::string_view source_id, std::string_view path_key);
/// The documents below the folder with that key, at any depth.
Result<std::vector<std::string>> documents_in_folder(World& world,
                                                     std::string_view source_id,
                                                     std::string_view folder_key);

/// The sources whose root is `node_id` or above it.
Result<std::vector<std::string>> sources_above(World& world, std::string_view node_id);

/// `path`, or the first free one with ` (2)`, ` (3)` before its extension.
Result<std::string> free_path(World& world,
                              std::string_view source_id,
                              std::string_view path,
                              std::string_view document_id);

/// Adds the document at `path`, or at the path of the naming rule.
Result<void> enter_source(World& world,
                          const std::string& source_id,
                          const Document& document,
                          const std::optional<std::string>& path);
Result<void> leave_all_sources(World& world, std::string_view document_id);
/// Call it after a change of text or title: increments the revision of every source that contains the document.
enum class Changed { text, title };
Result<void> touch_sources(World& world, std::string_view document_id, Changed what);

/// The path that a document should get in one source.
struct RequestedPath {
  std::string source_id = {};
  std::string path = {};
};
/// Call it after a move in the tree: removes the document from sources that are no longer above it, adds it to those
/// that now are, and changes the folder of its path in the others.
Result<void> follow_move(World& world,
                         const Document& document,
                         const std::vector<std::string>& above,
                         const std::optional<RequestedPath>& requested);
/// Frees the path for other documents of the same transaction: for swaps and chains of moves.
Result<void> release_path(World& world, std::string_view source_id, std::string_view document_id);

}  // namespace ws::mock
