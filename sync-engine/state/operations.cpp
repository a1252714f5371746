#include "sync-engine/state/operations.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sync-engine/state/columns.hpp"

namespace ws::sync {
namespace {

constexpr std::int64_t partial_flag = 1;
constexpr std::int64_t may_delete_flag = 2;

constexpr const char* insert_row_sql =
    "insert into operation_rows (operation, place, document, way, before_path, before_hash, before_revision, "
    "before_blob, after_path, after_hash, after_revision, after_blob) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// The base's row is what was before.
constexpr const char* insert_from_base_sql =
    "insert into operation_rows (operation, place, document, way, before_path, before_hash, before_revision, "
    "before_blob, after_path, after_hash, after_revision, after_blob) "
    "select ?1, ?2, ?3, ?4, coalesce(b.placed, b.path), b.hash, b.revision, b.blob, ?5, ?6, ?7, ?8 "
    "from (select 1) left join base b on b.document = ?3";

void bind_version(sqlite::Statement& statement, int place, const std::optional<Version>& version) {
  if (!version) {
    for (int i = 0; i < 4; ++i) statement.bind(place + i, nullptr);
    return;
  }
  statement.bind(place, version->path.string());
  statement.bind_blob(place + 1, bytes_of(version->hash));
  statement.bind(place + 2, static_cast<std::int64_t>(version->revision.number));
  statement.bind_blob(place + 3, bytes_of(version->blob));
}

Result<std::optional<Version>> read_version(const sqlite::Statement& row, int column) {
  if (row.is_null(column)) return std::optional<Version>{};
  WS_LET(RelativePath path, RelativePath::parse(row.text(column)));
  return std::optional(Version{.path = std::move(path),
                               .hash = hash_of(row.blob(column + 1)),
                               .revision = {static_cast<std::uint64_t>(row.integer(column + 2))},
                               .blob = object_of(row.blob(column + 3))});
}

Operation read_operation(const sqlite::Statement& row) {
  return {.id = static_cast<std::uint64_t>(row.integer(0)),
          .time = Time(std::chrono::milliseconds(row.integer(1))),
          .kind = row.string(2),
          .command = row.string(3),
          .undoes = static_cast<std::uint64_t>(row.integer(4)),
          .is_partial = (row.integer(5) & partial_flag) != 0,
          .may_delete = (row.integer(5) & may_delete_flag) != 0,
          .stage = static_cast<Operation::Stage>(row.integer(6)),
          .revision_before = {static_cast<std::uint64_t>(row.integer(7))},
          .revision_after = {static_cast<std::uint64_t>(row.integer(8))}};
}

/// Several changes of one document in one operation are one.
class JoinedRows {
 public:
  void add(OperationRow row) {
    std::string key = row.document.empty() ? "/" + row.path().string() : row.document.text;
    const auto [place, is_new] = places_.emplace(std::move(key), rows_.size());
    const bool is_merge = row.origins.has(ChangeOrigin::merged);
    if (is_new) {
      rows_.push_back(std::move(row));
    } else {
      rows_[place->second].origins.bits |= row.origins.bits;
      rows_[place->second].after = std::move(row.after);
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

bool OperationRow::changes() const {
  if (!before || !after) return before || after;
  return before->path != after->path || before->hash != after->hash;
}

void Operations::begin(Operation operation) {
  operation.id = 0;
  *open_ = {.operation = std::move(operation)};
}

Result<void> Operations::resume(const Operation& operation) {
  WS_LET(const sqlite::CachedStatement last,
         database_->cached("select coalesce(max(place), 0) from operation_rows where operation = ?"));
  last->bind(1, static_cast<std::int64_t>(operation.id));
  WS_TRY(last->step());
  *open_ = {.operation = operation, .next_row = static_cast<std::uint64_t>(last->integer(0)) + 1};
  return {};
}

std::optional<std::uint64_t> Operations::current() const {
  const auto& operation = open_->operation;
  return operation && operation->id != 0 ? std::optional(operation->id) : std::nullopt;
}

Result<void> Operations::close(SourceRevision revision) {
  const auto id = current();
  if (id) {
    WS_LET(const sqlite::CachedStatement put,
           database_->cached("update operations set stage = 0, revision_after = ? where id = ?"));
    put->bind_all(static_cast<std::int64_t>(revision.number), static_cast<std::int64_t>(*id));
    WS_TRY(put->run());
  }
  *open_ = {};
  return {};
}

/// Its row, with the first change of each transaction: one before may have been rolled back.
Result<void> Operations::begin_record() {
  Operation& operation = *open_->operation;
  if (open_->is_noted) return {};
  if (operation.id == 0) {
    // The number of one that was dropped is not given again.
    WS_LET(const sqlite::CachedStatement last,
           database_->cached("select max(coalesce((select value from numbers where key = 'last_operation'), 0), "
                             "coalesce((select max(id) from operations), 0))"));
    WS_TRY(last->step());
    operation.id = static_cast<std::uint64_t>(last->integer(0)) + 1;
  }
  const auto id = static_cast<std::int64_t>(operation.id);
  WS_LET(const sqlite::CachedStatement put,
         database_->cached("insert or ignore into operations (id, time, kind, command, undoes, flags, stage, "
                           "revision_before, revision_after) values (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  put->bind_all(id,
                static_cast<std::int64_t>(operation.time.time_since_epoch().count()),
                operation.kind,
                operation.command,
                static_cast<std::int64_t>(operation.undoes),
                (operation.is_partial ? partial_flag : 0) | (operation.may_delete ? may_delete_flag : 0),
                static_cast<std::int64_t>(Operation::Stage::open),
                static_cast<std::int64_t>(operation.revision_before.number),
                static_cast<std::int64_t>(operation.revision_before.number));
  WS_TRY(put->run());
  WS_LET(const sqlite::CachedStatement count,
         database_->cached("insert into numbers values ('last_operation', ?) on conflict do update set value = "
                           "excluded.value where value < excluded.value"));
  count->bind_all(id);
  WS_TRY(count->run());
  open_->is_noted = true;
  return {};
}

Result<void> Operations::record_base(const DocumentId& document, const BaseRow* row, ChangeOrigin origin) {
  if (origin == ChangeOrigin::agreed || !open_->operation) return {};
  WS_TRY(begin_record());
  WS_LET(const sqlite::CachedStatement put, database_->cached(insert_from_base_sql));
  put->bind_all(static_cast<std::int64_t>(open_->operation->id),
                static_cast<std::int64_t>(open_->next_row++),
                document.text,
                static_cast<std::int64_t>(origin));
  bind_version(*put, 5, row != nullptr ? std::optional(version_of(*row)) : std::nullopt);
  return put->run();
}

Result<void> Operations::record(const OperationRow& row) {
  if (!open_->operation || (!row.before && !row.after)) return {};
  WS_TRY(begin_record());
  WS_LET(const sqlite::CachedStatement put, database_->cached(insert_row_sql));
  put->bind_all(static_cast<std::int64_t>(open_->operation->id),
                static_cast<std::int64_t>(open_->next_row++),
                row.document.text,
                static_cast<std::int64_t>(row.origins.bits));
  bind_version(*put, 5, row.before);
  bind_version(*put, 9, row.after);
  return put->run();
}

Result<void> Operations::put_undo(const std::vector<UndoStep>& steps) {
  WS_TRY(begin_record());
  const std::uint64_t id = open_->operation->id;
  WS_TRY(set_stage(id, Operation::Stage::undoing_on_disk));
  WS_LET(const sqlite::CachedStatement put,
         database_->cached("insert into undo_steps (operation, from_path, to_path, seen, seen_blob, result, "
                           "result_blob) values (?, ?, ?, ?, ?, ?, ?)"));
  const auto bind_hash = [&](int place, const std::optional<Sha256>& hash) {
    if (hash) {
      put->bind_blob(place, bytes_of(*hash));
    } else {
      put->bind(place, nullptr);
    }
  };
  for (const UndoStep& step : steps) {
    put->bind(1, static_cast<std::int64_t>(id));
    put->bind(2, step.from ? std::optional(step.from->string()) : std::nullopt);
    put->bind(3, step.to ? std::optional(step.to->string()) : std::nullopt);
    bind_hash(4, step.seen);
    put->bind_blob(5, bytes_of(step.seen_blob));
    bind_hash(6, step.result);
    put->bind_blob(7, bytes_of(step.result_blob));
    WS_TRY(put->run());
  }
  return {};
}

Result<void> Operations::put_undo_left(std::uint64_t operation, const std::vector<LeftAlone>& left) {
  WS_LET(const sqlite::CachedStatement leave, database_->cached("insert into undo_left values (?, ?, ?)"));
  for (const LeftAlone& each : left) {
    leave->bind_all(static_cast<std::int64_t>(operation), each.path.text(), each.why);
    WS_TRY(leave->run());
  }
  return {};
}

Result<void> Operations::set_stage(std::uint64_t operation, Operation::Stage stage) {
  WS_LET(const sqlite::CachedStatement put, database_->cached("update operations set stage = ? where id = ?"));
  put->bind_all(static_cast<std::int64_t>(stage), static_cast<std::int64_t>(operation));
  return put->run();
}

Result<void> Operations::clear_undo(std::uint64_t operation) {
  for (const char* const sql :
       {"delete from undo_steps where operation = ?", "delete from undo_left where operation = ?"}) {
    WS_LET(const sqlite::CachedStatement drop, database_->cached(sql));
    drop->bind(1, static_cast<std::int64_t>(operation));
    WS_TRY(drop->run());
  }
  return {};
}

Result<std::vector<LeftAlone>> Operations::undo_left(std::uint64_t operation) {
  WS_LET(const sqlite::CachedStatement all,
         database_->cached("select path, why from undo_left where operation = ? order by rowid"));
  all->bind(1, static_cast<std::int64_t>(operation));
  std::vector<LeftAlone> left;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return left;
    WS_LET(RelativePath path, RelativePath::parse(all->text(0)));
    left.push_back({.path = std::move(path), .why = std::string(all->text(1))});
  }
}

Result<std::vector<UndoStep>> Operations::undo_steps(std::uint64_t operation) {
  WS_LET(const sqlite::CachedStatement all,
         database_->cached("select from_path, to_path, seen, seen_blob, result, result_blob from undo_steps "
                           "where operation = ? order by place"));
  all->bind(1, static_cast<std::int64_t>(operation));
  std::vector<UndoStep> steps;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return steps;
    UndoStep step{.seen_blob = object_of(all->blob(3)), .result_blob = object_of(all->blob(5))};
    if (!all->is_null(0)) {
      WS_LET(step.from, RelativePath::parse(all->text(0)));
    }
    if (!all->is_null(1)) {
      WS_LET(step.to, RelativePath::parse(all->text(1)));
    }
    if (!all->is_null(2)) step.seen = hash_of(all->blob(2));
    if (!all->is_null(4)) step.result = hash_of(all->blob(4));
    steps.push_back(std::move(step));
  }
}

Result<std::vector<Operation>> Operations::list(std::size_t limit) {
  WS_LET(const sqlite::CachedStatement all,
         database_->cached("select id, time, kind, command, undoes, flags, stage, revision_before, revision_after "
                           "from operations order by id desc limit ?"));
  all->bind(1, limit == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(limit));
  std::vector<Operation> operations;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return operations;
    operations.push_back(read_operation(*all));
  }
}

Result<std::optional<Operation>> Operations::find(std::uint64_t id) {
  WS_LET(const sqlite::CachedStatement one,
         database_->cached("select id, time, kind, command, undoes, flags, stage, revision_before, revision_after "
                           "from operations where id = ?"));
  one->bind(1, static_cast<std::int64_t>(id));
  WS_LET(const bool found, one->step());
  return found ? std::optional(read_operation(*one)) : std::nullopt;
}

Result<std::optional<Operation>> Operations::find_at(Operation::Stage first, Operation::Stage last) {
  WS_LET(const sqlite::CachedStatement one,
         database_->cached("select id, time, kind, command, undoes, flags, stage, revision_before, revision_after "
                           "from operations where stage between ? and ? order by id desc limit 1"));
  one->bind_all(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last));
  WS_LET(const bool found, one->step());
  return found ? std::optional(read_operation(*one)) : std::nullopt;
}

Result<std::vector<OperationRow>> Operations::rows(std::uint64_t id) {
  WS_LET(const sqlite::CachedStatement all,
         database_->cached("select document, way, before_path, before_hash, before_revision, before_blob, after_path, "
                           "after_hash, after_revision, after_blob from operation_rows where operation = ? "
                           "order by place"));
  all->bind(1, static_cast<std::int64_t>(id));
  JoinedRows joined;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return joined.take();
    OperationRow row{.document = {all->string(0)}, .origins = ChangeOrigins(all->integer(1))};
    WS_LET(row.before, read_version(*all, 2));
    WS_LET(row.after, read_version(*all, 6));
    if (row.before || row.after || !row.document.empty()) joined.add(std::move(row));
  }
}

Result<std::vector<git::ObjectId>> Operations::texts_since(Time time) {
  WS_LET(const sqlite::CachedStatement all,
         database_->cached(
             "select before_blob, after_blob from operation_rows where operation in (select id from "
             "operations where time >= ?1 or stage <> 0) union all select seen_blob, result_blob from undo_steps"));
  all->bind(1, static_cast<std::int64_t>(time.time_since_epoch().count()));
  std::vector<git::ObjectId> texts;
  while (true) {
    WS_LET(const bool found, all->step());
    if (!found) return texts;
    for (const int column : {0, 1}) {
      if (!all->is_null(column)) texts.push_back(object_of(all->blob(column)));
    }
  }
}

Result<std::optional<DocumentRevision>> Operations::revision_of(const git::ObjectId& blob) {
  WS_LET(const sqlite::CachedStatement find,
         database_->cached("select revision from base where blob = ?1 union all "
                           "select max(after_revision) from operation_rows where after_blob = ?1"));
  find->bind_blob(1, bytes_of(blob));
  while (true) {
    WS_LET(const bool found, find->step());
    if (!found) return std::optional<DocumentRevision>{};
    if (!find->is_null(0) && find->integer(0) > 0)
      return std::optional(DocumentRevision{static_cast<std::uint64_t>(find->integer(0))});
  }
}

Result<void> Operations::drop_before(Time time) {
  const auto from = static_cast<std::int64_t>(time.time_since_epoch().count());
  for (const char* sql : {"delete from operation_rows where operation in (select id from operations where time < ? "
                          "and stage = 0)",
                          "delete from operations where time < ? and stage = 0"}) {
    WS_LET(const sqlite::CachedStatement drop, database_->cached(sql));
    drop->bind(1, from);
    WS_TRY(drop->run());
  }
  return {};
}

bool is_undone(const std::vector<Operation>& all, std::uint64_t id) {
  return std::ranges::any_of(all, [&](const Operation& each) {
    return each.undoes == id && each.id > id && !each.is_partial && !is_undone(all, each.id);
  });
}

std::optional<Operation> last_to_undo(const std::vector<Operation>& newest_first, int depth) {
  for (const Operation& each : newest_first) {
    if (depth_of(newest_first, each) == depth && !is_undone(newest_first, each.id)) return each;
  }
  return std::nullopt;
}

}  // namespace ws::sync
