#include "sync-engine/run/leave.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api-client/base/suggestion.hpp"
#include "api-client/base/text.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/model/change.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

constexpr std::size_t named_files = 5;

/// What is missing here from now on was not deleted.
struct LeftMarks {
  std::vector<DocumentId> documents = {};
  std::vector<RelativePath> files = {};

  Result<void> store(Session& session) const {
    WS_LET(sqlite::Transaction transaction, session.state.begin());
    AttachmentStore store = session.attachments();
    for (const DocumentId& document : documents) WS_TRY(session.state.set_left_out(document, true));
    for (const RelativePath& path : files) WS_TRY(store.set_left_out(path, true));
    return transaction.commit();
  }
};

Result<std::map<DocumentId, RelativePath>> paths_of_documents(Session& session) {
  WS_LET(const auto rows, session.state.base());
  std::map<DocumentId, RelativePath> paths;
  for (const auto& [document, row] : rows) paths.emplace(document, row.entry.path);
  return paths;
}

Result<void> set_rule(Session& session, const LeftOut& rule, bool dry_run) {
  if (rule == session.config.left_out) return {};
  if (!dry_run) {
    WS_LET(const auto paths, paths_of_documents(session));
    WS_TRY(write_left_out(session.ws, rule, paths));
  }
  session.config.left_out = rule;
  return {};
}

Result<std::map<RelativePath, DocumentId>> documents_by_path(Session& session) {
  WS_LET(const auto rows, session.state.base());
  std::map<RelativePath, DocumentId> documents;
  for (const auto& [document, row] : rows) documents.emplace(row.disk_path(), document);
  return documents;
}

class Leaver {
 public:
  Leaver(Session& session, const LeaveWish& wish) : session_(session), wish_(wish) {}

  Result<BroughtBack> plan() {
    WS_LET(writer_, SafeWriter::open(session_.root));
    WS_LET(seen_, survey(session_, {.merge = false, .offline = true, .whole = true}, PullMode::inspect));
    WS_LET(files_, survey_attachments(session_, seen_, {.offline = true, .looks_only = true, .whole = true}));
    rule_ = session_.config.left_out;
    for (const auto& [document, row] : seen_.base_rows) consider(document, row);
    for (const auto& [path, file] : files_.sides.base) consider(path, file);
    for (const RelativePath& place : wish_.places) {
      if (!is_document_.contains(service_form(place.text()))) rule_.places.insert(place);
      if (!met_.contains(place)) return fail(unknown(place));
    }
    if (wish_.pattern && rule_ == session_.config.left_out && found_.steps.empty()) return fail(no_match());
    WS_TRY(check_in_step());
    std::ranges::stable_sort(found_.steps, {}, place_of);
    return std::move(found_);
  }

  const LeftOut& rule() const { return rule_; }

  Result<void> mark() const { return marks_.store(session_); }

 private:
  /// By the place that was given, or by itself. A folder is met by what is beneath it.
  bool is_wanted(const RelativePath& path, bool& by_itself) {
    by_itself = false;
    bool any = false;
    for (const RelativePath& place : wish_.places) {
      if (!LeftOut::covers(place, path.text())) continue;
      met_.insert(place);
      by_itself = by_itself || same_name(path, place);
      any = true;
    }
    if (!any && wish_.pattern && wish_.pattern(path)) any = by_itself = true;
    return any;
  }

  void consider(const DocumentId& document, const BaseRow& row) {
    const auto here = seen_.local.tracked.find(document);
    const RelativePath& path = here != seen_.local.tracked.end() ? here->second.path : row.disk_path();
    bool by_itself = false;
    if (!is_wanted(path, by_itself)) return;
    if (by_itself) {
      rule_.documents.insert(document);
      is_document_.insert(service_form(path.text()));
    }
    marks_.documents.push_back(document);
    if (here == seen_.local.tracked.end()) {
      // Left out by an earlier call that did not get to the end.
      const auto hash = writer_->hash(path);
      if (!hash || *hash != std::optional(row.entry.hash)) return;
    }
    found_.steps.push_back({.document = document, .from = path, .seen = row.entry.hash, .seen_blob = row.blob});
  }

  void consider(const RelativePath& path, const Attachment& file) {
    bool by_itself = false;
    if (!is_wanted(path, by_itself)) return;
    if (by_itself) rule_.places.insert(path);
    marks_.files.push_back(path);
    const auto here = files_.sides.local.find(path);
    if (here == files_.sides.local.end()) return;
    if (here->second.hidden && here->second.hidden != SkipReason::left_out) return;
    found_.steps.push_back({.from = path, .seen = file.hash});
  }

  static Failure unknown(const RelativePath& place) {
    return {.kind = Failure::Kind::not_found,
            .what = fmt::format("nothing that is synced here is called {}", place.text()),
            .hint = "`ws sync status` lists what is not synced"};
  }

  bool is_meant(const RelativePath& path) {
    bool ignored = false;
    return is_wanted(path, ignored);
  }

  /// What only one side has would be out of sight before the other has it.
  Result<void> check_in_step() {
    std::set<RelativePath> open;
    const auto look_at = [&](const std::vector<Action>& actions) {
      for (const Action& action : actions) {
        if (is_meant(action.path) || (action.previous_path && is_meant(*action.previous_path)))
          open.insert(action.path);
      }
    };
    look_at(seen_.plan.actions);
    look_at(files_.plan.actions);
    for (const Conflict& conflict : seen_.plan.conflicts) {
      if (is_meant(conflict.path)) open.insert(conflict.path);
    }
    for (const Conflict& conflict : seen_.known_conflicts) {
      if (is_meant(conflict.path)) open.insert(conflict.path);
    }
    for (const auto& [document, reason] : seen_.local.unsyncable) {
      const auto row = seen_.base_rows.find(document);
      if (is_about_content(reason) && row != seen_.base_rows.end() && is_meant(row->second.disk_path()))
        open.insert(row->second.disk_path());
    }
    for (const auto& [path, file] : files_.sides.local) {
      if (file.hidden && is_about_content(*file.hidden) && is_meant(path)) open.insert(path);
    }
    // Kept here alone since the service archived it: nothing would bring it back.
    for (const Detached& each : seen_.plan.detached) {
      if (each.reason == "archived" && is_meant(each.path)) open.insert(each.path);
    }
    for (const AttachmentCollision& each : files_.plan.collisions) {
      if (is_meant(each.path)) open.insert(each.path);
    }
    for (const auto& [path, conflict] : files_.open) {
      if (is_meant(path)) open.insert(path);
    }
    if (open.empty()) return {};
    std::vector<std::string_view> names;
    for (const RelativePath& path : open) {
      if (names.size() < named_files) names.push_back(path.text());
    }
    const std::string more =
        open.size() > named_files ? fmt::format(" and {} more", open.size() - named_files) : std::string();
    return fail(Failure{
        .kind = Failure::Kind::conflict,
        .what = fmt::format("not in sync with the service: {}{}; nothing was changed", fmt::join(names, ", "), more),
        .hint = "`ws sync` brings both sides together; then leave it out",
        .code = "not_in_step"});
  }

  Session& session_;
  const LeaveWish& wish_;
  Survey seen_;
  AttachmentSurvey files_;
  LeftOut rule_;
  BroughtBack found_;
  std::set<RelativePath> met_;
  std::set<std::string> is_document_;  ///< places that are the path of one, as the service writes them
  LeftMarks marks_;
  std::optional<SafeWriter> writer_;
};

/// The files here by the twin keys of their places.
std::map<std::string, RelativePath> files_by_twin_key(const Scan& scan) {
  std::map<std::string, RelativePath> files;
  const auto add = [&](const std::string& name) {
    if (auto path = RelativePath::parse(name)) {
      std::string key = path->twin_key();
      files.emplace(std::move(key), std::move(*path));
    }
  };
  scan.each_file([&](const std::string& name, const CachedEntry&) { add(name); });
  scan.each_other(add);
  return files;
}

/// Where a file of the user lies in the place of what is taken, or has its name in another case, the two are new to
/// each other: nobody edited the one to get the other.
Result<void> forget_where_taken(Session& session, const LeftOut& before, const LeftOut& after) {
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const Scan scan, walk_tree(session, false));
  const std::map<std::string, RelativePath> files_here = files_by_twin_key(scan);
  const auto is_another = [&](const RelativePath& path, const Sha256& agreed) {
    const auto file = files_here.find(path.twin_key());
    if (file == files_here.end()) return false;
    const auto hash = writer.hash(file->second);
    return hash && *hash && (**hash != agreed || !same_name(file->second, path));
  };
  WS_LET(const auto rows, session.state.base());
  WS_LET(const auto pending, session.state.pending());
  const auto comes = [&](const RelativePath& path) { return before.takes(path.text()) && !after.takes(path.text()); };
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const auto& [document, row] : rows) {
    const bool by_id = before.documents.contains(document) && !after.documents.contains(document);
    if (!row.left_out || (!by_id && !comes(row.entry.path))) continue;
    if (!is_another(row.disk_path(), row.entry.hash)) continue;
    if (!pending.contains(document)) {
      WS_TRY(session.state.put_pending(
          document, PendingRow{.entry = row.entry, .revision = row.entry.revision, .blob = row.blob}));
    }
    WS_TRY(session.state.forget_base(document, ChangeOrigin::agreed));
  }
  AttachmentStore store = session.attachments();
  WS_LET(const std::set<RelativePath> files, store.left_out());
  WS_LET(const AttachmentTree agreed, store.base());
  for (const RelativePath& path : files) {
    if (comes(path) && is_another(path, agreed.at(path).hash)) WS_TRY(store.forget_base(path));
  }
  return transaction.commit();
}

}  // namespace

Result<std::vector<LeftOutName>> list_left_out(Session& session) {
  WS_LET(const auto paths, paths_of_documents(session));
  std::vector<LeftOutName> all;
  for (const RelativePath& place : session.config.left_out.places) all.push_back({.name = place.string()});
  for (const DocumentId& document : session.config.left_out.documents) {
    const auto path = paths.find(document);
    all.push_back({.name = document.text(), .note = path == paths.end() ? std::nullopt : std::optional(path->second)});
  }
  return all;
}

Result<BroughtBack> leave(RunContext& context, const LeaveWish& wish) {
  Session& session = context.session;
  Leaver leaver(session, wish);
  WS_LET(BroughtBack found, leaver.plan());
  if (wish.dry_run) return found;
  // The mark and the rule first: a file that is missing without them was deleted.
  WS_TRY(leaver.mark());
  WS_TRY(set_rule(session, leaver.rule(), false));
  if (!found.steps.empty()) WS_TRY(make_changes(session, found));
  return found;
}

namespace {

/// Empty: a document that this tree does not know.
std::optional<RelativePath> path_of(const LeftOutName& each) {
  if (each.note) return each.note;
  auto path = RelativePath::parse(each.name);
  return path ? std::optional(std::move(*path)) : std::nullopt;
}

/// Whether the name stands for the place, or for something beneath it.
bool is_in(const LeftOutName& each, const RelativePath& place) {
  const auto path = path_of(each);
  return path && LeftOut::covers(place, path->text());
}

Failure not_left_out(std::string_view name, const std::vector<LeftOutName>& names) {
  std::vector<std::string> known;
  for (const LeftOutName& each : names) {
    known.push_back(each.name);
    if (const auto path = path_of(each)) known.push_back(path->string());
  }
  const std::string near = suggestion(name, known);
  return {
      .kind = Failure::Kind::not_found,
      .what = fmt::format("{} is not left out here", name),
      .hint = (near.empty() ? "" : near + " ") + std::string("`ws sync leave` without PATH lists what is left out")};
}

}  // namespace

Result<Taken> take(RunContext& context, const TakeWish& wish, RunOptions& pull) {
  Session& session = context.session;
  const LeftOut before = session.config.left_out;
  LeftOut after = before;
  for (const RelativePath& place : wish.places) {
    const auto above =
        std::ranges::find_if(before.places, [&](const auto& each) { return is_nested(each, place) && each < place; });
    if (above == before.places.end()) continue;
    return fail(Failure::Kind::usage,
                fmt::format("{} is left out with its folder {}", place.text(), above->text()),
                "take the whole folder, then leave out again the files that you do not want");
  }
  WS_LET(const std::vector<LeftOutName> names, list_left_out(session));
  Taken taken;
  std::set<DocumentId> by_id(wish.documents.begin(), wish.documents.end());
  std::set<RelativePath> by_place(wish.places.begin(), wish.places.end());
  for (const LeftOutName& each : names) {
    const bool is_meant = by_id.erase(DocumentId{each.name}) != 0;
    const bool is_beneath = std::ranges::any_of(wish.places, [&](const auto& place) { return is_in(each, place); });
    std::erase_if(by_place, [&](const RelativePath& place) { return is_in(each, place); });
    const auto path = path_of(each);
    const bool is_matched = wish.pattern && path && wish.pattern(*path);
    if (!wish.all && !is_meant && !is_beneath && !is_matched) continue;
    taken.names.push_back(each);
    after.documents.erase(DocumentId{each.name});
    std::erase_if(after.places, [&](const RelativePath& place) { return place.string() == each.name; });
  }
  // What an earlier call took, and did not bring to the end.
  const auto is_meant = [&](const RelativePath& path) {
    const auto place =
        std::ranges::find_if(wish.places, [&](const auto& each) { return LeftOut::covers(each, path.text()); });
    if (place != wish.places.end()) by_place.erase(*place);
    return wish.all || place != wish.places.end() || (wish.pattern && wish.pattern(path));
  };
  std::set<RelativePath> missing;
  WS_LET(const auto rows, session.state.base());
  for (const auto& [document, row] : rows) {
    const bool is_out = after.documents.contains(document) || after.takes(row.entry.path.text());
    if (!row.left_out || is_out) continue;
    const bool is_asked = by_id.erase(document) != 0;
    if (is_asked || is_meant(row.entry.path)) pull.only_too.insert(document);
  }
  WS_LET(const std::set<RelativePath> files, session.attachments().left_out());
  for (const RelativePath& path : files) {
    if (!after.takes(path.text()) && is_meant(path)) missing.insert(path);
  }
  if (!by_place.empty()) return fail(not_left_out(by_place.begin()->text(), names));
  if (!by_id.empty()) return fail(not_left_out(by_id.begin()->text(), names));
  taken.brings_any = !taken.names.empty() || !missing.empty() || !pull.only_too.empty();
  if (wish.pattern && !taken.brings_any) {
    return fail(Failure::Kind::not_found,
                "nothing that is left out here matches the pattern",
                "`ws sync leave` without PATH lists what is left out");
  }
  if (wish.dry_run || !taken.brings_any) return taken;
  WS_TRY(forget_where_taken(session, before, after));
  WS_TRY(set_rule(session, after, false));
  pull.makes_room = true;
  std::ranges::set_difference(before.documents, after.documents, std::inserter(pull.only_too, pull.only_too.end()));
  pull.only = [before, after, missing](const RelativePath& path) {
    return (before.takes(path.text()) && !after.takes(path.text())) || missing.contains(path);
  };
  return taken;
}

namespace {

/// What `undone` is about in the end.
struct UndoneLeave {
  std::uint64_t id = 0;   ///< of the `leave`; 0: it is about none
  bool is_again = false;  ///< what is undone is an undo of it, or of a redo
};
Result<UndoneLeave> find_leave(Session& session, const Operation& undone) {
  UndoneLeave found;
  Operation first = undone;
  while (first.undoes != 0) {
    WS_LET(std::optional<Operation> before, session.state.operations().find(first.undoes));
    if (!before) return UndoneLeave();
    first = std::move(*before);
    found.is_again = !found.is_again;
  }
  if (first.kind == leave_operation) found.id = first.id;
  return found;
}

/// Where the names are kept that the undo of a `leave` took out of the rule: its redo leaves out the same.
std::string names_key(const UndoneLeave& left) { return fmt::format("left_by {}", left.id); }

bool has_place(const OperationRow& row, const RelativePath& place) { return LeftOut::covers(place, row.path().text()); }

}  // namespace

Result<RuleChange> rule_change_of(RunContext& context, const Operation& undone) {
  WS_LET(const UndoneLeave left, find_leave(context.session, undone));
  if (left.id == 0) return RuleChange::none;
  return left.is_again ? RuleChange::leaves : RuleChange::takes;
}

Result<void> change_rule(
    RunContext& context, const Operation& undone, RuleChange change, const WantedPath& only, bool dry_run) {
  if (change == RuleChange::none) return {};
  Session& session = context.session;
  WS_LET(const UndoneLeave left, find_leave(session, undone));
  WS_LET(std::vector<OperationRow> rows, session.state.operations().rows(undone.id));
  WS_LET(const auto documents, documents_by_path(session));
  for (OperationRow& row : rows) {
    const auto known = row.document.empty() ? documents.find(row.path()) : documents.end();
    if (known != documents.end()) row.document = known->second;
  }
  const auto is_wanted = [&](const OperationRow& row) { return !only || only(row.path()); };
  AttachmentStore store = session.attachments();
  LeftOut rule = session.config.left_out;
  if (change == RuleChange::takes) {
    for (const OperationRow& row : rows) {
      if (is_wanted(row)) rule.documents.erase(row.document);
    }
    // A folder is left out as a whole, and comes back as a whole.
    std::erase_if(rule.places, [&](const RelativePath& place) {
      const auto is_in = [&](const OperationRow& row) { return has_place(row, place); };
      const auto stays = [&](const OperationRow& row) { return is_in(row) && !is_wanted(row); };
      return std::ranges::any_of(rows, is_in) && std::ranges::none_of(rows, stays);
    });
    std::vector<std::string> gone;
    const std::vector<std::string> now = rule.names();
    for (std::string& name : session.config.left_out.names()) {
      if (std::ranges::find(now, name) == now.end()) gone.push_back(std::move(name));
    }
    if (!dry_run) WS_TRY(store.set_note(names_key(left), fmt::format("{}", fmt::join(gone, "\n"))));
    return set_rule(session, rule, dry_run);
  }
  LeftMarks marks;
  LeftOut again;
  WS_LET(const std::string names, store.note(names_key(left)));
  for (const std::string_view name : split(names, '\n')) {
    if (!name.empty()) WS_TRY(again.add(name));
  }
  for (const OperationRow& row : rows) {
    if (!is_wanted(row)) continue;
    row.document.empty() ? marks.files.push_back(row.path()) : marks.documents.push_back(row.document);
    bool is_named = again.documents.contains(row.document);
    for (const RelativePath& place : again.places) {
      if (!has_place(row, place)) continue;
      is_named = true;
      rule.places.insert(place);
    }
    if (!row.document.empty() && (!is_named || again.documents.contains(row.document)))
      rule.documents.insert(row.document);
    if (row.document.empty() && !is_named) rule.places.insert(row.path());
  }
  if (!dry_run) WS_TRY(marks.store(session));
  return set_rule(session, rule, dry_run);
}

}  // namespace ws::sync
