/// Free names beside a path that is taken: "a (remote).md".
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// "notes/a (remote).md" for "notes/a.md"; where that is not free "notes/a (remote 2).md", and so on. A name that would
/// be too long loses the end of its stem. Empty: the path would be too long.
std::optional<RelativePath> name_beside(const RelativePath& path,
                                        std::string_view word,
                                        const std::function<bool(const RelativePath&)>& is_free);

/// Knows every place that is taken on either side, and takes those that it gives.
class FreeNames {
 public:
  FreeNames(const BaseTree& base, const LocalTree& local, const RemoteTree& remote);

  /// `name_beside` all of them.
  RelativePath beside(const RelativePath& path, std::string_view word);

 private:
  std::set<std::string> taken_;
};

}  // namespace ws::sync
