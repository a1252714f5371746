/// What the eight sync operations have in common: who sees a source, what a plan is, how a conflict is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/sync_sources/membership.hpp"

namespace ws::mock {

/// A source that the caller sees: one under a Project is the Workspace's, another belongs to its maker and to admins.
struct SeenSource {
  Source source = {};
  Node root = {};
  contract::Role role = contract::Role::none;
  bool opens_all = false;  ///< every document in it is the caller's to see; else each is asked for
};
/// 404 where there is none to be seen; 403 where the role does not suffice for the operation.
Served<SeenSource> see_source(World& world, const ServiceCall& call, std::string_view source_id);
/// What the caller may do with a document of the source.
Result<Sight> access_in(World& world, const Caller& caller, const SeenSource& seen, const Document& document);

/// Stored by `sync.plan`: one hour to push and commit, for the one who made it.
struct Plan {
  std::string id = {};
  std::string source_id = {};
  std::string client_id = {};
  std::int64_t base_revision = 0;
  std::int64_t expires_at = 0;
  std::optional<std::string> commit_body = {};  ///< the first answer of its commit, as JSON text
};
inline constexpr std::int64_t plan_lifetime_ms = 3'600'000;
/// "user:ID" or "agent:ID": whose plan it is.
std::string actor_key(const Caller& caller);
/// 404 where it is of another source or person.
Served<Plan> find_plan(World& world, const ServiceCall& call, std::string_view plan_id, std::string_view source_id);

/// One side of a conflict as it was pushed.
struct Conflict {
  std::string id = {};
  std::string source_id = {};
  std::string client_id = {};
  std::string subject = {};      ///< the document's id, or "path:" and the key where the local file was none yet
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
  std::optional<std::string> local_previous_path = {};  ///< set where it was renamed here
  std::string remote_body = {};                         ///< as it was when it was resolved; empty while open
  std::string resolution = {};
  std::string resolved_sha256 = {};  ///< of the merged text
  std::string result_body = {};
  std::int64_t created_at = 0;
  std::optional<std::int64_t> resolved_at = {};

  /// The local file was no document of the service.
  bool is_creation() const { return subject.starts_with("path:"); }
};
Result<std::optional<Conflict>> find_conflict(World& world, std::string_view id);
/// The id of the open one with that subject, of that client.
Result<std::optional<std::string>> find_open_conflict(World& world,
                                                      std::string_view source_id,
                                                      std::string_view client_id,
                                                      std::string_view subject);
/// Puts it in; one that is open already for its subject and client gets the new texts and keeps its id.
Result<void> save_open_conflict(World& world, Conflict& conflict);
/// Marks it resolved with what its members say.
Result<void> save_resolution(World& world, const Conflict& conflict);
/// The remote side as it is now.
Result<Json> remote_side(World& world, const Conflict& conflict);
Result<Json> to_json(World& world, const Conflict& conflict);

}  // namespace ws::mock
