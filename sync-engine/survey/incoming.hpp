/// The result of a pull, validated and converted to rows of the state.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/model/conflict.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// A document whose text is damaged.
struct Damaged {
  RelativePath path;
  Failure why = {};
};

struct Incoming {
  std::map<DocumentId, PendingRow> rows = {};    ///< as the service says, equal to the base or not
  std::map<DocumentId, std::string> texts = {};  ///< those that `wants_text` asked for
  InvalidPaths invalid_paths = {};
  std::set<DocumentId> listed = {};           ///< of those that the base knows
  std::vector<DocumentId> out_of_reach = {};  ///< 403, 404 or 5xx where the text was asked for
  std::map<DocumentId, Damaged> damaged = {};
  std::set<std::string> without_id = {};         ///< the paths of those without an id
  std::vector<RelativePath> same_revision = {};  ///< another text than the base's, and the revision of the base
  std::vector<PulledPart> parts = {};            ///< of the list of attachments: no documents of the tree
  PullEnd end = {};
  bool foreign = false;  ///< the service answered for another source
  bool any = false;      ///< at least one item came
};

struct IncomingOptions {
  SourceRevision since_revision = {};
  bool keep_texts = false;  ///< every new text goes into the history
  /// Called with each such text of a document that is not in the base.
  std::function<void(const DocumentId& document, const Entry& entry, std::string text)> arrives = {};
  std::function<bool(const DocumentId&)> wants_text = {};
  std::function<Result<void>()> before_first = {};  ///< before the first item: time to load what they are compared with
};

/// One pull from beginning to end.
Result<Incoming> pull_incoming(Session& session,
                               const std::map<DocumentId, BaseRow>& base,
                               const std::map<DocumentId, PendingRow>& pending,
                               const IncomingOptions& options);

/// Decides a service that went back for the files of the tree. `parts`: of the list, as the service has it now. To keep
/// `local`, what it says is what both sides agree on, so that the next run sends the rest.
Result<void> put_back_list(Session& session, const std::vector<PulledPart>& parts, Keep keep);

}  // namespace ws::sync
