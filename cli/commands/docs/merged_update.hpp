/// Updates a document that others may have changed meanwhile, by a three-way merge.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::cli {

struct SeenText {
  std::int64_t revision = 0;
  std::string content = {};
};

/// The document texts that this user saw last. With them, an edit of an older revision can be merged with later changes
/// by others: the API does not return old revisions. Each place, a file of the user, has its base: what its text was
/// made from. Two files of one document may have different bases: what others changed between the two reads is in the
/// second alone.
///
/// A cache: if an entry is missing, an automatic merge is not possible, but no text is lost. Files have mode 0600 in
/// folders with mode 0700; at most three revisions per document, and the bases of at most sixteen places.
class SeenTexts {
 public:
  /// `cache` is `Paths::cache`. `server` is the base URL: each server has its own entries.
  SeenTexts(const std::filesystem::path& cache, std::string_view server);

  /// Where a text lies: the real name of a file, or a pipe (empty).
  using Place = std::string;
  /// Of the file that is named, or that stdin or stdout is (`-`).
  static Place place_of(const std::string& file, int standard);

  /// `first_base`: where there is no base of any place yet.
  enum class As { seen, first_base, base };
  /// Ignores failures, since it is only a cache.
  void keep(std::string_view document_id, const SeenText& text, As as, const Place& place = {}) const;
  /// The text of that revision.
  std::optional<SeenText> find(std::string_view document_id, std::int64_t revision) const;
  /// What `text`, which lies at `place`, was made from. Of a place that has no base the text decides: it is made from
  /// the newest base of which it has every change.
  std::optional<SeenText> base(std::string_view document_id, const Place& place, const std::string& text) const;
  /// A text that is sent next: whether it is stored may never be answered. Forgotten with another base of the place.
  void keep_sent(std::string_view document_id, const Place& place, std::string_view text) const;
  std::optional<std::string> sent(std::string_view document_id, const Place& place) const;
  void forget_sent(std::string_view document_id, const Place& place) const;

 private:
  std::filesystem::path folder_of(std::string_view document_id) const;

  std::filesystem::path folder_;
};

/// A change of one document.
struct TextChange {
  std::string document_id = {};
  SeenText base = {};                     ///< what the change was made from
  bool base_is_known = true;              ///< false: `base` has a revision and no text
  std::string content = {};               ///< the new text
  std::optional<std::string> title = {};  ///< the new title, if it changes
  /// Gets each text before it is sent: the change, or its merge with a newer revision. A failure ends the update.
  std::function<Result<void>(std::string_view text)> before_sending = {};
};

/// The result: `reply` where the text was stored, else the texts in conflict.
struct UpdateEnd {
  std::optional<Reply> reply = {};
  TextChange sent = {};  ///< the change as it was sent last
  sync::merge::Merge collision = {};
  SeenText theirs = {};       ///< the document as it is now, where `reply` is empty
  bool keeps_theirs = false;  ///< the user dropped the change; nothing was sent
};

/// The texts that this user saw on the session's server. Fails with `usage` where no server is named.
Result<SeenTexts> seen_texts(Session& session);

/// Caches text and revision of the document in an answer. As the base only where the user has that very text as a file:
/// one that was merged, or merely looked at, is none, and taken for one would undo what others changed since.
void keep_seen(const SeenTexts& seen, const Json& document, SeenTexts::As as, const SeenTexts::Place& place = {});

/// Reads a document. Fails as the call does, with `internal` where the answer has no content.
Result<SeenText> read_document(Client& client, const std::string& document_id);

/// The document, if it has the very text that an earlier run sent without an answer. Fails as `read_document`.
Result<std::optional<SeenText>> find_stored(Client& client, const std::string& document_id, std::string_view sent);

/// Merges the change with the newest revision and stores it; tries again when another revision came in between, at most
/// five times. Where that ends in a conflict and a user is present, resolves it interactively until the text is stored,
/// dropped (`keeps_theirs`) or left open: then `collision` and `theirs` are those shown last. After the first question,
/// revisions that others store meanwhile are shown before they are merged. Fails as the update does; with `conflict`
/// where the base text is not known, with `cancelled` on a signal.
Result<UpdateEnd> update_walked(Session& session, Client& client, const TextChange& change);

}  // namespace ws::cli
