/// The port to the service, in the words of the sync engine.
///
/// `remote/api_remote.*` implements it on the API client; tests have a service in memory. Every text that comes has
/// been checked against its hash before it is handed over, and every id of a document is a UUID.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

struct SourceRequest {
  std::string name = {};
  std::string project_id = {};    ///< at most one of the two
  std::string root_node_id = {};  ///< neither: a new empty root
};

struct SourceInfo {
  std::string id = {};
  std::string name = {};
  SourceRevision revision = {};
  std::optional<std::vector<std::string>> open_conflicts = {};  ///< ids, of all clients; empty: it did not say
};

/// One document of a pull. The path is what the service says and not yet trusted; empty: it did not say. No document:
/// the service gave it no id under which it could be asked for.
struct PulledItem {
  DocumentId document = {};
  std::string path = {};
  DocumentRevision revision = {};
  std::optional<Sha256> hash = {};          ///< empty: neither hash nor text came
  std::optional<std::string> content = {};  ///< empty: ask `content`
  bool deleted = false;
  Author author = {};                  ///< `updated_by` and `updated_at`, as far as the service says
  std::optional<Failure> damage = {};  ///< why its text is not to be taken; then it has neither text nor hash
};

struct PullEnd {
  std::string source_id = {};
  std::optional<SourceRevision> revision = {};  ///< empty: the service did not say
  bool complete = false;                        ///< every living document was listed, whatever was asked for
};

struct PlanAnswer {
  std::string plan_id = {};
  SourceRevision revision = {};
};

struct Rejected {
  std::string path = {};
  std::string code = {};
  std::string message = {};
};

struct PushAnswer {
  std::vector<std::string> push_ids = {};
  std::vector<Rejected> rejected = {};
};

struct AppliedItem {
  std::string path = {};
  ActionKind kind = ActionKind::push_update;
  DocumentId document = {};
  DocumentRevision revision = {};
  std::optional<Sha256> hash = {};
};

struct RecordedConflict {
  std::string id = {};
  std::string path = {};
  ConflictKind kind = ConflictKind::revision;
};

struct CommitAnswer {
  SourceRevision revision = {};
  std::vector<AppliedItem> applied = {};
  std::vector<RecordedConflict> conflicts = {};
};

struct ResolveRequest {
  std::string conflict_id = {};
  Keep keep = Keep::local;
  std::optional<std::string> content = {};
  std::string path = {};                 ///< empty: as it is
  std::string path_for_local_copy = {};  ///< of `Keep::both`
  DocumentRevision expected_revision = {};
};

/// `unknown`: the service has no such conflict, or does not say what became of it.
enum class ConflictState { open, resolved, unknown };

/// A conflict as the service has it.
struct ServiceConflict {
  ConflictState state = ConflictState::unknown;
  PulledItem remote = {};  ///< its side; without a document where it did not say
};

/// Returns the text of an item by its index, as two items may have one path. Empty: the item is left out.
using TextOfItem = std::function<Result<std::optional<std::string>>(std::size_t place)>;

class Assets;

class Remote {
 public:
  Remote() = default;
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  virtual ~Remote() = default;

  /// The bytes of attachments; null: this service has none.
  virtual Assets* assets() { return nullptr; }

  virtual Result<SourceInfo> create_source(const SourceRequest& request) = 0;
  virtual Result<SourceInfo> find_source(const std::string& source_id) = 0;
  /// Every item in turn, page after page; a failure of `visit` ends it. One that was cut may bring items again.
  virtual Result<PullEnd> pull(const std::string& source_id,
                               SourceRevision since_revision,
                               const std::function<Result<void>(PulledItem item)>& visit) = 0;
  /// The present text of one document. Fails with `not_found` or `forbidden`: the document is detached.
  virtual Result<PulledItem> content(const DocumentId& document) = 0;
  /// The same of many, some at a time, in any order; a failure of `visit` ends it.
  virtual Result<void> contents(
      const std::vector<DocumentId>& documents,
      const std::function<Result<void>(const DocumentId& document, Result<PulledItem> item)>& visit) = 0;
  /// Asks for a plan that will probably be wanted, and does not wait: `plan` of the very same takes the answer.
  virtual void expect_plan([[maybe_unused]] const std::string& source_id,
                           [[maybe_unused]] SourceRevision base_revision,
                           [[maybe_unused]] const std::string& client_id,
                           [[maybe_unused]] const std::vector<PushItem>& items) {}
  /// `meanwhile` is called again and again while the service is at work, until it returns false: nothing is left to do.
  virtual Result<PlanAnswer> plan(const std::string& source_id,
                                  SourceRevision base_revision,
                                  const std::string& client_id,
                                  const std::vector<PushItem>& items,
                                  const std::function<bool()>& meanwhile = {}) = 0;
  /// Stages all items, in as many requests as it takes. `text` is called when the text is needed, and again when a
  /// body is sent again in parts.
  virtual Result<PushAnswer> push(const std::string& source_id,
                                  const std::string& plan_id,
                                  const std::vector<PushItem>& items,
                                  const TextOfItem& text) = 0;
  virtual Result<CommitAnswer> commit(const CommitRequest& request) = 0;
  virtual Result<ServiceConflict> find_conflict(const std::string& conflict_id) = 0;
  /// The document that came of it; empty: none.
  virtual Result<std::optional<AppliedItem>> resolve(const ResolveRequest& request) = 0;
};

}  // namespace ws::sync
