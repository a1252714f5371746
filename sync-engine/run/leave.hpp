/// What a person does not want here and leaves on the service: `leave` and `take` (`sync.md`, "Left out here on
/// purpose"). Neither is ever a delete there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/binding/left_out.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/run/bring_back.hpp"

namespace ws::sync {

/// Their kinds of operation (`Operation::kind`).
inline constexpr std::string_view leave_operation = "leave";
inline constexpr std::string_view take_operation = "take";

/// One name of `leave_out:`, for people.
struct LeftOutName {
  std::string name = {};                  ///< as it stands in the list
  std::optional<RelativePath> note = {};  ///< of a document: where both sides last agreed that it is
  bool operator==(const LeftOutName&) const = default;
};
/// In the order of the file.
Result<std::vector<LeftOutName>> list_left_out(Session& session);

struct LeaveWish {
  std::vector<RelativePath> places = {};  ///< files, or folders with all that is in them, also what comes there later
  WantedPath pattern = {};                ///< of what is there now, each by itself
  bool dry_run = false;
};
/// Removes the files here and remembers what is left out; one operation, which `undo` takes back. Fails with
/// `not_found` where nothing known has such a name, with `conflict` where one of the files is not in step or has an
/// open conflict: then nothing was changed. Without the network.
Result<BroughtBack> leave(RunContext& context, const LeaveWish& wish);

struct TakeWish {
  std::vector<RelativePath> places = {};
  WantedPath pattern = {};  ///< of the names, and of where a document was
  std::vector<DocumentId> documents = {};
  bool all = false;
  bool dry_run = false;
};
struct Taken {
  std::vector<LeftOutName> names = {};  ///< what is no longer left out
  bool brings_any = false;              ///< of it, or of what an earlier call did not bring to the end
  std::optional<Report> report = {};    ///< of the pull that brings it; empty: there was nothing to take, or a dry run
};
/// The names alone, and what a pull has to be asked for. Fails with `not_found` where such a name is not left out, with
/// `usage` where it is only with the folder that it is in.
Result<Taken> take(RunContext& context, const TakeWish& wish, RunOptions& pull);

/// What an undo has to do with the rule: `none`; a `leave` is taken back, so that its files may be here again; or that
/// is undone, and they are left out once more.
enum class RuleChange { none, takes, leaves };
Result<RuleChange> rule_change_of(RunContext& context, const Operation& undone);
/// `takes`: before the undo is planned; `leaves`: before its files go. A folder that was left out as a whole stays out
/// where `only` names a part of it.
Result<void> change_rule(
    RunContext& context, const Operation& undone, RuleChange change, const WantedPath& only, bool dry_run);

}  // namespace ws::sync
