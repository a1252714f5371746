/// The walk of a tree with its stat cache, and what the cache alone tells of the base.
///
/// A tree as both sides agreed on it needs no base at all. One in which files were edited in place, and nothing came,
/// went or moved, needs the rows of those files: `load_edits`.
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

/// How the files stand to the base of that generation, as far as the cache can tell: it has to be of the same base, and
/// what the walk met has to be what the cache has.
CacheMatch match_cache(const Scan& scan, std::uint64_t generation);

/// Where every file is as the base has it and none is missing, the files; empty otherwise. For a tree without a cache
/// that knows: no plan has to be made of the whole base. Fails with `disk`.
Result<std::optional<std::map<DocumentId, FileId>>> files_as_agreed(Session& session, const Scan& scan);

/// Fills in the files that were edited in place, their documents and nothing else. False, and nothing filled in, where
/// a file belongs to no document: then the whole base has to be looked at. Fails with `disk`.
Result<bool> load_edits(Session& session, Survey& survey);

/// Whether the file lies where the base has it, with the same text.
bool is_as_agreed(const Survey& survey, const DocumentId& document);

/// Leaves a cache that says how the files stand to the base of that generation. `CacheExtent::at_edits`: the survey
/// holds what `load_edits` brought. What cannot be written (a read-only tree) costs time later, no more.
enum class CacheExtent { at_all, at_edits };
void save_cache(const Session& session, const Survey& survey, std::uint64_t generation, CacheExtent extent);

}  // namespace ws::sync
