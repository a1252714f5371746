/// The only code that changes a document.
///
/// Whoever changes one, by whatever operation, comes through here: the content revision rises, the hash is that of the
/// bytes, `updated_by` is who acted, the text before is kept for conflicts, and every sync source that the document
/// lies in learns of it. Callers have checked that they may; they hold a UnitOfWork.
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
  std::string_view parent_node_id = {};  ///< empty: the Workspace root
  std::string_view project_id = {};      ///< of that parent
  std::string_view title = {};
  std::string_view content = {};
  std::string_view content_sha256 = {};  ///< empty: not known yet
};

struct Rewrite {
  std::optional<std::string_view> title = {};
  std::optional<std::string_view> content = {};
  std::string_view content_sha256 = {};  ///< of `content`; empty: not known yet
};

class DocumentChanges {
 public:
  static Result<DocumentChanges> by(World& world, const Caller& caller);

  /// A new document, behind its siblings. In the source of `wish` it gets that path, in others by the naming rule.
  Result<Document> create(const Draft& draft, const std::optional<PathWish>& wish = std::nullopt);
  /// Text, title or both: one content revision more. `document` becomes what it is now, without content.
  Result<void> rewrite(Document& document, const Rewrite& change);
  /// Out of every list and source; its text stays.
  Result<void> archive(Document& document);
  /// To another parent, another path, or both. The content revision stays: the bytes are the same.
  Result<void> move(Document& document, const Node& parent, const std::optional<PathWish>& wish);
  /// After its node was moved with a subtree: place, sources, `updated_by`.
  Result<void> moved_along(std::string_view document_id);

 private:
  DocumentChanges(World& world, const Caller& caller, Actor actor)
      : world_(world), caller_(caller), actor_(std::move(actor)) {}
  Result<const std::vector<std::string>*> sources_at(const std::string& node_id);
  Result<void> sign(Document& document);

  World& world_;
  const Caller& caller_;
  Actor actor_;
  std::map<std::string, std::vector<std::string>> sources_ = {};  // by parent: a commit asks for the same few folders
};

}  // namespace ws::mock
