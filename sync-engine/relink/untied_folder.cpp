#include "sync-engine/relink/untied_folder.hpp"

#include <string_view>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "api-client/base/files.hpp"

namespace ws::sync {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_note_bytes = std::uint64_t{16} << 20U;
constexpr std::uint64_t max_pointer_bytes = std::uint64_t{64} << 10U;

/// The one line that such a file of git's has, without `label`.
std::optional<fs::path> read_pointer(const fs::path& file, std::string_view label) {
  const auto text = read_file(file, max_pointer_bytes);
  if (!text || !text->starts_with(label)) return std::nullopt;
  return fs::path(trimmed(std::string_view(*text).substr(label.size())));
}

/// Where git keeps what all work trees of a repository share (gitrepository-layout(5)).
fs::path common_git_folder(const fs::path& work_tree) {
  fs::path git = work_tree / ".git";
  std::error_code error;
  if (!fs::is_directory(git, error)) {
    const auto elsewhere = read_pointer(git, "gitdir: ");
    if (!elsewhere) return git;
    git = work_tree / *elsewhere;  // which may be absolute
  }
  const auto common = read_pointer(git / "commondir", "");
  return common ? git / *common : git;
}

bool is_not_read(SkipReason reason) {
  return is_about_content(reason) || reason == SkipReason::unreadable || reason == SkipReason::busy;
}

}  // namespace

std::optional<fs::path> find_work_tree(const fs::path& place) {
  std::error_code error;
  for (fs::path folder = fs::weakly_canonical(place, error); !error && !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder;
    if (!folder.has_relative_path()) break;
  }
  return std::nullopt;
}

Result<UntiedFolder> UntiedFolder::open(const fs::path& folder, const UntiedOptions& options) {
  UntiedFolder opened;
  WS_LET(RootFolder root, RootFolder::open(folder));
  opened.root_ = std::make_unique<RootFolder>(std::move(root));
  std::error_code error;
  opened.is_work_tree_ = fs::exists(folder / ".git", error);
  GitRules git{.ignores = options.follows_gitignore};
  if (git.ignores && opened.is_work_tree_)
    git.exclude = read_file(common_git_folder(folder) / "info/exclude", max_pointer_bytes).value_or("");
  WS_LET(Scan scan,
         sync::scan(*opened.root_,
                    {},
                    {.threads = options.threads,
                     .max_file_bytes = max_note_bytes,
                     .list_others = true,
                     .load_rules = true,
                     .git = &git,
                     .seen = options.seen}));
  opened.scan_ = std::make_unique<Scan>(std::move(scan));
  opened.index_ = std::make_unique<LinkIndex>(LinkIndex::read(*opened.root_, *opened.scan_, options.threads));
  return opened;
}

std::vector<Skipped> UntiedFolder::unread_notes() const {
  std::vector<Skipped> unread = scan_->skipped();
  std::erase_if(unread, [](const Skipped& each) { return !is_not_read(each.reason); });
  return unread;
}

Result<CheckedLinks> UntiedFolder::broken_links(const std::string& place) const {
  return find_broken_links(tree(), place, is_work_tree_ ? StaysInside::yes : StaysInside::no);
}

Result<RelinkPlan> UntiedFolder::plan_move(const RelativePath& from, const RelativePath& to) const {
  return sync::plan_move(tree(), from, to);
}

Result<RelinkPlan> UntiedFolder::plan_fix(const FixOptions& options) const { return sync::plan_fix(tree(), options); }

}  // namespace ws::sync
