/// The work of a commit: the staged items grouped by document, with the decision about each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server-mock/services/sync/path_conflicts.hpp"
#include "server-mock/services/sync/shared.hpp"

namespace ws::mock {

/// One staged item; its text stays in the database until it is needed.
struct StagedItem {
  std::string push_id = {};
  std::int64_t place = 0;
  std::string path = {};
  std::string action = {};
  std::string document_id = {};
  bool has_text = false;
  std::string content_sha256 = {};
  std::optional<std::int64_t> expected_content_revision = {};
  std::optional<std::string> previous_path = {};

  bool deletes() const {
    return action == "push_delete" || (!has_text && content_sha256.empty() && action == "conflict");
  }
  bool moves() const { return action == "push_move" || (previous_path && *previous_path != path); }
};

/// The items of one document (text and move may be separate), or one creation.
struct Work {
  std::vector<StagedItem> items = {};
  std::optional<std::size_t> text = {};  ///< index of the item with the text, the path, the deletion
  std::optional<std::size_t> move = {};
  std::optional<std::size_t> deletion = {};
  std::optional<Document> document = {};  ///< the current document; empty for a creation
  std::optional<SyncEntry> entry = {};
  std::string conflict_kind = {};  ///< if not empty, nothing of it is applied
  std::string adopted = {};        ///< of a creation: id of a document with the same path and bytes
  std::string holder_id = {};      ///< document that has the wanted path

  bool failed() const { return !conflict_kind.empty(); }
  bool creates() const { return !document; }
  bool changes_text() const { return text && document && items[*text].content_sha256 != document->content_sha256; }
  bool changes_path() const { return move && entry && items[*move].path != entry->path; }
  const StagedItem& lead() const { return items[text ? *text : move ? *move : 0]; }
};

/// Reads the staged items of these pushes; later items replace earlier ones of the same file. 404 if a push does not
/// belong to the plan; 403 if the caller may no longer change a document.
ApiResult<std::vector<Work>> gather_work(World& world,
                                         const ServiceCall& call,
                                         const VisibleSource& seen,
                                         const Plan& plan);

/// Decides about each work item: first by revisions, then by the paths of all together.
Result<void> judge_work(World& world, const VisibleSource& seen, std::vector<Work>& all);

}  // namespace ws::mock
