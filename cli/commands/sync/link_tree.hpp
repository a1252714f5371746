/// The folder that the commands about links work in: one that is synced, else one that is tied to nothing.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/sync/tree.hpp"
#include "sync-engine/relink/untied_folder.hpp"

namespace ws::cli {

class LinkTree {
 public:
  /// Of `place`, a file or folder, or what is to become one: the synced folder at or above it; else the work tree of
  /// git that it lies in; else `fallback`. Fails with `usage` where --gitignore is given in a synced folder, and
  /// `disk`.
  static Result<LinkTree> open(Session& session,
                               const std::filesystem::path& place,
                               const std::filesystem::path& fallback);

  const std::filesystem::path& root() const { return root_; }
  bool is_synced() const { return tied_.has_value(); }
  /// Of a folder that is synced.
  const SyncTree& tied() const { return *tied_; }
  /// A path given in the working directory. Fails with `usage`.
  Result<sync::RelativePath> path(const std::string& given) const;

  Result<sync::CheckedLinks> broken_links(const std::string& place);
  /// Where a command was interrupted in a folder that is tied to nothing: finishes it, and tells. True: it was one of
  /// `commands`, so that nothing is left to do. To be called before `move` and `fix`. Fails with `disk`, and with
  /// `usage` in a dry run, which changes nothing.
  Result<bool> finish_interrupted(const std::vector<std::string>& commands, bool dry_run);
  Result<sync::Relinked> move(const sync::RelativePath& from, const sync::RelativePath& to, bool dry_run);
  Result<sync::Relinked> fix(const sync::FixOptions& options, bool dry_run);

 private:
  explicit LinkTree(Session& session) : session_(&session) {}
  Result<void> read_folder();
  Result<sync::Relinked> carry_out(sync::RelinkPlan plan, const std::string& command);
  void print_left(const sync::UntiedDone& done);

  Session* session_;
  std::filesystem::path root_ = {};
  std::optional<SyncTree> tied_ = {};
  std::unique_ptr<sync::RootFolder> folder_ = {};
  std::optional<sync::UntiedFolder> untied_ = {};  ///< as it was when it was last read
  std::optional<sync::UntiedEdits> edits_ = {};    ///< refers to `folder_`
};

/// How a rename in a folder that is tied to nothing is recorded, and told where it was interrupted.
std::string move_command(const sync::RelativePath& from, const std::string& to);
std::string fix_command(const sync::FixOptions& options);

}  // namespace ws::cli
