/// Shared by the sync operations: visible sources, plans, conflicts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/services/sync_sources/membership.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A source that the caller may see: one in a Project belongs to the Workspace, others to their creator and to admins.
struct VisibleSource {
  Source source = {};
  Node root = {};
  contract::Role role = contract::Role::none;
  bool opens_all = false;  ///< the caller may see all its documents; else each is checked
};
/// 404 if the caller may not see it; 403 if the role does not suffice for the operation.
ApiResult<VisibleSource> find_visible_source(World& world, const ServiceCall& call, std::string_view source_id);
/// The caller's access to a document of the source.
Result<AccessLevel> access_in(World& world, const Caller& caller, const VisibleSource& seen, const Document& document);
/// 403 if the caller may not change it.
ApiResult<void> require_edit(World& world, const Caller& caller, const VisibleSource& seen, const Document& document);
/// Whether nothing is hidden from the caller under that id: a document of the source, or none.
Result<bool> shows(World& world, const Caller& caller, const VisibleSource& seen, std::string_view document_id);
/// The document with that path key; empty if there is none, or none that the caller may see.
Result<std::string> find_shown_holder(World& world,
                                      const Caller& caller,
                                      const VisibleSource& seen,
                                      std::string_view path_key);

/// A plan of `sync.plan`: can be pushed to and committed for one hour, by who made it.
struct Plan {
  std::string id = {};
  std::string source_id = {};
  std::string client_id = {};
  std::int64_t base_revision = 0;
  std::int64_t expires_at = 0;
  std::optional<std::string> commit_body = {};  ///< response of its commit, as JSON text
};
inline constexpr std::int64_t plan_lifetime_ms = 3'600'000;
/// The owner of a plan: "user:ID" or "agent:ID".
std::string actor_key(const Caller& caller);
/// 404 if it belongs to another source or owner.
ApiResult<Plan> find_plan(World& world, const ServiceCall& call, std::string_view plan_id, std::string_view source_id);

/// A conflict with the local side as it was pushed.
struct Conflict {
  std::string id = {};
  std::string source_id = {};
  std::string client_id = {};
  std::string subject = {};      ///< the document's id, or "path:" and the path key if the local file was no document
  std::string document_id = {};  ///< the remote side
  std::string path = {};
  std::string kind = {};  ///< "revision", "hash", "edit_delete", "delete_edit", "path"
  bool resolved = false;
  std::optional<std::int64_t> base_content_revision = {};
  std::string base_content_sha256 = {};
  std::optional<std::string> base_content = {};
  std::string local_content_sha256 = {};
  std::optional<std::string> local_content = {};
  bool local_deleted = false;
  std::string local_path = {};
  std::optional<std::string> local_previous_path = {};  ///< set if the local file was renamed
  std::string remote_body = {};                         ///< the remote side at resolution; empty while open
  std::string resolution = {};
  std::string resolved_sha256 = {};  ///< of the merged text
  std::string result_body = {};
  std::int64_t created_at = 0;
  std::optional<std::int64_t> resolved_at = {};

  /// The local file was no document of the service.
  bool is_creation() const { return subject.starts_with("path:"); }
};
Result<std::optional<Conflict>> find_conflict(World& world, std::string_view id);
/// The id of the client's open conflict with that subject; else of one between the same local path and document, which
/// the client took for a document then and for a new file now, or the other way round.
Result<std::optional<std::string>> find_open_conflict(World& world,
                                                      std::string_view source_id,
                                                      std::string_view client_id,
                                                      std::string_view subject,
                                                      std::string_view document_id,
                                                      std::string_view local_path);
/// Inserts the conflict; an open one (`find_open_conflict`) keeps its id and gets the new texts.
Result<void> save_open_conflict(World& world, Conflict& conflict);
/// Stores the resolution.
Result<void> save_resolution(World& world, const Conflict& conflict);
/// The current remote side.
Result<Json> remote_side(World& world, const Conflict& conflict);
Result<Json> to_json(World& world, const Conflict& conflict);

// Folders of a source as branch Pages: created when a path needs them, removed when they become empty.

class Pages {
 public:
  Pages(World& world, const Caller& caller, const VisibleSource& seen) : world_(world), caller_(caller), seen_(seen) {}

  /// The node for files of `folder`; the root for "". A Page matches the folder name that its title gives.
  Result<Node> find_or_make(std::string_view folder);
  /// Removes the Page if it is empty, and then its ancestors likewise, up to the root.
  Result<void> prune(std::string page_id);

 private:
  using Children = std::map<std::string, Node, std::less<>>;  // by path segment
  Result<Children*> children_of(const Node& parent);

  World& world_;
  const Caller& caller_;
  const VisibleSource& seen_;
  std::map<std::string, Node, std::less<>> folders_ = {};
  std::map<std::string, Children> children_ = {};  // by parent
};

// Checks whether the paths that several changes want at once are free (`decisions.md`, "commit").
//
// A path is free if no other document has it after all changes are applied (so swaps and chains work), if it is not a
// folder of another path, and if no other change wants the name of one of its folders. (A document that is there may
// have that name: row TE of sync.md creates the children beside it.) A change whose path is not free keeps its old
// path, so changes that depend on that one fail too.

struct PathChange {
  std::string document_id = {};           ///< empty: a new document
  std::optional<std::string> wants = {};  ///< the wanted path; empty: unchanged, or deleted
  bool leaves = false;                    ///< frees its current path (move or deletion)
};

struct Clash {
  /// The document with that path; empty: another change wants it, it is a folder, or the caller may not see the
  /// document.
  std::string holder_id = {};
};

/// For each change, in order, what prevents it; empty: its path is free. If two want the same path, the first gets it.
/// Linear in the number of changes, with three index look-ups each.
Result<std::vector<std::optional<Clash>>> check_paths(World& world,
                                                      const Caller& caller,
                                                      const VisibleSource& seen,
                                                      const std::vector<PathChange>& changes);

}  // namespace ws::mock
