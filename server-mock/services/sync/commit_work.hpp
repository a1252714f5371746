/// What a commit is to do, document by document: the staged items put together, and what became of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server-mock/services/sync/claims.hpp"
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

/// The items of one document (text and move may come apart), or one creation.
struct Work {
  std::vector<StagedItem> items = {};
  std::optional<std::size_t> text = {};  ///< which item brings the text, the path, the deletion
  std::optional<std::size_t> move = {};
  std::optional<std::size_t> deletion = {};
  std::optional<Document> document = {};  ///< as the service has it; empty for a creation
  std::optional<SyncEntry> entry = {};
  std::string conflict_kind = {};  ///< not empty: nothing of it is applied
  std::string adopted = {};        ///< a creation whose very bytes are there: the document's id
  std::string holder_id = {};      ///< who holds the path that it wants

  bool failed() const { return !conflict_kind.empty(); }
  bool creates() const { return !document; }
  bool changes_text() const { return text && document && items[*text].content_sha256 != document->content_sha256; }
  bool changes_path() const { return move && entry && items[*move].path != entry->path; }
  const StagedItem& lead() const { return items[text ? *text : move ? *move : 0]; }
};

/// The staged items of these pushes, the later before the earlier where they speak of one file. 404 where a push is not
/// of the plan; 403 where a document is no longer the caller's to change.
Served<std::vector<Work>> gather_work(World& world, const ServiceCall& call, const SeenSource& seen, const Plan& plan);

/// Decides of each what becomes of it: revisions first, then the paths of all of them together.
Result<void> judge_work(World& world, const SeenSource& seen, std::vector<Work>& all);

}  // namespace ws::mock
