#include "tests/sync-engine/reconcile/matrix.hpp"

#include <string>
#include <utility>

#include "tests/sync-engine/support/paths.hpp"

namespace ws::sync::test {
namespace {

Sha256 hash(std::string_view text) { return Sha256::of(text); }
Entry entry(std::string_view at, std::string_view text, std::uint64_t revision = 0) {
  return {.path = path(at), .hash = hash(text), .revision = {revision}};
}

// One document `d1` at P with the text "old" in revision 1; the service's changes lead to revision 2. `d2` is another
// document that the service made since.
const DocumentId d1{"d1"};
const DocumentId d2{"d2"};
constexpr std::string_view p = "p.md";
constexpr std::string_view q = "q.md";
constexpr std::string_view r = "r.md";
constexpr std::string_view below = "p.md/x.md";  // the file became a folder

BaseTree base_tree() { return {.documents = {{d1, entry(p, "old", 1)}}}; }
BaseTree no_base() { return {}; }

LocalTree tracked(Entry e) { return {.tracked = {{d1, std::move(e)}}}; }
LocalTree unchanged_here() { return tracked(entry(p, "old")); }
LocalTree edited_here() { return tracked(entry(p, "mine")); }
LocalTree deleted_here() { return {}; }
LocalTree moved_here() { return tracked(entry(q, "old")); }
LocalTree folder_here() { return {.created = {{path(below), hash("child")}}}; }
LocalTree created_here(std::string_view text) { return {.created = {{path(p), hash(text)}}}; }

RemoteTree changed(Entry e) { return {.changed = {{d1, std::move(e)}}}; }
RemoteTree unchanged_there() { return {}; }
RemoteTree edited_there() { return changed(entry(p, "theirs", 2)); }
RemoteTree gone_there() { return {.gone = {{d1, DocumentRevision{2}}}}; }
RemoteTree moved_there(std::string_view to) { return changed(entry(to, "old", 2)); }
/// The old document was archived and a new one stands at its path.
RemoteTree replaced_there(std::string_view text) {
  return {.changed = {{d2, entry(p, text, 1)}}, .gone = {{d1, DocumentRevision{2}}}};
}
RemoteTree folder_there() { return {.changed = {{d2, entry(below, "child", 1)}}, .gone = {{d1, DocumentRevision{2}}}}; }
RemoteTree created_there(std::string_view at, std::string_view text) { return {.changed = {{d2, entry(at, text, 1)}}}; }

/// What a row expects of one action: the reason is for people and is not compared.
Action act(ActionKind kind,
           std::string_view at,
           const DocumentId& document,
           std::string_view seen,
           std::string_view result,
           std::uint64_t revision,
           std::string_view previous = "") {
  Action action{.kind = kind, .path = path(at), .document = document, .revision = {revision}};
  if (!seen.empty()) action.seen = hash(seen);
  if (!result.empty()) action.result = hash(result);
  if (!previous.empty()) action.previous_path = path(previous);
  return action;
}
Action create(std::string_view at, std::string_view text) {
  return act(ActionKind::push_create, at, {}, text, text, 0);
}
Action come(std::string_view at, const DocumentId& document, std::string_view text, std::uint64_t revision) {
  return act(ActionKind::pull_create, at, document, "", text, revision);
}
/// The file lies elsewhere than the service has the document.
Action placed(Action action, std::string_view service_path) {
  action.service_path = path(service_path);
  return action;
}
Action step_aside(std::string_view to, std::string_view from, std::string_view text) {
  return act(ActionKind::push_create, to, {}, text, text, 0, from);
}

Conflict clash(ConflictCase which,
               std::string_view at,
               const DocumentId& document,
               std::optional<Entry> base,
               std::optional<Entry> local,
               std::optional<Entry> remote) {
  return {.which = which,
          .path = path(at),
          .document = document,
          .base = std::move(base),
          .local = std::move(local),
          .remote = std::move(remote)};
}

std::vector<MatrixRow> unchanged_rows() {
  using enum ActionKind;
  const Entry old = entry(p, "old", 1);
  return {
      {"UU", "-", "-", Status::done, base_tree(), unchanged_here(), unchanged_there(), {}},
      {"UE",
       "-",
       "edited",
       Status::done,
       base_tree(),
       unchanged_here(),
       edited_there(),
       {.actions = {act(pull_update, p, d1, "old", "theirs", 2)}}},
      {"UD",
       "-",
       "archived",
       Status::done,
       base_tree(),
       unchanged_here(),
       gone_there(),
       {.actions = {act(pull_delete, p, d1, "old", "", 0)}}},
      {"UM",
       "-",
       "moved",
       Status::done,
       base_tree(),
       unchanged_here(),
       moved_there(q),
       {.actions = {act(pull_move, q, d1, "old", "old", 2, p)}}},
      {"UC",
       "-",
       "another document at the path",
       Status::done,
       base_tree(),
       unchanged_here(),
       replaced_there("new"),
       {.actions = {act(pull_create, p, d2, "old", "new", 1)}, .settled = {{.document = d1}}}},
      {"UC=",
       "-",
       "another document at the path, same bytes",
       Status::done,
       base_tree(),
       unchanged_here(),
       replaced_there("old"),
       {.actions = {act(adopt, p, d2, "old", "old", 1)}, .settled = {{.document = d1}}}},
      {"UT",
       "-",
       "file became a folder",
       Status::done,
       base_tree(),
       unchanged_here(),
       folder_there(),
       {.actions = {act(pull_delete, p, d1, "old", "", 0), come(below, d2, "child", 1)}}},
  };
}

std::vector<MatrixRow> edited_rows() {
  using enum ActionKind;
  const Entry old = entry(p, "old", 1);
  const Entry mine = entry(p, "mine");
  return {
      {"EU",
       "edited",
       "-",
       Status::done,
       base_tree(),
       edited_here(),
       unchanged_there(),
       {.actions = {act(push_update, p, d1, "mine", "mine", 1)}}},
      {"EE=",
       "edited",
       "edited, same bytes",
       Status::done,
       base_tree(),
       edited_here(),
       changed(entry(p, "mine", 2)),
       {.settled = {{.document = d1, .base = entry(p, "mine", 2)}}}},
      {"EE",
       "edited",
       "edited",
       Status::done,
       base_tree(),
       edited_here(),
       edited_there(),
       {.actions = {act(merge, p, d1, "mine", "", 2)}}},
      {"EE X",
       "edited",
       "edited, no merge",
       Status::done,
       base_tree(),
       edited_here(),
       edited_there(),
       {.conflicts = {clash(ConflictCase::edited_on_both, p, d1, old, mine, entry(p, "theirs", 2))}},
       {.merge = false}},
      {"EE revision",
       "edited",
       "another text at the same revision: a fault of the service",
       Status::done,
       base_tree(),
       edited_here(),
       changed(entry(p, "theirs", 1)),
       {.conflicts = {clash(ConflictCase::edited_at_one_revision, p, d1, old, mine, entry(p, "theirs", 1))}}},
      {"ED",
       "edited",
       "archived",
       Status::done,
       base_tree(),
       edited_here(),
       gone_there(),
       {.conflicts = {clash(ConflictCase::edited_and_archived, p, d1, old, mine, {})}}},
      {"EM",
       "edited",
       "moved",
       Status::done,
       base_tree(),
       edited_here(),
       moved_there(q),
       {.actions = {act(pull_move, q, d1, "mine", "mine", 2, p), act(push_update, q, d1, "mine", "mine", 2)}}},
      {"EM clash",
       "edited, and a new file where it goes",
       "moved",
       Status::done,
       base_tree(),
       {.tracked = {{d1, mine}}, .created = {{path(q), hash("made")}}},
       moved_there(q),
       {.actions = {placed(act(pull_move, "q (remote).md", d1, "mine", "mine", 2, p), q),
                    placed(act(push_update, "q (remote).md", d1, "mine", "mine", 2), q)},
        .conflicts = {clash(ConflictCase::two_documents, q, d1, old, entry(q, "made"), entry(q, "old", 2))}}},
      {"EC",
       "edited",
       "another document at the path",
       Status::done,
       base_tree(),
       edited_here(),
       replaced_there("new"),
       {.actions = {placed(come("p (remote).md", d2, "new", 1), p)},
        .conflicts = {clash(ConflictCase::two_documents, p, d2, old, mine, entry(p, "new", 1))}}},
      {"ET",
       "edited",
       "file became a folder",
       Status::done,
       base_tree(),
       edited_here(),
       folder_there(),
       {.actions = {step_aside("p (local).md", p, "mine"), come(below, d2, "child", 1)},
        .settled = {{.document = d1}}}},
  };
}

std::vector<MatrixRow> deleted_rows() {
  using enum ActionKind;
  return {
      {"DU",
       "deleted",
       "-",
       Status::done,
       base_tree(),
       deleted_here(),
       unchanged_there(),
       {.actions = {act(push_delete, p, d1, "", "", 1)}}},
      {"DE",
       "deleted",
       "edited",
       Status::done,
       base_tree(),
       deleted_here(),
       edited_there(),
       {.actions = {come(p, d1, "theirs", 2)}}},
      {"DE accept",
       "deleted",
       "edited, deletes accepted",
       Status::done,
       base_tree(),
       deleted_here(),
       edited_there(),
       {.actions = {act(push_delete, p, d1, "", "", 2)}},
       {.accept_deletes = true}},
      {"DD",
       "deleted",
       "archived",
       Status::done,
       base_tree(),
       deleted_here(),
       gone_there(),
       {.settled = {{.document = d1}}}},
      {"DM",
       "deleted",
       "moved",
       Status::done,
       base_tree(),
       deleted_here(),
       moved_there(q),
       {.actions = {come(q, d1, "old", 2)}}},
      {"DM accept",
       "deleted",
       "moved, deletes accepted",
       Status::done,
       base_tree(),
       deleted_here(),
       moved_there(q),
       {.actions = {act(push_delete, q, d1, "", "", 2)}},
       {.accept_deletes = true}},
      {"DC",
       "deleted",
       "another document at the path",
       Status::done,
       base_tree(),
       deleted_here(),
       replaced_there("new"),
       {.actions = {come(p, d2, "new", 1)}, .settled = {{.document = d1}}}},
      {"DC lives",
       "deleted",
       "moved away, another document at the path",
       Status::done,
       base_tree(),
       deleted_here(),
       {.changed = {{d1, entry(q, "old", 2)}, {d2, entry(p, "new", 1)}}},
       {.actions = {come(p, d2, "new", 1), act(push_delete, q, d1, "", "", 2)}}},
      {"DC pulled",
       "deleted",
       "moved away, another document at the path, which came with an earlier pull",
       Status::done,
       {.documents = {{d1, entry(p, "old", 1)}, {d2, entry(p, "new", 1)}}},
       {.tracked = {{d2, entry(p, "new")}}},
       moved_there(q),
       {.actions = {act(push_delete, q, d1, "", "", 2)}}},
      {"DT",
       "deleted",
       "file became a folder",
       Status::done,
       base_tree(),
       deleted_here(),
       folder_there(),
       {.actions = {come(below, d2, "child", 1)}, .settled = {{.document = d1}}}},
  };
}

std::vector<MatrixRow> moved_rows() {
  using enum ActionKind;
  const Entry old = entry(p, "old", 1);
  const Entry here = entry(q, "old");
  return {
      {"MU",
       "renamed",
       "-",
       Status::done,
       base_tree(),
       moved_here(),
       unchanged_there(),
       {.actions = {act(push_move, q, d1, "old", "old", 1, p)}}},
      {"ME",
       "renamed",
       "edited",
       Status::done,
       base_tree(),
       moved_here(),
       edited_there(),
       {.actions = {act(push_move, q, d1, "old", "theirs", 2, p), act(pull_update, q, d1, "old", "theirs", 2)}}},
      {"MD",
       "renamed",
       "archived",
       Status::done,
       base_tree(),
       moved_here(),
       gone_there(),
       {.actions = {create(q, "old")}, .settled = {{.document = d1}}}},
      {"MD accept",
       "renamed",
       "archived, deletes accepted",
       Status::done,
       base_tree(),
       moved_here(),
       gone_there(),
       {.actions = {act(pull_delete, q, d1, "old", "", 0)}},
       {.accept_deletes = true}},
      {"MD edited",
       "renamed and edited",
       "archived",
       Status::done,
       base_tree(),
       tracked(entry(q, "mine")),
       gone_there(),
       {.conflicts = {clash(ConflictCase::edited_and_archived, q, d1, old, entry(q, "mine"), {})}}},
      {"MD C=",
       "renamed",
       "archived, and a new document of the same text at the new path",
       Status::done,
       base_tree(),
       moved_here(),
       {.changed = {{d2, entry(q, "old", 1)}}, .gone = {{d1, DocumentRevision{2}}}},
       {.actions = {act(adopt, q, d2, "old", "old", 1)}, .settled = {{.document = d1}}}},
      {"MM=",
       "renamed",
       "renamed alike",
       Status::done,
       base_tree(),
       moved_here(),
       moved_there(q),
       {.settled = {{.document = d1, .base = entry(q, "old", 2)}}}},
      {"MM=E",
       "renamed alike and edited",
       "renamed alike",
       Status::done,
       base_tree(),
       tracked(entry(q, "mine")),
       moved_there(q),
       {.actions = {act(push_update, q, d1, "mine", "mine", 2)},
        .settled = {{.document = d1, .base = entry(q, "old", 2)}}}},
      {"MM=E there",
       "renamed alike",
       "renamed alike and edited",
       Status::done,
       base_tree(),
       moved_here(),
       changed(entry(q, "theirs", 2)),
       {.actions = {act(pull_update, q, d1, "old", "theirs", 2)}}},
      {"MM=E both",
       "renamed alike and edited",
       "renamed alike and edited",
       Status::done,
       base_tree(),
       tracked(entry(q, "mine")),
       changed(entry(q, "theirs", 2)),
       {.actions = {act(merge, q, d1, "mine", "", 2)}}},
      {"MM=E same",
       "renamed alike and edited",
       "renamed alike and edited, same bytes",
       Status::done,
       base_tree(),
       tracked(entry(q, "mine")),
       changed(entry(q, "mine", 2)),
       {.settled = {{.document = d1, .base = entry(q, "mine", 2)}}}},
      {"MM=E X",
       "renamed alike and edited",
       "renamed alike and edited, no merge",
       Status::done,
       base_tree(),
       tracked(entry(q, "mine")),
       changed(entry(q, "theirs", 2)),
       {.conflicts = {clash(ConflictCase::edited_on_both, q, d1, old, entry(q, "mine"), entry(q, "theirs", 2))}},
       {.merge = false}},
      {"MM",
       "renamed",
       "renamed otherwise",
       Status::done,
       base_tree(),
       moved_here(),
       moved_there(r),
       {.conflicts = {clash(ConflictCase::renamed_on_both, q, d1, old, here, entry(r, "old", 2))}}},
      {"MC",
       "renamed onto P",
       "a new document at P",
       Status::done,
       base_tree(),
       moved_here(),
       created_there(q, "new"),
       {.actions = {placed(come("q (remote).md", d2, "new", 1), q)},
        .conflicts = {clash(ConflictCase::two_documents, q, d2, {}, here, entry(q, "new", 1))}}},
      {"MC edited",
       "renamed onto P and edited",
       "edited, and a new document at P: a text that went out or came in would claim the name",
       Status::done,
       base_tree(),
       tracked(entry(q, "mine")),
       {.changed = {{d1, entry(p, "theirs", 2)}, {d2, entry(q, "new", 1)}}},
       {.actions = {placed(come("q (remote).md", d2, "new", 1), q)},
        .conflicts = {clash(ConflictCase::two_documents, q, d2, {}, entry(q, "mine"), entry(q, "new", 1))}}},
      {"MT",
       "renamed",
       "file became a folder",
       Status::done,
       base_tree(),
       moved_here(),
       folder_there(),
       {.actions = {come(below, d2, "child", 1)},
        .conflicts = {clash(ConflictCase::folder_at_old_name, q, d1, old, here, {})}}},
  };
}

std::vector<MatrixRow> created_rows() {
  using enum ActionKind;
  const Entry here = entry(p, "mine");
  const BaseTree at_q{.documents = {{d1, entry(q, "old", 1)}}};
  const LocalTree both{.tracked = {{d1, entry(q, "old")}}, .created = {{path(p), hash("mine")}}};
  return {
      {"CU",
       "created",
       "-",
       Status::done,
       no_base(),
       created_here("mine"),
       unchanged_there(),
       {.actions = {create(p, "mine")}}},
      {"CC=",
       "created",
       "created, same bytes",
       Status::done,
       no_base(),
       created_here("mine"),
       created_there(p, "mine"),
       {.actions = {act(adopt, p, d2, "mine", "mine", 1)}}},
      {"CC",
       "created",
       "created",
       Status::done,
       no_base(),
       created_here("mine"),
       created_there(p, "theirs"),
       {.conflicts = {clash(ConflictCase::created_on_both, p, d2, {}, here, entry(p, "theirs", 1))}}},
      {"CM",
       "created at P",
       "moved onto P",
       Status::done,
       at_q,
       both,
       moved_there(p),
       {.actions = {placed(act(pull_move, "p (remote).md", d1, "old", "old", 2, q), p)},
        .conflicts = {clash(ConflictCase::two_documents, p, d1, entry(q, "old", 1), here, entry(p, "old", 2))}}},
      {"CT",
       "created at P",
       "a folder at P",
       Status::done,
       no_base(),
       created_here("mine"),
       created_there(below, "child"),
       {.conflicts = {clash(ConflictCase::folder_there, p, d2, {}, here, entry(below, "child", 1))}}},
      {"CC foreign",
       "something that is not synced at P",
       "created",
       Status::done,
       no_base(),
       {.obstacles = {path(p)}},
       created_there(p, "theirs"),
       {.actions = {placed(come("p (remote).md", d2, "theirs", 1), p)},
        .conflicts = {clash(ConflictCase::not_synced, p, d2, {}, {}, entry(p, "theirs", 1))}}},
      {"CT foreign",
       "something that is not synced at P, and no folder",
       "a folder at P",
       Status::done,
       no_base(),
       {.obstacles = {path(p)}},
       created_there(below, "child"),
       {.conflicts = {clash(ConflictCase::not_synced, p, d2, {}, {}, entry(below, "child", 1))}}},
  };
}

std::vector<MatrixRow> type_rows() {
  using enum ActionKind;
  LocalTree link{.unsyncable = {{d1, SkipReason::symlink}}};
  const Detached out_of_sight{.path = path(p), .document = d1, .reason = "symlink"};
  const LocalTree same_child{.created = {{path(below), hash("child")}}};
  return {
      {"TU",
       "file became a folder",
       "-",
       Status::done,
       base_tree(),
       folder_here(),
       unchanged_there(),
       {.actions = {act(push_delete, p, d1, "", "", 1), create(below, "child")}}},
      {"TL",
       "file became a symlink",
       "-",
       Status::done,
       base_tree(),
       link,
       unchanged_there(),
       {.detached = {out_of_sight}}},
      {"TL E",
       "file became a symlink",
       "edited",
       Status::done,
       base_tree(),
       link,
       edited_there(),
       {.detached = {out_of_sight}}},
      {"TL D",
       "file became a symlink",
       "archived",
       Status::done,
       base_tree(),
       link,
       gone_there(),
       {.detached = {out_of_sight}}},
      {"TE",
       "file became a folder",
       "edited",
       Status::done,
       base_tree(),
       folder_here(),
       edited_there(),
       {.actions = {placed(come("p (remote).md", d1, "theirs", 2), p), create(below, "child")},
        .conflicts = {clash(ConflictCase::became_folder, p, d1, entry(p, "old", 1), {}, entry(p, "theirs", 2))}}},
      {"TD",
       "file became a folder",
       "archived",
       Status::done,
       base_tree(),
       folder_here(),
       gone_there(),
       {.actions = {create(below, "child")}, .settled = {{.document = d1}}}},
      {"TM",
       "file became a folder",
       "moved",
       Status::done,
       base_tree(),
       folder_here(),
       moved_there(q),
       {.actions = {create(below, "child"), come(q, d1, "old", 2)}}},
      {"TT",
       "file became a folder",
       "likewise",
       Status::done,
       base_tree(),
       same_child,
       folder_there(),
       {.actions = {act(adopt, below, d2, "child", "child", 1)}, .settled = {{.document = d1}}}},
  };
}

}  // namespace

std::vector<MatrixRow> matrix() {
  std::vector<MatrixRow> all;
  for (auto rows : {unchanged_rows(), edited_rows(), deleted_rows(), moved_rows(), created_rows(), type_rows()}) {
    for (MatrixRow& row : rows) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace ws::sync::test
