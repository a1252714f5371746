/// A bare git repository: objects written by us, read by any git.
///
/// Objects wait in memory until `flush`: a few become loose objects, many become one pack. Nothing is durable, and no
/// reference may name it, before `flush` has returned; `set_reference` flushes by itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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

/// Who made a change, and when; in a commit, times have seconds.
struct Signature {
  std::string name = {};   ///< what git would misread in it is left out; empty: "unknown"
  std::string email = {};  ///< or another word without spaces that names them
  Time time = {};
};

/// A state of the tree, as git keeps it.
struct Commit {
  ObjectId id = {};
  ObjectId tree = {};
  std::vector<ObjectId> parents = {};
  Time time = {};  ///< when it was written here
  Signature author = {};
  std::string message = {};  ///< without the line end
};

class Repository {
 public:
  /// Makes it where there is none. Fails with `disk`.
  static Result<Repository> open(const std::filesystem::path& path);
  Repository(Repository&&) noexcept;
  Repository& operator=(Repository&&) noexcept;
  ~Repository();

  Result<ObjectId> write_blob(std::string_view text);
  /// The same, but an object that exists is not written again, nor read and checked: for a text that also exists
  /// elsewhere.
  Result<ObjectId> write_missing_blob(std::string_view text);
  /// In bytes. Fails with `not_found` or `disk`.
  Result<std::uint64_t> blob_size(const ObjectId& id);
  /// Fails with `not_found` or `disk`.
  Result<std::string> read_blob(const ObjectId& id);
  /// The tree `base` (empty: none) with the updates; a file may become a folder and the reverse.
  Result<ObjectId> write_tree(const std::optional<ObjectId>& base, std::vector<TreeUpdate> updates);
  Result<ObjectId> write_commit(const ObjectId& tree,
                                std::span<const ObjectId> parents,
                                std::string_view message,
                                Time time,
                                const Signature& author);
  Result<ObjectId> tree_of(const ObjectId& commit);
  /// Without parents where `shallow` says that they were dropped.
  Result<Commit> read_commit(const ObjectId& id);
  /// Whether the object is a text. Fails as `read_blob`.
  Result<bool> is_blob(const ObjectId& id);
  /// Empty: no file at that path.
  Result<std::optional<ObjectId>> find_blob(const ObjectId& tree, std::string_view path);
  /// What is different in `after`, as updates of `before` (empty: nothing was there); in order of path. Folders that
  /// are the same are not read.
  Result<std::vector<TreeUpdate>> compare_trees(const std::optional<ObjectId>& before, const ObjectId& after);
  Result<void> flush();
  /// The same where only texts wait: those that the disk does not take are forgotten, and answered. Many become one
  /// pack, which it takes as a whole or not at all.
  Result<std::map<ObjectId, Failure>> flush_what_fits();

  /// "refs/heads/main".
  Result<std::optional<ObjectId>> find_reference(const std::string& name);
  /// The commit whose hexadecimal name begins with `prefix` (4 to 40 digits). Fails with `not_found`, or `usage` where
  /// there are several.
  Result<ObjectId> find_commit(std::string_view prefix);
  Result<void> set_reference(const std::string& name, const ObjectId& commit);
  /// Many at once, by name: durable together, with two barriers whatever their number.
  Result<void> set_references(const std::map<std::string, ObjectId>& commits);

 private:
  struct Impl;
  explicit Repository(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ws::sync::git
