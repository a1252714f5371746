/// The local history: a bare git repository that holds every state that was ever synced and every text that was about
/// to be overwritten. Plain git reads it.
///
/// `refs/heads/main` is what both sides agreed on. A sync makes a commit for each person and time that its changes come
/// from, so that plain `git blame` tells who wrote a line; a large one makes a commit a person. A merge has both texts
/// as parents. The author of a commit made the change; its committer time is when it was recorded here.
/// `refs/heads/incoming` is the service's side of the last merge, `refs/heads/conflicts/ID` the texts of a conflict.
/// libgit2 is opened at the first use.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/git/repository.hpp"
#include "sync-engine/model/change.hpp"

namespace ws::sync {

/// The name of an author of whom the service says nothing.
inline constexpr const char* service_name = "the service";

/// The message of a commit that keeps a text which nobody published, before a run or a person replaces it.
inline constexpr std::string_view text_replaced_here = "The text here, before it was merged or replaced";

struct TextChange {
  std::string path = {};
  std::optional<git::ObjectId> blob = {};  ///< empty: the file is not there any more
  Author author = {};                      ///< without a name: whoever works here, or of `theirs` the service
};
using TextChanges = std::vector<TextChange>;

class History {
 public:
  /// `user`: who works here; without a name: "you".
  History(std::filesystem::path path, const Clock& clock, Author user = {})
      : path_(std::move(path)), clock_(&clock), user_(std::move(user)) {}

  /// Durable only after `flush` or one of the records below.
  Result<git::ObjectId> keep(std::string_view text);
  /// The same for the text of a local file that stays: an object that exists is not written again, nor checked.
  Result<git::ObjectId> keep_file_text(std::string_view text);
  Result<std::uint64_t> size(const git::ObjectId& blob);  ///< in bytes
  Result<std::string> text(const git::ObjectId& blob);
  /// A history that somebody removed is made anew, without what the state remembers of it.
  bool holds(const git::ObjectId& blob);
  Result<void> flush();
  /// See `git::Repository`.
  Result<std::map<git::ObjectId, Failure>> flush_what_fits();

  /// Invariant: called before anything on disk changes. Records the local texts that will be overwritten or removed
  /// (`ours`) and the remote texts that a merge or a delete consumes (`theirs`). Both are durable when it returns.
  Result<void> record_before(const TextChanges& ours, const TextChanges& theirs);
  /// The state that both sides agree on now.
  Result<void> record_after(const TextChanges& changes, std::string_view message);
  /// Removes reference locks that a killed run left behind. The caller must hold the tree's lock.
  void drop_dead_locks() const;
  /// Texts by name below branches of their own, durable together.
  Result<void> record_aside(const std::map<std::string, TextChanges>& by_branch, std::string_view message);

 private:
  struct Tip {
    std::optional<git::ObjectId> commit = {};
    std::optional<git::ObjectId> tree = {};
  };
  Result<git::Repository*> repository();
  static Result<Tip> tip_of(git::Repository& repository, const std::string& branch);
  /// Commits on top of `tip`, in order of time; the last has `whole`, which is all changes, and `second_parent` if
  /// there is one.
  Result<git::ObjectId> commit(const Tip& tip,
                               const git::ObjectId& whole,
                               TextChanges changes,
                               std::string_view message,
                               const std::optional<git::ObjectId>& second_parent = {});
  git::Signature signature_of(const Author& author) const;

  std::filesystem::path path_;
  const Clock* clock_;
  Author user_;
  std::optional<git::Repository> opened_ = {};
  std::optional<git::ObjectId> incoming_ = {};  ///< the second parent of the next state
};

}  // namespace ws::sync
