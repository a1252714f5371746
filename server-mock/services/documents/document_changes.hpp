/// The only code that changes documents.
///
/// Every change sets the content revision, the hash, `updated_by` and `updated_at`, stores the previous text as a base
/// for conflicts, and updates all sync sources that contain the document. The caller has checked permissions and holds
/// a UnitOfWork.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/services/sync_sources/membership.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Draft {
  std::string_view workspace_id = {};
  std::string_view parent_node_id = {};  ///< empty: Workspace root
  std::string_view project_id = {};      ///< of the parent
  std::string_view title = {};
  std::string_view content = {};
  std::string_view content_sha256 = {};  ///< empty: computed
};

struct Rewrite {
  std::optional<std::string_view> title = {};
  std::optional<std::string_view> content = {};
  std::string_view content_sha256 = {};  ///< of `content`; empty: computed
};

class DocumentChanges {
 public:
  static Result<DocumentChanges> by(World& world, const Caller& caller);

  /// Creates a document after its siblings. In the source of `requested` it gets that path, in others one by the naming
  /// rule.
  Result<Document> create(const Draft& draft, const std::optional<RequestedPath>& requested = std::nullopt);
  /// Changes text, title or both: increments the content revision once. Updates `document`, without its content.
  Result<void> rewrite(Document& document, const Rewrite& change);
  /// Removes the document from lists and sources; its text is kept.
  Result<void> archive(Document& document);
  /// Changes the parent, the path, or both. The content revision stays, since the bytes do.
  Result<void> move(Document& document, const Node& parent, const std::optional<RequestedPath>& requested);
  /// Call it after an ancestor node was moved: updates place, sources and `updated_by`.
  Result<void> moved_with_parent(std::string_view document_id);

 private:
  DocumentChanges(World& world, const Caller& caller, Actor actor)
      : world_(world), caller_(caller), actor_(std::move(actor)) {}
  Result<const std::vector<std::string>*> sources_at(const std::string& node_id);
  Result<void> sign(Document& document);

  World& world_;
  const Caller& caller_;
  Actor actor_;
  std::map<std::string, std::vector<std::string>> sources_ = {};  // by parent; cached, since a commit uses few folders
};

}  // namespace ws::mock
