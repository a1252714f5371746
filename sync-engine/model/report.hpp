/// What a command of the sync engine did, row by row.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// What became of one row of the plan.
struct Row {
  enum class State { planned, staged, done, failed };
  Action action;
  State state = State::planned;
  std::shared_ptr<const Failure> error = {};  ///< null: none. Few rows fail, and there may be 100,000

  void fail(Failure failure);
};

std::string_view name(Row::State state);  ///< "planned"

/// Something to know that asks for nothing.
struct Remark {
  enum class Word {
    unportable_name,   ///< a name that other systems cannot hold, when it comes or goes out
    same_revision,     ///< a fault of the service: another text at the revision that both sides had
    state_remade,      ///< the state was lost and is made anew: what was deleted since cannot be known
    attachments_off,   ///< told once: notes show files, and the tree was tied before these were synced
    manifest_damaged,  ///< the list of attachments on the service was edited by hand or is older: it is made anew
    foreign_file,      ///< told once: a text that somebody else wrote shows a file here that is not synced
    open_to_others,    ///< every user of the machine may write to this folder
    agent_note,        ///< somebody else made or changed a note that programs obey, such as AGENTS.md
    cut_off,           ///< an earlier command was cut off, and the next one finishes it before its own work
    asset_in_doubt,    ///< an upload whose outcome nobody could tell was sent again: there may be a second Asset
  };
  Word word = Word::unportable_name;
  std::string path = {};  ///< empty: about the tree
  std::string note = {};  ///< that shows it, of `foreign_file`
  std::string by = {};    ///< who wrote that, or the `agent_note`; empty: it is not known
  bool operator==(const Remark&) const = default;
};
std::string_view name(Remark::Word word);  ///< "unportable_name"

/// A folder of which every synced document was moved, or is to be, to the same names below another one.
struct RenamedFolder {
  std::string from = {};  ///< "a/b", without a slash at the end
  std::string to = {};
  bool operator==(const RenamedFolder&) const = default;
};

struct Report {
  std::string source_id = {};
  SourceRevision base_revision = {};  ///< before the call
  SourceRevision revision = {};       ///< and as far as it is known now
  std::vector<Row> rows = {};
  std::vector<Conflict> conflicts = {};  ///< this tree's own that are open
  std::vector<Skipped> skipped = {};
  std::vector<Detached> detached = {};
  std::optional<Guard> guard = {};       ///< set: the guard stopped the call, nothing was changed
  std::optional<Guard> held_back = {};   ///< set: the guard held these deletes back, the rest was done
  std::optional<Growth> growth = {};     ///< set: these files wait for a confirmation, the rest was done
  std::uint64_t not_included = 0;        ///< files here that are not hidden, and of no kind that is synced
  bool only_notes = false;               ///< that of them which notes show is not asked: `attachments: off`
  std::vector<std::string> others = {};  ///< the names of those, in order, where `name_others` asked for them
  std::map<RelativePath, std::string> archived_by = {};  ///< who archived what goes here, as far as it is known
  std::vector<RenamedFolder> renamed_folders = {};       ///< for people, who read one line in place of many
  std::vector<Remark> remarks = {};
  std::uint64_t not_synced = 0;                 ///< of the skipped: files that notes show, or that the service has
  std::vector<std::string> unread_links = {};   ///< notes whose links could not all be read
  std::uint64_t broken_links = 0;               ///< links of notes here that lead to no file and no heading
  std::uint64_t links_of_renames = 0;           ///< links to files that are renamed here and sent with this call
  std::uint64_t links_mended = 0;               ///< of those, edited by this call; of a plan: that a run would edit
  std::optional<Failure> ended_by = {};         ///< what ended the call early, after some rows were done
  std::optional<std::uint64_t> operation = {};  ///< the record of what this call changed; empty: nothing
  bool clean = true;                            ///< nothing to do, or all of it done, and no conflict open
  bool partial = false;  ///< there is more to do than this call was asked for; then it is not clean
};

/// `cli.md`: {v: 1, source_id, base_revision, revision, actions, conflicts, skipped, detached, counts, clean}; beside
/// them `remarks`, and where they apply `operation`, `guard` and `ended_by`. tests/sync-engine/report_test.cpp holds
/// its schema.
Json to_json(const Report& report);

}  // namespace ws::sync
