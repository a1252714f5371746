/// The invariants of `sync.md` that a single command can violate. Each check returns a description of the violation;
/// empty: the invariant holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "tests/property/bound_folder.hpp"
#include "tests/property/service.hpp"

namespace ws::property {

/// Both sides and the engine's state at one moment.
struct Observation {
  Files files = {};
  Files outside = {};
  Files own = {};
  Documents documents = {};
  std::map<sync::DocumentId, sync::BaseRow> base = {};
  std::map<std::string, std::string> listed = {};  ///< the list of attachments on the service: hashes by path
};
Observation look(const BoundFolder& place, Service& service);
/// The two sides alone.
Observation glance(const BoundFolder& place, Service& service);

/// Every text that a user could miss.
std::set<std::string> texts_of(const Observation& observation);

/// I1. `owed` are the texts that existed before, those of pictures among them.
std::string nothing_is_lost(const std::set<std::string>& owed,
                            const Observation& after,
                            const BoundFolder& place,
                            Service& service);
/// I3, I10: neither contents nor time stamps change.
std::string nothing_is_written(const Observation& before, const Observation& after);
/// I11, for a command without --force.
std::string deletes_are_bounded(const Observation& before, const Observation& after);
/// I12: links, hidden files and files that are not Markdown are unchanged.
std::string strangers_are_untouched(const Observation& before, const Observation& after);
/// I14: each pushed item is based on a revision that the client has seen.
std::string pushes_know_their_base(const std::vector<std::string>& sent, const Observation& before, Service& service);
/// I15: the base matches what the service had at that revision, and its text is in the history.
std::string base_is_true(const Observation& after, const BoundFolder& place, Service& service);
/// I20: a file whose text and path are unchanged keeps its inode.
std::string files_do_not_drift(const Observation& before, const Observation& after, const sync::Report* report);
/// I21: no document was archived while the file that held it is still there. `holders`: the inode of each.
std::string identities_stay(const std::map<sync::DocumentId, std::uint64_t>& holders,
                            const Observation& before,
                            const Observation& after);
/// I2 of what the list of attachments names.
std::string pictures_agree(const Observation& observation);
/// I2.
std::string sides_agree(const Observation& observation, const BoundFolder& place);

/// The rows of a report, one per line: "push_create a.md", "pull_move b.md <- a.md".
std::vector<std::string> rows_of(const sync::Report& report);

/// I10: the rows are those of the preview; else, how they differ. A run that frees the name of a skipped twin plans
/// once more, and may also create a document there. `only_reads`: the key of a viewer, which the preview does not know:
/// no file is sent with it.
std::string otherwise_than_foreseen(const sync::Report& foreseen, const sync::Report& done, bool only_reads);

}  // namespace ws::property
