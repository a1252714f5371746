#include "sync-engine/state/operations.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sync-engine/state/codec.hpp"
#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr std::int64_t partial_flag = 1;
constexpr std::int64_t may_delete_flag = 2;
constexpr std::int64_t spent_flag = 4;
constexpr std::int64_t local_flag = 8;
constexpr std::int64_t first_flag = 16;
constexpr std::int64_t lasting_flag = 32;

constexpr const char* insert_row_sql =
    "insert into operation_rows (operation, place, document, way, before_path, before_hash, before_revision, "
    "before_blob, after_path, after_hash, after_revision, after_blob) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// The base's row is what was before. ?9: of a file that has the name already which the service gets, the name there.
constexpr const char* insert_from_base_sql =
    "insert into operation_rows (operation, place, document, way, before_path, before_hash, before_revision, "
    "before_blob, after_path, after_hash, after_revision, after_blob) "
    "select ?1, ?2, ?3, ?4, case when ?9 and b.stays then b.path else coalesce(b.placed, b.path) end, b.hash, "
    "b.revision, b.blob, ?5, ?6, ?7, ?8 "
    "from (select 1) left join base b on b.document = ?3";

Result<std::optional<Version>> read_version(const sqlite::Statement& row, int column) {
  if (row.is_null(column)) return std::optional<Version>{};
  WS_LET(RelativePath path, RelativePath::parse(row.text(column)));
  return std::optional(Version{.path = std::move(path),
                               .hash = hash_of(row.blob(column + 1)),
                               .revision = {number_at(row, column + 2)},
                               .blob = object_of(row.blob(column + 3))});
}

Result<Operation> read_operation(const sqlite::Statement& row) {
  return Operation{.id = number_at(row, 0),
                   .time = time_at(row, 1),
                   .kind = row.string(2),
                   .command = row.string(3),
                   .device = row.string(4),
                   .undoes = number_at(row, 5),
                   .is_partial = (row.integer(6) & partial_flag) != 0,
                   .may_delete = (row.integer(6) & may_delete_flag) != 0,
                   .is_spent = (row.integer(6) & spent_flag) != 0,
                   .is_local = (row.integer(6) & local_flag) != 0,
                   .is_first = (row.integer(6) & first_flag) != 0,
                   .is_lasting = (row.integer(6) & lasting_flag) != 0,
                   .stage = static_cast<Operation::Stage>(row.integer(7)),
                   .revision_before = {number_at(row, 8)},
                   .revision_after = {number_at(row, 9)}};
}

Result<LeftAlone> read_left_alone(const sqlite::Statement& row) {
  WS_LET(RelativePath path, RelativePath::parse(row.text(0)));
  return LeftAlone{.path = std::move(path), .why = row.string(1)};
}

Result<std::optional<RelativePath>> read_path(const sqlite::Statement& row, int column) {
  if (row.is_null(column)) return std::optional<RelativePath>{};
  WS_LET(RelativePath path, RelativePath::parse(row.text(column)));
  return std::optional(std::move(path));
}

Result<FileStep> read_undo_step(const sqlite::Statement& row) {
  FileStep step{.seen_blob = object_of(row.blob(3)), .result_blob = object_of(row.blob(5))};
  WS_LET(step.from, read_path(row, 0));
  WS_LET(step.to, read_path(row, 1));
  if (!row.is_null(2)) step.seen = hash_of(row.blob(2));
  if (!row.is_null(4)) step.result = hash_of(row.blob(4));
  step.document = DocumentId(row.text(6));
  step.side = static_cast<StepSide>(row.integer(7));
  return step;
}

Result<DecidedText> read_decided_text(const sqlite::Statement& row) {
  WS_LET(Conflict conflict, decode_conflict(row.text(2)));
  DecidedText decided{.document = DocumentId(row.text(0)),
                      .text = hash_of(row.blob(1)),
                      .conflict = std::move(conflict),
                      .local_blob = object_of(row.blob(3)),
                      .archived_at = {number_at(row, 4)}};
  WS_LET(const std::optional<Version> base, read_version(row, 5));
  if (!base) return decided;
  decided.base = BaseRow{.entry = {.path = base->path, .hash = base->hash, .revision = base->revision},
                         .blob = base->blob,
                         .document_follows_file = row.integer(10) != 0};
  WS_LET(decided.base->displaced_to, read_path(row, 9));
  return decided;
}

/// Those with one of the origins; 0: all.
constexpr const char* rows_sql =
    "select document, way, before_path, before_hash, before_revision, before_blob, after_path, after_hash, "
    "after_revision, after_blob, place from operation_rows where operation = ?1 and (?2 = 0 or way & ?2) order by "
    "place";

Result<OperationRow> read_operation_row(const sqlite::Statement& row) {
  OperationRow change{.document = DocumentId(row.text(0)), .origins = ChangeOrigins(row.integer(1))};
  WS_LET(change.before, read_version(row, 2));
  WS_LET(change.after, read_version(row, 6));
  return change;
}

/// Several changes of one document in one operation are one.
class JoinedRows {
 public:
  void add(OperationRow row) {
    const auto [place, is_new] = places_.emplace(key_of(row), rows_.size());
    const bool is_merge = row.origins.has(ChangeOrigin::merged);
    if (is_new) {
      rows_.push_back(std::move(row));
    } else {
      OperationRow& known = rows_[place->second];
      known.origins.bits |= row.origins.bits;
      // One that was renamed here before the run, and changed by it before the new name was told.
      const bool is_renamed = row.before && row.after && row.before->path != row.after->path;
      const bool was_in_place = known.before && known.after && known.before->path == known.after->path;
      if (is_renamed && was_in_place && known.before->path == row.after->path) known.before->path = row.before->path;
      known.after = std::move(row.after);
    }
    OperationRow& joined = rows_[place->second];
    if (is_merge && joined.before && joined.after) {
      joined.before->hash = joined.after->hash;
      joined.before->blob = joined.after->blob;
    }
  }

  std::vector<OperationRow> take() {
    std::erase_if(rows_, [](const OperationRow& row) { return !row.before && !row.after; });
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.path() < b.path(); });
    return std::move(rows_);
  }

 private:
  /// A file without a document is known by where an earlier change left it.
  std::string key_of(const OperationRow& row) {
    if (!row.document.empty()) return row.document.text();
    std::string now = "/" + row.path().string();
    if (!row.before || !row.after || row.before->path == row.after->path) return now;
    const auto moved = places_.extract("/" + row.before->path.string());
    if (!moved.empty()) places_.insert_or_assign(now, moved.mapped());
    return now;
  }

  std::unordered_map<std::string, std::size_t> places_;
  std::vector<OperationRow> rows_;
};

const Operation* find_in(const std::vector<Operation>& all, std::uint64_t id) {
  const auto found = std::ranges::find(all, id, &Operation::id);
  return found == all.end() ? nullptr : &*found;
}

/// The number of undos between an operation and a run: 0 is a run, 1 an undo, 2 a redo.
int depth_of(const std::vector<Operation>& all, const Operation& operation) {
  int depth = 0;
  const Operation* at = &operation;
  while (at != nullptr && at->undoes != 0) {
    ++depth;
    at = at->undoes < at->id ? find_in(all, at->undoes) : nullptr;
  }
  return depth;
}

}  // namespace

Version version_of(const BaseRow& row) {
  return {.path = row.disk_path(), .hash = row.entry.hash, .revision = row.entry.revision, .blob = row.blob};
}

OperationRow row_of(const FileStep& step, ChangeOrigin origin) {
  OperationRow row{.document = step.document, .origins = origin};
  if (step.from) row.before = Version{.path = *step.from, .hash = *step.seen, .blob = step.seen_blob};
  if (step.to) {
    const git::ObjectId& blob = step.result_blob.empty() ? step.seen_blob : step.result_blob;
    row.after = Version{.path = *step.to, .hash = *step.result, .blob = blob};
  }
  return row;
}

bool OperationRow::changes() const {
  if (!before || !after) return before || after;
  return before->path != after->path || before->hash != after->hash;
}

bool OperationRow::is_of_others() const { return document.empty() && origins == ChangeOrigins(ChangeOrigin::received); }

void Operations::begin(Operation operation) {
  operation.id = 0;
  *open_ = {.operation = std::move(operation)};
}

Result<void> Operations::resume(const Operation& operation) {
  WS_LET(
      const std::int64_t last,
      integer_of(*database_, "select coalesce(max(place), 0) from operation_rows where operation = ?", operation.id));
  *open_ = {.operation = operation, .next_row = static_cast<std::uint64_t>(last) + 1};
  return {};
}

std::optional<std::uint64_t> Operations::current() const {
  const auto& operation = open_->operation;
  return operation && operation->id != 0 ? std::optional(operation->id) : std::nullopt;
}

Result<void> Operations::close(SourceRevision revision) {
  if (const auto id = current()) WS_TRY(drop_if_empty(*id));
  if (const auto id = current()) {
    // One that a power cut leaves open is continued by the next run, as one that was cut off.
    const auto closed = write_unflushed(*database_, [&]() -> Result<void> {
      // What it planned and did not make is gone from it by now.
      WS_TRY(run_sql(*database_,
                     "update operation_rows set way = way & ~?1 where operation = ?2 and way & ?1",
                     ChangeOrigin::planned,
                     *id));
      return run_sql(*database_, "update operations set stage = 0, revision_after = ? where id = ?", revision, *id);
    });
    WS_TRY(closed);
  }
  *open_ = {};
  return {};
}

/// Its row, with the first change of each transaction: one before may have been rolled back.
Result<void> Operations::begin_record() {
  if (!open_->operation || open_->is_noted) return {};
  Operation& operation = *open_->operation;
  if (operation.id == 0) {
    // The number of one that was dropped is not given again.
    WS_LET(const std::int64_t last,
           integer_of(*database_,
                      "select max(coalesce((select value from numbers where key = 'last_operation'), 0), "
                      "coalesce((select max(id) from operations), 0))"));
    operation.id = static_cast<std::uint64_t>(last) + 1;
  }
  WS_TRY(run_sql(*database_,
                 "insert or ignore into operations (id, time, kind, command, device, undoes, flags, stage, "
                 "revision_before, revision_after) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 operation.id,
                 operation.time,
                 operation.kind,
                 operation.command,
                 operation.device,
                 operation.undoes,
                 (operation.is_partial ? partial_flag : 0) | (operation.may_delete ? may_delete_flag : 0) |
                     (operation.is_local ? local_flag : 0) | (operation.is_first ? first_flag : 0),
                 Operation::Stage::open,
                 operation.revision_before,
                 operation.revision_before));
  WS_TRY(run_sql(*database_,
                 "insert into numbers values ('last_operation', ?) on conflict do update set value = "
                 "excluded.value where value < excluded.value",
                 operation.id));
  open_->is_noted = true;
  return {};
}

Result<void> Operations::record_base(const DocumentId& document, const BaseRow* row, ChangeOrigin origin) {
  if (origin == ChangeOrigin::agreed || !open_->operation) return {};
  WS_TRY(begin_record());
  const auto after = row != nullptr ? std::optional(version_of(*row)) : std::nullopt;
  const bool gets_name_there = origin == ChangeOrigin::sent && row != nullptr && !row->displaced_to;
  return run_sql(*database_,
                 insert_from_base_sql,
                 open_->operation->id,
                 open_->next_row++,
                 document,
                 origin,
                 after,
                 gets_name_there);
}

Result<void> Operations::record(const OperationRow& row) {
  if (!open_->operation || (!row.before && !row.after)) return {};
  WS_TRY(begin_record());
  return run_sql(*database_,
                 insert_row_sql,
                 open_->operation->id,
                 open_->next_row++,
                 row.document,
                 row.origins.bits,
                 row.before,
                 row.after);
}

Result<void> Operations::record(const DecidedText& decided) {
  if (!open_->operation) return {};
  WS_TRY(begin_record());
  return run_sql(*database_,
                 "insert into decided_texts select ?1, ?2, ?3, ?4, ?5, coalesce(p.revision, 0), b.path, b.hash, "
                 "b.revision, b.blob, b.placed, coalesce(b.stays, 0) from (select 1) left join base b on b.document = "
                 "?6 left join pending p on p.document = ?6",
                 open_->operation->id,
                 decided.document,
                 decided.text,
                 encode(decided.conflict),
                 decided.local_blob,
                 decided.conflict.document);
}

Result<void> Operations::record_planned(OperationRow row) {
  row.origins.add(ChangeOrigin::planned);
  return record(row);
}

Result<ChangeOrigins> Operations::planned_origins() {
  ChangeOrigins all;
  const auto add = [&all](const sqlite::Statement& row) -> Result<void> {
    all.bits |= ChangeOrigins(row.integer(0)).bits;
    return {};
  };
  const auto id = current();
  if (id) {
    WS_TRY(each_row(*database_,
                    "select distinct way from operation_rows where operation = ? and way & ?",
                    add,
                    *id,
                    ChangeOrigin::planned));
  }
  return all;
}

Result<void> Operations::settle_planned(const std::function<std::optional<bool>(const OperationRow&)>& took_place) {
  const auto id = current();
  if (!id) return {};
  std::vector<std::uint64_t> made;
  std::vector<std::uint64_t> not_made;
  const auto weigh = [&](const sqlite::Statement& stored) -> Result<void> {
    WS_LET(const OperationRow row, read_operation_row(stored));
    const std::optional<bool> took = took_place(row);
    if (took) (*took ? made : not_made).push_back(number_at(stored, 10));
    return {};
  };
  WS_TRY(each_row(*database_, rows_sql, weigh, *id, ChangeOrigin::planned));
  for (const std::uint64_t place : made) {
    WS_TRY(run_sql(*database_,
                   "update operation_rows set way = way & ~? where operation = ? and place = ?",
                   ChangeOrigin::planned,
                   *id,
                   place));
  }
  for (const std::uint64_t place : not_made) {
    WS_TRY(run_sql(*database_, "delete from operation_rows where operation = ? and place = ?", *id, place));
  }
  return not_made.empty() ? Result<void>() : drop_if_empty(*id);
}

/// One that changed nothing is none; its number is given again.
Result<void> Operations::drop_if_empty(std::uint64_t id) {
  WS_LET(const std::int64_t empty,
         integer_of(*database_,
                    "select count(*) from operations where id = ?1 and stage = ?2 and undoes = 0 and not exists "
                    "(select 1 from operation_rows where operation = ?1) and not exists "
                    "(select 1 from decided_texts where operation = ?1)",
                    id,
                    Operation::Stage::open));
  if (empty == 0) return {};
  WS_TRY(run_sql(*database_, "delete from operations where id = ?", id));
  WS_TRY(run_sql(*database_, "update numbers set value = value - 1 where key = 'last_operation' and value = ?", id));
  open_->operation->id = 0;
  open_->is_noted = false;
  return {};
}

Result<void> Operations::put_undo(const std::vector<FileStep>& steps) {
  WS_TRY(begin_record());
  const std::uint64_t id = open_->operation->id;
  WS_TRY(set_stage(id, Operation::Stage::undoing_on_disk));
  for (const FileStep& step : steps) {
    WS_TRY(run_sql(*database_,
                   "insert into file_steps (operation, from_path, to_path, seen, seen_blob, result, "
                   "result_blob, document, side) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   id,
                   step.from,
                   step.to,
                   step.seen,
                   step.seen_blob,
                   step.result,
                   step.result_blob,
                   step.document,
                   step.side));
  }
  return {};
}

Result<void> Operations::put_undo_here(const std::vector<FileStep>& steps) {
  const std::uint64_t id = open_->operation->id;
  WS_TRY(run_sql(*database_, "delete from file_steps where operation = ?", id));
  WS_TRY(run_sql(*database_, "update operations set flags = flags | ? where id = ?", local_flag, id));
  return put_undo(steps);
}

Result<void> Operations::put_undo_left(std::uint64_t operation, const std::vector<LeftAlone>& left) {
  for (const LeftAlone& each : left)
    WS_TRY(run_sql(*database_, "insert into undo_left values (?, ?, ?)", operation, each.path, each.why));
  return {};
}

Result<void> Operations::set_partial(std::uint64_t operation) {
  return run_sql(*database_, "update operations set flags = flags | ? where id = ?", partial_flag, operation);
}

Result<void> Operations::set_stage(std::uint64_t operation, Operation::Stage stage) {
  return run_sql(*database_, "update operations set stage = ? where id = ?", stage, operation);
}

Result<void> Operations::clear_undo(std::uint64_t operation) {
  WS_TRY(run_sql(*database_, "delete from file_steps where operation = ?", operation));
  WS_TRY(run_sql(*database_, "delete from undo_left where operation = ?", operation));
  WS_TRY(set_stage(operation, Operation::Stage::open));
  return drop_if_empty(operation);
}

Result<std::vector<LeftAlone>> Operations::undo_left(std::uint64_t operation) {
  return all_rows(
      *database_, "select path, why from undo_left where operation = ? order by rowid", read_left_alone, operation);
}

Result<std::vector<FileStep>> Operations::undo_steps(std::uint64_t operation) {
  return all_rows(*database_,
                  "select from_path, to_path, seen, seen_blob, result, result_blob, document, side from file_steps "
                  "where operation = ? order by place",
                  read_undo_step,
                  operation);
}

Result<std::vector<Operation>> Operations::list(std::size_t limit) {
  return all_rows(*database_,
                  "select id, time, kind, command, device, undoes, flags, stage, revision_before, revision_after "
                  "from operations order by id desc limit ?",
                  read_operation,
                  limit == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(limit));
}

Result<std::optional<Operation>> Operations::find(std::uint64_t id) {
  return find_row(*database_,
                  "select id, time, kind, command, device, undoes, flags, stage, revision_before, revision_after "
                  "from operations where id = ?",
                  read_operation,
                  id);
}

Result<std::optional<Operation>> Operations::find_at(Operation::Stage first, Operation::Stage last) {
  return find_row(*database_,
                  "select id, time, kind, command, device, undoes, flags, stage, revision_before, revision_after "
                  "from operations where stage between ? and ? order by id desc limit 1",
                  read_operation,
                  first,
                  last);
}

Result<std::vector<OperationRow>> Operations::rows(std::uint64_t id) {
  WS_LET(const std::int64_t undoes,
         integer_of(*database_, "select coalesce(max(undoes), 0) from operations where id = ?", id));
  JoinedRows joined;
  std::vector<OperationRow> of_others;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    WS_LET(OperationRow change, read_operation_row(row));
    if (undoes != 0 && change.is_of_others()) {
      of_others.push_back(std::move(change));
    } else if (change.before || change.after || !change.document.empty()) {
      joined.add(std::move(change));
    }
    return {};
  };
  WS_TRY(each_row(*database_, rows_sql, add, id, ChangeOrigin::agreed));
  std::vector<OperationRow> rows = joined.take();
  rows.insert(rows.end(), of_others.begin(), of_others.end());
  return rows;
}

Result<std::vector<DecidedText>> Operations::decided_texts(std::uint64_t id) {
  return all_rows(*database_,
                  "select document, text, conflict, local_blob, archived_at, base_path, base_hash, base_revision, "
                  "base_blob, base_placed, base_stays from decided_texts where operation = ? order by rowid",
                  read_decided_text,
                  id);
}

Result<std::map<std::string, std::string, std::less<>>> Operations::renames() {
  std::map<std::string, std::string, std::less<>> renames;
  std::map<DocumentId, std::string> last;
  WS_LET(std::vector<Operation> operations, list());
  std::ranges::reverse(operations);
  const auto note = [&](const std::string& from, const std::string& to) {
    renames.insert_or_assign(from, to);
    renames.erase(to);
  };
  for (const Operation& operation : operations) {
    WS_LET(const std::vector<OperationRow> all, rows(operation.id));
    for (const OperationRow& row : all) {
      // A decision about two new names is recorded with those: the name that both began with is that of an earlier row.
      const auto known = row.document.empty() ? last.end() : last.find(row.document);
      if (known != last.end() && row.before && known->second != row.before->path.text())
        note(known->second, row.before->path.string());
      if (row.before && row.after && row.before->path != row.after->path)
        note(row.before->path.string(), row.after->path.string());
      if (row.after && !row.document.empty()) last.insert_or_assign(row.document, row.after->path.string());
    }
  }
  return renames;
}

Result<std::vector<OperationRow>> Operations::rows_sent_after(std::uint64_t id) {
  return all_rows(
      *database_,
      "select document, way, before_path, before_hash, before_revision, before_blob, after_path, after_hash, "
      "after_revision, after_blob from operation_rows where operation > ? and way & ?",
      read_operation_row,
      id,
      ChangeOrigin::sent);
}

Result<std::vector<git::ObjectId>> Operations::texts_since(Time time) {
  WS_LET(const std::uint64_t first, first_since(time));
  std::vector<git::ObjectId> texts;
  const auto add = [&](const sqlite::Statement& row) -> Result<void> {
    for (const int column : {0, 1}) {
      if (!row.is_null(column)) texts.push_back(object_of(row.blob(column)));
    }
    return {};
  };
  WS_TRY(each_row(*database_,
                  "select before_blob, after_blob from operation_rows where operation in (select id from "
                  "operations where id >= ?1 or stage <> 0) union all select seen_blob, result_blob from file_steps "
                  "union all select local_blob, base_blob from decided_texts where operation >= ?1",
                  add,
                  first));
  return texts;
}

Result<std::optional<DocumentRevision>> Operations::revision_of(const git::ObjectId& blob) {
  WS_LET(const std::int64_t revision,
         integer_of(*database_,
                    "select revision from (select revision from base where blob = ?1 union all select "
                    "max(after_revision) from operation_rows where after_blob = ?1) where revision > 0",
                    blob));
  return revision == 0 ? std::nullopt : std::optional(DocumentRevision{static_cast<std::uint64_t>(revision)});
}

Result<std::uint64_t> Operations::first_since(Time time) {
  WS_LET(const std::int64_t first,
         integer_of(*database_,
                    "select coalesce(min(id), (select coalesce(max(id), 0) + 1 from operations)) from operations "
                    "where time >= ?",
                    time));
  return static_cast<std::uint64_t>(first);
}

Result<void> Operations::drop_before(Time time) {
  WS_LET(const std::uint64_t first, first_since(time));
  WS_TRY(run_sql(*database_,
                 "delete from operation_rows where operation in (select id from operations where id < ? "
                 "and stage = 0)",
                 first));
  WS_TRY(run_sql(*database_, "delete from operations where id < ? and stage = 0", first));
  WS_TRY(run_sql(*database_,
                 "delete from file_conflicts where decided_by <> 0 and decided_by not in (select id from operations)"));
  WS_TRY(run_sql(*database_,
                 "delete from words where key glob 'left_by *' and cast(substr(key, 9) as integer) not in "
                 "(select id from operations)"));
  return run_sql(*database_, "delete from decided_texts where operation not in (select id from operations)");
}

Result<void> Operations::set_spent(std::uint64_t operation) {
  return run_sql(*database_, "update operations set flags = flags | ? where id = ?", spent_flag, operation);
}

Result<void> Operations::set_lasting(std::uint64_t operation) {
  return run_sql(*database_, "update operations set flags = flags | ? where id = ?", lasting_flag, operation);
}

namespace {

/// Whether anything of it was undone and is so still.
bool is_undone_in_part(const std::vector<Operation>& all, std::uint64_t id) {
  return std::ranges::any_of(
      all, [&](const Operation& each) { return each.undoes == id && each.id > id && !is_undone(all, each.id); });
}

}  // namespace

bool is_undone(const std::vector<Operation>& all, std::uint64_t id) {
  return std::ranges::any_of(all, [&](const Operation& each) {
    return each.undoes == id && each.id > id && !each.is_partial && !is_undone_in_part(all, each.id);
  });
}

std::optional<Operation> last_to_undo(const std::vector<Operation>& newest_first, int depth) {
  for (const Operation& each : newest_first) {
    if (!each.is_spent && !each.is_lasting && depth_of(newest_first, each) == depth &&
        !is_undone(newest_first, each.id))
      return each;
  }
  return std::nullopt;
}

}  // namespace ws::sync
