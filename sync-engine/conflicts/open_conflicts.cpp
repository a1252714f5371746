#include "sync-engine/conflicts/open_conflicts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/changes/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/survey/held_documents.hpp"

namespace ws::sync {
namespace {

using ByDocument = std::multimap<DocumentId, const Conflict*>;

ByDocument by_document(const std::vector<Conflict>& conflicts) {
  ByDocument found;
  for (const Conflict& conflict : conflicts) found.emplace(conflict.document, &conflict);
  return found;
}

/// The file may have been renamed since: a conflict recorded on the service is matched by its document.
bool is_still_open(const ByDocument& planned, const Conflict& known) {
  const auto [first, last] = planned.equal_range(known.document);
  return std::any_of(first, last, [&](const auto& each) {
    const bool same_record = !known.is_here_only() && !known.document.empty() && each.second->row().pushed_as;
    return each.second->path == known.path || same_record;
  });
}

DocumentRevision revision_there(const Survey& survey, const DocumentId& document) {
  if (const auto changed = survey.remote.changed.find(document); changed != survey.remote.changed.end())
    return changed->second.revision;
  if (const auto gone = survey.remote.gone.find(document); gone != survey.remote.gone.end()) return gone->second;
  const auto base = survey.base.documents.find(document);
  return base == survey.base.documents.end() ? DocumentRevision{} : base->second.revision;
}

bool is_on_service(const Session& session, const Conflict& conflict) {
  return conflict.is_on_service() && session.remote != nullptr;
}

/// Recorded before the service is called: if the run is killed in between, the next one must not take the resolved
/// conflict for a decision of another client, which would make this tree's text the loser.
Result<void> mark_closing(Session& session, const std::vector<const Conflict*>& conflicts) {
  std::vector<Conflict> closing;
  for (const Conflict* conflict : conflicts) {
    if (conflict->record != ConflictRecord::closing && is_on_service(session, *conflict)) closing.push_back(*conflict);
  }
  if (closing.empty()) return {};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (Conflict& conflict : closing) {
    conflict.record = ConflictRecord::closing;
    WS_TRY(session.state.put_conflict(conflict));
  }
  return transaction.commit();
}

/// False: it stays open for now.
Result<bool> close_there(Session& session, const Survey& survey, const Conflict& conflict) {
  if (!is_on_service(session, conflict)) return true;
  auto closed = session.remote->resolve({.conflict_id = conflict.id,
                                         .keep = Keep::remote,
                                         .expected_revision = revision_there(survey, conflict.document)});
  if (closed || closed.error().code == "conflict_resolved") return true;
  const Failure::Kind why = closed.error().kind;
  if (why == Failure::Kind::conflict) return false;
  // Not known there, or not accessible: nothing to close.
  if (why == Failure::Kind::not_found || why == Failure::Kind::forbidden) return true;
  if (is_about_one(closed.error())) return false;
  return fail(std::move(closed).error());
}

constexpr std::size_t max_at_once = 500;  // conflicts whose texts are written together

/// The base is not compared: for a displaced document it may be the service's text by now.
bool says_the_same(const Conflict& a, const Conflict& b) {
  return a.kind() == b.kind() && a.local == b.local && a.remote == b.remote;
}

std::optional<std::string> text_of(Session& session, const git::ObjectId& blob) {
  if (blob.empty()) return std::nullopt;
  auto text = session.history.text(blob);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

ThreeTexts texts_of(Session& session, const Survey& survey, const SafeWriter& files, const Conflict& conflict) {
  ThreeTexts texts;
  const auto base = survey.base_rows.find(conflict.document);
  if (base != survey.base_rows.end()) texts.base = text_of(session, base->second.blob);
  if (conflict.local) {
    if (auto text = read_if_there(files, conflict.local->path)) texts.local = std::move(*text);
  }
  if (!conflict.remote) return texts;
  const auto there = survey.pending.find(conflict.document);
  if (there != survey.pending.end()) texts.remote = text_of(session, there->second.blob);
  if (!texts.remote && base != survey.base_rows.end() && base->second.entry.hash == conflict.remote->hash) {
    texts.remote = texts.base;
  }
  return texts;
}

/// The file has markers: the conflict keeps its recorded texts.
bool is_being_merged_here(const Session& session, const SafeWriter& files, const Conflict& conflict) {
  const auto text = read_if_there(files, conflict.path);
  return text && *text && is_being_merged(session.root, conflict.id, **text);
}

/// The rows of conflicts, by what they are about.
class ConflictRows {
 public:
  explicit ConflictRows(std::vector<Row>& rows) {
    for (Row& row : rows) {
      if (row.action.kind == ActionKind::conflict) rows_.emplace(std::pair(row.action.document, row.action.path), &row);
    }
  }

  /// Whether the service cannot record it: the key may not write, or the service refuses the text.
  bool could_not_be_sent(const Conflict& conflict) const {
    const auto [first, last] = rows_.equal_range({conflict.document, conflict.path});
    return std::any_of(first, last, [](const auto& each) {
      const auto& error = each.second->error;
      return error && (error->kind == Failure::Kind::forbidden || is_refused_as_it_is(error->code));
    });
  }

  /// Marks the rows of a conflict that is kept here as done.
  void close(const Conflict& conflict) {
    const auto [first, last] = rows_.equal_range({conflict.document, conflict.path});
    for (auto each = first; each != last; ++each) {
      if (each->second->state == Row::State::planned) each->second->state = Row::State::done;
    }
  }

 private:
  std::multimap<std::pair<DocumentId, RelativePath>, Row*> rows_;
};

}  // namespace

HiddenFiles::HiddenFiles(const Survey& survey) : survey_(survey) {
  for (const Skipped& each : survey.plan.skipped) skipped_.insert(each.path);
}

bool HiddenFiles::hides(const Conflict& known) const {
  const auto& absent = survey_.remote.absent;
  if (survey_.local.unsyncable.contains(known.document)) return true;
  if (std::binary_search(absent.begin(), absent.end(), known.document)) return true;
  // An unsynced file is always skipped; whether it still blocks a document is in the plan.
  if (known.which == ConflictCase::not_synced) return false;
  return skipped_.contains(known.path.text());
}

Result<void> close_settled_conflicts(Session& session,
                                     const Survey& survey,
                                     const RunOptions& options,
                                     const std::set<DocumentId>& waiting) {
  if (options.only || survey.plan.went_back() || survey.plan.guard || survey.known_conflicts.empty()) return {};
  const ByDocument planned = by_document(survey.plan.conflicts);
  const HiddenFiles hidden_files(survey);
  std::vector<const Conflict*> settled;
  for (const Conflict& known : survey.known_conflicts) {
    if (!is_still_open(planned, known) && !hidden_files.hides(known) && !waiting.contains(known.document))
      settled.push_back(&known);
  }
  WS_TRY(mark_closing(session, settled));
  std::vector<EndedConflict> ended;
  std::optional<Failure> ended_by;
  for (const Conflict* known : settled) {
    auto closed = close_there(session, survey, *known);
    if (!closed) {
      ended_by = std::move(closed).error();
      break;
    }
    if (*closed) ended.push_back({.id = known->id});
  }
  WS_TRY(end_conflicts(session, ended));
  return ended_by ? Result<void>(fail(std::move(*ended_by))) : Result<void>();
}

Result<void> keep_local_conflicts(Session& session, const Survey& survey, std::vector<Row>& rows) {
  ConflictRows of_conflicts(rows);
  const auto is_ours = [&](const Conflict& conflict) {
    return !conflict.row().pushed_as || of_conflicts.could_not_be_sent(conflict);
  };
  if (std::none_of(survey.plan.conflicts.begin(), survey.plan.conflicts.end(), is_ours)) return {};
  WS_LET(const std::vector<Conflict> known, session.state.conflicts());
  std::map<std::pair<DocumentId, RelativePath>, const Conflict*> known_by_place;
  for (const Conflict& each : known) known_by_place.try_emplace({each.document, each.path}, &each);
  WS_LET(const SafeWriter files, SafeWriter::open(session.root));
  std::map<std::string, ThreeTexts> texts;
  std::vector<std::string> replaced;
  std::vector<Conflict> now;
  for (const Conflict& planned : survey.plan.conflicts) {
    if (!is_ours(planned)) continue;
    of_conflicts.close(planned);
    Conflict conflict = planned;
    conflict.id = local_conflict_id(conflict);
    conflict.record = ConflictRecord::here;
    conflict.device = session.options.device;
    const auto same = known_by_place.find({conflict.document, conflict.path});
    const Conflict* const kept = same == known_by_place.end() ? nullptr : same->second;
    if (kept != nullptr && says_the_same(*kept, conflict)) continue;
    if (kept != nullptr && is_being_merged_here(session, files, *kept)) continue;
    if (kept != nullptr && !kept->is_here_only()) {
      // A conflict recorded on the service is kept, unless its file became a folder or was removed.
      if (!conflict.is_about(ConflictSubject::place) || kept->is_about(ConflictSubject::place)) continue;
      conflict.id = kept->id;
      conflict.record = ConflictRecord::service;
    }
    if (conflict.which != ConflictCase::service_went_back)
      texts.insert_or_assign(conflict.id, texts_of(session, survey, files, conflict));
    if (texts.size() == max_at_once) {
      WS_TRY(write_conflict_texts(session, texts));
      texts.clear();
    }
    if (kept != nullptr) replaced.push_back(kept->id);
    now.push_back(std::move(conflict));
  }
  WS_TRY(write_conflict_texts(session, texts));
  if (now.empty()) return {};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const std::string& id : replaced) WS_TRY(session.state.drop_conflict(id));
  for (const Conflict& conflict : now) WS_TRY(session.state.put_conflict(conflict));
  return transaction.commit();
}

}  // namespace ws::sync
