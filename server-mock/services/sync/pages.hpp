/// Folders of a source as branch Pages: made when a path needs them, removed when their last document left.
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
  Pages(World& world, const Caller& caller, const SeenSource& seen) : world_(world), caller_(caller), seen_(seen) {}

  /// The node under which files of `folder` hang; the root for "". A Page counts as the folder that its title becomes.
  Result<Node> find_or_make(std::string_view folder);
  /// Removes the Page if nothing hangs on it any more, and those above it likewise, up to the root.
  Result<void> prune(std::string page_id);

 private:
  using Children = std::map<std::string, Node, std::less<>>;  // by segment
  Result<Children*> children_of(const Node& parent);

  World& world_;
  const Caller& caller_;
  const SeenSource& seen_;
  std::map<std::string, Node, std::less<>> folders_ = {};
  std::map<std::string, Children> children_ = {};  // by parent
};

}  // namespace ws::mock
