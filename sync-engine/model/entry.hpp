/// A document as one side has it, the two counters of the service, and why a file is not synced.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/sha256.hpp"
#include "sync-engine/model/document_id.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync {

/// Of one document: rises with each change of it. 0: not on the service yet, or the service does not say.
struct DocumentRevision {
  std::uint64_t number = 0;
  bool is_known() const { return number != 0; }
  auto operator<=>(const DocumentRevision&) const = default;
};

/// Of a source: rises by one with each change of any of its documents. 0: nothing was pulled yet.
struct SourceRevision {
  std::uint64_t number = 0;
  SourceRevision after(std::uint64_t changes) const { return {number + changes}; }
  auto operator<=>(const SourceRevision&) const = default;
};

/// A document as one side has it.
struct Entry {
  RelativePath path;
  Sha256 hash = {};                ///< of the exact bytes
  DocumentRevision revision = {};  ///< the service's; 0 on the local side
  auto operator<=>(const Entry&) const = default;
};

/// Why a file or document that exists is not synced. It never counts as a deletion.
enum class SkipReason {
  symlink,
  unreadable,
  not_utf8,
  holds_nul,
  too_large,
  ignored,
  twin,
  dangerous_name,
  busy,
  special,
  unportable_name,  ///< only where the tree's config refuses such names
  refused,          ///< the service does not take it from this key; kept until something about it changes
  no_room,          ///< what the service has for it does not fit on the disk; the next run tries again
  no_path,          ///< a document of the service without a path; listed by its id
  no_id,            ///< a document of the service without a usable id; every run looks for it again
  damaged,          ///< what the service has for it cannot be read; the next run tries again
  reserved_name,    ///< the name of the list of attachments, which does not lie in the tree
  missing_scope,    ///< an attachment; the key may not read or write Assets
  attachments_off,  ///< shown by a note, and `attachments: off`
  excluded,         ///< an attachment that `attachments_exclude:` names
  empty,            ///< an attachment of 0 bytes, which no Asset can hold
  ambiguous_name,   ///< a wiki link names a file of which there are several, none nearer than the others
  foreign,          ///< an attachment that somebody else's text shows, and nobody here chose to sync
  held,             ///< an attachment that the service has, and that waits here for a decision
  growth,           ///< an attachment that waits with others: together they are more than may come unasked
  declined,         ///< one of both that was refused here
  elsewhere,        ///< in its place is the stub of a program that keeps the file somewhere else
  tied_elsewhere,   ///< a folder with a `.ws/` of its own
  archived,         ///< an attachment that the service no longer has, and that was out of sight here when it went
  left_out,         ///< `leave_out:` names it, or its place
  last = left_out,
};
std::string_view name(SkipReason skip_reason);  ///< "not_utf8"
/// Whether it holds as long as the file's bytes do: its name and place could be synced.
bool is_about_content(SkipReason reason);
std::optional<SkipReason> find_skip_reason(std::string_view word);

/// A file or document that is not synced. Its name may break the path rules, so it is text and not a `RelativePath`.
struct Skipped {
  std::string path = {};
  SkipReason reason = SkipReason::ignored;
  auto operator<=>(const Skipped&) const = default;
};

}  // namespace ws::sync
