/// What "Local Markdown sync" of `decisions.md` says of one source: paths, its own revision, conflicts.
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
  std::string path = {};  ///< empty: the service has named it, and nobody has looked yet
  bool present = true;
  std::int64_t changed_at = 0;  ///< the source's revision
};

struct SyncConflict {
  std::string document_id = {};
  std::string client_id = {};
  std::string kind = {};
  std::string local = {};
  std::string resolution = {};  ///< empty: open
  std::int64_t resolved_from = 0;
};

/// What a commit of these items must say; by place in the list of items.
struct Judged {
  std::vector<std::size_t> applied = {};
  std::map<std::size_t, std::string> conflicts = {};  ///< with its kind; empty: any
};

class SyncModel {
 public:
  std::string source_id = {};
  std::string project_id = {};
  std::string root = {};
  std::int64_t revision = 0;
  std::map<std::string, SyncEntry> entries = {};       ///< by document
  std::map<std::string, SyncConflict> conflicts = {};  ///< by id

  /// To be told after every change of a document, whoever made it. `moved`: to another node.
  void follow(const ModelDocument& document, bool moved = false);
  /// The document at a path now; empty: none.
  std::string at(const std::string& path) const;
  bool is_free(const std::string& path) const { return at(path).empty(); }
  /// Which items take effect: those whose document is as expected and whose path nobody else holds once all applied
  /// ones took effect.
  Judged judge(const Model& model, const std::vector<SyncItem>& items) const;
  /// What a conflict over this item is about: the document, or the path where a new local file wants to be.
  std::string subject_of(const SyncItem& item) const;
  /// Ids of what changed after a revision.
  std::vector<std::string> changed_since(std::int64_t since) const;
};

}  // namespace ws::mock::test
