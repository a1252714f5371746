/// A bare git repository: objects written by us, read by any git.
///
/// Objects wait in memory until `flush`: a few become loose objects, many become one pack. Nothing is durable, and no
/// reference may name it, before `flush` has returned; `set_reference` flushes by itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync::git {

/// One file of a tree set or taken out.
struct TreeUpdate {
  std::string path = {};              ///< `/` between parts
  std::optional<ObjectId> blob = {};  ///< empty: taken out
};

class Repository {
 public:
  /// Makes it where there is none. Fails with `disk`.
  static Result<Repository> open(const std::filesystem::path& path);
  Repository(Repository&&) noexcept;
  Repository& operator=(Repository&&) noexcept;
  ~Repository();

  Result<ObjectId> write_blob(std::string_view text);
  /// Fails with `not_found` or `disk`.
  Result<std::string> read_blob(const ObjectId& id);
  /// The tree `base` (empty: none) with the updates; a file may become a folder and the reverse.
  Result<ObjectId> write_tree(const std::optional<ObjectId>& base, std::vector<TreeUpdate> updates);
  Result<ObjectId> write_commit(const ObjectId& tree,
                                std::span<const ObjectId> parents,
                                std::string_view message,
                                Time time);
  Result<ObjectId> tree_of(const ObjectId& commit);
  Result<void> flush();

  /// "refs/heads/main".
  Result<std::optional<ObjectId>> find_reference(const std::string& name);
  Result<void> set_reference(const std::string& name, const ObjectId& commit);

 private:
  struct Impl;
  explicit Repository(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ws::sync::git
