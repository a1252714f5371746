/// Links that follow what is renamed here.
///
/// A link that still leads to its file keeps its bytes. Others are edited in the style that they have, and only by the
/// side that renamed. A rename and its reverse give the same bytes (`earlier_spelling.hpp`).
///
/// Whatever edits a note of a synced folder is one journalled operation: the history gets the texts first, an
/// interrupted one is finished by the next command, and `ws sync undo` takes it back. Of other folders:
/// `untied_edits.hpp`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sync-engine/links/rewrite_links.hpp"
#include "sync-engine/relink/known_targets.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/operations.hpp"
#include "sync-engine/survey/link_index.hpp"

namespace ws::sync {

/// A note whose links are edited.
struct RelinkedNote {
  std::string path = {};  ///< afterwards
  std::string before = {};
  std::string after = {};
  std::size_t links = 0;
};

struct Relinked {
  links::Renames moved = {};  ///< files that are renamed with it
  std::vector<RelinkedNote> notes = {};
  std::size_t links = 0;                 ///< that are edited
  std::size_t left = 0;                  ///< that their style cannot name any more
  std::vector<std::string> unread = {};  ///< notes whose links could not all be read: there may be more to edit
  std::vector<std::string> stayed = {};  ///< files of a renamed folder that were not moved: links, dangerous names
};

/// What is to be done, ready for the journal.
struct RelinkPlan {
  Relinked told = {};
  std::vector<FileStep> steps = {};
  std::vector<OperationRow> rows = {};
};

struct FixOptions {
  links::Renames renames = {};  ///< given by the user, files or folders; empty: those of the history
};

/// The folder whose links are edited, as it is now.
struct LinkTree {
  const RootFolder& root;
  const FileKinds& kinds;
  const Scan& scan;  ///< of a move: with every rule read
  const LinkIndex& index;
  Session* session = nullptr;  ///< null: tied to nothing, so no text is kept, and no history knows of renames
};

/// Renames a file or folder and edits the links that name it. Fails with `usage`, `not_found` or `disk`.
Result<RelinkPlan> plan_move(Session& session, const RelativePath& from, const RelativePath& to);
Result<RelinkPlan> plan_move(const LinkTree& tree, const RelativePath& from, const RelativePath& to);

/// Edits the broken links that a rename explains. Fails with `disk`.
Result<RelinkPlan> plan_fix(Session& session, const FixOptions& options);
Result<RelinkPlan> plan_fix(const LinkTree& tree, const FixOptions& options);

/// Edits the links that follow files which were renamed on disk already.
Result<RelinkPlan> plan_link_updates(Session& session,
                                     const Scan& scan,
                                     const links::Renames& renamed,
                                     IndexFile file = IndexFile::update);

/// How many links that would edit. Without a look at a single note where the index knows them.
std::size_t count_links_of(const LinkIndex& index, links::Renames renamed);

}  // namespace ws::sync
