/// Operations: the record of what each run changed, for `ws sync runs` and `undo`.
///
/// The rows of an operation are written in the transaction that moves the base of their documents, so a run that is
/// killed leaves the operation of what it did, still open; the next one goes on with it. A run that changes nothing
/// writes nothing. The texts lie in the history; `gc` drops both together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "sync-engine/git/object.hpp"
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/state/state_rows.hpp"

namespace ws::sync {

/// How a document came to change. `agreed`: neither side was written, and nothing is recorded. `planned`, beside
/// another one: recorded before the change was made. Of an operation that was cut off it is asked what took place.
enum class ChangeOrigin : std::uint8_t {
  agreed = 0,
  received = 1,
  merged = 2,
  sent = 4,
  decided = 8,
  restored = 16,
  planned = 32
};

/// All origins of one change, for an operation may change a document more than once.
struct ChangeOrigins {
  std::uint8_t bits = 0;

  ChangeOrigins() = default;
  ChangeOrigins(ChangeOrigin origin)  // NOLINT(google-explicit-constructor): one origin is a set of origins
      : bits(static_cast<std::uint8_t>(origin)) {}
  explicit ChangeOrigins(std::int64_t stored) : bits(static_cast<std::uint8_t>(stored)) {}
  void add(ChangeOrigin origin) { bits |= static_cast<std::uint8_t>(origin); }
  bool has(ChangeOrigin origin) const { return (bits & static_cast<std::uint8_t>(origin)) != 0; }
  bool operator==(const ChangeOrigins&) const = default;
};

/// A document at one point: where its file lay, and its text.
struct Version {
  RelativePath path;
  Sha256 hash = {};
  DocumentRevision revision = {};
  git::ObjectId blob = {};
  bool operator==(const Version&) const = default;
};
Version version_of(const BaseRow& row);

/// The change of one document by an operation. For a merge `before` has the service's text: the local text was an edit
/// and is in the history.
struct OperationRow {
  DocumentId document = {};  ///< empty: a file that is no document yet
  ChangeOrigins origins = {};
  std::optional<Version> before = {};  ///< empty: it was not there
  std::optional<Version> after = {};   ///< empty: it went
  /// Whether there is anything to take back.
  bool changes() const;
  /// Of an undo: what it received meanwhile about a file that notes show. A redo does not take that back.
  bool is_of_others() const;
  /// Whether it is about a file that was no note then: the history has texts of notes only.
  bool is_about_file() const { return document.empty() && (after ? *after : *before).blob.empty(); }
  const RelativePath& path() const { return after ? after->path : before->path; }
  bool operator==(const OperationRow&) const = default;
};

/// What both sides of a document had when one of them was chosen: by the decision of a conflict about its text, or by a
/// `reset` to what the service has (then `conflict` was not recorded and has no id). The undo gives each side its own
/// back, with the base of before: one of the two texts must not be what it takes away.
struct DecidedText {
  DocumentId document = {};           ///< that has the text from then on: the conflict's own, or a new one
  Sha256 text = {};                   ///< the one that was decided for; zero: none, the file went
  Conflict conflict;                  ///< as it was
  git::ObjectId local_blob = {};      ///< its local text
  DocumentRevision archived_at = {};  ///< of a document that the service has no more
  std::optional<BaseRow> base = {};   ///< of the conflict's document, before
  /// Whether the file got theirs: the service has it, and an undo is about this side alone.
  bool was_open() const { return !conflict.id.empty(); }
  bool is_for_theirs() const { return conflict.remote ? text == conflict.remote->hash : text == Sha256{}; }
};

struct Operation {
  enum class Stage { closed, open, undoing_on_disk, undoing_on_service };
  std::uint64_t id = 0;
  Time time = {};
  std::string kind = {};     ///< "run", "pull", "commit", "resolve", "restore", "undo"
  std::string command = {};  ///< the command line
  std::string device = {};   ///< the machine that it ran on, as it calls itself
  std::uint64_t undoes = 0;  ///< the operation that it takes back; 0: none
  bool is_partial = false;   ///< of an undo: it left something that a later one may take back
  bool may_delete = false;   ///< of an undo: a person confirmed its deletes, not an empty or a different service
  bool is_spent = false;     ///< nothing of it was left to take back: others took it back already
  bool is_local = false;     ///< of an undo: nothing of what it takes back was sent
  bool is_first = false;     ///< a run, no undo, before which nothing was agreed, or all of that was taken back
  bool is_lasting = false;   ///< what is in effect of it no undo can take back
  Stage stage = Stage::closed;
  SourceRevision revision_before = {};
  SourceRevision revision_after = {};
  bool operator==(const Operation&) const = default;
};

/// A change that an undo left out, and why.
struct LeftAlone {
  RelativePath path;
  std::string why = {};   ///< half a sentence
  bool is_final = false;  ///< a later call does no more about it either
  bool operator==(const LeftAlone&) const = default;
};

/// Where a step takes place. `here`: the service has no part in it. A run receives so.
///
/// Before the first run nothing was agreed, so its undo takes from each side what that run brought there: what was sent
/// goes from the service and stays here, what was received goes here and stays on the service.
///
/// `in_the_end`: here, once the service was told of the other steps; then the conflict of a decision is open again.
enum class StepSide : std::uint8_t { both, here, service, in_the_end };

constexpr bool is_here_alone(StepSide side) { return side == StepSide::here || side == StepSide::in_the_end; }

/// One change of a file on disk. All of a journal's steps are recorded before the first is carried out.
struct FileStep {
  DocumentId document = {};               ///< whose file it stays; empty: nobody's yet
  std::optional<RelativePath> from = {};  ///< empty: the file comes anew
  std::optional<RelativePath> to = {};    ///< empty: it goes
  std::optional<Sha256> seen = {};        ///< the text at `from`
  git::ObjectId seen_blob = {};           ///< where the history has it; empty: perhaps nowhere
  std::optional<Sha256> result = {};      ///< the text at `to`
  git::ObjectId result_blob = {};         ///< empty: as it was
  StepSide side = StepSide::both;         ///< see `StepSide`
  bool is_rename() const { return from && to && from != to; }
  /// Whether it is about the bytes of a file that notes show, which lie in `.ws/attachments`. A rename alone is not.
  bool is_about_bytes() const { return seen != result && document.empty() && seen_blob.empty() && result_blob.empty(); }
  bool operator==(const FileStep&) const = default;
};

/// How an operation records the step.
OperationRow row_of(const FileStep& step, ChangeOrigin origin);

/// The open operation of a store.
struct OpenOperation {
  std::optional<Operation> operation = {};  ///< without an id until its first change
  std::uint64_t next_row = 0;
  bool is_noted = false;  ///< in this transaction
};

class Operations {
 public:
  Operations(sqlite::Database& database, OpenOperation& open) : database_(&database), open_(&open) {}

  /// Opens an operation. It is written with its first change.
  void begin(Operation operation);
  /// Resumes an open operation.
  Result<void> resume(const Operation& operation);
  /// The one that changes go to, once there were any.
  std::optional<std::uint64_t> current() const;
  /// Closes the open operation.
  Result<void> close(SourceRevision revision);

  // Within the caller's transaction.
  Result<void> record_base(const DocumentId& document, const BaseRow* row, ChangeOrigin origin);
  Result<void> record(const OperationRow& row);
  /// With the decision's row, before the base changes: it takes `base` and `archived_at` from the state.
  Result<void> record(const DecidedText& decided);
  /// Writes its row, if it is not there: what is journalled is its own, whoever ends it. One that changed nothing goes
  /// when it is closed.
  Result<void> begin_record();
  /// Of a change that is about to be made: what is killed after this knows what it was doing.
  Result<void> record_planned(OperationRow row);
  /// Of the open operation: the rows that were recorded before their change was made. Those that did not take place
  /// go; empty: not known yet.
  Result<void> settle_planned(const std::function<std::optional<bool>(const OperationRow&)>& took_place);
  /// Stores the open undo operation with its steps.
  Result<void> put_undo(const std::vector<FileStep>& steps);
  /// The same of an undo that has told the service all: these are left to do here.
  Result<void> put_undo_here(const std::vector<FileStep>& steps);
  /// In addition to what it has left before.
  Result<void> put_undo_left(std::uint64_t operation, const std::vector<LeftAlone>& left);
  /// An undo that could not do all that it had planned.
  Result<void> set_partial(std::uint64_t operation);
  /// `undo` without a number passes over it from now on.
  Result<void> set_spent(std::uint64_t operation);
  /// The same, though it is in effect.
  Result<void> set_lasting(std::uint64_t operation);
  Result<void> set_stage(std::uint64_t operation, Operation::Stage stage);
  /// Its steps are done: it is open again, or no operation where it has no rows.
  Result<void> clear_undo(std::uint64_t operation);

  Result<std::vector<FileStep>> undo_steps(std::uint64_t operation);
  Result<std::vector<LeftAlone>> undo_left(std::uint64_t operation);
  /// The newest first; 0: all.
  Result<std::vector<Operation>> list(std::size_t limit = 0);
  Result<std::optional<Operation>> find(std::uint64_t id);
  /// The newest at one of those stages.
  Result<std::optional<Operation>> find_at(Operation::Stage first, Operation::Stage last);
  /// One row a document; of an undo, what it received of a file stands by itself, after the others.
  Result<std::vector<OperationRow>> rows(std::uint64_t id);
  Result<std::vector<DecidedText>> decided_texts(std::uint64_t id);
  /// What was renamed, on either side: by each old name the next one, unless the old one is in use again.
  Result<std::map<std::string, std::string, std::less<>>> renames();
  /// What later operations sent.
  Result<std::vector<OperationRow>> rows_sent_after(std::uint64_t id);
  /// Of the rows of the open operation whose change may not have been made; none: there are none.
  Result<ChangeOrigins> planned_origins();
  /// The first that is from `time` or later: gc keeps it and all after it, for the clock may have been set back since.
  Result<std::uint64_t> first_since(Time time);
  /// Of these: the texts that they name.
  Result<std::vector<git::ObjectId>> texts_since(Time time);
  /// Of the document whose text it was, the newest; empty: no operation names it.
  Result<std::optional<DocumentRevision>> revision_of(const git::ObjectId& blob);
  Result<void> drop_before(Time time);

 private:
  Result<void> drop_if_empty(std::uint64_t id);

  sqlite::Database* database_;
  OpenOperation* open_;
};

/// The default operation of `undo` (depth 0) or `redo` (depth 1): the newest of its kind that is in effect.
std::optional<Operation> last_to_undo(const std::vector<Operation>& newest_first, int depth);
/// Whether all of it was undone by operations that are in effect.
bool is_undone(const std::vector<Operation>& all, std::uint64_t id);

}  // namespace ws::sync
