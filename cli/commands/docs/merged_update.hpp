/// Updates a document that others may have changed meanwhile, by a three-way merge.
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
  std::string content = {};               ///< the new text
  std::optional<std::string> title = {};  ///< the new title, if it changes
};

/// The result: `reply` where the text was stored, else the texts in conflict.
struct UpdateEnd {
  std::optional<Reply> reply = {};
  TextChange sent = {};  ///< the change as it was sent last
  sync::merge::Merge collision = {};
  SeenText theirs = {};       ///< the document as it is now, where `reply` is empty
  bool was_merged = false;    ///< with changes of others
  bool keeps_theirs = false;  ///< the user dropped the change; nothing was sent
};

/// The texts that this user saw on the session's server. Fails with `usage` where no server is named.
Result<SeenTexts> seen_texts(Session& session);

/// Caches text and revision of the document in an answer.
void keep_seen(const SeenTexts& seen, const Json& document);

/// Reads a document. Fails as the call does, with `internal` where the answer has no content.
Result<SeenText> read_document(Client& client, const std::string& document_id);

/// Sends the change once. Where somebody stored another text meanwhile, `collision` is the merge with it, clean or not.
/// Fails as the update does; with `conflict` where the base text is not known.
Result<UpdateEnd> update_once(Session& session, Client& client, const TextChange& change);

/// Merges the change with the newest revision and stores it; tries again when another revision came in between, at most
/// five times. Fails as the update does; with `conflict` where the base text is not known.
Result<UpdateEnd> update_merged(Session& session, Client& client, const TextChange& change);

}  // namespace ws::cli
