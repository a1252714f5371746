/// Folders of a source as branch Pages: created when a path needs them, removed when they become empty.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/services/sync/shared.hpp"

namespace ws::mock {

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

}  // namespace ws::mock
