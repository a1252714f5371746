/// The model of "Local Markdown sync" in `decisions.md` for one source: paths, the source's revision, conflicts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/reference/model.hpp"

namespace ws::mock::test {

struct SyncItem {
  std::string action = {};  ///< push_create, push_update, push_delete, push_move
  std::string path = {};
  std::string previous_path = {};
  std::string document_id = {};
  std::string content = {};
  std::int64_t expected = 0;
};

struct SyncEntry {
  std::string path = {};  ///< empty: named by the service and not read yet
  bool present = true;
  std::int64_t changed_at = 0;  ///< the source's revision
  std::int64_t left_with = 0;   ///< the document's revision when it left
};

struct SyncConflict {
  std::string document_id = {};
  std::string client_id = {};
  std::string kind = {};
  std::string local = {};
  std::string resolution = {};  ///< empty: open
  std::int64_t resolved_from = 0;
};

/// The expected result of a commit, by index in the list of items.
struct CommitResult {
  std::vector<std::size_t> applied = {};
  std::map<std::size_t, std::string> conflicts = {};  ///< with the kind; empty: any kind
};

class SyncModel {
 public:
  std::string source_id = {};
  std::string project_id = {};
  std::string root = {};
  std::int64_t revision = 0;
  std::map<std::string, SyncEntry> entries = {};       ///< by document
  std::map<std::string, SyncConflict> conflicts = {};  ///< by id

  /// Call it after every change of a document by any client. `moved`: to another node.
  void follow(const ModelDocument& document, bool moved = false);
  /// The document that has a path now; empty: none.
  std::string at(const std::string& path) const;
  bool is_free(const std::string& path) const { return at(path).empty(); }
  /// Which items take effect: those whose document is in the expected state and whose path is free after all effective
  /// items are applied.
  CommitResult commit_result(const Model& model, const std::vector<SyncItem>& items) const;
  /// The object of a conflict over this item: the document, or the path of the new local file.
  std::string subject_of(const SyncItem& item) const;
  /// Ids of the documents that changed after a revision.
  std::vector<std::string> changed_since(std::int64_t since) const;
};

}  // namespace ws::mock::test
