/// The links of a tree that lead nowhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/relink/relink.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

struct BrokenLink {
  enum class Why { no_file, no_heading, ambiguous, outside };
  /// What is at the place of a file that the tree does not have.
  /// `above_root`: it is looked for outside of the git repository.
  enum class Obstacle { nothing, symbolic_link, not_synced, ignored, above_root };
  std::string path = {};
  std::size_t line = 1;
  std::size_t column = 1;   ///< in bytes, of the target
  std::string target = {};  ///< as it is written
  Why why = Why::no_file;
  Obstacle obstacle = Obstacle::nothing;
  std::string nearest = {};  ///< a name that exists; empty: none is like it
  std::string written = {};  ///< that name as a link of this style says it in this note; empty: as it is
  bool is_renamed = false;   ///< the history knows that the file has the name `nearest` now
};

struct CheckedLinks {
  std::vector<BrokenLink> broken = {};   ///< in order of path and place
  std::vector<std::string> unread = {};  ///< notes whose links could not all be read: there may be more
  bool stopped_comparing = false;        ///< so many are broken that `nearest` was not looked for in all of them
};

/// Of the note `place`, or of those below that folder; empty: of all. Fails with `usage` (a file that is no synced
/// note) or `disk`.
Result<CheckedLinks> find_broken_links(Session& session, const std::string& place);
/// The same of a folder that may be tied to nothing. There a link to anything that exists and is not ignored is whole:
/// to hidden files, through symbolic links, and, unless `stays_inside`, out of the folder.
enum class StaysInside { no, yes };
Result<CheckedLinks> find_broken_links(const LinkTree& tree, const std::string& place, StaysInside stays_inside);

}  // namespace ws::sync
