/// A repository's objects as a whole: what hangs together, which files hold it, and packing it anew.
///
/// Packing is what `git repack` does, by libgit2: compressed, with differences between alike texts. A new pack has its
/// name only once it is whole and on disk, its index last; nothing is removed here before the caller says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync::git {

/// Objects by kind. A text has the last part of a path that it lies at: alike names make for smaller packs.
struct Reachable {
  std::set<ObjectId> commits = {};
  std::set<ObjectId> trees = {};
  std::map<ObjectId, std::string> texts = {};
};

/// A pack, or one loose object, and what lies in it.
struct ObjectFile {
  std::filesystem::path path = {};  ///< of a pack: its index
  std::uint64_t bytes = 0;          ///< all files of a pack
  Time time = {};                   ///< of its last change
  bool is_pack = false;
  std::vector<ObjectId> objects = {};
};

class Housekeeping {
 public:
  /// A repository that is there. Fails with `disk`.
  static Result<Housekeeping> open(const std::filesystem::path& path);
  Housekeeping(Housekeeping&&) noexcept;
  Housekeeping& operator=(Housekeeping&&) noexcept;
  ~Housekeeping();

  /// The names of all references: "refs/heads/main".
  Result<std::vector<std::string>> references();
  Result<void> remove_reference(const std::string& name);

  /// Adds a tree and all below it. What `found` holds already is not looked at again.
  Result<void> add_tree(const ObjectId& tree, Reachable& found, int level = 0);

  /// Every pack and every loose object; whatever else lies there is not ours. Fails with `disk`, or `integrity` for an
  /// index that is not one.
  Result<std::vector<ObjectFile>> files() const;
  /// Writes one pack with these objects, and answers its index. `time`: of its last change, where it matters. Fails
  /// with `disk`, or `integrity` where it does not hold them all.
  Result<std::filesystem::path> pack(const Reachable& objects, const std::optional<Time>& time = {});
  /// Removes packs and loose objects, and what git keeps beside packs to find things faster. One that is gone is fine.
  /// `check_cancelled` is asked before each file; its failure ends it there.
  Result<void> remove(const std::vector<ObjectFile>& files, const std::function<Result<void>()>& check_cancelled);
  /// Removes what an interrupted `pack` left.
  Result<void> clear_leftovers();

 private:
  struct Impl;
  explicit Housekeeping(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ws::sync::git
