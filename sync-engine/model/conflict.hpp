/// Two changes that a person must choose between, and what tells one case from another. Pure.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "sync-engine/model/entry.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// `attachment`: a file that notes show, with other bytes on each side; kept in the state of attachments.
enum class ConflictKind { revision, hash, edit_delete, delete_edit, path, rewound, attachment };
std::string_view name(ConflictKind kind);  ///< "edit_delete"
std::optional<ConflictKind> find_conflict_kind(std::string_view name);

/// Two changes that a person must choose between. Nothing of either is applied; both texts are kept.
struct Conflict {
  ConflictKind kind = ConflictKind::revision;
  RelativePath path;  ///< of the file on disk, or where it would be
  DocumentId document = {};
  std::optional<Entry> base = {};    ///< empty: created on both sides
  std::optional<Entry> local = {};   ///< empty: deleted here
  std::optional<Entry> remote = {};  ///< empty: archived there
  std::string id = {};               ///< the service's, once a commit has recorded it; ours where `here_only`
  bool here_only = false;            ///< the service has no such conflict: it is known, and decided, here alone
  bool in_the_way = false;           ///< `local`, if anything, is not the document's own file
  bool closing = false;              ///< an edit settled it, and the service is told so: it decides for no text
  auto operator<=>(const Conflict&) const = default;
};

/// A person's word on a conflict: which text or name holds. `merged`: a third text, made of both.
enum class Keep { local, remote, both, merged };
std::optional<Keep> find_keep(std::string_view name);  ///< "local"

/// A conflict and the word on it.
struct Choice {
  Conflict conflict;
  Keep keep = Keep::local;
  std::optional<std::string> merged = {};  ///< the text of `Keep::merged`
};

/// Whether it is about where a document stands, not about a text: a `path` conflict, and an edit on the service of a
/// file that became a folder here.
bool is_about_place(const Conflict& conflict);

/// What such a conflict is about.
enum class PlaceMatter {
  renamed_on_both,  ///< one document with two new names
  two_documents,    ///< the file here, and another document that wants its name
  folder_there,     ///< a file here where the service has a folder
  document_there,   ///< a file in a folder here where the service has a document
  became_folder,    ///< the document's own file became a folder here, and was edited there
  not_synced,       ///< what is here is nothing that is synced
  no_document,      ///< the service has no document to choose: it archived it, or refused the name
};
PlaceMatter place_matter(const Conflict& conflict);

/// Whether a commit is sure to refuse it, so that the service records both texts. All others are `here_only`.
bool is_for_service(const Conflict& conflict);

/// One document that got another name on each side.
bool renamed_on_both(const Conflict& conflict);

/// The same for the same two sides in every run: a UUID (version 8) made of what the conflict is about.
std::string local_conflict_id(const Conflict& conflict);

/// The conflict that stands for a service as a whole that went back to an older state. It has no document; its path is
/// the word that resolves it.
Conflict rewound_service();

bool is_rewound_service(const Conflict& conflict);

/// What happened, in words for people: "edited on both sides". A literal.
std::string_view reason_of(const Conflict& conflict);

}  // namespace ws::sync
