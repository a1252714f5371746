/// The invariants of `sync.md`, as far as one order to one engine can break them. Each check answers with what is
/// wrong; empty: the law held.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "tests/property/place.hpp"
#include "tests/property/service.hpp"

namespace ws::property {

/// Both sides and what the engine remembers, at one moment.
struct Picture {
  Files files = {};
  Files outside = {};
  Files own = {};
  Documents documents = {};
  std::map<sync::DocumentId, sync::BaseRow> base = {};
};
Picture look(const Place& place, Service& service);

/// Every text that a person could miss.
std::set<std::string> texts_of(const Picture& picture);

/// I1. `owed` are the texts that were there before.
std::string nothing_is_lost(const std::set<std::string>& owed, const Picture& after, const Place& place);
/// I3, I10: not a byte and not a stamp.
std::string nothing_is_written(const Picture& before, const Picture& after);
/// I11, for an order without override.
std::string deletes_are_bounded(const Picture& before, const Picture& after);
/// I12: links, hidden files and what is no Markdown are as they were.
std::string strangers_are_untouched(const Picture& before, const Picture& after);
/// I14: what was sent was made from a revision that was seen.
std::string pushes_know_their_base(const std::vector<std::string>& sent, const Picture& before, Service& service);
/// I15: what the base claims is what the service had at that revision, and its text is in the history.
std::string base_is_true(const Picture& after, const Place& place, Service& service);
/// I20: a file whose text and place are the same is the same file.
std::string files_do_not_drift(const Picture& before, const Picture& after, const sync::Report* report);
/// I2.
std::string sides_agree(const Picture& picture, const Place& place);

/// "push_create a.md", "pull_move b.md <- a.md": what a report says, a line each.
std::vector<std::string> rows_of(const sync::Report& report);

/// I10: the rows are those that were foreseen. A run that frees the name of a skipped twin plans once more, and may
/// also create a document there.
bool as_foreseen(const sync::Report& foreseen, const sync::Report& done);

}  // namespace ws::property
