/// The links of a folder that is tied to nothing: checked, and following renames, by the code that a synced folder has.
///
/// It is the work tree of git in which a place lies, else the working directory or a folder that the user names. No
/// `.ws/` is made and nothing is kept between commands: every note is read each time. Hidden folders, repositories
/// within and folders that are synced by themselves are left alone, and no symbolic link is followed.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/relink/broken_links.hpp"
#include "sync-engine/relink/untied_edits.hpp"

namespace ws::sync {

/// The top of the work tree of git that `place` lies in, a linked one too; empty: it lies in none.
std::optional<std::filesystem::path> find_work_tree(const std::filesystem::path& place);

struct UntiedOptions {
  bool follows_gitignore = true;
  unsigned threads = 2;
  std::function<void(std::uint64_t names)> seen = {};  ///< told how many names were looked at, after a while
};

class UntiedFolder {
 public:
  /// Looks at every name and reads every note of up to 16 MiB. Fails with `disk`.
  static Result<UntiedFolder> open(const std::filesystem::path& folder, const UntiedOptions& options);

  const RootFolder& root() const { return *root_; }
  /// Notes that were not read, with the reason: their links are not known.
  std::vector<Skipped> unread_notes() const;
  /// Of the note or folder `place`; empty: of all.
  Result<CheckedLinks> broken_links(const std::string& place) const;
  Result<RelinkPlan> plan_move(const RelativePath& from, const RelativePath& to) const;
  Result<RelinkPlan> plan_fix(const FixOptions& options) const;

 private:
  UntiedFolder() = default;
  LinkTree tree() const { return {*root_, kinds_, *scan_, *index_, nullptr}; }

  std::unique_ptr<RootFolder> root_ = {};
  FileKinds kinds_ = {};
  std::unique_ptr<Scan> scan_ = {};
  std::unique_ptr<LinkIndex> index_ = {};
  bool is_work_tree_ = false;
};

}  // namespace ws::sync
