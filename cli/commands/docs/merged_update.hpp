/// Sending a document's new text although somebody else may have changed it meanwhile: what merges is merged.
#pragma once

#include <optional>
#include <string>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/state/seen_texts.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::cli {

/// A change of one document.
struct TextChange {
  std::string document_id = {};
  SeenText base = {};                     ///< what the change was made from
  bool base_is_known = true;              ///< false: `base` has a revision and no text
  std::string content = {};               ///< what it shall be
  std::optional<std::string> title = {};  ///< a new one
};

/// How it ended: `reply` where it was stored, else the texts that collide.
struct UpdateEnd {
  std::optional<Reply> reply = {};
  TextChange sent = {};  ///< the change as it was sent last
  sync::merge::Merge collision = {};
  SeenText theirs = {};       ///< the document as it is now, where `reply` is empty
  bool was_merged = false;    ///< with changes of others
  bool keeps_theirs = false;  ///< a person let the change go: nothing was sent
};

/// The texts that this user saw on the session's server. Fails with `usage` where no server is named.
Result<SeenTexts> seen_texts(Session& session);

/// Remembers what an answer with a document shows.
void keep_seen(const SeenTexts& seen, const Json& document);

/// Reads a document. Fails as the call does, with `internal` where the answer has no content.
Result<SeenText> read_document(Client& client, const std::string& document_id);

/// Sends the change once. Where somebody stored another text meanwhile, `collision` is the merge with it, clean or not.
/// Fails as the update does; with `conflict` where it was made from a text that nobody knows.
Result<UpdateEnd> update_once(Session& session, Client& client, const TextChange& change);

/// Stores the change, each time on the revision that it was merged with; somebody who writes all the time is given up
/// on after five rounds. Fails as the update does; with `conflict` where it was made from a text that nobody knows.
Result<UpdateEnd> update_merged(Session& session, Client& client, const TextChange& change);

}  // namespace ws::cli
