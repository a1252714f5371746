/// The walk of a tree with its stat cache, and what the cache says about the base without loading it.
///
/// An unchanged tree needs no base at all. One in which files were only edited in place needs the rows of those files:
/// `load_edits`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// Fails with `disk` where the root or a `.wsignore` cannot be read. Reports its progress.
Result<Scan> walk_tree(const Session& session, bool load_rules);

/// Why nothing at this path is synced, neither a note nor a file that notes show; empty: it would be. `scan` has read
/// every rule.
std::optional<SkipReason> why_out_of_sight(const Session& session, const Scan& scan, const RelativePath& path);
/// The same of a note, which must also be of a kind that is synced, have no reserved name, and not be left out.
std::optional<SkipReason> why_not_synced(const Session& session, const Scan& scan, const RelativePath& path);

/// Hashes what the stat cache cannot vouch for, and writes the cache, so that the next walk reads no file again. By the
/// thread that calls it alone, which may be another than the session's. A failure only costs time later.
void hash_ahead(const Session& session);

/// How the files compare to the base of that generation, as far as the cache knows: it must be of the same generation,
/// and the walk must have found the cached entries.
CacheMatch match_cache(const Scan& scan, std::uint64_t generation);

/// The files, where every one of them is as the base has it and none is missing; else empty. Spares a tree without a
/// cache the plan over the whole base. Fails with `disk`.
Result<std::optional<std::map<DocumentId, FileId>>> files_as_agreed(Session& session, const Scan& scan);

/// Loads the files that were edited in place and their base rows, nothing else. False, and nothing loaded, where a file
/// belongs to no document: then the whole base is needed. Fails with `disk`.
Result<bool> load_edits(Session& session, Survey& survey);

/// Whether the file lies where the base has it, with the same text.
bool is_as_agreed(const Survey& survey, const DocumentId& document);

/// The numbers of the files that equal the base, where the state has others: an editor saved one anew, or it was put
/// back. Takes `Survey::agreed`. Fails with `disk`.
Result<std::map<DocumentId, FileId>> find_unrecorded(Session& session, Survey& survey);

/// Writes the cache with how the files compare to the base of that generation. `CacheExtent::at_edits`: the survey
/// holds what `load_edits` loaded. `all_recorded`: no number is left for a run to record, which then looks at no file
/// that is as the cache saw it. A cache that cannot be written (a read-only tree) only costs time later.
enum class CacheExtent { at_all, at_edits };
void save_cache(
    const Session& session, const Survey& survey, std::uint64_t generation, CacheExtent extent, bool all_recorded);

/// Whether the file may have the name of a note: text, and not longer than `max_bytes`.
bool is_text_of_note(const RootFolder& root, const RelativePath& path, std::uint64_t max_bytes);

}  // namespace ws::sync
